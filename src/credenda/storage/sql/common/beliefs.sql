-- name: next_memory$
-- The next free number of a memory.
SELECT coalesce(max(id), 0) + 1 FROM memories WHERE user_id = :user_id;

-- name: insert_version!
-- One version of a memory.
INSERT INTO memories (
    user_id, id, version, text, text_hash, type, memory_type, topic, entity, attribute, value, entity_key,
    attribute_key, scope, cardinality, stance, speaker, confidence, importance, base_importance, layer, status,
    relation, superseded_by, contested, pinned, provisional, trust, confirmations, surprise, emotional_valence,
    source_session, valid_from, valid_until, created_at, recorded_at, expired_at, expires_at, last_accessed,
    access_count, decay_score, tags, metadata
) VALUES (
    :user_id, :id, :version, :text, :text_hash, :type, :memory_type, :topic, :entity, :attribute, :value, :entity_key,
    :attribute_key, :scope, :cardinality, :stance, :speaker, :confidence, :importance, :base_importance, :layer,
    :status, :relation, :superseded_by, :contested, :pinned, :provisional, :trust, :confirmations, :surprise,
    :emotional_valence, :source_session, :valid_from_us, :valid_until_us, :created_us, :recorded_us, :expired_us,
    :expires_us, :last_accessed_us, :access_count, :decay_score, :tags, :metadata
);

-- name: expire_version!
-- Close the version that the next one replaces; NULL in valid_until is the state of current beliefs alone.
UPDATE memories SET expired_at = :at_us, valid_until = coalesce(valid_until, -4611686018427387904)
WHERE user_id = :user_id AND id = :id AND expired_at IS NULL;

-- name: current_version$
-- The number of the version held now.
SELECT version FROM memories WHERE user_id = :user_id AND id = :id AND expired_at IS NULL;

-- name: memories_by_id
-- Current versions by number; the columns as they are read, for every search asks.
SELECT
    text, type, topic, entity, attribute, value, scope, cardinality, stance, speaker, confidence, importance, layer,
    status, valid_from, valid_until, trust, pinned, provisional, source_session, tags, metadata, expires_at, id,
    version, created_at, recorded_at, expired_at, relation, superseded_by, contested, confirmations,
    base_importance, surprise, emotional_valence, last_accessed, access_count, decay_score
FROM memories
WHERE user_id = :user_id AND id IN (SELECT value FROM json_each(:ids)) AND expired_at IS NULL ORDER BY id;

-- name: memories_known_at
-- The versions of these memories that were held at a time.
SELECT * FROM memories
WHERE user_id = :user_id AND id IN (SELECT value FROM json_each(:ids))
    AND recorded_at <= :known_at_us AND (expired_at IS NULL OR expired_at > :known_at_us)
ORDER BY id, version;

-- name: versions
-- Every version of these memories, oldest first.
SELECT * FROM memories
WHERE user_id = :user_id AND id IN (SELECT value FROM json_each(:ids)) ORDER BY id, version;

-- name: memories_of_pair
-- Current versions of one entity and attribute. Left to itself SQLite walks all memories to save the sort.
SELECT * FROM memories INDEXED BY memories_pair
WHERE user_id = :user_id AND entity_key = :entity AND attribute_key = :attribute AND expired_at IS NULL
    AND attribute_key IS NOT NULL
    AND (:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))
    AND (:as_of_us IS NULL OR (
        (coalesce(valid_from, created_at) <= :as_of_us OR (stance IN ('planned', 'considered')
            AND created_at <= :as_of_us AND (status <> 'superseded' OR valid_until > valid_from))
            OR (valid_from IS NULL AND valid_until <= created_at AND valid_until <> -4611686018427387904))
        AND (valid_until IS NULL OR valid_until > :as_of_us OR valid_until = -4611686018427387904)
        AND coalesce(relation, '') <> 'corrected' AND status <> 'invalidated'
    ))
ORDER BY id DESC LIMIT :limit;

