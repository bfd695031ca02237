-- What every prompt should have is found without walking all memories: what is pinned, and standing instructions.

CREATE INDEX memories_always ON memories (user_id, id)
WHERE expired_at IS NULL AND (pinned = 1 OR attribute_key = 'instruction');
