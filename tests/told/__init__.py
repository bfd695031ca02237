"""Sentences whose claims are given by hand, for tests of what is decided and kept, not of what is read.

What a sentence says is the reader's affair, and it changes whenever the reader is trained again. A module here has
`NAME.jsonl`: one line a sentence, with the claims that a careful reader would make of it. In the tests of the module
`NAME.py` these sentences have those claims at every door of the process; any other sentence is read as ever.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from credenda import bootstrap
from credenda.model.claim import Claim, Span, Turn, UpdateKind
from credenda.model.memory import Cardinality, MemoryType, Stance
from credenda.write.extract.voices import who_speaks

__all__ = ["find_told", "read_told"]

_KINDS = {"type": MemoryType, "stance": Stance, "move": UpdateKind, "cardinality": Cardinality}
_TIMES = ("valid_from", "valid_until")
_read = bootstrap._LazyExtractor.extract  # noqa: SLF001 - its place is taken while a test runs


def find_told(module: str) -> Path | None:
    """Return the file of a test module ("test_undo"), None if it has none."""
    path = Path(__file__).with_name(f"{module}.jsonl")
    return path if path.exists() else None


@cache
def _load(path: Path) -> Mapping[str, list[dict[str, Any]]]:
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
    return {line["text"]: line["claims"] for line in lines}


def read_told(path: Path, extractor: Any, turn: Turn) -> list[Claim]:  # noqa: ANN401 - the extractor of the product
    """Return the claims of a turn: those of the file where it has its text, else what the product reads."""
    told = _load(path).get(turn.event.text)
    if told is None:
        return _read(extractor, turn)
    speaker, owner = who_speaks(turn.event)
    return [_make_claim(turn, row, speaker, owner) for row in told] if owner is not None else []


def _make_claim(turn: Turn, row: dict[str, Any], speaker: str, owner: str) -> Claim:
    """Make a claim of a line: "me" is who speaks, "said" the sentence, other names are those of `Claim`."""
    event, given = turn.event, dict(row)
    said = given.pop("said", event.text)
    start = event.text.index(said)
    times: dict[str, Any] = {f"{name}_us": _to_us(given.pop(name)) for name in _TIMES if name in given}
    if given.get("entity", "").startswith("me"):
        given["entity"] = owner + given["entity"][2:]
    values = {name: _KINDS[name](value) if name in _KINDS else value for name, value in given.items()}
    assert values.keys() <= {field.name for field in fields(Claim)}, values
    claim = Claim(
        text=said, type=MemoryType.FACT, span=Span(event.id, start, start + len(said)), speaker=speaker, **times
    )
    return replace(claim, topic=event.topic, tags=event.tags, **values)


def _to_us(day: str) -> int:
    moment = datetime.fromisoformat(day)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1e6)