-- name: current_of_pair
-- Current values of one entity and attribute; each status is one walk of the index from its newest row.
SELECT * FROM (
    SELECT * FROM memories INDEXED BY memories_pair
    WHERE user_id = :user_id AND entity_key = :entity AND attribute_key = :attribute AND status = 'active'
        AND expired_at IS NULL AND attribute_key IS NOT NULL
        AND 'active' IN (SELECT value FROM json_each(:statuses))
    ORDER BY id DESC LIMIT :limit
)
UNION ALL
SELECT * FROM (
    SELECT * FROM memories INDEXED BY memories_pair
    WHERE user_id = :user_id AND entity_key = :entity AND attribute_key = :attribute AND status = 'challenged'
        AND expired_at IS NULL AND attribute_key IS NOT NULL
        AND 'challenged' IN (SELECT value FROM json_each(:statuses))
    ORDER BY id DESC LIMIT :limit
)
UNION ALL
SELECT * FROM (
    SELECT * FROM memories INDEXED BY memories_pair
    WHERE user_id = :user_id AND entity_key = :entity AND attribute_key = :attribute AND status = 'archived'
        AND expired_at IS NULL AND attribute_key IS NOT NULL
        AND 'archived' IN (SELECT value FROM json_each(:statuses))
    ORDER BY id DESC LIMIT :limit
)
UNION ALL
SELECT * FROM (
    SELECT * FROM memories INDEXED BY memories_pair
    WHERE user_id = :user_id AND entity_key = :entity AND attribute_key = :attribute AND status = 'candidate'
        AND expired_at IS NULL AND attribute_key IS NOT NULL
        AND 'candidate' IN (SELECT value FROM json_each(:statuses))
    ORDER BY id DESC LIMIT :limit
)
ORDER BY id DESC LIMIT :limit;

-- name: replaced_of_pair
-- Replaced values of one entity and attribute; each status is one walk of the index from its newest row.
SELECT * FROM (
    SELECT * FROM memories INDEXED BY memories_pair
    WHERE user_id = :user_id AND entity_key = :entity AND attribute_key = :attribute AND status = 'superseded'
        AND expired_at IS NULL AND attribute_key IS NOT NULL
        AND 'superseded' IN (SELECT value FROM json_each(:statuses))
    ORDER BY id DESC LIMIT :limit
)
UNION ALL
SELECT * FROM (
    SELECT * FROM memories INDEXED BY memories_pair
    WHERE user_id = :user_id AND entity_key = :entity AND attribute_key = :attribute AND status = 'merged'
        AND expired_at IS NULL AND attribute_key IS NOT NULL
        AND 'merged' IN (SELECT value FROM json_each(:statuses))
    ORDER BY id DESC LIMIT :limit
)
ORDER BY id DESC LIMIT :limit;

-- name: memories_of_text
-- Current versions with one normal form of text.
SELECT * FROM memories INDEXED BY memories_text
WHERE user_id = :user_id AND text_hash = :text_hash AND expired_at IS NULL
    AND (:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))
ORDER BY id DESC LIMIT :limit;

-- name: memories_always
-- Current versions that are pinned, or standing instructions.
SELECT * FROM memories INDEXED BY memories_always
WHERE user_id = :user_id AND expired_at IS NULL AND (pinned = 1 OR attribute_key = 'instruction')
    AND (:attribute IS NULL OR attribute_key = :attribute)
    AND (:pinned IS NULL OR pinned = :pinned)
    AND (:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))
    AND (:as_of_us IS NULL OR (
        (coalesce(valid_from, created_at) <= :as_of_us OR (stance IN ('planned', 'considered')
            AND created_at <= :as_of_us AND (status <> 'superseded' OR valid_until > valid_from))
            OR (valid_from IS NULL AND valid_until <= created_at AND valid_until <> -4611686018427387904))
        AND (valid_until IS NULL OR valid_until > :as_of_us OR valid_until = -4611686018427387904)
        AND coalesce(relation, '') <> 'corrected' AND status <> 'invalidated'
    ))
ORDER BY id DESC LIMIT :limit;

