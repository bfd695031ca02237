"""Prove that the SQL can be sharded by tenant: fails on a statement that could touch the rows of two tenants.

A table with a column `user_id` is a tenant's table. Every statement that names one pins `user_id` of each of them to
one value: by an equality with a parameter, or with the pinned `user_id` of another table of the same statement. A row
that is inserted names its `user_id`. Keys and unique indexes begin with or contain `user_id`, no row refers to a row of
another table, and no sequence gives ids. Statements are read from the `.sql` files of both backends, and for Postgres
also from the texts in the Python files beside them; a name that is filled in when the program runs counts as a tenant's
table.

`shards_exceptions.toml` names the statements that ask about all tenants on purpose, and the tables that are looked up
to find the tenant, each with its reason. An entry that no longer fits is an error.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from credenda.storage.sql.statements import expand_fragments

ROOT: Final = Path(__file__).resolve().parents[1]
STORAGE: Final = ROOT / "src" / "credenda" / "storage"
DIALECTS: Final = ("sqlite", "postgres")
FOLDERS: Final = {"sqlite": "sqlite", "postgres": "postgres", "sql": "sqlite"}
"""The folders of statements, with the dialect that the parser reads them in; those of `sql` are common to both."""
KEY: Final = "user_id"
FILLED: Final = "filled_in"
"""Stands for a name that is filled in when the program runs."""
_NAME: Final = re.compile(r"^-- name: *(\w+)\S*\s*$", re.MULTILINE)
_STATEMENT: Final = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH|MERGE|COPY)\s", re.IGNORECASE)
_UNKNOWN: Final = re.compile(r"\bINDEXED BY \w+|(?<=UPDATE )OR (IGNORE|REPLACE)\b", re.IGNORECASE)
"""Words of SQLite that the parser does not know, and that change no condition."""
_BRACES: Final = re.compile(r"\{\w*\}")
_FORMAT: Final = re.compile(r"%\((\w+)\)[sbt]|%[sbt]")
_CREATE: Final = re.compile(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+) \((.*?)\n\)", re.DOTALL)
_DROP: Final = re.compile(r"DROP TABLE (?:IF EXISTS )?(\w+)")
_PRIMARY: Final = re.compile(r"PRIMARY KEY \(([^)]*)\)")
_UNIQUE: Final = re.compile(r"CREATE UNIQUE INDEX (\w+)\s+ON (\w+) \(([^)]*)\)")
_FOREIGN: Final = re.compile(r"REFERENCES (\w+)")
_SEQUENCE: Final = re.compile(
    r"\b(SERIAL|BIGSERIAL|AUTOINCREMENT|GENERATED \w+ (?:BY DEFAULT )?AS IDENTITY|nextval)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a backend, and its name: `sqlite:users`, `postgres/tokens.py:_FIND`."""

    name: str
    sql: str
    dialect: str


@dataclass(frozen=True, slots=True)
class Exceptions:
    """The statements about all tenants and the tables that tell the tenant, with the reason of each."""

    statements: Mapping[str, str]
    tables: Mapping[str, str]


# ------------------------------------------------------------------------------------------ reading


def read_named(text: str, folder: str, dialect: str) -> Iterator[Statement]:
    """Yield the named statements of a file."""
    parts = _NAME.split(text)
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        yield Statement(f"{folder}:{name}", body, dialect)


def read_python(source: str, module: str, dialect: str) -> Iterator[Statement]:
    """Yield the texts of a Python file that are statements, named by the constant or the function that holds them."""
    tree = ast.parse(source)
    classes = [inner for outer in tree.body if isinstance(outer, ast.ClassDef) for inner in outer.body]
    for owner in [*tree.body, *classes]:
        if not isinstance(owner, ast.Assign | ast.AnnAssign | ast.FunctionDef):
            continue
        for text in _list_texts(owner):
            if _STATEMENT.match(text) and len(text.split()) > 2:  # noqa: PLR2004 - a statement has more words
                yield Statement(f"{module}:{_name_owner(owner)}", text, dialect)


def _name_owner(owner: ast.Assign | ast.AnnAssign | ast.FunctionDef) -> str:
    if isinstance(owner, ast.FunctionDef):
        return owner.name
    return ast.unparse(owner.targets[0] if isinstance(owner, ast.Assign) else owner.target)


def _list_texts(owner: ast.AST) -> Iterator[str]:
    """Yield the texts in a definition, whole where they are filled in, and without docstrings."""
    for node in ast.iter_child_nodes(owner.value if isinstance(owner, ast.Expr) else owner):
        text = _fill(node)
        yield from (text,) if text else _list_texts(node)


def _fill(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else FILLED for part in node.values)  # type: ignore[misc]
    return ""


