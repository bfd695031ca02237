"""Print the OpenAPI document of the HTTP interface as JSON, or write it to the file that is named."""

import json
import sys
from pathlib import Path

from credenda import __version__
from credenda.interfaces.json_schema import build_openapi


def main() -> int:
    """Print or write the document."""
    text = json.dumps(build_openapi(version=__version__), indent=2, ensure_ascii=False) + "\n"
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
