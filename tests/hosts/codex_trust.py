"""Trust the hooks of Codex as its user does under /hooks: by the same requests to its server."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import Any


def trust_hooks(program: str) -> int:
    """Trust every hook of the user; return how many are trusted then."""
    server = subprocess.Popen([program, "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdin is not None
    assert server.stdout is not None
    numbers = count(1)

    def ask(method: str, **params: object) -> Any:  # noqa: ANN401 - the results are tables of Codex
        number = next(numbers)
        print(json.dumps({"id": number, "method": method, "params": params}), file=server.stdin, flush=True)
        told = next(one for line in server.stdout or () if (one := json.loads(line)).get("id") == number)
        return told["result"]

    def list_hooks() -> list[dict[str, Any]]:
        return ask("hooks/list", cwds=[str(Path.cwd())])["data"][0]["hooks"]

    ask("initialize", clientInfo={"name": "tests", "version": "1"})
    print(json.dumps({"method": "initialized"}), file=server.stdin, flush=True)
    state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in list_hooks()}
    ask("config/batchWrite", edits=[{"keyPath": "hooks.state", "mergeStrategy": "upsert", "value": state}])
    trusted = sum(hook["trustStatus"] == "trusted" for hook in list_hooks())
    server.communicate()
    return trusted


if __name__ == "__main__":
    sys.exit(trust_hooks(sys.argv[1]) == 0)
