-- The whole schema; the development before the first release had the versions below it. Times are integer microseconds
-- UTC, ids are numbers within a tenant (see credenda.ids). Every tenant table has user_id first in its primary key.

-- `listed` is the last event whose words the full-text index holds: they reach it in batches. An index names the
-- `generation` of its tenant; whatever puts other rows in the place of those that an index has read, draws a new one.
CREATE TABLE tenants (
    user_id TEXT NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL UNIQUE,
    tag TEXT NOT NULL UNIQUE,
    hmac_key BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    listed INTEGER NOT NULL DEFAULT 0,
    generation INTEGER NOT NULL DEFAULT 0
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

CREATE INDEX events_expiring ON events (user_id, expires_at) WHERE expires_at IS NOT NULL;

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

-- Reading the current values of a slot must not walk its past ones, nor the other way round.
CREATE INDEX memories_pair ON memories (user_id, entity_key, attribute_key, status)
WHERE expired_at IS NULL AND attribute_key IS NOT NULL;
CREATE INDEX memories_text ON memories (user_id, text_hash) WHERE expired_at IS NULL;
-- What every prompt should have is found without walking all memories: what is pinned, and standing instructions.
CREATE INDEX memories_always ON memories (user_id, id)
WHERE expired_at IS NULL AND (pinned = 1 OR attribute_key = 'instruction');
CREATE INDEX memories_expiring ON memories (user_id, expires_at) WHERE expires_at IS NOT NULL AND expired_at IS NULL;

-- `reader` names the prompt and model that read the claim; rules and persons leave it empty.
CREATE TABLE evidence (
    user_id TEXT NOT NULL,
    memory INTEGER NOT NULL,
    event INTEGER NOT NULL,
    start INTEGER NOT NULL,
    claim_hash BLOB NOT NULL,
    stop INTEGER NOT NULL,
    reader TEXT,
    PRIMARY KEY (user_id, memory, event, start, claim_hash)
) WITHOUT ROWID;
CREATE INDEX evidence_event ON evidence (user_id, event);

-- A checksum shows damage that nothing else shows. Rows of the first versions have none.
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
    checksum INTEGER,
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
    checksum INTEGER,
    PRIMARY KEY (user_id, model_id, code)
);
CREATE INDEX embeddings_number ON embeddings (user_id, number);

-- `payload` says what a job of the kind `call` is to call, as JSON; `outcome` how far it is, what it gave and whether it
-- was cancelled. The outcome may quote memories, so that every redaction of the user takes it away.
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
    payload TEXT,
    outcome TEXT,
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

-- Duties read the use of each memory; the key of the log begins with the session.
CREATE INDEX access_memory ON access_log (user_id, memory, at);

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

-- Contests are looked up by their slot.
CREATE INDEX contests_pair ON contests (user_id, entity, attribute);

