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
