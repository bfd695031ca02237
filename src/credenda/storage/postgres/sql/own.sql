-- name: tenant^
-- The tenant's own row.
SELECT
    user_id, 0 AS number, tag, hmac_key, :file_key AS file_key,
    EXISTS (SELECT 1 FROM tombstones WHERE user_id = :user_id) AS has_tombstones,
    (SELECT reason FROM legal_holds WHERE user_id = :user_id AND lifted_at IS NULL) AS hold
FROM tenants WHERE user_id = :user_id;

-- name: view^
-- The tenant's own row, how far its rows have grown (see `heads`), its lineage there, and whether anything was judged:
-- what every search asks at its start, in one statement.
SELECT
    t.user_id, 0 AS number, t.tag, t.hmac_key, :file_key AS file_key,
    EXISTS (SELECT 1 FROM tombstones WHERE user_id = :user_id) AS has_tombstones,
    (SELECT reason FROM legal_holds WHERE user_id = :user_id AND lifted_at IS NULL) AS hold,
    coalesce(e.id, 0) AS event, coalesce(c.id, 0) AS change,
    greatest(
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
UPDATE tenants SET generation = hashtextextended(gen_random_uuid()::text, 0) WHERE user_id = :user_id;

-- name: claim_tag!
-- Give a tag to a tenant; a tag that another tenant has changes nothing. The other one's row is not seen here.
INSERT INTO tenant_tags (tag, user_id) VALUES (:tag, :user_id) ON CONFLICT DO NOTHING;

-- name: drop_tag!
-- Take the tags of a tenant away.
DELETE FROM tenant_tags WHERE user_id = :user_id;

-- name: user_of_tag$
-- The tenant whose ids carry a tag; for the server.
SELECT user_id FROM tenant_tags WHERE tag = :tag;

-- name: insert_tenant!
-- A new tenant.
INSERT INTO tenants (user_id, tag, hmac_key, created_at) VALUES (:user_id, :tag, :hmac_key, :created_at);

-- name: tenant_and_tips^
-- The tenant's own row and where its rows go on: the last event with its link of the chain, the last job, and the last
-- event whose words are indexed. Read once a unit of work; a query more would cost every commit.
SELECT
    t.user_id, 0 AS number, t.tag, t.hmac_key, :file_key AS file_key,
    EXISTS (SELECT 1 FROM tombstones WHERE user_id = :user_id) AS has_tombstones,
    (SELECT reason FROM legal_holds WHERE user_id = :user_id AND lifted_at IS NULL) AS hold,
    e.id AS event, e.chain_hash, t.listed,
    (SELECT max(id) FROM operations WHERE user_id = :user_id) AS job
FROM tenants AS t
LEFT JOIN events AS e ON e.user_id = :user_id AND e.id = (SELECT max(id) FROM events WHERE user_id = :user_id)
WHERE t.user_id = :user_id;

-- name: heads^
-- How far the journal, the change log and the vectors have grown.
SELECT
    (SELECT coalesce(max(id), 0) FROM events WHERE user_id = :user_id) AS event,
    (SELECT coalesce(max(id), 0) FROM changes WHERE user_id = :user_id) AS change,
    greatest(
        (SELECT coalesce(max(number), 0) FROM embeddings WHERE user_id = :user_id),
        coalesce((SELECT value FROM watermarks WHERE user_id = :user_id AND name = 'vectors'), 0)
    ) AS vector;

-- name: changed_memories
-- Memories whose standing moved, as they are now. The limit has each changed memory looked up by its key: a join may be
-- planned to compare all of them with all memories of the tenant as long as there are no statistics.
SELECT
    m.id, m.text, m.entity, m.attribute, m.value, m.status, m.layer, m.valid_from, m.created_at, m.speaker, c.fresh
FROM (SELECT memory, max(CASE WHEN kind IN ('add', 'rebuild') THEN 1 ELSE 0 END) AS fresh FROM changes
    WHERE user_id = :user_id AND id > :after AND id <= :until AND memory IS NOT NULL GROUP BY memory) AS c
CROSS JOIN LATERAL (
    SELECT v.id, v.text, v.entity, v.attribute, v.value, v.status, v.layer, v.valid_from, v.created_at, v.speaker
    FROM memories AS v WHERE v.user_id = :user_id AND v.id = c.memory AND v.expired_at IS NULL LIMIT 1
) AS m
ORDER BY m.id;

-- name: redacted_events
-- Events whose words were taken out since a change, as they are now.
SELECT id, session_id, role, speaker, text, flags, occurred_at, passages FROM events
WHERE user_id = :user_id AND redacted_at IS NOT NULL AND id <= :event AND id IN (
    SELECT CAST(substring(cause FROM '^e([0-9]{1,18})') AS bigint) FROM changes
    WHERE user_id = :user_id AND id > :after AND id <= :until AND kind = 'delete' AND cause LIKE 'e%'
)
ORDER BY id;

-- name: vectors_by_code
-- Vectors of documents, in the order in which their codes are given.
SELECT v.code, v.model_id, v.dims, v.bits, v.scale, v.data, v.checksum
FROM json_array_elements_text(CAST(:codes AS json)) WITH ORDINALITY AS wanted (code, place)
JOIN embeddings AS v ON v.user_id = :user_id AND v.model_id = :model_id AND v.code = CAST(wanted.code AS bigint)
ORDER BY wanted.place;

-- name: vector_data
-- Vectors of documents as numbers of one model, in the order in which their codes are given.
SELECT v.code, v.bits, v.data
FROM json_array_elements_text(CAST(:codes AS json)) WITH ORDINALITY AS wanted (code, place)
JOIN embeddings AS v ON v.user_id = :user_id AND v.model_id = :model_id AND v.code = CAST(wanted.code AS bigint)
ORDER BY wanted.place;

-- name: put_vector!
-- File a vector, under a number that none had before.
INSERT INTO embeddings (user_id, model_id, code, number, dims, bits, scale, data, checksum)
VALUES (:user_id, :model_id, :code,
    1 + greatest(
        (SELECT coalesce(max(number), 0) FROM embeddings WHERE user_id = :user_id),
        coalesce((SELECT value FROM watermarks WHERE user_id = :user_id AND name = 'vectors'), 0)
    ), :dims, :bits, :scale, :data, :checksum)
ON CONFLICT (user_id, model_id, code) DO UPDATE SET
    number = excluded.number, dims = excluded.dims, bits = excluded.bits, scale = excluded.scale, data = excluded.data,
    checksum = excluded.checksum;

-- name: snapshot
-- The image of an index.
SELECT data FROM index_blobs WHERE user_id = :user_id AND name = :name ORDER BY ordinal;

-- name: put_retention!
-- How much of each memory is retained: derived values, written in place, all at once; scores by number.
UPDATE memories SET decay_score = CAST(given.value AS double precision)
FROM json_each_text(CAST(:scores AS json)) AS given
WHERE memories.user_id = :user_id AND memories.id = CAST(given.key AS bigint) AND memories.expired_at IS NULL;

-- name: redact_evidence!
-- Take the hash of what was claimed from the evidence of a memory; where it stood stays, once.
WITH gone AS (DELETE FROM evidence WHERE user_id = :user_id AND memory = :memory RETURNING *)
INSERT INTO evidence (user_id, memory, event, start, claim_hash, stop, reader)
SELECT DISTINCT ON (event, start) user_id, memory, event, start, decode(repeat('00', 16), 'hex'), stop, reader
FROM gone ORDER BY event, start, claim_hash DESC;

-- name: move_evidence!
-- Let a piece of evidence rest on the words that remain.
WITH gone AS (
    DELETE FROM evidence
    WHERE user_id = :user_id AND memory = :memory AND event = :event AND start = :start AND claim_hash = :claim_hash
    RETURNING *
)
INSERT INTO evidence (user_id, memory, event, start, claim_hash, stop, reader)
SELECT user_id, memory, event, :new_start, :new_hash, :new_stop, reader FROM gone
ON CONFLICT (user_id, memory, event, start, claim_hash)
DO UPDATE SET stop = excluded.stop, reader = excluded.reader;

-- name: users_with_due_jobs
-- Tenants with jobs that are due and not leased, by name, from a name on. It reads at most :window such jobs, so that
-- many jobs of one tenant cost no more than a few.
-- For the server.
SELECT DISTINCT user_id FROM (
    SELECT user_id FROM waiting_jobs
    WHERE {{due_conditions}}
    ORDER BY user_id LIMIT :window
) AS due ORDER BY user_id LIMIT :limit;

-- name: users
-- The tenants, a page at a time. For the server.
SELECT user_id FROM tenant_names WHERE user_id > :after_user ORDER BY user_id LIMIT :limit;

-- name: oldest_waiting$
-- When the oldest job of these kinds was filed that is not done and not given up, of all tenants: the first of each kind
-- in an index. For the server.
SELECT min(oldest.created_at) AS created_at FROM json_array_elements_text(CAST(:kinds AS json)) AS wanted (kind)
CROSS JOIN LATERAL (
    SELECT created_at FROM waiting_jobs WHERE kind = wanted.kind ORDER BY created_at LIMIT 1
) AS oldest;

-- name: is_user^
-- Whether a user has a memory here, or a token. For the server.
SELECT 1 FROM tenant_names WHERE user_id = :user_id
UNION ALL SELECT 1 FROM api_tokens WHERE user_id = :user_id LIMIT 1;

-- name: add_words!
-- Let documents be found by words.
INSERT INTO words (user_id, term, code) SELECT :user_id, one.term, one.code
FROM unnest(:term_list, :code_list) AS one (term, code) ON CONFLICT DO NOTHING;

-- name: drop_words!
-- Take the words of a document away.
DELETE FROM words WHERE user_id = :user_id AND term = ANY (:term_list) AND code = :code;

-- name: first_codes
-- The first documents that hold each of some words, from a code on.
SELECT asked.term, found.code
FROM unnest(:term_list) AS asked (term)
CROSS JOIN LATERAL (
    SELECT w.code FROM words AS w
    WHERE w.user_id = :user_id AND w.term = asked.term AND w.code >= :low ORDER BY w.code LIMIT :limit
) AS found;

-- name: common_codes
-- The first documents that hold all of some words, from a code on.
SELECT code FROM words
WHERE user_id = :user_id AND term = ANY (:term_list) AND code >= :low
GROUP BY code HAVING count(*) = cardinality(:term_list) ORDER BY code LIMIT :limit;

-- name: terms_between
-- The indexed words that begin with a character: those from it on, and before the next one.
SELECT DISTINCT term FROM words WHERE user_id = :user_id AND term >= :term AND term < :before ORDER BY term LIMIT :limit;

-- name: audit_head^
-- The end of the chain.
SELECT seq, hash FROM audit_head;

-- name: move_audit_head!
-- Move the end of the chain.
INSERT INTO audit_head (only_one, seq, hash) VALUES (1, :seq, :hash)
ON CONFLICT (only_one) DO UPDATE SET seq = excluded.seq, hash = excluded.hash;

-- name: audit_chain
-- Everything, as bytes.
SELECT seq, convert_to(record, 'UTF8') AS record, hash FROM audit_records ORDER BY seq;

-- name: audit_of_user
-- Records of one user after a number.
SELECT seq, record, hash FROM audit_records
WHERE (record::json ->> 'user') = :pseudonym AND seq > :seq ORDER BY seq LIMIT :limit;

-- name: check_contests
-- Contests of a missing memory.
SELECT DISTINCT 'k' || contests.id AS name
FROM contests CROSS JOIN LATERAL json_array_elements_text(CAST(contests.memories AS json)) AS one
WHERE contests.user_id = :user_id AND NOT EXISTS (
    SELECT 1 FROM memories AS m
    WHERE m.user_id = contests.user_id AND m.id = CAST(substring(one.value FROM '^m([0-9]{1,18})') AS bigint)
);

-- name: vector_cells
-- Vectors with their checksums, in the order of `is_sound_vector`.
SELECT code, model_id, dims, bits, scale, data, checksum FROM embeddings WHERE user_id = :user_id;

-- name: drop_vector!
-- One vector.
DELETE FROM embeddings WHERE user_id = :user_id AND model_id = :model_id AND code = :code;

-- name: tombstone_cells
-- Tombstones with their checksums.
SELECT digest, kind, normaliser, created_at, checksum FROM tombstones
WHERE user_id = :user_id AND checksum IS NOT NULL;

-- name: listed_events
-- Events whose words are indexed, with their passages.
SELECT e.id, e.role, e.speaker, e.occurred_at, e.text, e.passages
FROM tenants AS t JOIN events AS e ON e.user_id = t.user_id AND e.id <= t.listed
WHERE t.user_id = :user_id AND e.text <> '' AND e.id > :after ORDER BY e.id LIMIT :limit;

-- name: first_versions
-- Memories as they were first worded.
SELECT id, text, entity, attribute, value FROM memories
WHERE user_id = :user_id AND version = 1 AND text <> '' AND id > :after ORDER BY id LIMIT :limit;

-- name: drop_all_words!
-- Every indexed word of a tenant.
DELETE FROM words WHERE user_id = :user_id;

-- name: all_words
-- Every indexed word of a tenant by document.
SELECT code, term FROM words WHERE user_id = :user_id ORDER BY code, term;

-- name: enter_erasure!
-- Add a tenant that was erased elsewhere to the ledger.
INSERT INTO erasures (digest, tag, ledger_key, erased_at) VALUES (:digest, :tag, :hmac_key, :at_us)
ON CONFLICT (digest, tag) DO NOTHING;
