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
