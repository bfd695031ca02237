-- Reading the current values of a slot must not walk its past ones, nor the other way round.

DROP INDEX memories_pair;
CREATE INDEX memories_pair ON memories (user_id, entity_key, attribute_key, status)
WHERE expired_at IS NULL AND attribute_key IS NOT NULL;
