-- The tables of a server. These statements name their user themselves.

-- name: insert_token!
-- A new access token.
INSERT INTO api_tokens (
    id, name, user_id, scopes, created_at, expires_at, last_used_at, revoked_at, subject, client, resource, digest
) VALUES (
    :id_text, :name, :user_id, :scopes, :created_us, :expires_us, :last_used_us, :revoked_us, :subject, :client,
    :resource, :digest
);

-- name: token_by_id^
-- The token with an id, which tells the user.
SELECT * FROM api_tokens WHERE id = :id_text;

-- name: list_tokens
-- The tokens of a user, or of all users, the oldest first.
SELECT * FROM api_tokens WHERE :user_id IS NULL OR user_id = :user_id ORDER BY created_at, id;

-- name: revoke_token!
-- Revoke a token; one that is revoked already keeps its time.
UPDATE api_tokens SET revoked_at = :now_us WHERE id = :id_text AND revoked_at IS NULL;

-- name: use_token!
-- When a token was last used.
UPDATE api_tokens SET last_used_at = :now_us WHERE id = :id_text;

-- name: insert_secret!
-- A new short-lived secret.
INSERT INTO server_secrets (user_id, digest, kind, token_id, created_at, expires_at, used_at, data)
VALUES (:user_id, :digest, :kind, :token_id, :created_us, :expires_us, :used_us, :data_text);

-- name: secret_by_digest^
-- The secret with a digest.
SELECT * FROM server_secrets WHERE digest = :digest;

-- name: spend_secret!
-- Mark a secret as used, once.
UPDATE server_secrets SET used_at = :now_us WHERE digest = :digest AND used_at IS NULL;

-- name: drop_expired_secrets!
-- Secrets whose time is over.
DELETE FROM server_secrets WHERE expires_at < :before_us;

-- name: insert_member!
-- A new member; a present one of the same name stays as it is.
INSERT INTO members (user_id, id, issuer, subject, role, added_at, removed_at)
VALUES (:user_id, :id_text, :issuer, :subject, :role, :added_us, :removed_us) ON CONFLICT DO NOTHING;

-- name: find_member^
-- The present member of a memory.
SELECT * FROM members
WHERE user_id = :user_id AND issuer = :issuer AND subject = :subject AND removed_at IS NULL;

-- name: list_members
-- The members of a memory, or of all, present and removed, the oldest first.
SELECT * FROM members WHERE :user_id IS NULL OR user_id = :user_id ORDER BY added_at, id;

-- name: list_memberships
-- The present memberships of a person.
SELECT * FROM members WHERE issuer = :issuer AND subject = :subject AND removed_at IS NULL ORDER BY user_id;

-- name: set_member_role!
-- The role of a member.
UPDATE members SET role = :role WHERE user_id = :user_id AND id = :id_text;

-- name: remove_member!
-- Remove a member; repeating it keeps the first time.
UPDATE members SET removed_at = :now_us WHERE user_id = :user_id AND id = :id_text AND removed_at IS NULL;

-- name: append_audit!
-- A record at the end of the chain.
INSERT INTO audit_records (seq, record, hash) VALUES (:seq, :record, :hash);

-- name: audit_after
-- Records after a number.
SELECT seq, record, hash FROM audit_records WHERE seq > :seq ORDER BY seq LIMIT :limit;

-- name: audit_subject^
-- The pseudonym and key of a user.
SELECT pseudonym, input_key FROM audit_subjects WHERE user_id = :user_id;

-- name: insert_subject!
-- A new pseudonym.
INSERT INTO audit_subjects (user_id, pseudonym, input_key) VALUES (:user_id, :pseudonym, :input_key);

-- name: insert_audit_name!
-- The name behind a pseudonym in the records of a user.
INSERT INTO audit_names (user_id, alias, name) VALUES (:user_id, :alias, :name) ON CONFLICT DO NOTHING;

-- name: audit_names
-- Names by their pseudonyms.
SELECT pseudonym AS alias, user_id AS name FROM audit_subjects UNION ALL SELECT alias, name FROM audit_names;

