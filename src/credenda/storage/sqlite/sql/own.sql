-- name: tenant^
-- The tenant's own row.
SELECT
    user_id, number, tag, hmac_key, credenda_file_key() AS file_key,
    EXISTS (SELECT 1 FROM tombstones WHERE user_id = :user_id) AS has_tombstones,
    (SELECT reason FROM legal_holds WHERE user_id = :user_id AND lifted_at IS NULL) AS hold
FROM tenants WHERE user_id = :user_id;

-- name: view^
-- The tenant's own row, how far its rows have grown (see `heads`), its lineage there, and whether anything was judged:
-- what every search asks at its start, in one statement.
SELECT
    t.user_id, t.number, t.tag, t.hmac_key, credenda_file_key() AS file_key,
    EXISTS (SELECT 1 FROM tombstones WHERE user_id = :user_id) AS has_tombstones,
    (SELECT reason FROM legal_holds WHERE user_id = :user_id AND lifted_at IS NULL) AS hold,
    coalesce(e.id, 0) AS event, coalesce(c.id, 0) AS change,
    max(
        (SELECT coalesce(max(number), 0) FROM embeddings WHERE user_id = :user_id),
        coalesce((SELECT value FROM watermarks WHERE user_id = :user_id AND name = 'vectors'), 0)
    ) AS vector,
    EXISTS (SELECT 1 FROM watermarks WHERE user_id = :user_id AND name = 'judged') AS judged,
    t.generation, e.id, e.chain_hash, c.id, c.kind, c.actor, c.at, c.memory, c.cause
FROM tenants AS t
LEFT JOIN events AS e ON e.user_id = :user_id AND e.id = (SELECT max(id) FROM events WHERE user_id = :user_id)
LEFT JOIN changes AS c ON c.user_id = :user_id AND c.id = (SELECT max(id) FROM changes WHERE user_id = :user_id)
WHERE t.user_id = :user_id;

-- name: renew_generation!
-- Make every index of a tenant that was built so far unusable.
UPDATE tenants SET generation = random() WHERE user_id = :user_id;

-- name: next_tenant_number$
-- The next free number of a tenant.
SELECT coalesce(max(number), 0) + 1 FROM tenants;

-- name: insert_tenant!
-- A new tenant.
INSERT INTO tenants (user_id, number, tag, hmac_key, created_at)
VALUES (:user_id, :number, :tag, :hmac_key, :created_at);

-- name: tenant_and_tips^
-- The tenant's own row and where its rows go on: the last event with its link of the chain, the last job, and the last
-- event that the full-text index holds. Read once a unit of work; a query more would cost every commit.
SELECT
    t.user_id, t.number, t.tag, t.hmac_key, credenda_file_key() AS file_key,
    EXISTS (SELECT 1 FROM tombstones WHERE user_id = :user_id) AS has_tombstones,
    (SELECT reason FROM legal_holds WHERE user_id = :user_id AND lifted_at IS NULL) AS hold,
    e.id AS event, e.chain_hash, t.listed,
    (SELECT max(id) FROM operations WHERE user_id = :user_id) AS job
FROM tenants AS t
LEFT JOIN events AS e ON e.user_id = :user_id AND e.id = (SELECT max(id) FROM events WHERE user_id = :user_id)
WHERE t.user_id = :user_id;

-- name: insert_words!
-- Index a document's words.
INSERT INTO search_index (rowid, tenant, body) VALUES (:doc, :tenant, :body);

-- name: delete_words!
-- Take a document's words out of the index; they must be given as they were indexed.
INSERT INTO search_index (search_index, rowid, tenant, body) VALUES ('delete', :doc, :tenant, :body);

-- name: heads^
-- How far the journal, the change log and the vectors have grown.
SELECT
    (SELECT coalesce(max(id), 0) FROM events WHERE user_id = :user_id) AS event,
    (SELECT coalesce(max(id), 0) FROM changes WHERE user_id = :user_id) AS change,
    max(
        (SELECT coalesce(max(number), 0) FROM embeddings WHERE user_id = :user_id),
        coalesce((SELECT value FROM watermarks WHERE user_id = :user_id AND name = 'vectors'), 0)
    ) AS vector;

-- name: redacted_events
-- Events whose words were taken out since a change, as they are now. The plus keeps SQLite from walking the journal.
SELECT id, session_id, role, speaker, text, flags, occurred_at, passages FROM events
WHERE user_id = :user_id AND redacted_at IS NOT NULL AND +id <= :event AND id IN (
    SELECT CAST(substr(cause, 2) AS INTEGER) FROM changes
    WHERE user_id = :user_id AND id > :after AND id <= :until AND kind = 'delete' AND cause LIKE 'e%'
)
ORDER BY id;

-- name: vectors_by_code
-- Vectors of documents, in the order in which their codes are given.
SELECT v.code, v.model_id, v.dims, v.bits, v.scale, v.data, v.checksum
FROM json_each(:codes) AS wanted CROSS JOIN embeddings AS v
    ON v.user_id = :user_id AND v.model_id = :model_id AND v.code = wanted.value;

-- name: vector_data
-- Vectors of documents as numbers of one model, in the order in which their codes are given.
SELECT v.code, v.bits, v.data
FROM json_each(:codes) AS wanted CROSS JOIN embeddings AS v
    ON v.user_id = :user_id AND v.model_id = :model_id AND v.code = wanted.value;

