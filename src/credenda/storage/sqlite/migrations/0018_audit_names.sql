-- Names behind the pseudonyms of audit records: of people who called, and of agents. Erasing the user whose memory they
-- reached deletes them, and the records stay.
CREATE TABLE audit_names (
    user_id TEXT NOT NULL,
    alias TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (user_id, alias)
) WITHOUT ROWID;