-- name: find_memories
-- Current versions (or those held at a time) by filter, newest id first.
SELECT * FROM memories
WHERE user_id = :user_id AND id < :below
    {{memory_conditions}}
ORDER BY id DESC LIMIT :limit OFFSET :offset;

-- name: count_memory_fields
-- How many memories match a filter, by the values of their fields, the most frequent first. Field `all` counts them
-- whole, `unused` those that were stored before a time and never returned.
WITH matching AS (
    SELECT id, status, type, layer, stance, topic, entity, attribute, source_session, access_count, created_at, pinned
    FROM memories
    WHERE user_id = :user_id
        {{memory_conditions}}
)
SELECT 'all' AS field, '' AS value, count(*) AS number FROM matching
UNION ALL
SELECT 'unused', '', count(*) FROM matching
WHERE status IN ('active', 'challenged') AND access_count = 0 AND pinned = 0 AND created_at < :unused_before_us
UNION ALL
SELECT * FROM (
    SELECT 'status' AS field, status AS value, count(*) AS number FROM matching
    GROUP BY status ORDER BY number DESC, value LIMIT :limit
) AS by_status
UNION ALL
SELECT * FROM (
    SELECT 'type' AS field, type AS value, count(*) AS number FROM matching
    GROUP BY type ORDER BY number DESC, value LIMIT :limit
) AS by_type
UNION ALL
SELECT * FROM (
    SELECT 'layer' AS field, layer AS value, count(*) AS number FROM matching
    GROUP BY layer ORDER BY number DESC, value LIMIT :limit
) AS by_layer
UNION ALL
SELECT * FROM (
    SELECT 'stance' AS field, stance AS value, count(*) AS number FROM matching
    GROUP BY stance ORDER BY number DESC, value LIMIT :limit
) AS by_stance
UNION ALL
SELECT * FROM (
    SELECT 'topic' AS field, topic AS value, count(*) AS number FROM matching WHERE topic <> ''
    GROUP BY topic ORDER BY number DESC, value LIMIT :limit
) AS by_topic
UNION ALL
SELECT * FROM (
    SELECT 'entity' AS field, entity AS value, count(*) AS number FROM matching WHERE entity <> ''
    GROUP BY entity ORDER BY number DESC, value LIMIT :limit
) AS by_entity
UNION ALL
SELECT * FROM (
    SELECT 'attribute' AS field, attribute AS value, count(*) AS number FROM matching WHERE attribute <> ''
    GROUP BY attribute ORDER BY number DESC, value LIMIT :limit
) AS by_attribute
UNION ALL
SELECT * FROM (
    SELECT 'session' AS field, source_session AS value, count(*) AS number FROM matching WHERE source_session <> ''
    GROUP BY source_session ORDER BY number DESC, value LIMIT :limit
) AS by_session
UNION ALL
SELECT * FROM (
    SELECT 'source' AS field, e.source AS value, count(DISTINCT m.id) AS number
    FROM matching AS m
    JOIN evidence AS v ON v.user_id = :user_id AND v.memory = m.id
    JOIN events AS e ON e.user_id = :user_id AND e.id = v.event
    GROUP BY e.source ORDER BY number DESC, value LIMIT :limit
) AS by_source;

-- name: insert_evidence!
-- Why a memory is held.
INSERT INTO evidence (user_id, memory, event, start, stop, claim_hash, reader)
VALUES (:user_id, :memory, :event, :start, :stop, :claim_hash, :reader)
ON CONFLICT DO NOTHING;

-- name: evidence
-- What these memories rest on, and what rests on these events; what is both stands here twice, and nothing in order.
SELECT memory, event, start, stop, claim_hash, reader FROM evidence
WHERE user_id = :user_id AND memory IN (SELECT value FROM json_each(:memories))
UNION ALL
SELECT memory, event, start, stop, claim_hash, reader FROM evidence INDEXED BY evidence_event
WHERE user_id = :user_id AND event IN (SELECT value FROM json_each(:events));

-- name: next_change$
-- The next free number of a change.
SELECT coalesce(max(id), 0) + 1 FROM changes WHERE user_id = :user_id;

