"""Write `sql/statements.json` of each backend: the named SQL as aiosql parses it, so that no start has to parse it.

Run it after each change of a `.sql` file of `storage`; `--check` only checks whether the files are fresh (exit code 1
if not).
"""

import sys
from pathlib import Path

from credenda.storage.postgres.statements import DIALECT as POSTGRES
from credenda.storage.sql.statements import COMPILED_FILE, Dialect, render_statements_file
from credenda.storage.sqlite.reader import DIALECT as SQLITE

SOURCES = Path(__file__).resolve().parents[1] / "src"


def get_target(dialect: Dialect) -> Path:
    """Return the compiled file of a backend."""
    return SOURCES.joinpath(*dialect.package.split("."), "sql", COMPILED_FILE)


def main() -> int:
    """Write the files, or compare them with the expected content."""
    stale = 0
    for dialect in (SQLITE, POSTGRES):
        target, text = get_target(dialect), render_statements_file(dialect)
        if "--check" not in sys.argv[1:]:
            target.write_text(text, encoding="utf-8")
        elif not target.is_file() or target.read_text(encoding="utf-8") != text:
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
