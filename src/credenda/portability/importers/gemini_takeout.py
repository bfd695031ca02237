"""Gemini's part of Google Takeout: `MyActivity.json`, an item for each prompt with its answer, the newest first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Final

from credenda.portability.importers.format import Boundary, Omitted, Parsed, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Table,
    Talk,
    Turn,
    has_json_name,
    list_tables,
    read_moment_or_none,
    read_tables,
    read_text,
)
from credenda.portability.importers.shape import list_key_paths
from credenda.portability.line_reader import Lines
from credenda.private import cut_tagged

_SHAPE: Final = frozenset({"header", "title", "time", "products"})
_PRODUCT: Final = re.compile(r"\b(?:Gemini|Bard)\b")
_ASKED: Final = re.compile(r"(?:Prompted(?: with:)?|Asked(?: Gemini)?|Said|Answered)\s+(.*)", re.DOTALL)
_LINES: Final = re.compile(r"<(?:br|/p|/li|/h[1-6]|/tr|/pre)\b[^<>]{0,200}>", re.IGNORECASE)
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]{0,2000}>")


class GeminiTakeoutFormat:
    """Prompts to Gemini Apps, and the answers."""

    name = "gemini-takeout"

    def takes(self, member: str) -> bool:
        """Return whether a file is JSON."""
        return has_json_name(member)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with an activity in Gemini."""
        del path
        return list_key_paths(head) >= _SHAPE and (b"Gemini" in head or b"Bard" in head)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse item after item; the items of a day are one conversation."""

        def read(table: Table, place: str) -> Iterator[Parsed]:
            yield from _read_activity(table, place, source)

        yield Boundary()
        yield from read_tables(lines, source.path, {"": read})


def _read_activity(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    if not _PRODUCT.search(read_text(table, "header")):
        yield Omitted(what="activities in other products")
        return
    title = read_text(table, "title")
    asked = _ASKED.fullmatch(title)
    if asked is None:
        if not title:
            raise MalformedError("it has no title")
        yield Omitted(what="activities without a prompt")
        return
    time = table.get("time")
    moment = read_moment_or_none(time)
    day = f"{moment:%Y-%m-%d}" if moment else "undated"
    talk = Talk(agent="gemini", session=f"gemini/{day}", user_id=source.user_id, aged_us=source.modified_us)
    key = (str(time), asked[1])
    yield from talk.pieces(Turn(place=place, role="user", text=asked[1].strip(), key=("user", *key), moment=time))
    answer = "\n\n".join(_strip_markup(read_text(item, "html")) for item in list_tables(table, "safeHtmlItem"))
    if answer.strip():
        yield from talk.pieces(Turn(place=place, role="assistant", text=answer, key=("assistant", *key), moment=time))


def _strip_markup(html: str) -> str:
    r"""Return the text of an answer.

    >>> _strip_markup("<p>Tea &amp; <b>cake</b></p><p>x</p>")
    'Tea & cake\nx'
    """
    public = cut_tagged(html)  # before its tags are gone
    return unescape(_TAG.sub("", _LINES.sub("\n", public))).strip()
