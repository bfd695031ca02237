"""Any format, any junk: whatever stands in a file, reading it gives turns and problems, and never fails."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from copy import deepcopy
from datetime import UTC
from pathlib import Path
from typing import Any, Final, cast

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from credenda.errors import Invalid, LimitExceeded
from credenda.portability.importers.format import Format, Omitted, Parsed, Piece, Problem, Source
from credenda.portability.importers.memory_databases import SQLITE_HEAD
from credenda.portability.importing import FORMATS
from credenda.portability.sources import Lines, Meter
from credenda.write.intake.validate import accept

from .exports import Table, chat, said, told, tree
from .people_files import ACTIVITIES, CODEX, COPILOT, GEMINI, TAVERN, TELEGRAM, WEBUI
from .strands import COGNEE, DOCUMENT, GRAPHITI, LETTA, MESSAGES, PAM_STORE, POINTS
from .transcripts import line

JUNK: Final = (
    *("null", "true", "0", "-1", "1.5", "1e300", "NaN", "[]", "[[]]", "{}", '{"a": []}', '[{"type": "text"}]'),
    *('""', '" "', '"x"', r'"\ud800"', '"9999-99-99"'),
)
TURN: Final[Table] = {"id": 1, "speaker": "x", "text": "y"}
SAMPLES: Final[dict[str, tuple[bool, list[Table]]]] = {
    "codex": (True, CODEX),
    "sillytavern": (True, TAVERN),
    "open-webui": (False, WEBUI),
    "gemini-takeout": (False, ACTIVITIES),
    "copilot": (True, COPILOT),
    "claude-code": (
        True,
        [
            line("user", "One.", 1),
            line("assistant", [{"type": "text", "text": "Two."}, {"type": "tool_use"}], 2),
            {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "One."}, "uuid": "q"},
        ],
    ),
    "chatgpt": (False, [tree("a", said(1, "user", "One.", {"text": "x"}), said(2, "assistant", "Two."))]),
    "claude": (False, [chat("a", told(1, "human", "One."), told(2, "assistant", "Two."))]),
    "mcp-memory": (
        True,
        [
            {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["likes tea", "x"]},
            {"type": "relation", "from": "Ann", "to": "Ben", "relationType": "knows"},
        ],
    ),
    "mem0": (
        False,
        [{"id": "1", "memory": "x", "metadata": {"a": 1}, "created_at": "2025-01-01", "role": "user", "user_id": "u"}],
    ),
    "conversation": (
        True,
        [{"conv": "c", "sessions": [{"id": "s", "time": "2025-01-01", "turns": [TURN]}]}],
    ),
}
WHOLE: Final[dict[str, Table]] = {
    "gemini-cli": GEMINI,
    "telegram": TELEGRAM,
    "letta": LETTA,
    "hindsight": DOCUMENT,
    "zep": GRAPHITI,
    "cognee": COGNEE,
    "pam": PAM_STORE,
    "openmemory": POINTS,
    "messages": {"messages": MESSAGES},
}
NAMES: Final = {
    "whatsapp": "a.txt",
    "hermes": "USER.md",
    "openclaw": "USER.md",
    "recall": "a.db",
    "engram": "a.db",
    "suzent": "a.md",
    "memory-folder": "a.md",
    "memories": "a.md",
    "obsidian": "a.md",
    "markdown": "a.md",
    "text": "a.txt",
}
KNOWN: Final = {known.name: known for known in FORMATS}


def read(known: Format, data: bytes) -> list[Parsed]:
    """Read to the end, and check each piece as filing does."""
    file: Any = io.BufferedReader(io.BytesIO(data))  # pyright: ignore[reportArgumentType] - a raw file in all but name
    name = "a.jsonl" if SAMPLES.get(known.name, (False, []))[0] else "a.json"
    source = Source(path=Path(NAMES.get(known.name, name)), user_id="ana", modified_us=1)
    found = list(known.pieces(Lines(file, "a", meter=Meter()), source))
    for piece in found:
        if isinstance(piece, Piece):
            with suppress(Invalid, LimitExceeded):
                accept(piece.submission, policy="mask", zone=UTC, now_us=1)
    return found


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401 - foreign JSON
    """List the ways to everything inside a value."""
    inside: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inside = list(cast("Table", value).items())
    elif isinstance(value, list):
        inside = list(enumerate(cast("list[Any]", value)))
    return [path, *(way for key, item in inside for way in places(item, (*path, key)))]


def put(value: Any, path: tuple[Any, ...], junk: object) -> Any:  # noqa: ANN401 - foreign JSON
    if not path:
        return junk
    value[path[0]] = put(value[path[0]], path[1:], junk)
    return value


def written(items: list[Any], *, as_lines: bool) -> bytes:
    return "\n".join(map(json.dumps, items)).encode() if as_lines else json.dumps(items).encode()


@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=300)
@given(choose=st.data())
def test_junk_anywhere_in_an_item_is_a_problem_at_most(name: str, choose: st.DataObject) -> None:
    as_lines, sample = SAMPLES[name]
    items: list[Any] = deepcopy(sample)
    for _ in range(choose.draw(st.integers(1, 3))):
        items = put(
            items,
            choose.draw(st.sampled_from(places(items)[1:] or [(0,)])),
            json.loads(choose.draw(st.sampled_from(JUNK))),
        )
    found = read(KNOWN[name], written([*items, *sample], as_lines=as_lines))
    assert sum(isinstance(piece, Piece) for piece in found) >= 1
    assert not any("One." in piece.what for piece in found if isinstance(piece, Problem))


@pytest.mark.parametrize("name", WHOLE)
@settings(max_examples=200)
@given(choose=st.data())
def test_junk_anywhere_in_a_file_of_several_lists_is_a_problem_at_most(name: str, choose: st.DataObject) -> None:
    whole: Any = deepcopy(WHOLE[name])
    for _ in range(choose.draw(st.integers(1, 3))):
        path = choose.draw(st.sampled_from(places(whole)))
        whole = put(whole, path, json.loads(choose.draw(st.sampled_from(JUNK))))
    found = read(KNOWN[name], json.dumps(whole).encode())
    assert all(isinstance(piece, Parsed) for piece in found)
    told = " ".join(piece.what for piece in found if isinstance(piece, Problem | Omitted))
    assert not any(words in told for words in ("Graz", "Alice", "Ana works", "dark mode", "likes tea", "Linz"))


@pytest.mark.parametrize("name", KNOWN)
@given(data=st.binary(max_size=200) | st.text(alphabet='-[]{}#" :,\n`|%a()', max_size=200).map(str.encode))
def test_any_bytes_are_read_to_their_end(name: str, data: bytes) -> None:
    assume(not data.startswith(SQLITE_HEAD))  # a damaged database is refused as a whole
    assert all(isinstance(piece, Parsed) for piece in read(KNOWN[name], data))


def test_every_format_is_tried_and_described() -> None:
    assert set(SAMPLES) | set(NAMES) | set(WHOLE) == set(KNOWN)
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "import.md").read_text("utf-8")
    assert [name for name in KNOWN if f"`{name}`" not in page] == []
