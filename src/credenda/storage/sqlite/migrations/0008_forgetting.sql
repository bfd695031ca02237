-- Rules of forgetting: legal holds, retention policies, and the ledger of erased tenants with the backups that knew them.

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

CREATE INDEX events_expiring ON events (user_id, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX memories_expiring ON memories (user_id, expires_at) WHERE expires_at IS NOT NULL AND expired_at IS NULL;

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
