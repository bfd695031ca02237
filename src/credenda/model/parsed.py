"""A parsed sentence: tokens with their grammatical relations, and the parser that makes them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

__all__ = ["Parser", "Token"]


class Token(NamedTuple):
    """One token of a text: characters [start, stop), and its place in the tree.

    `lemma` is lower-case; `pos` the universal part of speech, `tag` the Penn Treebank tag; `dep` the relation to the
    token number `head` (its own number for a root) in ClearNLP labels; `entity` the type of a name, or "".
    """

    text: str
    lemma: str
    pos: str
    tag: str
    dep: str
    head: int
    start: int
    stop: int
    entity: str


class Parser(Protocol):
    """Parses English text. May be used from several threads."""

    @property
    def parser_id(self) -> str:
        """Name and version of the parser; a change may change claims."""
        ...

    def parse(self, text: str) -> tuple[Token, ...]:
        """Return the tokens of a text; empty tokens of white space are left out. A text may have several roots."""
        ...
