-- Words of events reach the full-text index in batches: `listed` is the last event whose words it holds.

ALTER TABLE tenants ADD COLUMN listed INTEGER NOT NULL DEFAULT 0;
UPDATE tenants SET listed = (SELECT coalesce(max(id), 0) FROM events WHERE events.user_id = tenants.user_id);

DROP VIEW search_content;
CREATE VIEW search_content AS
SELECT
    (t.number << 44) | (e.id << 12) AS doc, t.tag AS tenant,
    credenda_words(e.role, e.speaker, e.occurred_at, e.text) AS body
FROM events AS e JOIN tenants AS t ON t.user_id = e.user_id
WHERE e.passages = 1 AND e.text <> '' AND e.id <= t.listed
UNION ALL
SELECT
    (t.number << 44) | (e.id << 12) | p.ordinal AS doc, t.tag AS tenant,
    credenda_words(e.role, e.speaker, e.occurred_at, substr(e.text, p.start + 1, p.stop - p.start)) AS body
FROM passages AS p
JOIN events AS e ON e.user_id = p.user_id AND e.id = p.event
JOIN tenants AS t ON t.user_id = e.user_id
WHERE e.text <> '' AND e.id <= t.listed
UNION ALL
SELECT
    (t.number << 44) | (1 << 43) | (m.id << 12) AS doc, t.tag AS tenant,
    credenda_memory_words(m.text, m.entity, m.attribute, m.value) AS body
FROM memories AS m JOIN tenants AS t ON t.user_id = m.user_id
WHERE m.version = 1 AND m.text <> '';
