"""Problems of a database that concern all of its users: open walls, wrong rights, missing indexes, and poor upkeep.

Everything here only reads the catalogue and the counters of the server, which any role may do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Final

from credenda.storage.postgres.connections import Row, Session
from credenda.storage.postgres.erase import dump_rows
from credenda.storage.postgres.migrate import (
    CURRENT,
    LISTED_TABLES,
    TABLE_WALLS,
    get_wall,
    list_powers,
    list_verbs,
    load_steps,
)
from credenda.storage.postgres.statements import is_agreeing, rebuild_words
from credenda.storage.rows import compute_checksum, is_sound_vector, name_document
from credenda.storage.sql import row_loader
from credenda.storage.sql.row_loader import CHECKS, check_journal_chain, complete_check, run_check
from credenda.storage.sql.statements import StatementRunner
from credenda.storage.store import Finding, TenantRecord

_POLICIES: Final = """
SELECT c.relname AS "table", p.polname AS policy, p.polcmd = '*' AND 0 = ANY (p.polroles) AS general,
    pg_get_expr(p.polqual, p.polrelid) AS seen, pg_get_expr(p.polwithcheck, p.polrelid) AS written
FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid
WHERE c.relnamespace = 'credenda'::regnamespace AND p.polpermissive
ORDER BY c.relname, p.polname
"""
_RIGHTS: Final = """
SELECT c.relname AS "table", c.relkind = 'v' AS is_view, v.verb, has_table_privilege(c.oid, v.verb) AS granted
FROM pg_class AS c CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) AS v (verb)
WHERE c.relnamespace = 'credenda'::regnamespace AND c.relkind IN ('r', 'p', 'v')
    AND (v.verb = 'TRUNCATE' OR NOT c.relispartition)
ORDER BY c.relname, v.verb
"""
_INDEXES: Final = """
SELECT c.relname AS name, i.indisvalid AND i.indisready AS usable FROM pg_index AS i
JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_class AS t ON t.oid = i.indrelid
WHERE t.relnamespace = 'credenda'::regnamespace
"""
_WITHOUT_KEY: Final = """
SELECT c.relname AS name FROM pg_class AS c
WHERE c.relnamespace = 'credenda'::regnamespace AND c.relkind IN ('r', 'p')
    AND NOT EXISTS (SELECT 1 FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisprimary AND i.indisvalid)
ORDER BY c.relname
"""
_COUNTERS: Final = """
SELECT relname AS "table", n_live_tup AS live, n_dead_tup AS dead,
    coalesce(last_analyze, last_autoanalyze) IS NOT NULL AS analysed
FROM pg_stat_all_tables WHERE schemaname = 'credenda' ORDER BY n_dead_tup DESC, n_live_tup DESC, relname
"""
_INDEX_SIZES: Final = """
SELECT x.relname AS name, pg_relation_size(x.oid) AS bytes,
    CASE WHEN i.indpred IS NULL THEN greatest(x.reltuples, t.n_live_tup) ELSE x.reltuples END AS entries,
    (SELECT sum(CASE WHEN attlen > 0 THEN attlen ELSE %(text)s END) FROM pg_attribute WHERE attrelid = x.oid) AS width
FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid AND x.relkind = 'i'
JOIN pg_am AS a ON a.oid = x.relam AND a.amname = 'btree'
JOIN pg_stat_all_tables AS t ON t.relid = i.indrelid
WHERE t.schemaname = 'credenda' AND pg_relation_size(x.oid) >= %(least)s AND x.reltuples >= 0
ORDER BY x.relname
"""
_DURABILITY: Final = ("fsync", "full_page_writes", "synchronous_commit")
_MANY_ROWS: Final = 10_000
"""Tables of fewer live or dead rows are no burden, whatever state they are in."""
_MOST_NAMED: Final = 3
_MANY_BYTES: Final = 16 << 20
"""Smaller indexes are no burden, however empty they are."""
_TEXT_BYTES: Final = 32
"""What a text is taken to need in an index: the statistics of columns are hidden from the role of the service."""
_ENTRY_BYTES: Final = 16
"""What an entry of an index needs beside its columns."""
_FILLED: Final = 0.7
"""How full the pages of an index are that has grown in random order."""
_CREATED: Final = re.compile(r"CREATE (?:UNIQUE )?INDEX (\w+)\s+ON [^;]*", re.IGNORECASE)
_DROPPED: Final = re.compile(r"DROP INDEX (?:IF EXISTS )?(\w+)", re.IGNORECASE)
_NOISE: Final = re.compile(r"::text|[()\s]")


def find_problems(session: Session) -> list[Finding]:
    """Find open walls, powers and rights of the service that it should not have or lacks, and missing indexes."""
    open_walls: list[Finding] = []
    policies: dict[str, list[Row]] = {}
    for row in session.execute(_POLICIES):
        policies.setdefault(row["table"], []).append(row)
    for name, family, is_walled, is_tenant in session.execute(TABLE_WALLS):
        wanted = get_wall(family, is_tenant=is_tenant)
        if wanted is None:
            continue
        if not is_walled:
            fix = f"let its owner run `ALTER TABLE credenda.{name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`"
            open_walls.append(_make_wall_finding("row-level security is not enabled and forced", name, fix))
        found = {one["policy"]: one for one in policies.get(name, ())}
        own = found.pop("tenant", None)
        if own is None or not own["general"] or {_strip(own["seen"]), _strip(own["written"])} != {_strip(wanted)}:
            policy = f"CREATE POLICY tenant ON credenda.{name} USING ({wanted}) WITH CHECK ({wanted})"
            fix = f"let its owner drop the policy `tenant` if it is there, and run `{policy}`"
            open_walls.append(_make_wall_finding("the policy `tenant` is missing or altered", name, fix))
        if family in LISTED_TABLES:
            found.pop("listed", None)
        for policy in found:
            fix = f'let its owner run `DROP POLICY "{policy}" ON credenda.{name}`'
            open_walls.append(_make_wall_finding(f"the policy `{policy}` lets more rows through", name, fix))
    powers: list[Finding] = []
    row = session.execute(CURRENT).fetchone()
    assert row is not None, "every session has a role"  # noqa: S101 - told to the type checker
    for power in list_powers(row):
        fix = "let an administrator take that power away; see docs/how-to/postgres.md"
        powers.append(_make_wall_finding(f"the service can pass the walls: {power}", str(row["name"]), fix))
    return [*open_walls, *powers, *_find_wrong_rights(session), *_find_indexes(session)]


def _strip(condition: str | None) -> str:
    """Reduce a condition to the form that it shares with the server's wording of it."""
    return _NOISE.sub("", condition or "")


def _make_wall_finding(detail: str, where: str, fix: str) -> Finding:
    return Finding(check="walls", detail=detail, where=where, fix=fix)


def _find_wrong_rights(session: Session) -> Iterator[Finding]:
    for table, is_view, verb, granted in session.execute(_RIGHTS):
        if verb == "TRUNCATE":
            if granted:
                fix = f"let its owner run `REVOKE TRUNCATE ON credenda.{table} FROM` the role that has it"
                yield _make_wall_finding("the service may empty a table of all users", table, fix)
        elif verb in list_verbs(table, is_view=is_view) and not granted:
            fix = f"let its owner run `GRANT {verb} ON credenda.{table} TO` the role of the service"
            yield Finding(check="permissions", detail=f"the service lacks {verb}", where=table, fix=fix)


@cache
def _list_indexes() -> dict[str, str]:
    """Return the indexes that the migrations leave, with the statements that make them."""
    made: dict[str, str] = {}
    for step in load_steps():
        script = re.sub(r"--[^\n]*", "", step.script)
        made |= {found[1]: " ".join(found[0].split()) for found in _CREATED.finditer(script)}
        for name in _DROPPED.findall(script):
            made.pop(name, None)
    return made


def _find_indexes(session: Session) -> Iterator[Finding]:
    """Find indexes that are missing or unusable: without one a call still works, but reads whole tables."""
    usable = {str(row["name"]): bool(row["usable"]) for row in session.execute(_INDEXES)}
    for name, statement in _list_indexes().items():
        if name not in usable:
            fix = f"let its owner run `{statement.replace(' ON ', ' ON credenda.', 1)}`"
            yield Finding(check="indexes", detail="an index is missing, so that calls become slow", where=name, fix=fix)
    for name, is_usable in usable.items():
        if not is_usable:
            fix = f"let its owner run `REINDEX INDEX credenda.{name}`"
            yield Finding(check="indexes", detail="an index cannot be used: making it failed", where=name, fix=fix)
    for row in session.execute(_WITHOUT_KEY):
        fix = "restore the schema from a backup: rows may be there twice"
        yield Finding(check="indexes", detail="a table has no primary key", where=str(row["name"]), fix=fix)


