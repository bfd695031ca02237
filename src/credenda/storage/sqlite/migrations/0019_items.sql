-- Values that programs keep beside the beliefs: items of agent frameworks, pages, transcripts. An item with words names
-- the event or memory that has them; redacting that one deletes the item.
CREATE TABLE items (
    user_id TEXT NOT NULL,
    space TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    source TEXT,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (user_id, space, key)
) WITHOUT ROWID;

CREATE INDEX items_by_source ON items (user_id, source) WHERE source IS NOT NULL;
