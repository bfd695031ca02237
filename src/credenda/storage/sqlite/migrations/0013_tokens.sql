-- Tokens of callers of a server: the SHA-256 of the secret part, never the secret.

CREATE TABLE api_tokens (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    digest BLOB NOT NULL,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER,
    revoked_at INTEGER
) WITHOUT ROWID;

CREATE INDEX api_tokens_of_user ON api_tokens (user_id);
