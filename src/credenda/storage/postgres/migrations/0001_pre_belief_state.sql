-- The whole schema. Tables and columns are those of SQLite, so that an archive of one backend loads into the other; see
-- `storage/sqlite/migrations`. What differs, and why:
--
-- * Tables that grow with the memories are partitioned by hash of the tenant from the start, since that cannot be added
--   later without writing them anew. The tenant is first in every key, and no key or reference spans two tenants.
-- * Texts compare by their bytes (COLLATE "C"), as on SQLite.
-- * `words` takes the place of FTS5: under forced row-level security an index of `tsvector` is not used, since its
--   operator is not leakproof; equality of (user_id, term) is.
-- * `tenants` has no number, which only documents of FTS5 need. `tenant_tags` makes a tag name one tenant only.
-- * Nothing about files: no backups, no ledgers beside them.

CREATE TABLE tenants (
    user_id text COLLATE "C" NOT NULL PRIMARY KEY CHECK (user_id <> ''),
    tag text COLLATE "C" NOT NULL,
    hmac_key bytea NOT NULL,
    created_at bigint NOT NULL,
    listed bigint NOT NULL DEFAULT 0,
    generation bigint NOT NULL DEFAULT 0
);

CREATE TABLE tenant_tags (
    tag text COLLATE "C" NOT NULL PRIMARY KEY,
    user_id text COLLATE "C" NOT NULL
);

CREATE TABLE events (
    user_id text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    session_id text COLLATE "C" NOT NULL DEFAULT '',
    agent_id text COLLATE "C" NOT NULL DEFAULT '',
    role text COLLATE "C" NOT NULL CHECK (role IN ('user', 'assistant', 'person', 'document')),
    speaker text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    trust double precision NOT NULL CHECK (trust BETWEEN 0 AND 1),
    topic text COLLATE "C",
    text text COLLATE "C" NOT NULL,
    occurred_at bigint NOT NULL,
    recorded_at bigint NOT NULL,
    content_hmac bytea NOT NULL,
    chain_hash bytea NOT NULL,
    passages bigint NOT NULL DEFAULT 1,
    external_id text COLLATE "C",
    flags text COLLATE "C",
    tags text COLLATE "C",
    metadata text COLLATE "C",
    expires_at bigint,
    redacted_at bigint,
    PRIMARY KEY (user_id, id)
) PARTITION BY HASH (user_id);

CREATE INDEX events_expiring ON events (user_id, expires_at) WHERE expires_at IS NOT NULL;

-- Only events of several passages have rows here.
CREATE TABLE passages (
    user_id text COLLATE "C" NOT NULL,
    event bigint NOT NULL,
    ordinal bigint NOT NULL,
    start bigint NOT NULL,
    stop bigint NOT NULL,
    PRIMARY KEY (user_id, event, ordinal)
) PARTITION BY HASH (user_id);

-- Each version of a memory is a row; the one held now has no expired_at.
CREATE TABLE memories (
    user_id text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    version bigint NOT NULL,
    text text COLLATE "C" NOT NULL,
    text_hash bigint NOT NULL,
    type text COLLATE "C" NOT NULL CHECK (type IN ('preference', 'fact', 'decision', 'procedure', 'narrative')),
    memory_type text COLLATE "C" NOT NULL CHECK (memory_type IN ('fact', 'procedure', 'narrative')),
    topic text COLLATE "C",
    entity text COLLATE "C",
    attribute text COLLATE "C",
    value text COLLATE "C",
    entity_key text COLLATE "C",
    attribute_key text COLLATE "C",
    scope text COLLATE "C",
    cardinality text COLLATE "C" NOT NULL DEFAULT 'single',
    stance text COLLATE "C" NOT NULL DEFAULT 'asserted',
    speaker text COLLATE "C" NOT NULL DEFAULT 'user',
    confidence double precision NOT NULL DEFAULT 0.8 CHECK (confidence BETWEEN 0 AND 1),
    importance double precision NOT NULL DEFAULT 0.5 CHECK (importance BETWEEN 0 AND 1),
    base_importance double precision NOT NULL DEFAULT 0.5,
    layer text COLLATE "C" NOT NULL DEFAULT 'semantic',
    status text COLLATE "C" NOT NULL DEFAULT 'active',
    relation text COLLATE "C",
    superseded_by bigint,
    contested bigint NOT NULL DEFAULT 0,
    pinned bigint NOT NULL DEFAULT 0,
    provisional bigint NOT NULL DEFAULT 0,
    trust double precision NOT NULL DEFAULT 1.0,
    confirmations bigint NOT NULL DEFAULT 0,
    surprise double precision,
    emotional_valence double precision,
    source_session text COLLATE "C" NOT NULL DEFAULT '',
    valid_from bigint,
    valid_until bigint,
    created_at bigint NOT NULL,
    recorded_at bigint NOT NULL,
    expired_at bigint,
    expires_at bigint,
    last_accessed bigint,
    access_count bigint NOT NULL DEFAULT 0,
    decay_score double precision,
    tags text COLLATE "C",
    metadata text COLLATE "C",
    PRIMARY KEY (user_id, id, version),
    CHECK (status NOT IN ('superseded', 'merged', 'invalidated') OR valid_until IS NOT NULL)
) PARTITION BY HASH (user_id);

