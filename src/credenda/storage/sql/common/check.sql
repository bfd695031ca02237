-- Checks of a tenant's rows: each names the rows that are wrong. The numbers are those of `pack_code`: 8796093022208 is
-- the bit of a memory, and 12 bits are the passage.

-- name: check_current_version
-- Memories without exactly one current version.
SELECT 'm' || id AS name FROM memories WHERE user_id = :user_id
GROUP BY id HAVING sum(CASE WHEN expired_at IS NULL THEN 1 ELSE 0 END) <> 1;

-- name: check_evidence
-- Evidence of a missing memory or event.
SELECT 'm' || memory || ' from e' || event AS name FROM evidence WHERE user_id = :user_id AND (
    NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.user_id = evidence.user_id AND m.id = evidence.memory)
    OR NOT EXISTS (SELECT 1 FROM events AS e WHERE e.user_id = evidence.user_id AND e.id = evidence.event)
);

-- name: drop_lost_evidence!
-- Evidence of missing memories.
DELETE FROM evidence WHERE user_id = :user_id
    AND NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.user_id = evidence.user_id AND m.id = evidence.memory);

-- name: check_successor
-- Memories superseded by a missing one.
SELECT 'm' || id AS name FROM memories AS m WHERE user_id = :user_id AND superseded_by IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM memories AS n WHERE n.user_id = m.user_id AND n.id = m.superseded_by);

-- name: check_change_log
-- Memories that no change in the log explains.
SELECT DISTINCT 'm' || id AS name FROM memories AS m WHERE user_id = :user_id
    AND NOT EXISTS (SELECT 1 FROM changes AS c WHERE c.user_id = m.user_id AND c.memory = m.id AND c.kind = 'add');

-- name: check_change_numbers
-- Gaps in the log.
SELECT 'before c' || id AS name FROM changes AS c WHERE user_id = :user_id AND id > 1
    AND NOT EXISTS (SELECT 1 FROM changes AS p WHERE p.user_id = c.user_id AND p.id = c.id - 1);

-- name: check_journal_numbers
-- Gaps in the journal.
SELECT 'before e' || id AS name FROM events AS e WHERE user_id = :user_id AND id > 1
    AND NOT EXISTS (SELECT 1 FROM events AS p WHERE p.user_id = e.user_id AND p.id = e.id - 1);

-- name: check_passages
-- Passages of missing events.
SELECT 'e' || event AS name FROM passages WHERE user_id = :user_id
    AND NOT EXISTS (SELECT 1 FROM events AS e WHERE e.user_id = passages.user_id AND e.id = passages.event);

-- name: drop_lost_passages!
-- Passages of missing events.
DELETE FROM passages WHERE user_id = :user_id
    AND NOT EXISTS (SELECT 1 FROM events AS e WHERE e.user_id = passages.user_id AND e.id = passages.event);

-- name: check_vectors
-- Vectors of missing or redacted documents.
SELECT CASE WHEN code >= 8796093022208 THEN 'm' || ((code & 8796093022207) >> 12) ELSE 'e' || (code >> 12) END AS name
FROM embeddings WHERE user_id = :user_id AND CASE WHEN code >= 8796093022208
    THEN NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.user_id = embeddings.user_id
        AND m.id = (code & 8796093022207) >> 12 AND m.text <> '')
    ELSE NOT EXISTS (SELECT 1 FROM events AS e WHERE e.user_id = embeddings.user_id
        AND e.id = code >> 12 AND e.text <> '') END;

-- name: drop_lost_vectors!
-- Vectors of missing or redacted documents.
DELETE FROM embeddings WHERE user_id = :user_id AND CASE WHEN code >= 8796093022208
    THEN NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.user_id = embeddings.user_id
        AND m.id = (code & 8796093022207) >> 12 AND m.text <> '')
    ELSE NOT EXISTS (SELECT 1 FROM events AS e WHERE e.user_id = embeddings.user_id
        AND e.id = code >> 12 AND e.text <> '') END;

-- name: check_accesses
-- Impressions of missing memories.
SELECT 'm' || memory AS name FROM access_log WHERE user_id = :user_id
    AND NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.user_id = access_log.user_id AND m.id = access_log.memory);

-- name: drop_lost_accesses!
-- Impressions of missing memories.
DELETE FROM access_log WHERE user_id = :user_id
    AND NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.user_id = access_log.user_id AND m.id = access_log.memory);

-- name: check_jobs
-- Jobs for missing events.
SELECT 'j' || id AS name FROM operations WHERE user_id = :user_id
    AND last > (SELECT coalesce(max(id), 0) FROM events WHERE user_id = :user_id);

-- name: drop_lost_jobs!
-- Jobs for missing events.
DELETE FROM operations WHERE user_id = :user_id
    AND last > (SELECT coalesce(max(id), 0) FROM events WHERE user_id = :user_id);

-- name: check_dead_jobs
-- Jobs that gave up.
SELECT 'j' || id AS name FROM operations WHERE user_id = :user_id AND status = 'dead' AND kind <> 'call';

-- name: journal_links
-- The journal as its chain covers it.
SELECT id, role, speaker, source, session_id AS session, agent_id AS agent, occurred_at AS occurred_us,
    recorded_at AS recorded_us, content_hmac, chain_hash, text, redacted_at
FROM events WHERE user_id = :user_id ORDER BY id;
