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
    command = [sys.argv[1], "serve", "--demo", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:  # noqa: S603 - the caller's own program
        try:
            found = next(filter(None, (re.match(r"Listening on (http\S+)", line) for line in server.stderr or ())))
            for page in PAGES:
                with urlopen(found[1] + page, timeout=60) as answer:  # noqa: S310 - an address that the server printed
                    answer.read()
            print(f"{len(PAGES)} pages of {found[1]} answer")
        finally:
            server.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