-- name: insert_change!
-- Log an applied change.
INSERT INTO changes (user_id, id, kind, actor, reason, at, memory, cause, delta, checksum)
VALUES (:user_id, :id, :kind, :actor, :reason, :at_us, :memory, :cause, :delta, :checksum);

-- name: find_changes
-- Changes by filter, oldest first.
SELECT * FROM changes
WHERE user_id = :user_id AND id > :after
    AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
    AND (:cause IS NULL OR cause = :cause)
    AND (:later_than_us IS NULL OR at > :later_than_us)
    AND (:until_us IS NULL OR at <= :until_us)
ORDER BY id LIMIT :limit;

-- name: changes_of
-- Changes of these memories, oldest first.
SELECT * FROM changes INDEXED BY changes_memory
WHERE user_id = :user_id AND memory IN (SELECT value FROM json_each(:memories)) AND id > :after
    AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
    AND (:cause IS NULL OR cause = :cause)
    AND (:later_than_us IS NULL OR at > :later_than_us)
    AND (:until_us IS NULL OR at <= :until_us)
ORDER BY id LIMIT :limit;

-- name: changes_of_range
-- Changes of a run of memories, one memory after the other.
SELECT * FROM changes
WHERE user_id = :user_id AND memory >= :low AND memory < :high ORDER BY memory, id;

-- name: delete_versions!
-- Every version of a memory, about to be filed again.
DELETE FROM memories WHERE user_id = :user_id AND id = :id;

-- name: delete_evidence!
-- What a memory rests on, about to be filed again.
DELETE FROM evidence WHERE user_id = :user_id AND memory = :id;

-- name: next_contest$
-- The next free number of a contest.
SELECT coalesce(max(id), 0) + 1 FROM contests WHERE user_id = :user_id;

-- name: put_contest!
-- File a contest, or replace what was filed.
INSERT INTO contests (
    user_id, id, speaker, entity, attribute, scope, type_class, vals, memories, state, question, opened_at,
    resolved_at, resolution, scopes
) VALUES (
    :user_id, :id, :speaker, :entity, :attribute, :scope, :type_class, :vals, :memories, :state, :question, :opened_us,
    :resolved_us, :resolution, :scopes
) ON CONFLICT (user_id, id) DO UPDATE SET
    speaker = excluded.speaker, entity = excluded.entity, attribute = excluded.attribute, scope = excluded.scope,
    type_class = excluded.type_class, vals = excluded.vals, memories = excluded.memories, state = excluded.state,
    question = excluded.question, opened_at = excluded.opened_at, resolved_at = excluded.resolved_at,
    resolution = excluded.resolution, scopes = excluded.scopes;

-- name: contests_of_pair
-- Contests of one entity and attribute, open ones first, then newest first.
SELECT * FROM contests INDEXED BY contests_pair
WHERE user_id = :user_id AND entity = :entity AND attribute = :attribute AND (:state IS NULL OR state = :state)
ORDER BY state = 'open' DESC, id DESC;

-- name: find_contests
-- Contests, open ones first, then newest first.
SELECT * FROM contests
WHERE user_id = :user_id AND (:state IS NULL OR state = :state) AND (:id IS NULL OR id = :id)
ORDER BY state = 'open' DESC, id DESC;

-- name: redact_versions!
-- Take the words out of every version of a memory.
UPDATE memories SET
    text = '', text_hash = 0, topic = NULL, entity = NULL, entity_key = NULL, attribute = NULL, attribute_key = NULL,
    value = NULL, scope = NULL, tags = NULL, metadata = NULL, speaker = 'user', source_session = ''
WHERE user_id = :user_id AND id = :id;

-- name: redact_change!
-- Take the words out of one entry of the log; what is left still says what the versions of its memory are.
UPDATE changes SET reason = 'redacted', delta = :delta, checksum = :checksum WHERE user_id = :user_id AND id = :id;

-- name: changes_about_contest
-- The log of the contests that name a memory or a contest. (`replace` is the search for a text that all dialects have.)
SELECT * FROM changes
WHERE user_id = :user_id AND memory IS NULL AND replace(delta, '"' || :public_id || '"', '') <> delta;

