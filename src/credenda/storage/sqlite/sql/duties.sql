-- name: watermark^
-- How far a duty has come.
SELECT value FROM watermarks WHERE user_id = :user_id AND name = :name;

-- name: put_watermark!
-- File how far a duty has come.
INSERT INTO watermarks (user_id, name, value, updated_at) VALUES (:user_id, :name, :value, :at_us)
ON CONFLICT (user_id, name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at;

-- name: drop_watermark!
-- A duty has come to its end.
DELETE FROM watermarks WHERE user_id = :user_id AND name = :name;

-- name: active_days
-- On which days anything was said, as days since 1970-01-01 UTC.
SELECT DISTINCT recorded_at / 86400000000 AS day FROM events WHERE user_id = :user_id ORDER BY day;
