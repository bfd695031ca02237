-- Tell one history of the rows from another. An index names the generation of its tenant; whatever puts other rows in
-- the place of those that an index has read, draws a new one. A backup carries the identity of its database.

ALTER TABLE tenants ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
UPDATE tenants SET generation = random();

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
