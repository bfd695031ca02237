"""Write `storage/sqlite/sql/statements.json`: the named SQL as aiosql parses it, so that no start has to parse it.

Run it after each change of a `.sql` file there; `--check` only checks whether the file is fresh (exit code 1 if not).
"""

import sys
from pathlib import Path

from credenda.storage.sqlite.statements import COMPILED_FILE, render_statements_file

TARGET = Path(__file__).resolve().parents[1] / "src" / "credenda" / "storage" / "sqlite" / "sql" / COMPILED_FILE


def main() -> int:
    """Write the file, or compare it with the expected content."""
    text = render_statements_file()
    if "--check" in sys.argv[1:]:
        return 0 if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
