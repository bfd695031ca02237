"""Rows of two tenants in every table of a real server, and the statements of an attacker who has one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import psycopg
from psycopg import sql

from tests.postgres_server import Database

ANA: Final = "ana"
BOB: Final = "bob"
SECRET: Final = "Rosebud"
"""What Bob's rows say."""
_WORDS: Final = {"role": "user", "type": "fact", "memory_type": "fact", "state": "open"}
_NUMBERS: Final = {"bits": 16, "version": 1}
_AUDIT: Final = """
INSERT INTO credenda.audit_records (seq, record, hash)
SELECT n, json_build_object('user', %s::text || n %% 2), 'h'
FROM generate_series(1, 40) AS n
"""
_STATUS: Final = {"operations": "queued", "memories": "active"}
_TABLES: Final = """
SELECT c.relname FROM pg_class AS c
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
WHERE c.relnamespace = 'credenda'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
ORDER BY c.relname
"""
_COLUMNS: Final = """
SELECT a.attname, format_type(a.atttypid, NULL) FROM pg_attribute AS a
WHERE a.attrelid = ('credenda.' || %s)::regclass AND a.attnum > 0 AND NOT a.attisdropped
    AND (a.attnotnull AND NOT a.atthasdef)
ORDER BY a.attnum
"""


def list_tables(connection: psycopg.Connection) -> list[str]:
    """Return the tables with a column `user_id`."""
    return [str(name) for (name,) in connection.execute(_TABLES)]


def list_columns(connection: psycopg.Connection, table: str) -> list[tuple[str, str]]:
    """Return the name and type of each column of a table that a row must have."""
    return [(str(name), str(kind)) for name, kind in connection.execute(_COLUMNS, (table,))]


def fill(database: Database, tables: Sequence[str] = ()) -> list[str]:
    """File a row of Ana and a row of Bob, with his secret, in every table; return the names of the tables."""
    with database.connect() as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("SET search_path = credenda")
        tables = tables or list_tables(connection)
        for table in tables:
            for user, text in ((ANA, "mine"), (BOB, SECRET)):
                columns = list_columns(connection, table)
                cells = [user if name == "user_id" else _make_cell(table, name, kind, text) for name, kind in columns]
                statement = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
                    sql.Identifier(table),
                    sql.SQL(", ").join(sql.Identifier(name) for name, _ in columns),
                    sql.SQL(", ").join([sql.Placeholder()] * len(cells)),
                )
                connection.execute(statement, cells)
        connection.execute(_AUDIT, (SECRET,))
    return list(tables)


def _make_cell(table: str, name: str, kind: str, text: str) -> object:
    if name == "status":
        return _STATUS[table]
    if kind == "text":
        return _WORDS.get(name, text)
    if kind == "bytea":
        return text.encode()
    return _NUMBERS.get(name, 1)