CREATE INDEX memories_current ON memories (user_id, id) WHERE expired_at IS NULL;
CREATE INDEX memories_pair ON memories (user_id, entity_key, attribute_key, status, id)
WHERE expired_at IS NULL AND attribute_key IS NOT NULL;
-- Its second condition keeps it from statements that name no text: without statistics one index looks like another.
CREATE INDEX memories_text ON memories (user_id, text_hash) WHERE expired_at IS NULL AND text_hash IS NOT NULL;
CREATE INDEX memories_expiring ON memories (user_id, expires_at) WHERE expires_at IS NOT NULL AND expired_at IS NULL;
CREATE INDEX memories_always ON memories (user_id, id)
WHERE expired_at IS NULL AND (pinned = 1 OR attribute_key = 'instruction');

CREATE TABLE evidence (
    user_id text COLLATE "C" NOT NULL,
    memory bigint NOT NULL,
    event bigint NOT NULL,
    start bigint NOT NULL,
    claim_hash bytea NOT NULL,
    stop bigint NOT NULL,
    reader text COLLATE "C",
    PRIMARY KEY (user_id, memory, event, start, claim_hash)
) PARTITION BY HASH (user_id);

CREATE INDEX evidence_event ON evidence (user_id, event);

CREATE TABLE changes (
    user_id text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    actor text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    memory bigint,
    cause text COLLATE "C",
    delta text COLLATE "C" NOT NULL,
    checksum bigint,
    PRIMARY KEY (user_id, id)
) PARTITION BY HASH (user_id);

CREATE INDEX changes_memory ON changes (user_id, memory, id) WHERE memory IS NOT NULL;

CREATE TABLE authors (
    user_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    member text COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, kind, id)
) PARTITION BY HASH (user_id);

CREATE TABLE embeddings (
    user_id text COLLATE "C" NOT NULL,
    model_id text COLLATE "C" NOT NULL,
    code bigint NOT NULL,
    number bigint NOT NULL,
    dims bigint NOT NULL,
    bits bigint NOT NULL CHECK (bits IN (2, 4, 8, 16, 32)),
    scale double precision NOT NULL,
    data bytea NOT NULL,
    checksum bigint,
    PRIMARY KEY (user_id, model_id, code)
) PARTITION BY HASH (user_id);

CREATE INDEX embeddings_number ON embeddings (user_id, number);

CREATE TABLE operations (
    user_id text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    status text COLLATE "C" NOT NULL CHECK (status IN ('queued', 'processing', 'complete', 'failed', 'dead')),
    attempts bigint NOT NULL DEFAULT 0,
    run_after bigint NOT NULL DEFAULT 0,
    lease_owner text COLLATE "C",
    lease_until bigint,
    error text COLLATE "C",
    idempotency_key text COLLATE "C",
    payload_hash bytea,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    payload text COLLATE "C",
    outcome text COLLATE "C",
    PRIMARY KEY (user_id, id)
) PARTITION BY HASH (user_id);

CREATE UNIQUE INDEX operations_key ON operations (user_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX operations_due ON operations (user_id, run_after, id) WHERE status IN ('queued', 'processing', 'failed');
CREATE INDEX operations_oldest ON operations (kind, created_at) WHERE status IN ('queued', 'processing', 'failed');

CREATE TABLE access_log (
    user_id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    memory bigint NOT NULL,
    day bigint NOT NULL,
    at bigint NOT NULL,
    shown bigint NOT NULL DEFAULT 0,
    useful bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, session_id, memory, day)
) PARTITION BY HASH (user_id);

CREATE INDEX access_memory ON access_log (user_id, memory, at);

