-- name: events_after
-- Events to index.
SELECT id, session_id, role, speaker, text, flags, occurred_at, passages, redacted_at FROM events
WHERE user_id = :user_id AND id > :after ORDER BY id LIMIT :limit;

-- name: passages_after
-- Passages of long events to index.
SELECT event, ordinal, start, stop FROM passages
WHERE user_id = :user_id AND event > :after AND event <= :until ORDER BY event, ordinal;

-- name: changed_memories
-- Memories whose standing moved, as they are now. The cross join reads the few changes first.
SELECT
    m.id, m.text, m.entity, m.attribute, m.value, m.status, m.layer, m.valid_from, m.created_at, m.speaker, c.fresh
FROM (SELECT memory, max(CASE WHEN kind IN ('add', 'rebuild') THEN 1 ELSE 0 END) AS fresh FROM changes
    WHERE user_id = :user_id AND id > :after AND id <= :until AND memory IS NOT NULL GROUP BY memory) AS c
CROSS JOIN memories AS m
WHERE m.user_id = :user_id AND m.id = c.memory AND m.expired_at IS NULL
ORDER BY m.id;

-- name: change_at$
-- The change that ends a batch.
SELECT coalesce(max(id), :after) FROM
(SELECT id FROM changes WHERE user_id = :user_id AND id > :after ORDER BY id LIMIT :limit);

-- name: vectors_after
-- Vectors to index.
SELECT number, code, model_id, dims, bits, scale, data, checksum FROM embeddings
WHERE user_id = :user_id AND number > :after AND number <= :until AND model_id = :model_id ORDER BY number;

-- name: vector_page
-- The next vectors of a model.
SELECT number, code, dims, bits, data FROM embeddings
WHERE user_id = :user_id AND number > :after AND model_id = :model_id ORDER BY number LIMIT :limit;

-- name: vector_at$
-- The vector that ends a batch.
SELECT coalesce(max(number), :after) FROM
(SELECT number FROM embeddings WHERE user_id = :user_id AND number > :after ORDER BY number LIMIT :limit);

-- name: keep_vector_head!
-- Remember the highest number of a vector before vectors are deleted, so that no index misses a later one.
INSERT INTO watermarks (user_id, name, value, updated_at)
SELECT :user_id, 'vectors', last.number, :at_us
FROM (SELECT number FROM embeddings WHERE user_id = :user_id ORDER BY number DESC LIMIT 1) AS last WHERE true
ON CONFLICT (user_id, name) DO UPDATE SET
    value = CASE WHEN excluded.value > watermarks.value THEN excluded.value ELSE watermarks.value END,
    updated_at = excluded.updated_at;

-- name: delete_vectors!
-- Vectors of a redacted document.
DELETE FROM embeddings WHERE user_id = :user_id AND code >= :low AND code < :high;

-- name: drop_vectors_of_model!
-- Some vectors of a model.
DELETE FROM embeddings WHERE user_id = :user_id AND model_id = :model_id AND code IN (
    SELECT code FROM embeddings WHERE user_id = :user_id AND model_id = :model_id ORDER BY code LIMIT :limit
);

-- name: put_blob!
-- One blob of an image.
INSERT INTO index_blobs (user_id, name, ordinal, data) VALUES (:user_id, :name, :ordinal, :data);

-- name: delete_snapshot!
-- Drop an image.
DELETE FROM index_blobs WHERE user_id = :user_id AND name = :name;

-- name: delete_index_images!
-- Drop the images of a tenant's indexes.
DELETE FROM index_blobs WHERE user_id = :user_id AND name LIKE 'index:%';

-- name: delete_snapshots!
-- Drop every image of a tenant; which memories the core held, without a word of theirs, is no image.
DELETE FROM index_blobs WHERE user_id = :user_id AND name <> 'core';

-- name: insert_job!
-- File a job.
INSERT INTO operations (
    user_id, id, kind, first, last, status, attempts, run_after, lease_owner, lease_until, error, idempotency_key,
    payload_hash, created_at, updated_at, payload, outcome
) VALUES (
    :user_id, :id, :kind, :first, :last, :status, :attempts, :run_after_us, :lease_owner, :lease_until_us, :error,
    :idempotency_key, :payload_hash, :created_us, :updated_us, :payload, :outcome
);

-- name: insert_fresh_job!
-- File a job that nobody has begun, and that was given no key. Bound by place.
INSERT INTO operations (user_id, id, kind, first, last, status, created_at, updated_at)
VALUES (:user_id, :id, :kind, :first, :last, 'queued', :created_us, :updated_us);

-- name: update_job!
-- Move a job on.
UPDATE operations SET
    status = :status, attempts = :attempts, run_after = :run_after_us, lease_owner = :lease_owner,
    lease_until = :lease_until_us, error = :error, outcome = :outcome, updated_at = :updated_us
WHERE user_id = :user_id AND id = :id;

-- name: job_by_key
-- The job filed under an idempotency key.
SELECT * FROM operations WHERE user_id = :user_id AND idempotency_key IN (:key, :sealed);

-- name: keys_of_deleted
-- Plain keys of jobs over an event, all of whose events lost their words.
SELECT o.id, o.idempotency_key FROM operations AS o INDEXED BY operations_key
WHERE o.user_id = :user_id AND o.idempotency_key IS NOT NULL AND o.first <= :event AND o.last >= :event
    AND NOT EXISTS (
        SELECT 1 FROM events AS e WHERE e.user_id = o.user_id AND e.id BETWEEN o.first AND o.last AND e.text <> ''
    );

