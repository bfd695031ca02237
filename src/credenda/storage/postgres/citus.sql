-- Spread the tables over the nodes of a Citus cluster. Made by scripts/citus.py from the schema: do not edit it.
--
-- Run it once, as the owner of the schema, after the first `credenda` command has created the schema, and before the
-- database has rows. No Citus server was available to run it on: what is proved is that every statement names its
-- tenant, and that every key begins with it (scripts/shards.py).
--
-- The triggers of `events`, `changes` and `redaction_permits` touch rows of their own tenant only, which Citus cannot
-- know. Transactions set their tenant and role for themselves, and nodes must take that over: Citus passes on what
-- SET LOCAL sets.

SET search_path = credenda;
SET citus.enable_unsafe_triggers = on;
ALTER DATABASE :"DBNAME" SET citus.enable_unsafe_triggers = on;
ALTER DATABASE :"DBNAME" SET citus.propagate_set_commands = 'local';

SELECT create_distributed_table('tenants', 'user_id');
SELECT create_distributed_table('events', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('passages', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('memories', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('evidence', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('changes', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('authors', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('embeddings', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('operations', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('access_log', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('tombstones', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('words', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('contests', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('redaction_permits', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('index_blobs', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('watermarks', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('budgets', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('duties', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('legal_holds', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('retention_policies', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('eval_scores', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('agent_tasks', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('items', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('audit_subjects', 'user_id', colocate_with => 'tenants');
SELECT create_distributed_table('audit_names', 'user_id', colocate_with => 'tenants');

-- A tag is found by itself, and tells the user.
SELECT create_reference_table('tenant_tags');
-- A token is found by its id, and tells the user.
SELECT create_reference_table('api_tokens');
-- The memories that a person may use are found by the person.
SELECT create_reference_table('members');
-- A secret is found by its digest, and tells the user.
SELECT create_reference_table('server_secrets');
-- Its rows belong to no tenant.
SELECT create_reference_table('audit_records');
-- Its rows belong to no tenant.
SELECT create_reference_table('audit_head');
-- Its rows belong to no tenant.
SELECT create_reference_table('erasures');
-- Its rows belong to no tenant.
SELECT create_reference_table('identity');