-- name: put_vector!
-- File a vector, under a number that none had before.
INSERT INTO embeddings (user_id, model_id, code, number, dims, bits, scale, data, checksum)
VALUES (:user_id, :model_id, :code,
    1 + max(
        (SELECT coalesce(max(number), 0) FROM embeddings WHERE user_id = :user_id),
        coalesce((SELECT value FROM watermarks WHERE user_id = :user_id AND name = 'vectors'), 0)
    ), :dims, :bits, :scale, :data, :checksum)
ON CONFLICT (user_id, model_id, code) DO UPDATE SET
    number = excluded.number, dims = excluded.dims, bits = excluded.bits, scale = excluded.scale, data = excluded.data,
    checksum = excluded.checksum;

-- name: matching_words
-- Documents of one tenant, whose numbers lie in a range of their own, that hold each of some words: one list a word.
SELECT (
    SELECT json_group_array(doc) FROM (
        SELECT rowid AS doc FROM search_index
        WHERE search_index MATCH asked.value AND rowid >= :low AND rowid < :high LIMIT :limit
    )
) AS docs
FROM json_each(:matches) AS asked;

-- name: snapshot
-- The image of an index. Whatever a damaged cell holds is read as bytes, to be refused as an image.
SELECT CAST(data AS BLOB) AS data FROM index_blobs WHERE user_id = :user_id AND name = :name ORDER BY ordinal;

-- name: put_retention!
-- How much of each memory is retained: derived values, written in place, all at once; scores by number.
WITH given AS MATERIALIZED (SELECT CAST(key AS INTEGER) AS id, value AS score FROM json_each(:scores))
UPDATE memories SET decay_score = (SELECT score FROM given WHERE given.id = memories.id)
WHERE user_id = :user_id AND id IN (SELECT id FROM given) AND expired_at IS NULL;

-- name: redact_evidence!
-- Take the hash of what was claimed from the evidence of a memory; where it stood stays.
UPDATE OR REPLACE evidence SET claim_hash = zeroblob(16) WHERE user_id = :user_id AND memory = :memory;

-- name: move_evidence!
-- Let a piece of evidence rest on the words that remain.
UPDATE OR REPLACE evidence SET start = :new_start, stop = :new_stop, claim_hash = :new_hash
WHERE user_id = :user_id AND memory = :memory AND event = :event AND start = :start AND claim_hash = :claim_hash;

-- name: users_with_due_jobs
-- Tenants with jobs that are due and not leased, by name, from a name on. It reads at most :window such jobs, so that
-- many jobs of one tenant cost no more than a few.
SELECT DISTINCT user_id FROM (
    SELECT user_id FROM operations
    WHERE {{due_conditions}}
    ORDER BY user_id LIMIT :window
) ORDER BY user_id LIMIT :limit;

-- name: audit_head^
-- The end of the chain; a hash of another type is none.
SELECT seq, CASE typeof(hash) WHEN 'blob' THEN hash END AS hash FROM audit_head;

-- name: move_audit_head!
-- Move the end of the chain.
INSERT OR REPLACE INTO audit_head VALUES (1, :seq, :hash);

-- name: audit_chain
-- Everything, as bytes: a row with a number below 1 or a value of another type counts as changed.
SELECT seq, CASE typeof(record) WHEN 'text' THEN CAST(record AS BLOB) END AS record,
    CASE typeof(hash) WHEN 'blob' THEN hash END AS hash
FROM audit_records ORDER BY seq;

-- name: audit_of_user
-- Records of one user after a number.
SELECT seq, record, hash FROM audit_records
WHERE json_extract(record, '$.user') = :pseudonym AND seq > :seq ORDER BY seq LIMIT :limit;

-- name: check_contests
-- Contests of a missing memory.
SELECT DISTINCT 'k' || contests.id AS name FROM contests, json_each(contests.memories) AS one
WHERE contests.user_id = :user_id AND NOT EXISTS (
    SELECT 1 FROM memories AS m
    WHERE m.user_id = contests.user_id AND m.id = CAST(substr(one.value, 2) AS INTEGER)
);

-- name: check_vector_checksums
-- Vectors that do not match their length or checksum.
SELECT CASE WHEN code >= 8796093022208 THEN 'm' || ((code & 8796093022207) >> 12) ELSE 'e' || (code >> 12) END AS name
FROM embeddings WHERE user_id = :user_id AND (
    typeof(data) <> 'blob'
    OR NOT credenda_is_vector(code, model_id, dims, bits, scale, CAST(data AS BLOB), checksum)
);

-- name: drop_altered_vectors!
-- Vectors that do not match their length or checksum.
DELETE FROM embeddings WHERE user_id = :user_id AND (
    typeof(data) <> 'blob'
    OR NOT credenda_is_vector(code, model_id, dims, bits, scale, CAST(data AS BLOB), checksum)
);

-- name: check_tombstone_checksums
-- Tombstones that do not match their checksum.
SELECT 'tombstone ' || substr(hex(digest), 1, 8) AS name FROM tombstones WHERE user_id = :user_id
    AND checksum IS NOT NULL AND checksum <> credenda_checksum(digest, kind, normaliser, created_at);

-- name: enter_erasure!
-- Add a tenant that was erased elsewhere to the ledger; there is nothing left to prove here.
INSERT OR IGNORE INTO erasures (digest, tag, ledger_key, erased_at, finished_at)
VALUES (:digest, :tag, :hmac_key, :at_us, :at_us);