-- name: set_key!
-- Give a job another key, or none.
UPDATE operations SET idempotency_key = :key WHERE user_id = :user_id AND id = :id;

-- name: job_by_id
-- One job.
SELECT * FROM operations WHERE user_id = :user_id AND id = :id;

-- name: newest_jobs
-- Jobs by number, the newest first.
SELECT * FROM operations
WHERE user_id = :user_id AND (:below IS NULL OR id < :below)
    AND (:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))
    AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
ORDER BY id DESC LIMIT :limit;

-- name: waiting_jobs
-- Jobs that are not finished, in the order they are due. A time after :far_us was set by a clock that was put back.
SELECT * FROM (
    SELECT * FROM operations
    WHERE user_id = :user_id AND status IN ('queued', 'processing', 'failed') AND run_after <= :due_us
        AND status IN (SELECT value FROM json_each(:statuses))
        AND (:until_event IS NULL OR first <= :until_event)
        AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
        AND (:other_kinds IS NULL OR kind NOT IN (SELECT value FROM json_each(:other_kinds)))
    ORDER BY run_after, id LIMIT :limit
)
UNION ALL
SELECT * FROM (
    SELECT * FROM operations
    WHERE user_id = :user_id AND status IN ('queued', 'processing', 'failed') AND run_after > :far_us
        AND status IN (SELECT value FROM json_each(:statuses))
        AND (:until_event IS NULL OR first <= :until_event)
        AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
        AND (:other_kinds IS NULL OR kind NOT IN (SELECT value FROM json_each(:other_kinds)))
    ORDER BY run_after, id LIMIT :limit
)
ORDER BY run_after, id LIMIT :limit;

-- name: find_jobs
-- Jobs by status.
SELECT * FROM operations
WHERE user_id = :user_id AND (run_after <= :due_us OR run_after > :far_us)
    AND (:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))
    AND (:until_event IS NULL OR first <= :until_event)
    AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
    AND (:other_kinds IS NULL OR kind NOT IN (SELECT value FROM json_each(:other_kinds)))
ORDER BY run_after, id LIMIT :limit;

-- name: count_events^
-- Events, and redacted ones.
SELECT count(*) AS total, count(redacted_at) AS redacted FROM events WHERE user_id = :user_id;

-- name: count_statuses
-- Current versions by status.
SELECT status, count(*) AS n FROM memories WHERE user_id = :user_id AND expired_at IS NULL GROUP BY status;

-- name: count_types
-- Active memories by type.
SELECT type, count(*) AS n FROM memories
WHERE user_id = :user_id AND expired_at IS NULL AND status = 'active' GROUP BY type;

-- name: count_jobs
-- Jobs of messages by status.
SELECT status, count(*) AS n FROM operations WHERE user_id = :user_id AND kind <> 'call' GROUP BY status;

-- name: count_waiting^
-- Messages of jobs of these kinds that are not finished, and when the oldest such job was filed.
SELECT coalesce(sum(last - first + 1), 0) AS messages, min(created_at) AS oldest_at FROM operations
WHERE user_id = :user_id AND status IN ('queued', 'processing', 'failed')
    AND kind IN (SELECT value FROM json_each(:kinds));

-- name: count_vectors
-- Vectors by model.
SELECT model_id, count(*) AS n FROM embeddings WHERE user_id = :user_id GROUP BY model_id;

-- name: count_other_vectors^
-- Texts with vectors, and none of this model.
SELECT count(*) AS n FROM (
    SELECT code FROM embeddings WHERE user_id = :user_id
    GROUP BY code HAVING max(CASE WHEN model_id = :model_id THEN 1 ELSE 0 END) = 0
) AS others;

-- name: count_rest^
-- The other sizes.
SELECT
    (SELECT count(*) FROM changes WHERE user_id = :user_id) AS changes,
    (SELECT count(*) FROM contests WHERE user_id = :user_id AND state = 'open') AS open_contests,
    (SELECT count(*) FROM tombstones WHERE user_id = :user_id) AS tombstones;

-- name: add_spend!
-- Add to what a model was paid for on a day; the numbers may be negative, to give back what was only set aside.
INSERT INTO budgets (user_id, day, operation, model_id, tokens_in, tokens_out, calls, cost_usd)
VALUES (:user_id, :day, :operation, :model_id, :tokens_in, :tokens_out, :calls, :cost_usd)
ON CONFLICT (user_id, day, operation, model_id) DO UPDATE SET
    tokens_in = budgets.tokens_in + excluded.tokens_in,
    tokens_out = budgets.tokens_out + excluded.tokens_out,
    calls = budgets.calls + excluded.calls,
    cost_usd = budgets.cost_usd + excluded.cost_usd;

-- name: spent_on_day$
-- Tokens of a day, over all operations and models.
SELECT coalesce(sum(tokens_in + tokens_out), 0) FROM budgets WHERE user_id = :user_id AND day = :day;

-- name: spends
-- The ledger of models, newest day first.
SELECT day, operation, model_id, tokens_in, tokens_out, calls, cost_usd FROM budgets
WHERE user_id = :user_id ORDER BY day DESC, operation, model_id LIMIT :limit;
