"""Write `storage/postgres/citus.sql`: the statements that spread the tables over the nodes of a Citus cluster.

Each table of tenants is distributed by `user_id`, and all of them together: the rows of a tenant are on one node. A
table that is looked up to find the tenant, or belongs to none, is a reference table: every node has all of it. The file
is made from the schema; `--check` only checks whether it is fresh (exit code 1 if not).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import shards

TARGET: Final = shards.STORAGE / "postgres" / "citus.sql"
ANCHOR: Final = "tenants"
_HEAD: Final = """\
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
"""


def render() -> str:
    """Return the content of the file."""
    schema = shards.read_schema(shards.STORAGE, "postgres")
    exceptions = shards.load_exceptions(Path(shards.__file__).with_name("shards_exceptions.toml"))
    tenants = [name for name in shards.list_tenant_tables(schema) if name not in exceptions.tables]
    lookups = [name for name in shards.list_tables(schema) if name not in tenants]
    together = [ANCHOR, *(name for name in tenants if name != ANCHOR)]
    lines = [_HEAD]
    for name in together:
        beside = "" if name == ANCHOR else f", colocate_with => '{ANCHOR}'"
        lines.append(f"SELECT create_distributed_table('{name}', '{shards.KEY}'{beside});")
    lines.append("")
    for name in lookups:
        reason = exceptions.tables.get(name, "its rows belong to no tenant")
        lines += [f"-- {reason[0].upper()}{reason[1:]}.", f"SELECT create_reference_table('{name}');"]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the file, or compare it with the expected content."""
    text = render()
    if "--check" in sys.argv[1:]:
        return 0 if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