def describe_upkeep(session: Session) -> Mapping[str, str]:
    """Tell whether acknowledged writes survive a crash, and which tables wait for `VACUUM` or `ANALYZE`."""
    shown = {name: _show(session, name) for name in _DURABILITY}
    settings = ", ".join(f"{name} {value}" for name, value in shown.items())
    return {"durability": settings + describe_risk(shown), "upkeep": _describe_counters(session)}


def _show(session: Session, setting: str) -> str:
    return "".join(str(row[0]) for row in session.execute("SELECT current_setting(%s)", (setting,)))


def describe_risk(shown: Mapping[str, str]) -> str:
    """Say what these settings of the server put at risk; "" if nothing."""
    if "off" in {shown["fsync"], shown["full_page_writes"]}:
        return ": UNSAFE, a crash of the machine may damage the database"
    if shown["synchronous_commit"] == "off":
        return ": UNSAFE, a crash of the server may lose acknowledged messages"
    return ""


def _describe_counters(session: Session) -> str:
    counters = session.execute(_COUNTERS).fetchall()
    dead = [
        f"{row['table']} has {row['dead']:,} dead rows beside {row['live']:,} live ones"
        for row in counters
        if row["dead"] >= max(_MANY_ROWS, row["live"] / 2)
    ]
    unknown = [str(row["table"]) for row in counters if row["live"] >= _MANY_ROWS and not row["analysed"]]
    hints: list[str] = []
    if _show(session, "autovacuum") != "on":
        hints.append("autovacuum is off")
    if dead:
        hints.append(f"run VACUUM: {_name_some(dead)}")
    if unknown:
        hints.append(f"run ANALYZE: {_name_some(unknown)} {'has' if len(unknown) == 1 else 'have'} no statistics")
    # Describe the indexes that have more than twice the size that their entries usually need, the largest first. The
    # usual size is an estimate: entries as the last `VACUUM` or `ANALYZE` counted them, or the live rows of the table
    # where those are more, times the widths of the columns, in pages that are 70 % full.
    found: list[tuple[int, str]] = []
    for row in session.execute(_INDEX_SIZES, {"text": _TEXT_BYTES, "least": _MANY_BYTES}):
        usual = row["entries"] * (row["width"] + _ENTRY_BYTES) / _FILLED
        if row["bytes"] > 2 * usual:
            sizes = f"{row['bytes'] / 1e6:,.0f} MB, where about {usual / 1e6:,.0f} are usual"
            found.append((row["bytes"], f"{row['name']} has {sizes} for {row['entries']:,.0f} entries"))
    bloated = [told for _, told in sorted(found, reverse=True)]
    if bloated:
        hints.append(f"run REINDEX INDEX CONCURRENTLY: {_name_some(bloated)} (estimated from the number of entries)")
    return "; ".join(hints) or "nothing to do"


