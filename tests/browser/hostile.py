"""A store full of hostile text: markup, marks that turn the direction, very long lines, and halves of characters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from credenda import Credenda, MemoryUnit

MARK: Final = "pwned"
"""The global variable that every script in the texts would set."""
LONG: Final = 300_000
_LINES: Final = 3
_MARKUP: Final = (
    f"<script>window.{MARK}=1</script>",
    f"<img src=x onerror=window.{MARK}=1>",
    f'"><svg onload=window.{MARK}=1>',
    f"'-window.{MARK}=1-'",
    f"javascript:window.{MARK}=1",
    f"[click](javascript:window.{MARK}=1) https://example.com/x.png",
    f"{{{{ ''.__class__ }}}} {{% raw %}} ${{window.{MARK}=1}}",
    f"</textarea></title></style><iframe srcdoc='<script>parent.{MARK}=1</script>'>",
    f"<a href='https://example.com' onmouseover=window.{MARK}=1>x</a>",
    "<form action='https://example.com'><input name=csrf><button>Undo",
    f"<style>*{{background:url(https://example.com/{MARK})}}</style>",
)
_TURNED: Final = (
    "\u202egnp.exe\u202c",
    "\u2066left\u2069\u200f",
    "a\u0301" * 40,
    "\ufeff\u200b\u2028\u2029",
    "\U0001f468\u200d\U0001f469",
)


def list_texts() -> Iterator[str]:
    """Yield hostile texts for ever, each different."""
    number = 0
    while True:
        markup, turned = _MARKUP[number % len(_MARKUP)], _TURNED[number % len(_TURNED)]
        yield f"{number} {markup} {turned}"
        number += 1


def fill(path: Path, count: int) -> None:
    """Store so many hostile memories and a conversation with broken characters, for ana.

    Entities, attributes, values, topics, sessions and tags are hostile too. Three messages are lines of 300,000
    characters.
    """
    texts = list_texts()
    with Credenda.open(path, user="ana", workers=False, settings={"embedder": "none"}) as memory:
        for number in range(count):
            memory.store(
                MemoryUnit(
                    text=next(texts),
                    entity=f"{number % 97} {_MARKUP[number % len(_MARKUP)]}"[:200],
                    attribute=f"a{number % 13} <b>"[:60],
                    value=f"{number} {_TURNED[number % len(_TURNED)]}"[:200],
                    topic=f"<i>{number % 7}</i>",
                    source_session=f"s{number % 50}<u>",
                    tags=(f"<tag{number % 3}>",),
                )
            )
        for number in range(_LINES):
            memory.remember(f"I like harbour {number}. <b>{'W' * LONG}", session=f"long <{number}>")
        memory.data.import_(_write_broken(path.with_suffix(".jsonl")), format="conversation")
        memory.settle(300.0)


def _write_broken(path: Path) -> Path:
    """Write a conversation whose JSON names halves of characters; an import keeps what it can and says the rest."""
    texts = [
        "I like \\ud83d harbours.",
        "My boat is \\udc00\\ud800.",
        "I live in \\u202eLinz\\u0000.",
        "<b>I like tea.</b>",
    ]
    turns = ",".join(f'{{"id": "{n}", "speaker": "user", "text": "{text}"}}' for n, text in enumerate(texts))
    head = json.dumps({"conv": "<script>c", "speakers": ["user"]})[:-1]
    path.write_text(f'{head}, "sessions": [{{"id": "<s>", "time": "2026-01-05", "turns": [{turns}]}}]}}\n', "ascii")
    return path
