-- Tell one history of the rows from another. An index names the generation of its tenant; whatever puts other rows in
-- the place of those that an index has read, draws a new one. A backup carries the identity of its database.

ALTER TABLE tenants ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
UPDATE tenants SET generation = random();

CREATE TABLE identity (
    id BLOB NOT NULL PRIMARY KEY,
    backup_at INTEGER
) WITHOUT ROWID;
INSERT INTO identity (id) VALUES (randomblob(16));
