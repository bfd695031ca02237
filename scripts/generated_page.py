"""Write a generated page of the documentation, or check that it is fresh; the scripts `docs_*.py` share this."""

import sys
from pathlib import Path


def write_or_check(page: Path, text: str, script: str) -> int:
    """Write the page, or with `--check` in the arguments return 1 when it is out of date."""
    if "--check" not in sys.argv[1:]:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
        return 0
    if page.is_file() and page.read_text(encoding="utf-8") == text:
        return 0
    print(f"{page.name} is out of date; run scripts/{script}", file=sys.stderr)
    return 1