-- name: changes_with_phrase
-- Changes whose reason quotes what was deleted, and entries about contests that do.
SELECT * FROM changes
WHERE user_id = :user_id AND (
    replace(reason, :phrase, '') <> reason OR (memory IS NULL AND replace(delta, :phrase, '') <> delta)
);

-- name: changes_with_reason
-- Changes of memories whose reason holds some words.
SELECT * FROM changes
WHERE user_id = :user_id AND memory IS NOT NULL AND replace(lower(reason), lower(:phrase), '') <> lower(reason)
ORDER BY id;

-- name: log_access!
-- Count a showing or a judgement of a memory in a row for each session and day; of judgements the last one stands.
INSERT INTO access_log (user_id, session_id, memory, day, at, shown, useful)
VALUES (:user_id, :session, :memory, :day, :at_us, :shown, :useful)
ON CONFLICT (user_id, session_id, memory, day)
DO UPDATE SET at = excluded.at,
    shown = access_log.shown + excluded.shown,
    useful = CASE WHEN excluded.useful = 0 THEN access_log.useful ELSE excluded.useful END;

-- name: accessed_today$
-- Whether a memory was already shown in this session today.
SELECT EXISTS (
    SELECT 1 FROM access_log
    WHERE user_id = :user_id AND session_id = :session AND memory = :memory AND day = :day AND shown > 0
);

-- name: touch_memory!
-- Count one more session and day in which a memory was shown.
UPDATE memories SET access_count = access_count + 1, last_accessed = :at_us
WHERE user_id = :user_id AND id = :id AND expired_at IS NULL;

-- name: confirm_memory!
-- Count one more independent saying of a memory.
UPDATE memories SET confirmations = confirmations + 1
WHERE user_id = :user_id AND id = :id AND expired_at IS NULL;

-- name: accesses_of
-- In which sessions and on which days memories were shown, and what was said of them.
SELECT memory, session_id, day, at, shown, useful FROM access_log
WHERE user_id = :user_id AND memory IN (SELECT value FROM json_each(:ids)) ORDER BY memory, at;

-- name: recalled
-- The recall log of some days, a line a memory: what was shown on most days, in most sessions, latest, comes first.
SELECT memory, count(DISTINCT CASE WHEN shown > 0 THEN day END) AS days,
    count(DISTINCT CASE WHEN shown > 0 THEN session_id END) AS sessions, sum(useful) AS useful, max(at) AS last_at
FROM access_log
WHERE user_id = :user_id AND day >= :first_day AND day < :until_day
GROUP BY memory HAVING sum(shown) > 0
ORDER BY sum(useful) < 0, days DESC, sessions DESC, last_at DESC, memory LIMIT :limit;

-- name: put_surprise!
-- How new a memory was when it was written, and its importance after that: derived values, written in place once.
UPDATE memories SET surprise = :score, importance = :importance
WHERE user_id = :user_id AND id = :id AND expired_at IS NULL AND surprise IS NULL;

-- name: expiring_memories
-- Current versions whose time is over, newest id first, but for those that lost their words.
SELECT * FROM memories INDEXED BY memories_expiring
WHERE user_id = :user_id AND expires_at < :expires_before_us AND expires_at IS NOT NULL AND expired_at IS NULL
    AND text <> ''
ORDER BY id DESC LIMIT :limit;

-- name: reword_versions!
-- Replace a text in every version of a memory that has it.
UPDATE memories SET text = :text, text_hash = :text_hash WHERE user_id = :user_id AND id = :id AND text = :before;

-- name: reword_fields!
-- Replace what a version of a memory was filed under.
UPDATE memories SET topic = :topic, tags = :tags, metadata = :metadata, entity = :entity, entity_key = :entity_key
WHERE user_id = :user_id AND id = :id AND version = :version;

-- name: reword_change!
-- Replace the words of one entry of the log.
UPDATE changes SET delta = :delta, checksum = :checksum WHERE user_id = :user_id AND id = :id;
