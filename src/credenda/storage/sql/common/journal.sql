-- name: lineage^
-- What tells this history from another at a position: a redaction alters none of it.
SELECT t.generation, e.id, e.chain_hash, c.id, c.kind, c.actor, c.at, c.memory, c.cause
FROM tenants AS t
LEFT JOIN events AS e ON e.user_id = :user_id AND e.id = :event
LEFT JOIN changes AS c ON c.user_id = :user_id AND c.id = :change
WHERE t.user_id = :user_id;

-- name: user_of_tag$
-- The tenant whose ids carry a tag.
SELECT user_id FROM tenants WHERE tag = :tag;

-- name: insert_event!
-- Journal one event. Bound by place, in this order (see `placed`).
INSERT INTO events (
    user_id, id, session_id, agent_id, role, speaker, source, trust, topic, text, occurred_at, recorded_at,
    content_hmac, chain_hash, passages, external_id, flags, tags, metadata, expires_at
) VALUES (
    :user_id, :id, :session, :agent, :role, :speaker, :source, :trust, :topic, :text, :occurred_us, :recorded_us,
    :content_hmac, :chain_hash, :passages, :external_id, :flags, :tags, :metadata, :expires_us
);

-- name: insert_plain_event!
-- Journal one event of one passage that has neither flags nor anything that its caller may add. Bound by place.
INSERT INTO events (
    user_id, id, session_id, agent_id, role, speaker, source, trust, topic, text, occurred_at, recorded_at,
    content_hmac, chain_hash
) VALUES (
    :user_id, :id, :session, :agent, :role, :speaker, :source, :trust, :topic, :text, :occurred_us, :recorded_us,
    :content_hmac, :chain_hash
);

-- name: insert_passage!
-- One passage of a long event.
INSERT INTO passages (user_id, event, ordinal, start, stop) VALUES (:user_id, :event, :ordinal, :start, :stop);

-- name: passages_of
-- The passages of a long event.
SELECT ordinal, start, stop FROM passages WHERE user_id = :user_id AND event = :event ORDER BY ordinal;

-- name: unlisted_events
-- Events whose words the full-text index does not hold yet.
SELECT e.id, e.role, e.speaker, e.occurred_at, e.text, e.passages
FROM tenants AS t JOIN events AS e ON e.user_id = t.user_id AND e.id > t.listed
WHERE t.user_id = :user_id AND e.text <> '' ORDER BY e.id;

-- name: mark_listed!
-- The full-text index holds every event so far.
UPDATE tenants SET listed = (SELECT coalesce(max(id), 0) FROM events WHERE user_id = :user_id)
WHERE user_id = :user_id;

-- name: events_by_id
-- Events by number; the columns as they are read, for every search asks.
SELECT
    text, role, speaker, source, trust, topic, session_id, agent_id, external_id, occurred_at, flags, tags,
    metadata, expires_at, id, recorded_at, content_hmac, chain_hash, redacted_at
FROM events
WHERE user_id = :user_id AND id IN (SELECT value FROM json_each(:ids)) ORDER BY id;

-- name: event_of_passage
-- The event that a passage is cut from.
SELECT role, speaker, occurred_at, text, passages FROM events WHERE user_id = :user_id AND id = :event;

-- name: find_events
-- Events by filter, oldest first.
SELECT * FROM events
WHERE user_id = :user_id AND id > :after AND id < :below
    AND (:redacted OR redacted_at IS NULL) AND (NOT :worded OR text <> '')
    AND (:session IS NULL OR session_id = :session)
    AND (:topic IS NULL OR topic = :topic)
    AND (:source IS NULL OR source = :source)
    AND (:recorded_before_us IS NULL OR recorded_at < :recorded_before_us)
    AND (:occurred_before_us IS NULL OR occurred_at < :occurred_before_us)
    AND (:expires_before_us IS NULL OR expires_at < :expires_before_us)
ORDER BY id LIMIT :limit;

-- name: find_events_newest
-- Events by filter, newest first.
SELECT * FROM events
WHERE user_id = :user_id AND id > :after AND id < :below
    AND (:redacted OR redacted_at IS NULL) AND (NOT :worded OR text <> '')
    AND (:session IS NULL OR session_id = :session)
    AND (:topic IS NULL OR topic = :topic)
    AND (:source IS NULL OR source = :source)
    AND (:recorded_before_us IS NULL OR recorded_at < :recorded_before_us)
    AND (:occurred_before_us IS NULL OR occurred_at < :occurred_before_us)
    AND (:expires_before_us IS NULL OR expires_at < :expires_before_us)