CREATE TABLE tombstones (
    user_id TEXT NOT NULL,
    digest BLOB NOT NULL,
    kind TEXT NOT NULL,
    normaliser INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    checksum INTEGER,
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

CREATE TRIGGER outcomes_go AFTER INSERT ON redaction_permits
BEGIN
    UPDATE operations SET outcome = NULL WHERE user_id = new.user_id AND outcome IS NOT NULL AND status = 'complete';
END;

-- The words as indexed. credenda_words() is defined on each connection. Document numbers: credenda.storage.store.pack_code
-- under the tenant's number, so that a range of documents is one tenant.
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

CREATE VIRTUAL TABLE search_index USING fts5 (
    tenant, body,
    content = 'search_content', content_rowid = 'doc',
    tokenize = 'porter unicode61 remove_diacritics 2', detail = 'column', columnsize = 0
);

-- When each duty last ran, and which process leads: the row without a name holds the lease.
CREATE TABLE duties (
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    started_at INTEGER NOT NULL DEFAULT 0,
    took_us INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    result TEXT NOT NULL DEFAULT '',
    lease_owner TEXT,
    lease_until INTEGER,
    PRIMARY KEY (user_id, name)
) WITHOUT ROWID;

CREATE TABLE legal_holds (
    user_id TEXT NOT NULL,
    id INTEGER NOT NULL,
    reason TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    lifted_at INTEGER,
    lifted_reason TEXT,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;

-- Events older than so many days are deleted; the topic '' stands for all.
CREATE TABLE retention_policies (
    user_id TEXT NOT NULL,
    topic TEXT NOT NULL,
    days INTEGER NOT NULL CHECK (days > 0),
    set_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, topic)
) WITHOUT ROWID;

-- Who was erased: HMAC-SHA-256 of the name under a key of this ledger, and the random tag that the tenant's ids had.
-- While an erasure is not finished, `probes` holds keyed hashes of what must not be found in the file any more.
CREATE TABLE erasures (
    digest BLOB NOT NULL,
    tag TEXT NOT NULL,
    ledger_key BLOB NOT NULL,
    erased_at INTEGER NOT NULL,
    finished_at INTEGER,
    probes BLOB,
    PRIMARY KEY (digest, tag)
) WITHOUT ROWID;

CREATE TABLE backups (
    path TEXT NOT NULL PRIMARY KEY,
    made_at INTEGER NOT NULL
) WITHOUT ROWID;

-- The random id of the database, which its backups carry.
CREATE TABLE identity (
    id BLOB NOT NULL PRIMARY KEY,
    backup_at INTEGER
) WITHOUT ROWID;
INSERT INTO identity (id) VALUES (randomblob(16));

-- What an erasure or an import still owes to the ledger beside a database or backup. With a tag the entry of that tag
-- is to be cancelled, without one the entries of all erasures are to be added.
CREATE TABLE owed_ledgers (
    path TEXT NOT NULL,
    tag TEXT NOT NULL DEFAULT '',
    since INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (path, tag)
) WITHOUT ROWID;

-- Tokens of callers of a server: the SHA-256 of the secret part, never the secret. A token is found by its id alone,
-- because it tells the user. A token may belong to a member of a shared memory, and to a client that a person has
-- connected; such a token has no secret of its own (an empty digest).
CREATE TABLE api_tokens (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    digest BLOB NOT NULL,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER,
    revoked_at INTEGER,
    subject TEXT NOT NULL DEFAULT '',
    client TEXT NOT NULL DEFAULT '',
    resource TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;

CREATE UNIQUE INDEX api_tokens_by_id ON api_tokens (id);
CREATE INDEX api_tokens_by_subject ON api_tokens (subject);

-- Records of calls to a server, in one chain: `hash` is SHA-256 of the hash before and of the record, which is canonical
-- JSON of all fields. The record names a user by a pseudonym.
CREATE TABLE audit_records (
    seq INTEGER NOT NULL PRIMARY KEY,
    record TEXT NOT NULL,
    hash BLOB NOT NULL
);

CREATE INDEX audit_of_user ON audit_records (json_extract(record, '$.user'), seq);

-- The end of the chain, so that missing last records are noticed.
CREATE TABLE audit_head (
    only INTEGER NOT NULL PRIMARY KEY CHECK (only = 1),
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL
);

-- Who is behind a pseudonym, and the key of the hashes of this user's inputs. Erasing the user deletes both, and the
-- records stay.
CREATE TABLE audit_subjects (
    user_id TEXT NOT NULL PRIMARY KEY,
    pseudonym TEXT NOT NULL,
    input_key BLOB NOT NULL
) WITHOUT ROWID;

-- Tasks of other agents (A2A). A row holds ids only: the words are in events and contests, where a deletion finds them.
CREATE TABLE agent_tasks (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    context_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    skill TEXT NOT NULL,
    state TEXT NOT NULL,
    events TEXT NOT NULL,
    contests TEXT NOT NULL,
    answers TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;

CREATE INDEX agent_tasks_by_message ON agent_tasks (user_id, message_id);
CREATE INDEX agent_tasks_by_time ON agent_tasks (user_id, updated_at, id);

-- Members of a memory that several people share. `issuer` is empty for people of this server, else the address of an
-- external issuer. A member who was removed stays listed, so that the author of a row keeps a name.
CREATE TABLE members (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    role TEXT NOT NULL,
    added_at INTEGER NOT NULL,
    removed_at INTEGER,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;

CREATE UNIQUE INDEX members_now ON members (user_id, issuer, subject) WHERE removed_at IS NULL;
CREATE INDEX members_by_subject ON members (issuer, subject);

-- Short-lived secrets, as the SHA-256 of each: login links, login sessions, authorization codes, access tokens and
-- refresh tokens. `token_id` names the token that they belong to.
CREATE TABLE server_secrets (
    user_id TEXT NOT NULL,
    digest BLOB NOT NULL,
    kind TEXT NOT NULL,
    token_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    data TEXT NOT NULL,
    PRIMARY KEY (user_id, digest)
) WITHOUT ROWID;

CREATE UNIQUE INDEX server_secrets_by_digest ON server_secrets (digest);
CREATE INDEX server_secrets_by_end ON server_secrets (expires_at);

-- The member who wrote an event (kind e) or made a change (kind c). Rows of the user whose memory it is have no author.
CREATE TABLE authors (
    user_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    id INTEGER NOT NULL,
    member TEXT NOT NULL,
    PRIMARY KEY (user_id, kind, id)
) WITHOUT ROWID;

-- How faithful responses were to their contexts: figures, and the ids that each claim rests on, never a word (R-178).
CREATE TABLE eval_scores (
    user_id TEXT NOT NULL,
    id INTEGER NOT NULL,
    at INTEGER NOT NULL,
    session_id TEXT,
    judge TEXT NOT NULL,
    score REAL,
    supported INTEGER NOT NULL,
    contradicted INTEGER NOT NULL,
    not_found INTEGER NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;

-- Names behind the pseudonyms of audit records: of people who called, and of agents. Erasing the user whose memory they
-- reached deletes them, and the records stay.
CREATE TABLE audit_names (
    user_id TEXT NOT NULL,
    alias TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (user_id, alias)
) WITHOUT ROWID;

-- Values that programs keep beside the beliefs: items of agent frameworks, pages, transcripts. An item with words names
-- the event or memory that has them; redacting that one deletes the item.
CREATE TABLE items (
    user_id TEXT NOT NULL,
    space TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    source TEXT,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (user_id, space, key)
) WITHOUT ROWID;

CREATE INDEX items_by_source ON items (user_id, source) WHERE source IS NOT NULL;
