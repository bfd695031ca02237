-- name: item_version$
-- The version of an item; none for a key without one, and for one that has expired.
SELECT version FROM items
WHERE user_id = :user_id AND space = :space AND key = :key AND (expires_at IS NULL OR expires_at > :now_us);

-- name: next_item_key$
-- The number after the last key of a space.
SELECT coalesce(max(CAST(key AS INTEGER)), 0) + 1 FROM items WHERE user_id = :user_id AND space = :space;

-- name: put_item!
-- Store an item, in place of the one with its key; the time of the first one stays.
INSERT INTO items (user_id, space, key, value, source, version, created_at, updated_at, expires_at)
VALUES (:user_id, :space, :key, :value, :source, 1, :updated_us, :updated_us, :expires_us)
ON CONFLICT (user_id, space, key) DO UPDATE SET
    value = excluded.value, source = excluded.source, version = items.version + 1, updated_at = excluded.updated_at,
    expires_at = excluded.expires_at;

-- name: delete_items!
-- Delete an item, or every item of a space.
DELETE FROM items WHERE user_id = :user_id AND space = :space AND (:key IS NULL OR key = :key);

-- name: delete_items_of!
-- Delete the items whose words were redacted.
DELETE FROM items WHERE user_id = :user_id AND source = :source;
