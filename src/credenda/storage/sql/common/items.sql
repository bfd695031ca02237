-- name: find_items
-- The items of a space, or of every space that begins with its name, in order.
SELECT * FROM items
WHERE user_id = :user_id AND space >= :space AND (space = :space OR (:is_below = 1 AND space < :last_space))
    AND (:key IS NULL OR key = :key) AND substr(key, 1, length(:key_begins)) = :key_begins
    AND (:sources = '[]' OR source IN (SELECT value FROM json_each(:sources)))
    AND (expires_at IS NULL OR expires_at > :now_us)
ORDER BY space, key LIMIT :limit;

-- name: find_newest_items
-- The same, in the reverse order.
SELECT * FROM items
WHERE user_id = :user_id AND space >= :space AND (space = :space OR (:is_below = 1 AND space < :last_space))
    AND (:key IS NULL OR key = :key) AND substr(key, 1, length(:key_begins)) = :key_begins
    AND (:sources = '[]' OR source IN (SELECT value FROM json_each(:sources)))
    AND (expires_at IS NULL OR expires_at > :now_us)
ORDER BY space DESC, key DESC LIMIT :limit;

-- name: find_expired_items
-- The items of a space, or of every space that begins with its name, whose time is over.
SELECT * FROM items
WHERE user_id = :user_id AND space >= :space AND (space = :space OR (:is_below = 1 AND space < :last_space))
    AND (:key IS NULL OR key = :key) AND substr(key, 1, length(:key_begins)) = :key_begins
    AND (:sources = '[]' OR source IN (SELECT value FROM json_each(:sources)))
    AND expires_at <= :now_us
ORDER BY space, key LIMIT :limit;

-- name: item_version$
-- The version of an item; none for a key without one, and for one that has expired.
SELECT version FROM items
WHERE user_id = :user_id AND space = :space AND key = :key AND (expires_at IS NULL OR expires_at > :now_us);

-- name: numbered_keys
-- The last keys of a space that have the length of a number.
SELECT key FROM items WHERE user_id = :user_id AND space = :space AND length(key) = 12 AND key < ':'
ORDER BY key DESC LIMIT 1;

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
