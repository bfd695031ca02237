-- What a job of the kind `call` is to call, as JSON, and how far it is, what it gave and whether it was cancelled. The
-- outcome may quote memories, so that every redaction of the user takes it away.
ALTER TABLE operations ADD COLUMN payload TEXT;
ALTER TABLE operations ADD COLUMN outcome TEXT;

CREATE TRIGGER outcomes_go AFTER INSERT ON redaction_permits
BEGIN
    UPDATE operations SET outcome = NULL WHERE user_id = new.user_id AND outcome IS NOT NULL AND status = 'complete';
END;

-- How faithful responses were to their contexts: figures, and the ids that each claim rests on, never a word (R-178).
CREATE TABLE eval_scores (
    user_id TEXT NOT NULL,
    id INTEGER NOT NULL,
    at INTEGER NOT NULL,
    session_id TEXT,
    judge TEXT NOT NULL,
    score REAL,
    supported INTEGER NOT NULL,
    contradicted INTEGER NOT NULL,
    not_found INTEGER NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