def read_statements(storage: Path) -> Iterator[Statement]:
    """Yield every statement of every backend."""
    for folder, dialect in FOLDERS.items():
        for file in sorted((storage / folder).rglob("*.sql")):
            if "migrations" not in file.parts:
                yield from read_named(expand_fragments(file.read_text("utf-8")), folder, dialect)
        for file in sorted((storage / folder).rglob("*.py")) if folder != "sqlite" else ():
            module = file.relative_to(storage).as_posix()
            yield from read_python(file.read_text("utf-8"), module, dialect)


def read_schema(storage: Path, dialect: str) -> str:
    """Return the text of all migrations of a backend, without comments."""
    files = sorted((storage / dialect / "migrations").glob("*.sql"))
    return re.sub(r"--.*", "", "\n".join(file.read_text("utf-8") for file in files))


def read_optional_schema(storage: Path) -> str:
    """Return the text of the tables of Postgres that exist only beside an extension, without comments."""
    return re.sub(r"--.*", "", (storage / "postgres" / "nominees.sql").read_text("utf-8"))


def list_tables(schema: str) -> dict[str, str]:
    """Return the tables that a schema makes and keeps: name → definition."""
    made: dict[str, str] = {}
    for found in re.finditer(rf"{_CREATE.pattern}|{_DROP.pattern}", schema, re.DOTALL):
        if found[1]:
            made[found[1]] = found[2]
        else:
            made.pop(found[3], None)
    return made


def list_tenant_tables(schema: str) -> dict[str, str]:
    """Return the tables with a column `user_id`: name → definition."""
    return {name: body for name, body in list_tables(schema).items() if re.search(rf"^\s*{KEY}\b", body, re.MULTILINE)}


# ------------------------------------------------------------------------------------------ statements


def check_statement(statement: Statement, tenants: Iterable[str]) -> str:
    """Return what could make a statement touch two tenants; "" for a sound one."""
    text = _FORMAT.sub(lambda found: f":{found[1] or 'given'}", statement.sql).strip().rstrip(";")
    text = _BRACES.sub(FILLED, _UNKNOWN.sub("", text))
    try:
        trees = [tree for tree in sqlglot.parse(text, dialect=statement.dialect) if tree is not None]
    except (ParseError, TokenError) as error:
        return f"cannot be parsed: {str(error).splitlines()[0]}"
    known = frozenset(tenants) | {FILLED}
    return "; ".join(filter(None, (_check_tree(tree, known) for tree in trees)))


def _check_tree(tree: Any, known: frozenset[str]) -> str:  # noqa: ANN401 - an expression of a library without exact types
    problems = [_check_insert(one, known) for one in tree.find_all(exp.Insert)]
    for block in tree.find_all(exp.Select, exp.Update, exp.Delete):
        problems += [f"{name} is not pinned to a tenant" for name in _list_loose(block, known)]
    return "; ".join(filter(None, problems))


def _list_loose(block: Any, known: frozenset[str]) -> list[str]:  # noqa: ANN401 - as above
    """Return the tenants' tables that a block reads or changes without a pinned `user_id`."""
    sources = _list_sources(block)
    pinned = _find_pinned(block, sources, known)
    return [name for alias, name in sources.items() if name in known and alias not in pinned]


def _list_sources(block: Any) -> dict[str, str]:  # noqa: ANN401 - as above
    """Return the tables of a block itself, without those of blocks inside it: alias → name."""
    found: dict[str, str] = {}
    shadowed = {cte.alias for cte in _list_ctes(block)}
    for table in block.find_all(exp.Table):
        if table.find_ancestor(exp.Select, exp.Update, exp.Delete, exp.Insert) is block:
            name = table.name.lower()
            if not (name in shadowed or isinstance(table.parent, exp.Insert)):
                found[table.alias_or_name.lower()] = name
    return found


def _list_ctes(block: Any) -> list[Any]:  # noqa: ANN401 - as above
    root = block.root()
    return list(root.find_all(exp.CTE))


def _find_pinned(block: Any, sources: Mapping[str, str], known: frozenset[str]) -> set[str]:  # noqa: ANN401 - as above
    """Return the aliases whose `user_id` equals one value in every row of the block, and those of blocks around it."""
    around = block.find_ancestor(exp.Select, exp.Update, exp.Delete)
    outer = set[str]() if around is None else _find_pinned(around, _list_sources(around), known)
    pinned = outer - sources.keys()
    alone = next(iter(sources)) if len(sources) == 1 else ""
    pairs = [
        (mine, other)
        for condition, joined in _list_conditions(block)
        for left, right in filter(None, [_read_equality(condition, alone)])
        for mine, other in ((left, right), (right, left))
        if mine and joined in {None, mine}
    ]
    while more := {mine for mine, other in pairs if not other or other in pinned} - pinned:
        pinned |= more
    return pinned


