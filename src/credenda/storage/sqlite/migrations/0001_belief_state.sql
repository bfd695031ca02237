-- The whole schema. Times are integer microseconds UTC, ids are numbers within a tenant (see credenda.ids).
-- Every tenant table has user_id first in its primary key.

CREATE TABLE tenants (
    user_id TEXT NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL UNIQUE,
    tag TEXT NOT NULL UNIQUE,
    hmac_key BLOB NOT NULL,
    created_at INTEGER NOT NULL
);

CREATE TABLE events (
    user_id TEXT NOT NULL,
    id INTEGER NOT NULL,
    session_id TEXT NOT NULL DEFAULT '',
    agent_id TEXT NOT NULL DEFAULT '',
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'person', 'document')),
    speaker TEXT NOT NULL,
    source TEXT NOT NULL,
    trust REAL NOT NULL CHECK (trust BETWEEN 0 AND 1),
    topic TEXT,
    text TEXT NOT NULL,
    occurred_at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    content_hmac BLOB NOT NULL,
    chain_hash BLOB NOT NULL,
    passages INTEGER NOT NULL DEFAULT 1,
    external_id TEXT,
    flags TEXT,
    tags TEXT,
    metadata TEXT,
    expires_at INTEGER,
    redacted_at INTEGER,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;

-- Only events of several passages have rows here.
CREATE TABLE passages (
    user_id TEXT NOT NULL,
    event INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    PRIMARY KEY (user_id, event, ordinal)
) WITHOUT ROWID;

-- Each version of a memory is a row; the one held now has no expired_at.
CREATE TABLE memories (
    user_id TEXT NOT NULL,
    id INTEGER NOT NULL,
    version INTEGER NOT NULL,
    text TEXT NOT NULL,
    text_hash INTEGER NOT NULL,
    type TEXT NOT NULL CHECK (type IN ('preference', 'fact', 'decision', 'procedure', 'narrative')),
    memory_type TEXT NOT NULL CHECK (memory_type IN ('fact', 'procedure', 'narrative')),
    topic TEXT,
    entity TEXT,
    attribute TEXT,
    value TEXT,
    entity_key TEXT,
    attribute_key TEXT,
    scope TEXT,
    cardinality TEXT NOT NULL DEFAULT 'single',
    stance TEXT NOT NULL DEFAULT 'asserted',
    speaker TEXT NOT NULL DEFAULT 'user',
    confidence REAL NOT NULL DEFAULT 0.8 CHECK (confidence BETWEEN 0 AND 1),
    importance REAL NOT NULL DEFAULT 0.5 CHECK (importance BETWEEN 0 AND 1),
    base_importance REAL NOT NULL DEFAULT 0.5,
    layer TEXT NOT NULL DEFAULT 'semantic',
    status TEXT NOT NULL DEFAULT 'active',
    relation TEXT,
    superseded_by INTEGER,
    contested INTEGER NOT NULL DEFAULT 0,
    pinned INTEGER NOT NULL DEFAULT 0,
    provisional INTEGER NOT NULL DEFAULT 0,
    trust REAL NOT NULL DEFAULT 1.0,
    confirmations INTEGER NOT NULL DEFAULT 0,
    surprise REAL,
    emotional_valence REAL,
    source_session TEXT NOT NULL DEFAULT '',
    valid_from INTEGER,
    valid_until INTEGER,
    created_at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    expired_at INTEGER,
    expires_at INTEGER,
    last_accessed INTEGER,
    access_count INTEGER NOT NULL DEFAULT 0,
    decay_score REAL,
    tags TEXT,
    metadata TEXT,
    PRIMARY KEY (user_id, id, version),
    CHECK (status NOT IN ('superseded', 'merged', 'invalidated') OR valid_until IS NOT NULL)
) WITHOUT ROWID;

CREATE INDEX memories_pair ON memories (user_id, entity_key, attribute_key)
WHERE expired_at IS NULL AND attribute_key IS NOT NULL;
CREATE INDEX memories_text ON memories (user_id, text_hash) WHERE expired_at IS NULL;

CREATE TABLE evidence (
    user_id TEXT NOT NULL,
    memory INTEGER NOT NULL,
    event INTEGER NOT NULL,
    start INTEGER NOT NULL,
    claim_hash BLOB NOT NULL,
    stop INTEGER NOT NULL,
    PRIMARY KEY (user_id, memory, event, start, claim_hash)
) WITHOUT ROWID;
CREATE INDEX evidence_event ON evidence (user_id, event);

CREATE TABLE changes (
    user_id TEXT NOT NULL,
    id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL,
    memory INTEGER,
    cause TEXT,
    delta TEXT NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE INDEX changes_memory ON changes (user_id, memory) WHERE memory IS NOT NULL;

CREATE TABLE embeddings (
    user_id TEXT NOT NULL,
    model_id TEXT NOT NULL,
    code INTEGER NOT NULL,
    number INTEGER NOT NULL,
    dims INTEGER NOT NULL,
    bits INTEGER NOT NULL CHECK (bits IN (2, 4, 8, 16, 32)),
    scale REAL NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (user_id, model_id, code)
);
CREATE INDEX embeddings_number ON embeddings (user_id, number);

CREATE TABLE operations (
    user_id TEXT NOT NULL,
    id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('queued', 'processing', 'complete', 'failed', 'dead')),
    attempts INTEGER NOT NULL DEFAULT 0,
    run_after INTEGER NOT NULL DEFAULT 0,
    lease_owner TEXT,
    lease_until INTEGER,
    error TEXT,
    idempotency_key TEXT,
    payload_hash BLOB,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX operations_key ON operations (user_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX operations_due ON operations (user_id, run_after) WHERE status IN ('queued', 'processing', 'failed');

CREATE TABLE access_log (
    user_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    memory INTEGER NOT NULL,
    day INTEGER NOT NULL,
    at INTEGER NOT NULL,
    shown INTEGER NOT NULL DEFAULT 0,
    useful INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, session_id, memory, day)
) WITHOUT ROWID;

CREATE TABLE entities (
    user_id TEXT NOT NULL,
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    kind TEXT,
    aliases TEXT,
    mentions INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, name_key)
);