CREATE TABLE tombstones (
    user_id text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    kind text COLLATE "C" NOT NULL,
    normaliser bigint NOT NULL,
    created_at bigint NOT NULL,
    checksum bigint,
    PRIMARY KEY (user_id, digest)
) PARTITION BY HASH (user_id);

-- The documents that hold a word or its stem: all words of a document that FTS5 would find it by.
CREATE TABLE words (
    user_id text COLLATE "C" NOT NULL,
    term text COLLATE "C" NOT NULL,
    code bigint NOT NULL,
    PRIMARY KEY (user_id, term, code)
) PARTITION BY HASH (user_id);

DO $$
DECLARE
    parent text;
BEGIN
    FOREACH parent IN ARRAY ARRAY[
        'events', 'passages', 'memories', 'evidence', 'changes', 'authors', 'embeddings', 'operations', 'access_log',
        'tombstones', 'words'
    ] LOOP
        FOR part IN 0..15 LOOP
            EXECUTE format(
                'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
                parent || '_' || part, parent, part
            );
        END LOOP;
    END LOOP;
END
$$;

CREATE TABLE contests (
    user_id text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    speaker text COLLATE "C" NOT NULL,
    entity text COLLATE "C" NOT NULL,
    attribute text COLLATE "C" NOT NULL,
    scope text COLLATE "C",
    type_class text COLLATE "C" NOT NULL,
    vals text COLLATE "C" NOT NULL,
    memories text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL CHECK (state IN ('open', 'resolved')),
    question text COLLATE "C" NOT NULL,
    opened_at bigint NOT NULL,
    resolved_at bigint,
    resolution text COLLATE "C",
    scopes text COLLATE "C",
    PRIMARY KEY (user_id, id)
);

CREATE INDEX contests_pair ON contests (user_id, entity, attribute);

-- A row here, written and taken away inside one transaction, is what lets journal and change log be redacted.
CREATE TABLE redaction_permits (
    user_id text COLLATE "C" NOT NULL PRIMARY KEY,
    reason text COLLATE "C" NOT NULL
);

CREATE TABLE index_blobs (
    user_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    ordinal bigint NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (user_id, name, ordinal)
);

CREATE TABLE watermarks (
    user_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    value bigint NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (user_id, name)
);

CREATE TABLE budgets (
    user_id text COLLATE "C" NOT NULL,
    day bigint NOT NULL,
    operation text COLLATE "C" NOT NULL,
    model_id text COLLATE "C" NOT NULL,
    tokens_in bigint NOT NULL DEFAULT 0,
    tokens_out bigint NOT NULL DEFAULT 0,
    calls bigint NOT NULL DEFAULT 0,
    cost_usd double precision NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, day, operation, model_id)
);

-- When each duty last ran, and which process leads: the row without a name holds the lease.
CREATE TABLE duties (
    user_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL DEFAULT 0,
    took_us bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    result text COLLATE "C" NOT NULL DEFAULT '',
    lease_owner text COLLATE "C",
    lease_until bigint,
    PRIMARY KEY (user_id, name)
);

CREATE TABLE legal_holds (
    user_id text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    reason text COLLATE "C" NOT NULL,
    set_at bigint NOT NULL,
    lifted_at bigint,
    lifted_reason text COLLATE "C",
    PRIMARY KEY (user_id, id)
);

CREATE TABLE retention_policies (
    user_id text COLLATE "C" NOT NULL,
    topic text COLLATE "C" NOT NULL,
    days bigint NOT NULL CHECK (days > 0),
    set_at bigint NOT NULL,
    PRIMARY KEY (user_id, topic)
);

CREATE TABLE eval_scores (
    user_id text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    at bigint NOT NULL,
    session_id text COLLATE "C",
    judge text COLLATE "C" NOT NULL,
    score double precision,
    supported bigint NOT NULL,
    contradicted bigint NOT NULL,
    not_found bigint NOT NULL,
    PRIMARY KEY (user_id, id)
);

CREATE TABLE agent_tasks (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    context_id text COLLATE "C" NOT NULL,
    message_id text COLLATE "C" NOT NULL,
    skill text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    events text COLLATE "C" NOT NULL,
    contests text COLLATE "C" NOT NULL,
    answers text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (user_id, id)
);

CREATE INDEX agent_tasks_by_message ON agent_tasks (user_id, message_id);
CREATE INDEX agent_tasks_by_time ON agent_tasks (user_id, updated_at, id);