-- name: keyed_audit_names
-- Pseudonyms, the names behind them, and the keys that they are made with.
SELECT pseudonym AS alias, user_id AS name, input_key FROM audit_subjects
UNION ALL
SELECT n.alias, n.name, s.input_key FROM audit_names AS n LEFT JOIN audit_subjects AS s ON s.user_id = n.user_id;

-- name: is_user^
-- Whether a user has a memory here, or a token.
SELECT 1 FROM tenants WHERE user_id = :user_id UNION ALL SELECT 1 FROM api_tokens WHERE user_id = :user_id LIMIT 1;

-- name: next_score$
-- The next free number of a score.
SELECT coalesce(max(id), 0) + 1 FROM eval_scores WHERE user_id = :user_id;

-- name: insert_score!
-- How faithful a response was.
INSERT INTO eval_scores (user_id, id, at, session_id, judge, score, supported, contradicted, not_found)
VALUES (:user_id, :id, :at_us, :session, :judge, :score, :supported, :contradicted, :not_found);

-- name: list_scores
-- Scores, the newest first.
SELECT * FROM eval_scores
WHERE user_id = :user_id AND (:below IS NULL OR id < :below) AND (:session IS NULL OR session_id = :session)
ORDER BY id DESC LIMIT :limit;

-- name: spends_of_days
-- What models cost on some days, oldest first.
SELECT day, operation, model_id, tokens_in, tokens_out, calls, cost_usd FROM budgets
WHERE user_id = :user_id AND day BETWEEN :first_day AND :last_day ORDER BY day, operation, model_id;

-- name: insert_task!
-- A task of another agent.
INSERT INTO agent_tasks (
    user_id, id, context_id, message_id, skill, state, events, contests, answers, created_at, updated_at, version
) VALUES (
    :user_id, :id_text, :context_id, :message_id, :skill, :state, :events, :contests, :answers, :created_us, :updated_us,
    :version
);

-- name: task_by_id^
-- One task.
SELECT * FROM agent_tasks WHERE user_id = :user_id AND id = :id_text;

-- name: same_task^
-- The task that the same message began.
SELECT * FROM agent_tasks
WHERE user_id = :user_id AND message_id = :message_id AND skill = :skill AND events = :events AND contests = :contests
    AND (events <> '[]' OR (context_id = :context_id AND state NOT IN (SELECT value FROM json_each(:finished))));

-- name: update_task!
-- Move a task on, if its version is the stored one.
UPDATE agent_tasks SET state = :state, answers = :answers, updated_at = :updated_us, version = version + 1
WHERE user_id = :user_id AND id = :id_text AND version = :version;

-- name: list_tasks
-- Tasks, the latest update first.
SELECT * FROM agent_tasks
WHERE user_id = :user_id AND updated_at >= :since_us AND (:context_id IS NULL OR context_id = :context_id)
    AND state IN (SELECT value FROM json_each(:states))
    AND (:at_us IS NULL OR (updated_at, id) < (:at_us, :last_id))
ORDER BY updated_at DESC, id DESC LIMIT :limit;

-- name: count_tasks$
-- Tasks that meet a filter.
SELECT count(*) FROM agent_tasks
WHERE user_id = :user_id AND updated_at >= :since_us AND (:context_id IS NULL OR context_id = :context_id)
    AND state IN (SELECT value FROM json_each(:states));

-- name: count_all_tasks$
-- All tasks of a user.
SELECT count(*) FROM agent_tasks WHERE user_id = :user_id;

-- name: prune_task!
-- Take the oldest finished task away.
DELETE FROM agent_tasks WHERE user_id = :user_id AND id IN (
    SELECT id FROM agent_tasks WHERE user_id = :user_id AND state IN (SELECT value FROM json_each(:finished))
    ORDER BY updated_at, id LIMIT 1
);

-- name: list_erasures
-- The ledger of erased tenants.
SELECT digest, tag, ledger_key, erased_at FROM erasures;
