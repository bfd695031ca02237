-- Tasks of other agents (A2A). A row holds ids only: the words are in events and contests, where a deletion finds them.
CREATE TABLE agent_tasks (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    context_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    skill TEXT NOT NULL,
    state TEXT NOT NULL,
    events TEXT NOT NULL,
    contests TEXT NOT NULL,
    answers TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;

CREATE INDEX agent_tasks_by_message ON agent_tasks (user_id, message_id);

CREATE INDEX agent_tasks_by_time ON agent_tasks (user_id, updated_at, id);
