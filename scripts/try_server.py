"""Start `credenda serve --demo` of an install, and read its pages as a browser would; exit with 1 if one fails.

The argument is the program.
"""

import re
import subprocess
import sys
from urllib.request import urlopen

PAGES = ("/", "/memories", "/entities", "/inbox", "/agent?prompt=Where+do+I+work%3F", "/v1/stats")


def main() -> int:
    """Start the server, read the pages, and stop it."""
    with subprocess.Popen([sys.argv[1], "serve", "--demo", "--port", "0"], stderr=subprocess.PIPE, text=True) as server:
        try:
            found = next(filter(None, (re.match(r"Listening on (http\S+)", line) for line in server.stderr)))
            for page in PAGES:
                with urlopen(found[1] + page, timeout=60) as answer:
                    answer.read()
            print(f"{len(PAGES)} pages of {found[1]} answer")
        finally:
            server.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
