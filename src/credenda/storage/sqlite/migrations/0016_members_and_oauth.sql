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

-- A token may belong to a member of a shared memory, and to a client that a person has connected. Such a token has no
-- secret of its own (an empty digest).
ALTER TABLE api_tokens ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE api_tokens ADD COLUMN client TEXT NOT NULL DEFAULT '';
ALTER TABLE api_tokens ADD COLUMN resource TEXT NOT NULL DEFAULT '';

CREATE INDEX api_tokens_by_subject ON api_tokens (subject);

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
