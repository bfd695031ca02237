-- Tokens of callers of a server: the SHA-256 of the secret part, never the secret. A token is found by its id alone,
-- because it tells the user.

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
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;

CREATE UNIQUE INDEX api_tokens_by_id ON api_tokens (id);

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