-- Values that programs keep beside the beliefs; an item with words names the event or memory that has them.
CREATE TABLE items (
    user_id text COLLATE "C" NOT NULL,
    space text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    source text COLLATE "C",
    version bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    expires_at bigint,
    PRIMARY KEY (user_id, space, key)
);

CREATE INDEX items_by_source ON items (user_id, source) WHERE source IS NOT NULL;

-- The tables of a server, which are looked up to find the tenant.

CREATE TABLE api_tokens (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    scopes text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    last_used_at bigint,
    revoked_at bigint,
    subject text COLLATE "C" NOT NULL DEFAULT '',
    client text COLLATE "C" NOT NULL DEFAULT '',
    resource text COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (user_id, id)
);

CREATE INDEX api_tokens_by_id ON api_tokens (id);
CREATE INDEX api_tokens_by_subject ON api_tokens (subject);

CREATE TABLE members (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    issuer text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    added_at bigint NOT NULL,
    removed_at bigint,
    PRIMARY KEY (user_id, id)
);

CREATE UNIQUE INDEX members_now ON members (user_id, issuer, subject) WHERE removed_at IS NULL;
CREATE INDEX members_by_subject ON members (issuer, subject);

CREATE TABLE server_secrets (
    user_id text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    kind text COLLATE "C" NOT NULL,
    token_id text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    used_at bigint,
    data text COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, digest)
);

CREATE INDEX server_secrets_by_digest ON server_secrets (digest);
CREATE INDEX server_secrets_by_end ON server_secrets (expires_at);

CREATE TABLE audit_records (
    seq bigint NOT NULL PRIMARY KEY,
    record text COLLATE "C" NOT NULL,
    hash bytea NOT NULL
);

CREATE INDEX audit_of_user ON audit_records ((record::json ->> 'user'), seq);

CREATE TABLE audit_head (
    only_one bigint NOT NULL PRIMARY KEY CHECK (only_one = 1),
    seq bigint NOT NULL,
    hash bytea NOT NULL
);

CREATE TABLE audit_subjects (
    user_id text COLLATE "C" NOT NULL PRIMARY KEY,
    pseudonym text COLLATE "C" NOT NULL,
    input_key bytea NOT NULL
);

CREATE TABLE audit_names (
    user_id text COLLATE "C" NOT NULL,
    alias text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, alias)
);

-- Who was erased: HMAC-SHA-256 of the name under a key of this ledger, and the random tag that the tenant's ids had.
CREATE TABLE erasures (
    digest bytea NOT NULL,
    tag text COLLATE "C" NOT NULL,
    ledger_key bytea NOT NULL,
    erased_at bigint NOT NULL,
    PRIMARY KEY (digest, tag)
);

CREATE TABLE identity (
    id bytea NOT NULL PRIMARY KEY
);
INSERT INTO identity (id) VALUES (decode(replace(gen_random_uuid()::text, '-', ''), 'hex'));

-- What a transaction of the server needs of all tenants: their names, and which have work. It reads no other column of
-- these tables. A view has the rights of its owner, to whom alone the policy `listed` shows the rows.

CREATE VIEW tenant_names AS SELECT user_id FROM tenants;

CREATE VIEW waiting_jobs AS
SELECT user_id, kind, status, run_after, lease_until, created_at FROM operations
WHERE status IN ('queued', 'processing', 'failed');

-- The journal and the log are append-only, but for a redaction that was permitted in the same transaction.

CREATE FUNCTION refuse_unless_permitted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM credenda.redaction_permits WHERE user_id = old.user_id) THEN
        RAISE EXCEPTION '% are append-only', TG_ARGV[0] USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN old ELSE new END;
END
$$;

CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE ON events
FOR EACH ROW EXECUTE FUNCTION refuse_unless_permitted('events');
CREATE TRIGGER changes_stay BEFORE UPDATE OR DELETE ON changes
FOR EACH ROW EXECUTE FUNCTION refuse_unless_permitted('changes');

-- What a background call gave may quote memories, so that every redaction of the user takes it away.
CREATE FUNCTION drop_outcomes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE credenda.operations SET outcome = NULL
    WHERE user_id = new.user_id AND outcome IS NOT NULL AND status = 'complete';
    RETURN NULL;
END
$$;

CREATE TRIGGER outcomes_go AFTER INSERT ON redaction_permits FOR EACH ROW EXECUTE FUNCTION drop_outcomes();