def _name_some(found: list[str]) -> str:
    more = len(found) - _MOST_NAMED
    return ", ".join(found[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


# The facts for a person who looks after the database: version, roles, walls and extensions.


_SERVER: Final = """
SELECT current_setting('server_version') AS version, current_user::text AS role, session_user::text AS login,
    (SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace AS n WHERE n.nspname = 'credenda') AS owner,
    (SELECT max(version) FROM credenda.schema_version) AS schema,
    (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS vector,
    (SELECT installed_version FROM pg_available_extensions WHERE name = 'vector') AS installed,
    pg_database_size(current_database()) AS bytes,
    to_regclass('credenda.nominees') IS NOT NULL AS indexed
"""
_WALLS: Final = """
SELECT count(*) AS tables,
    count(*) FILTER (WHERE c.relrowsecurity AND c.relforcerowsecurity AND EXISTS (
        SELECT 1 FROM pg_policy AS p
        WHERE p.polrelid = c.oid AND p.polcmd = '*' AND p.polqual IS NOT NULL AND p.polwithcheck IS NOT NULL
    )) AS walled
FROM pg_class AS c
WHERE c.relnamespace = 'credenda'::regnamespace AND c.relkind IN ('r', 'p') AND EXISTS (
    SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
)
"""


def is_standby(session: Session) -> bool:
    """Return whether the server only repeats what another one writes."""
    row = session.execute("SELECT pg_is_in_recovery()").fetchone()
    return row is not None and bool(row[0])


def describe_server(session: Session) -> Mapping[str, str]:
    """Read version, roles, the state of row-level security and the presence of pgvector."""
    server, walls = session.execute(_SERVER).fetchone(), session.execute(_WALLS).fetchone()
    assert server is not None, "one row"  # noqa: S101 - told to the type checker
    assert walls is not None, "one row"  # noqa: S101 - as above
    whole = walls["walled"] == walls["tables"]
    return {
        "name": "PostgreSQL",
        "version": f"{server['version']}{', a standby, which only reads' if is_standby(session) else ''}",
        "schema": str(server["schema"]),
        "bytes": str(server["bytes"]),
        "row_level_security": f"{'forced on all' if whole else 'MISSING: forced on ' + str(walls['walled']) + ' of'} "
        f"{walls['tables']} tables and partitions of users",
        "role": str(server["role"]),
        "login": f"{server['login']}{', which owns the tables' if server['login'] == server['owner'] else ''}",
        "owner": str(server["owner"]),
        "pgvector": _describe_pgvector(server),
    }


def _describe_pgvector(server: Row) -> str:
    """Say whether the vectors of memories too large for an index in memory have one, and what to do if not."""
    if server["indexed"]:
        return f"in use, {server['installed']}"
    if server["installed"]:
        return f"installed, {server['installed']}; used once the owner of the schema has opened the database"
    missing = "the vectors of very large memories are compared one by one"
    if server["vector"]:
        return f"not installed: {missing}; let an administrator run `CREATE EXTENSION vector`"
    return f"not on this server: {missing}"


# Verification of one tenant's rows in Postgres: the journal with its chain, and derived rows with their sources.


_TOMBSTONE_CHARACTERS: Final = 8
_WORDS: Final = Finding(
    check="full_text",
    detail="the table of words differs from the rows it is derived from",
    where="the words of this user",
    fix="run `credenda doctor --repair`, which makes it afresh",
)


def check_rows(session: Session, run: StatementRunner, tenant: TenantRecord) -> list[Finding]:
    """Return all findings; an empty list means that all checks passed."""
    complete = partial(complete_check, place="the database")
    findings = complete("rows", row_loader.check_rows(partial(dump_rows, session, tenant.user_id)))
    findings += complete("journal_chain", check_journal_chain(run, tenant))
    for name in CHECKS:
        findings += complete(name, run_check(name, _bind_checks(run)))
    return findings + complete("full_text", iter([] if is_agreeing(session, run, tenant.user_id) else [_WORDS]))


def repair_rows(run: StatementRunner, findings: Iterable[Finding]) -> list[Finding]:
    """Delete or make afresh the derived rows that findings name, inside the caller's transaction."""
    found = list(findings)
    if _WORDS in found:
        rebuild_words(run)
        found[found.index(_WORDS)] = replace(_WORDS, repaired=True)
    return row_loader.repair_rows(lambda name: _repair(run, name), _bind_checks(run), found)


def _repair(run: StatementRunner, name: str) -> None:
    if name == "drop_altered_vectors":
        for row in _list_altered_vectors(run):
            run("drop_vector", model_id=row[1], code=row[0])
    else:
        run(name, at_us=0)


def _bind_checks(run: StatementRunner) -> Callable[[str], Iterable[str]]:
    """Return what names the rows that a check finds wrong; checksums are computed here, not in the database."""

    def name_rows(check: str) -> Iterable[str]:
        if check == "vector_checksums":
            return [name_document(row[0]) for row in _list_altered_vectors(run)]
        if check == "tombstone_checksums":
            return [
                f"tombstone {row['digest'].hex()[:_TOMBSTONE_CHARACTERS].upper()}"
                for row in run("tombstone_cells")
                if row["checksum"] != compute_checksum(*tuple(row)[:-1])
            ]
        return [str(row[0]) for row in run(f"check_{check}")]

    return name_rows


def _list_altered_vectors(run: StatementRunner) -> list[tuple[int, str]]:
    return [(row[0], row[1]) for row in run("vector_cells") if not is_sound_vector(*row)]