def _list_conditions(block: Any) -> Iterator[tuple[Any, str | None]]:  # noqa: ANN401 - as above
    """Yield the conditions that a block joins by AND, and the one table that a condition filters; None for all.

    The condition of an outer join filters the rows of the joined table alone.
    """
    where = block.args.get("where")
    wholes: list[tuple[Any, str | None]] = [] if where is None else [(where.this, None)]
    for join in block.args.get("joins") or ():
        condition, side = join.args.get("on"), (join.side or "").upper()
        if condition is not None and side in {"", "LEFT"}:
            wholes.append((condition, join.this.alias_or_name.lower() if side else None))
    for whole, joined in wholes:
        for condition in whole.flatten() if isinstance(whole, exp.And) else (whole,):
            yield condition, joined


def _read_equality(condition: Any, alone: str) -> tuple[str, str] | None:  # noqa: ANN401 - as above
    """Return the two sides of an equality of `user_id`: an alias, or "" for a value."""
    if isinstance(condition, exp.Paren):
        return _read_equality(condition.this, alone)
    if not isinstance(condition, exp.EQ):
        return None
    sides = [_read_side(side, alone) for side in (condition.left, condition.right)]
    return None if None in sides or sides == ["", ""] else (str(sides[0]), str(sides[1]))


def _read_side(side: Any, alone: str) -> str | None:  # noqa: ANN401 - as above
    if isinstance(side, exp.Cast | exp.Paren):
        return _read_side(side.this, alone)
    if isinstance(side, exp.Column):
        owner = side.table.lower() or alone
        return owner if side.name.lower() == KEY and owner else None
    return "" if isinstance(side, exp.Placeholder | exp.Parameter) else None


def _check_insert(insert: Any, known: frozenset[str]) -> str:  # noqa: ANN401 - as above
    """Return why a row that is inserted may be of no tenant; "" for a sound statement."""
    target = insert.this
    table = target.this if isinstance(target, exp.Schema) else target
    if not isinstance(table, exp.Table) or table.name.lower() not in known:
        return ""
    named = [one.name.lower() for one in target.expressions] if isinstance(target, exp.Schema) else [KEY]
    if KEY not in named:
        return f"a row of {table.name} without {KEY}"
    conflict = insert.args.get("conflict")
    keys = [one.name.lower() for one in conflict.args.get("conflict_keys") or ()] if conflict is not None else []
    return f"a conflict in {table.name} without {KEY}" if keys and KEY not in keys else ""


# ------------------------------------------------------------------------------------------ schema


def check_schema(schema: str, exempt: Iterable[str] = ()) -> list[str]:
    """Return what in a schema spans two tenants."""
    problems: list[str] = []
    tenants = list_tenant_tables(schema)
    for name, body in tenants.items():
        primary = _PRIMARY.search(body)
        keyed = primary is not None and primary[1].split(",")[0].strip() == KEY
        if name not in exempt and not keyed and not re.search(rf"^\s*{KEY}\b.*PRIMARY KEY", body, re.MULTILINE):
            problems.append(f"{name}: its primary key does not begin with {KEY}")
        problems += [f"{name}: refers to {other}" for other in _FOREIGN.findall(body)]
    for index, table, columns in _UNIQUE.findall(schema):
        if table in tenants and table not in exempt and KEY not in re.split(r"[,\s]+", columns):
            problems.append(f"{index}: unique over {table} without {KEY}")
    problems += [f"a sequence as identity: {found}" for found in _SEQUENCE.findall(schema)]
    return problems


# ------------------------------------------------------------------------------------------ all


def load_exceptions(path: Path) -> Exceptions:
    """Read the exceptions file."""
    found = tomllib.loads(path.read_text("utf-8"))
    return Exceptions(statements=found["statements"], tables=found["tables"])


def find_problems(statements: Iterable[Statement], tenants: Iterable[str], exceptions: Exceptions) -> list[str]:
    """Return the statements that are not sound and not excepted, and the exceptions that do not fit any more."""
    bound = frozenset(tenants) - exceptions.tables.keys()
    problems: list[str] = []
    unused = set(exceptions.statements)
    for statement in statements:
        problem = check_statement(statement, bound)
        if problem and statement.name in exceptions.statements:
            unused.discard(statement.name)
        elif problem:
            problems.append(f"{statement.name}: {problem}")
    return problems + [f"{name}: is sound or gone; take it off the list" for name in sorted(unused)]


def main() -> int:
    """Check every backend."""
    exceptions = load_exceptions(Path(__file__).with_name("shards_exceptions.toml"))
    schemas = {dialect: read_schema(STORAGE, dialect) for dialect in DIALECTS}
    optional = read_optional_schema(STORAGE)
    tenants = {table for schema in (*schemas.values(), optional) for table in list_tenant_tables(schema)}
    found = find_problems(read_statements(STORAGE), tenants, exceptions)
    found += check_schema(schemas["postgres"], exceptions.tables) + check_schema(optional, exceptions.tables)
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