CREATE TABLE relations (
    user_id TEXT NOT NULL,
    id INTEGER NOT NULL,
    source INTEGER NOT NULL,
    target INTEGER NOT NULL,
    kind TEXT NOT NULL,
    memory INTEGER,
    valid_from INTEGER,
    valid_until INTEGER,
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, id)
);

CREATE TABLE contests (
    user_id TEXT NOT NULL,
    id INTEGER NOT NULL,
    speaker TEXT NOT NULL,
    entity TEXT NOT NULL,
    attribute TEXT NOT NULL,
    scope TEXT,
    type_class TEXT NOT NULL,
    vals TEXT NOT NULL,
    memories TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'resolved')),
    question TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    resolved_at INTEGER,
    resolution TEXT,
    scopes TEXT,
    PRIMARY KEY (user_id, id)
);

CREATE TABLE tombstones (
    user_id TEXT NOT NULL,
    digest BLOB NOT NULL,
    kind TEXT NOT NULL,
    normaliser INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, digest)
) WITHOUT ROWID;

-- A row here, written and taken away inside one transaction, is what lets journal and change log be redacted.
CREATE TABLE redaction_permits (
    user_id TEXT NOT NULL PRIMARY KEY,
    reason TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE index_blobs (
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (user_id, name, ordinal)
);

CREATE TABLE api_tokens (
    id INTEGER PRIMARY KEY,
    token_hash BLOB NOT NULL UNIQUE,
    user_id TEXT NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    scopes TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
);

CREATE TABLE tool_call_records (
    user_id TEXT NOT NULL,
    id INTEGER NOT NULL,
    tool_name TEXT NOT NULL,
    session_id TEXT NOT NULL DEFAULT '',
    inputs_hash BLOB NOT NULL,
    status TEXT NOT NULL,
    error_code TEXT,
    duration_us INTEGER NOT NULL,
    llm_tokens_in INTEGER NOT NULL DEFAULT 0,
    llm_tokens_out INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL NOT NULL DEFAULT 0,
    at INTEGER NOT NULL,
    row_hash BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
);

CREATE TABLE a2a_tasks (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, id)
);

CREATE TABLE leases (
    name TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    until INTEGER NOT NULL
);

CREATE TABLE watermarks (
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    value INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, name)
) WITHOUT ROWID;

CREATE TABLE budgets (
    user_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    operation TEXT NOT NULL,
    model_id TEXT NOT NULL,
    tokens_in INTEGER NOT NULL DEFAULT 0,
    tokens_out INTEGER NOT NULL DEFAULT 0,
    calls INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, day, operation, model_id)
) WITHOUT ROWID;

CREATE TRIGGER events_keep BEFORE UPDATE ON events
WHEN NOT EXISTS (SELECT 1 FROM redaction_permits WHERE user_id = old.user_id)
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_stay BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM redaction_permits WHERE user_id = old.user_id)
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER changes_keep BEFORE UPDATE ON changes
WHEN NOT EXISTS (SELECT 1 FROM redaction_permits WHERE user_id = old.user_id)
BEGIN SELECT RAISE(ABORT, 'changes are append-only'); END;
CREATE TRIGGER changes_stay BEFORE DELETE ON changes
WHEN NOT EXISTS (SELECT 1 FROM redaction_permits WHERE user_id = old.user_id)
BEGIN SELECT RAISE(ABORT, 'changes are append-only'); END;

-- The words as indexed. credenda_words() is defined on each connection. Document numbers: credenda.storage.store.pack_code
-- under the tenant's number, so that a range of documents is one tenant.
CREATE VIEW search_content AS
SELECT
    (t.number << 44) | (e.id << 12) AS doc, t.tag AS tenant,
    credenda_words(e.role, e.speaker, e.occurred_at, e.text) AS body
FROM events AS e JOIN tenants AS t ON t.user_id = e.user_id
WHERE e.passages = 1 AND e.text <> ''
UNION ALL
SELECT
    (t.number << 44) | (e.id << 12) | p.ordinal AS doc, t.tag AS tenant,
    credenda_words(e.role, e.speaker, e.occurred_at, substr(e.text, p.start + 1, p.stop - p.start)) AS body
FROM passages AS p
JOIN events AS e ON e.user_id = p.user_id AND e.id = p.event
JOIN tenants AS t ON t.user_id = e.user_id
WHERE e.text <> ''
UNION ALL
SELECT
    (t.number << 44) | (1 << 43) | (m.id << 12) AS doc, t.tag AS tenant,
    credenda_memory_words(m.text, m.entity, m.attribute, m.value) AS body
FROM memories AS m JOIN tenants AS t ON t.user_id = m.user_id
WHERE m.version = 1 AND m.text <> '';

CREATE VIRTUAL TABLE search_index USING fts5 (
    tenant, body,
    content = 'search_content', content_rowid = 'doc',
    tokenize = 'porter unicode61 remove_diacritics 2', detail = 'column', columnsize = 0
);