ORDER BY id DESC LIMIT :limit;

-- name: redact_event!
-- Take the words out of an event; its place in the chain stays. An event without words keeps no name either.
UPDATE events SET
    text = :text, redacted_at = :at_us, metadata = NULL, tags = NULL,
    topic = CASE WHEN :text = '' THEN NULL ELSE topic END,
    external_id = CASE WHEN :text = '' THEN NULL ELSE external_id END,
    session_id = CASE WHEN :text = '' THEN '' ELSE session_id END,
    agent_id = CASE WHEN :text = '' THEN '' ELSE agent_id END,
    speaker = CASE WHEN :text = '' THEN role ELSE speaker END
WHERE user_id = :user_id AND id = :id;

-- name: permit_redaction!
-- Let this transaction change the journal and the change log.
INSERT INTO redaction_permits (user_id, reason) VALUES (:user_id, :reason)
ON CONFLICT (user_id) DO UPDATE SET reason = excluded.reason;

-- name: revoke_permit!
-- Close the journal again.
DELETE FROM redaction_permits WHERE user_id = :user_id;

-- name: insert_tombstone!
-- Remember, by keyed hash, that something was deleted.
INSERT INTO tombstones (user_id, digest, kind, normaliser, created_at, checksum)
VALUES (:user_id, :digest, :kind, :normaliser, :created_us, :checksum)
ON CONFLICT DO NOTHING;

-- name: delete_tombstone!
-- The person has said a deleted thing again on purpose.
DELETE FROM tombstones WHERE user_id = :user_id AND digest = :digest;

-- name: tombstoned$
-- Whether a hash is a tombstone.
SELECT EXISTS (SELECT 1 FROM tombstones WHERE user_id = :user_id AND digest = :digest);

-- name: find_expiring_events
-- Events whose time is over, oldest first.
SELECT * FROM events INDEXED BY events_expiring
WHERE user_id = :user_id AND expires_at < :expires_before_us AND expires_at IS NOT NULL AND id > :after AND id < :below
    AND (:redacted OR redacted_at IS NULL) AND (NOT :worded OR text <> '')
    AND (:session IS NULL OR session_id = :session)
    AND (:topic IS NULL OR topic = :topic)
    AND (:source IS NULL OR source = :source)
    AND (:recorded_before_us IS NULL OR recorded_at < :recorded_before_us)
    AND (:occurred_before_us IS NULL OR occurred_at < :occurred_before_us)
ORDER BY id LIMIT :limit;

-- name: set_hold!
-- Let nothing of a tenant be deleted.
INSERT INTO legal_holds (user_id, id, reason, set_at)
SELECT :user_id, coalesce(max(id), 0) + 1, :reason, :set_us FROM legal_holds WHERE user_id = :user_id;

-- name: lift_hold!
-- Let things be deleted again.
UPDATE legal_holds SET lifted_at = :lifted_us, lifted_reason = :lifted_reason
WHERE user_id = :user_id AND lifted_at IS NULL;

-- name: legal_holds
-- Every legal hold, oldest first.
SELECT reason, set_at, lifted_at, lifted_reason FROM legal_holds WHERE user_id = :user_id ORDER BY id;

-- name: put_policy!
-- Keep what belongs to a topic so many days.
INSERT INTO retention_policies (user_id, topic, days, set_at) VALUES (:user_id, :topic, :days, :set_us)
ON CONFLICT (user_id, topic) DO UPDATE SET days = excluded.days, set_at = excluded.set_at;

-- name: delete_policy!
-- Keep what belongs to a topic for good.
DELETE FROM retention_policies WHERE user_id = :user_id AND topic = :topic;

-- name: retention_policies
-- Retention policies by topic.
SELECT topic, days, set_at FROM retention_policies WHERE user_id = :user_id ORDER BY topic;

-- name: insert_author!
-- The member who writes an event or makes a change.
INSERT INTO authors (user_id, kind, id, member) VALUES (:user_id, :kind, :id, :member);

-- name: authors
-- The authors of events and changes by name, or by their ids where the name was erased.
SELECT a.kind, a.id, coalesce(m.subject, a.member) AS name
FROM authors AS a
LEFT JOIN members AS m ON m.user_id = :user_id AND m.id = a.member
WHERE a.user_id = :user_id AND (
    (a.kind = 'e' AND a.id IN (SELECT value FROM json_each(:events)))
    OR (a.kind = 'c' AND a.id IN (SELECT value FROM json_each(:changes)))
);