ESCAPES: Final[dict[str, str]] = {
    "search path": "SET LOCAL search_path = public, pg_temp; SELECT * FROM credenda.events",
    "shadowed setting": """CREATE FUNCTION pg_temp.current_setting(text, boolean) RETURNS text
        LANGUAGE sql AS $$ SELECT 'bob' $$; SET LOCAL search_path = pg_temp, credenda; SELECT * FROM credenda.events""",
    "shadowed table": """CREATE TEMP TABLE events AS SELECT * FROM credenda.events;
        SET LOCAL search_path = pg_temp, credenda; SELECT * FROM events""",
    "definer function": """CREATE FUNCTION pg_temp.peek() RETURNS SETOF credenda.events LANGUAGE sql SECURITY DEFINER
        AS $$ SELECT * FROM credenda.events $$; SELECT * FROM pg_temp.peek()""",
    "cheap function first": """CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001
        AS $$ BEGIN RAISE EXCEPTION 'seen: %', $1; END $$;
        SELECT 1 FROM credenda.events WHERE user_id <> 'ana' AND pg_temp.leak(text)""",
    "leakproof function": """CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE sql LEAKPROOF
        AS $$ SELECT true $$; SELECT * FROM credenda.events WHERE pg_temp.leak(text)""",
    "query to xml": "SELECT query_to_xml('SELECT * FROM credenda.events', true, false, '')",
    "table to xml": "SELECT table_to_xml('credenda.events', true, false, '')",
    "copy of a query": "COPY (SELECT * FROM credenda.events) TO STDOUT",
    "copy of a table": "COPY credenda.contests TO STDOUT",
    "copy to a program": "COPY credenda.events TO PROGRAM 'cat'",
    "copy to a file": "COPY credenda.events TO '/tmp/credenda-escape'",
    "copy into a table": "COPY credenda.events FROM '/etc/hostname'",
    "view": "CREATE TEMP VIEW peek AS SELECT * FROM credenda.events; SELECT * FROM peek",
    "cursor": "DECLARE peek CURSOR FOR SELECT * FROM credenda.events; FETCH ALL FROM peek",
    "cursor that stays": "DECLARE peek CURSOR WITH HOLD FOR SELECT * FROM credenda.events; FETCH ALL FROM peek",
    "owner": "SET LOCAL ROLE credenda; SELECT * FROM credenda.events",
    "superuser": "SET LOCAL ROLE postgres; SELECT * FROM credenda.events",
    "session authorization": "SET LOCAL SESSION AUTHORIZATION postgres; SELECT * FROM credenda.events",
    "role of the session": "RESET ROLE; SELECT * FROM credenda.events",
    "role none": "SET LOCAL ROLE NONE; SELECT * FROM credenda.events",
    "reset of the tenant": "RESET app.current_user_id; SELECT * FROM credenda.events",
    "reset of all": "RESET ALL; SELECT * FROM credenda.events",
    "no tenant": "SET LOCAL app.current_user_id = ''; SELECT * FROM credenda.events",
    "row security off": "SET LOCAL row_security = off; SELECT * FROM credenda.events",
    "walls down": "ALTER TABLE credenda.events DISABLE ROW LEVEL SECURITY; SELECT * FROM credenda.events",
    "walls not forced": "ALTER TABLE credenda.events NO FORCE ROW LEVEL SECURITY; SELECT * FROM credenda.events",
    "another policy": "CREATE POLICY open ON credenda.events USING (true); SELECT * FROM credenda.events",
    "no policy": "DROP POLICY tenant ON credenda.events; SELECT * FROM credenda.events",
    "more rights": "ALTER ROLE CURRENT_USER BYPASSRLS; SELECT * FROM credenda.events",
    "partition": "SELECT * FROM credenda.events_0 UNION ALL SELECT * FROM credenda.events_1",
    "rule": "CREATE RULE peek AS ON SELECT TO credenda.events DO INSTEAD SELECT 1",
    "trigger": """CREATE TRIGGER peek BEFORE INSERT ON credenda.events FOR EACH ROW
        EXECUTE FUNCTION credenda.refuse_unless_permitted('x')""",
    "new table in the schema": "CREATE TABLE credenda.peek AS SELECT * FROM credenda.events",
    "inherited table": "CREATE TABLE pg_temp.child () INHERITS (credenda.contests)",
    "truncate": "TRUNCATE credenda.events",
    "drop": "DROP TABLE credenda.events",
    "statistics": "SELECT * FROM pg_stats WHERE schemaname = 'credenda' AND tablename LIKE 'events%'",
    "raw statistics": "SELECT * FROM pg_statistic",
    "files": "SELECT pg_read_file('postgresql.conf')",
    "large object": "SELECT lo_import('/etc/hostname')",
    "library": "LOAD '/tmp/peek.so'",
    "language": "CREATE FUNCTION pg_temp.c() RETURNS int LANGUAGE c AS '/tmp/peek.so', 'peek'",
    "do block": "DO $$ BEGIN EXECUTE 'SET LOCAL ROLE credenda'; END $$; SELECT * FROM credenda.events",
    "error of a cast": "SELECT text::bigint FROM credenda.events WHERE user_id = 'bob'",
    "error of a division": "SELECT 1 / CASE WHEN user_id = 'bob' THEN 0 ELSE 1 END FROM credenda.events",
    "error of an expression": "SELECT id FROM credenda.events WHERE user_id = 'bob' AND text::bigint > 0",
    "lock": "SELECT * FROM credenda.events WHERE user_id = 'bob' FOR UPDATE",
    "returning": "DELETE FROM credenda.tombstones WHERE user_id = 'bob' RETURNING *",
    "merge": """MERGE INTO credenda.contests AS c USING (SELECT 'bob' AS u) AS s ON c.user_id = s.u
        WHEN MATCHED THEN DELETE""",
    "what others run": "SELECT query FROM pg_stat_activity WHERE pid <> pg_backend_pid()",
    "prepared statement": "PREPARE peek AS SELECT * FROM credenda.events; EXECUTE peek",
    "prepared for another role": "PREPARE peek AS SELECT * FROM credenda.events; SET LOCAL ROLE credenda; EXECUTE peek",
    "what is prepared": "SELECT statement, parameter_types FROM pg_prepared_statements",
    "explain": "EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM credenda.events WHERE text LIKE '%bud%'",
    "estimate": "EXPLAIN SELECT * FROM credenda.events WHERE text > 'R'",
    "statistics of expressions": "SELECT * FROM pg_stats WHERE schemaname = 'credenda' AND tablename LIKE '%audit%'",
    "statistics of several columns": "SELECT * FROM pg_stats_ext, pg_stats_ext_exprs",
    "more statistics": "CREATE STATISTICS pg_temp.peek (mcv) ON text, id FROM credenda.contests",
    "sequences": "SELECT * FROM pg_sequences",
    "place of a row": "SELECT * FROM credenda.contests WHERE ctid IN ('(0,1)', '(0,2)', '(0,3)')",
    "sample": "SELECT * FROM credenda.contests TABLESAMPLE SYSTEM (100)",
    "system columns": "SELECT tableoid, ctid, xmin, c.* FROM credenda.contests AS c",
    "view of names": "SELECT * FROM credenda.tenant_names",
    "view of jobs": "SELECT * FROM credenda.waiting_jobs",
    "temporary table": "CREATE TEMP TABLE kept AS SELECT * FROM credenda.events; SELECT * FROM kept",
    "temporary table like it": "CREATE TEMP TABLE mine (LIKE credenda.events INCLUDING ALL); SELECT * FROM mine",
    "function of the schema": """CREATE FUNCTION credenda.lower(text) RETURNS text LANGUAGE sql
        AS $$ SELECT string_agg(text, '') FROM credenda.events $$""",
    "function of a trigger": """CREATE OR REPLACE FUNCTION credenda.refuse_unless_permitted() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RETURN old; END $$""",
    "operator of the schema": "CREATE OPERATOR credenda.= (LEFTARG = text, RIGHTARG = text, FUNCTION = texteq)",
    "grant": "GRANT ALL ON credenda.events TO PUBLIC",
    "owner of a table": "ALTER TABLE credenda.events OWNER TO CURRENT_USER; SELECT * FROM credenda.events",
    "trigger off": "SET session_replication_role = replica; DELETE FROM credenda.events",
    "extension": "CREATE EXTENSION dblink; SELECT * FROM credenda.events",
    "foreign table": "CREATE EXTENSION postgres_fdw; SELECT * FROM credenda.events",
    "publication": "CREATE PUBLICATION peek FOR TABLE credenda.events",
    "replication slot": "SELECT pg_create_logical_replication_slot('peek', 'test_decoding')",
    "pages of a file": "SELECT pg_read_binary_file(pg_relation_filepath('credenda.contests'))",
    "large objects of all": "SELECT * FROM pg_largeobject",
    "notifications": "LISTEN peek; SELECT pg_notification_queue_usage() > 0",
    "locks held": "SELECT relation::regclass, objid, mode FROM pg_locks",
    "savepoint": """SAVEPOINT before; SET LOCAL app.current_user_id = ''; ROLLBACK TO before;
        SELECT * FROM credenda.events""",
    "subtransaction that failed": """DO $$ BEGIN SET LOCAL app.current_user_id = ''; PERFORM 1 / 0;
        EXCEPTION WHEN division_by_zero THEN NULL; END $$; SELECT * FROM credenda.events""",
    "do block that raises it": """DO $$ DECLARE seen text; BEGIN
        SELECT string_agg(text, ',') INTO seen FROM credenda.events; RAISE EXCEPTION 'seen: %', seen; END $$""",
    "committed first": "COMMIT; SELECT * FROM credenda.events",
    "chained": "COMMIT AND CHAIN; SELECT * FROM credenda.events",
    "reference to a key": """CREATE TEMP TABLE child (user_id text COLLATE "C", id bigint,
        FOREIGN KEY (user_id, id) REFERENCES credenda.contests)""",
    "exclusion of a key": """INSERT INTO credenda.contests SELECT 'ana', c.* FROM credenda.contests AS o,
        LATERAL (SELECT id, speaker, entity, attribute, scope, type_class, vals, memories, state, question, opened_at,
        resolved_at, resolution, scopes FROM credenda.contests WHERE user_id = 'bob') AS c RETURNING *""",
}
"""Statements by which the service, for Ana, tries to read or change what is Bob's."""
