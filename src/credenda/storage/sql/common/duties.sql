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

-- name: duties
-- When each duty last ran.
SELECT name, started_at, took_us, failed, result FROM duties
WHERE user_id = :user_id AND name <> '' AND started_at > 0 ORDER BY name;

-- name: users
-- The tenants of this file, a page at a time.
SELECT user_id FROM tenants WHERE user_id > :after_user ORDER BY user_id LIMIT :limit;

-- name: oldest_waiting$
-- When the oldest job of these kinds was filed that is not done and not given up, of all tenants. It looks at 10,000 such
-- jobs at most: the first ones by user and by the time of their next attempt.
SELECT min(created_at) AS created_at FROM (
    SELECT kind, created_at FROM operations INDEXED BY operations_due
    WHERE user_id > '' AND status IN ('queued', 'processing', 'failed') ORDER BY user_id, run_after LIMIT 10000
) AS waiting WHERE kind IN (SELECT value FROM json_each(:kinds));

-- name: put_duty!
-- File how a run of a duty went.
INSERT INTO duties (user_id, name, started_at, took_us, failed, result)
VALUES (:user_id, :name, :started_us, :took_us, :failed, :result)
ON CONFLICT (user_id, name) DO UPDATE SET
    started_at = excluded.started_at, took_us = excluded.took_us, failed = excluded.failed, result = excluded.result;

-- name: lead!
-- Take or keep the lease of the leader, or the lock of one duty, where nobody else holds it, or one that is gone does.
-- A lease after :far_us was taken under a clock that has been put back since.
INSERT INTO duties (user_id, name, lease_owner, lease_until) VALUES (:user_id, :name, :owner, :until_us)
ON CONFLICT (user_id, name) DO UPDATE SET lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
WHERE duties.lease_owner IS NULL OR duties.lease_owner = excluded.lease_owner OR duties.lease_until <= :now_us
    OR duties.lease_until > :far_us
    OR duties.lease_owner = :over;

-- name: led_by$
-- Who has the lease of the leader, or the lock of one duty.
SELECT lease_owner FROM duties WHERE user_id = :user_id AND name = :name;

-- name: leases
-- The leases and locks of duties that are held at a time.
SELECT name, lease_owner, lease_until FROM duties
WHERE user_id = :user_id AND lease_owner IS NOT NULL AND lease_until > :now_us ORDER BY name;

-- name: regards_of
-- How memories were judged, and how often they were shown without a word; those that nobody ever judged are left out.
SELECT memory, sum(CASE WHEN useful > 0 THEN 1 ELSE 0 END) AS liked,
    sum(CASE WHEN useful < 0 THEN 1 ELSE 0 END) AS disliked, sum(CASE WHEN useful = 0 THEN 1 ELSE 0 END) AS silent
FROM access_log
WHERE user_id = :user_id AND memory IN (SELECT value FROM json_each(:ids))
GROUP BY memory HAVING sum(CASE WHEN useful <> 0 THEN 1 ELSE 0 END) > 0;

-- name: occasions
-- Sessions and days in which anything was judged useful.
SELECT DISTINCT session_id, day FROM access_log WHERE user_id = :user_id AND useful > 0;

-- name: count_prunable^
-- Rows of operational logs that are older than a time and needed no more.
SELECT
    (SELECT count(*) FROM access_log WHERE user_id = :user_id AND at < :showings_before_us AND useful = 0) AS showings,
    (
        SELECT count(*) FROM operations
        WHERE user_id = :user_id AND kind = 'embed' AND status = 'complete' AND idempotency_key IS NULL
            AND updated_at < :jobs_before_us
            AND id < (SELECT max(id) FROM operations WHERE user_id = :user_id)
    ) AS jobs;

-- name: prune_accesses!
-- Take away old showings that nobody judged.
DELETE FROM access_log WHERE user_id = :user_id AND (session_id, memory, day) IN (
    SELECT session_id, memory, day FROM access_log
    WHERE user_id = :user_id AND at < :before_us AND useful = 0 LIMIT :limit
);

-- name: prune_jobs!
-- Take away old finished jobs that embedded; those that read say what was read, and stay. So does the newest one, whose
-- number the next follows.
DELETE FROM operations WHERE user_id = :user_id AND id IN (
    SELECT id FROM operations
    WHERE user_id = :user_id AND kind = 'embed' AND status = 'complete' AND idempotency_key IS NULL AND updated_at < :before_us
        AND id < (SELECT max(id) FROM operations WHERE user_id = :user_id)
    LIMIT :limit
);
