"""The dependency tree of a sentence, and the phrases in it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from credenda.model.parsed import Token

__all__ = ["CLAUSAL", "Tree", "is_pointing"]

CLAUSAL: Final = frozenset({"relcl", "advcl", "ccomp", "parataxis", "mark", "csubj"})
"""Relations of clauses and their marks, which no value contains."""
_LEADING: Final = frozenset({"det", "poss", "predet", "cc", "preconj", "punct", "intj", "case"})
_LOOSE: Final = frozenset({"PUNCT", "CCONJ", "INTJ"})
_FINITE: Final = frozenset({"VBZ", "VBP", "VBD", "MD"})
_JOINING: Final = frozenset({"conj", "cc"})
_WORDS_MAX: Final = 20
_BREAKS: Final = frozenset({"ADP", "CCONJ", "SCONJ", "PUNCT"})
"""Parts of speech that a long value may be cut before."""
_HANGING: Final = frozenset({"PUNCT", "CCONJ", "SCONJ", "ADP", "DET", "PART"})
"""Parts of speech that no value ends with, but for the particle of a verb."""
_POINTING: Final = frozenset({"this", "that", "these", "those"})
_CURLED: Final = str.maketrans("", "", "“”")
_SPEAKERS: Final = frozenset({"me", "us", "myself", "ourselves"})


@dataclass(slots=True)
class Tree:
    """The tokens of one text with their children."""

    text: str
    tokens: Sequence[Token]
    children: list[list[int]] = field(default_factory=list[list[int]])

    def __post_init__(self) -> None:
        """List the children of every token, from left to right."""
        self.children = [[] for _ in self.tokens]
        for at, token in enumerate(self.tokens):
            if token.head != at:
                self.children[token.head].append(at)

    def find(self, at: int, *relations: str) -> int | None:
        """Return the first child of a token in one of the relations."""
        return next((one for one in self.children[at] if self.tokens[one].dep in relations), None)

    def find_all(self, at: int, *relations: str) -> list[int]:
        """Return all children of a token in one of the relations."""
        return [one for one in self.children[at] if self.tokens[one].dep in relations]

    def preposition(self, at: int, *words: str) -> int | None:
        """Return the object of a preposition of a token, such as the place in "live in Graz"."""
        for one in self.children[at]:
            if self.tokens[one].dep in ("prep", "agent", "dative") and self.tokens[one].lemma in words:
                found = self.find(one, "pobj")
                if found is not None:
                    return found
        return None

    def lemma(self, at: int | None) -> str:
        """Return the lemma of a token; "" for None."""
        return "" if at is None else self.tokens[at].lemma

    def is_name(self, at: int) -> bool:
        """Return whether a token is a proper noun, or has a capital although it opens no sentence."""
        token = self.tokens[at]
        return token.pos == "PROPN" or (token.pos == "NOUN" and at > 0 and token.text != token.text.lower())

    def ancestors(self, at: int) -> Iterator[int]:
        """Yield the heads of a token, upwards."""
        while self.tokens[at].head != at:
            at = self.tokens[at].head
            yield at

    def conjuncts(self, at: int) -> list[int]:
        """Return a token and those joined to it by "and", "or" or a comma."""
        found = [at]
        for one in self.children[at]:
            if self.tokens[one].dep == "conj":
                found += self.conjuncts(one)
        return found

    def descend(self, at: int, skipped: Collection[str] = ()) -> list[int]:
        """Return the tokens under a token and itself, without the branches in the `skipped` relations, in order.

        Only the conjuncts of `at` itself are skipped: a value keeps "Spain and Italy" in "cities in Spain and Italy".
        """
        found, inner = [at], {one for one in skipped if one not in _JOINING}
        for one in self.children[at]:
            joins_adjectives = self.tokens[at].pos == "ADJ" and self.tokens[one].dep in _JOINING
            is_skipped = self.tokens[one].dep in skipped or (bool(skipped) and self._is_joined_clause(one))
            if joins_adjectives or not is_skipped:
                found += self.descend(one, inner)
        return sorted(found)

    def _is_joined_clause(self, at: int) -> bool:
        """Return whether a conjunct is a clause with a subject or a finite verb of its own."""
        own = self.tokens[at].tag in _FINITE or self.find(at, "nsubj", "nsubjpass") is not None
        return own and self.tokens[at].dep == "conj"

    def phrase(self, at: int, *, whole: bool = False, prepositions: bool = True) -> str:
        """Return the words of a noun phrase without determiners, clauses and conjuncts.

        `whole` keeps possessives and conjuncts; without `prepositions` the phrase ends before its first one.
        """
        skipped = {*CLAUSAL, "appos"} if whole else {*CLAUSAL, "conj", "cc", "appos"}
        if not prepositions:
            skipped |= {"prep", "agent"}
        inside = self.descend(at, skipped)
        run = self._cut_clauses(_run_around(inside, at), at)
        while run and run[0] != at and self._leads(run[0], whole=whole):
            run = run[1:]
        run = self._shorten(run, at)
        return self.slice(run[0], run[-1])

    def _shorten(self, run: list[int], at: int) -> list[int]:
        """Return the start of a run up to the end of a phrase; `at` stays."""
        if len(run) > _WORDS_MAX:
            places = range(_WORDS_MAX, _WORDS_MAX // 2, -1)
            cut = next((one for one in places if self.tokens[run[one]].pos in _BREAKS), _WORDS_MAX)
            run = run[: max(cut, run.index(at) + 1)]
        while len(run) > 1 and run[-1] != at and self._hangs(run[-1]):
            run = run[:-1]
        return run

    def _hangs(self, at: int) -> bool:
        return self.tokens[at].pos in _HANGING and self.tokens[at].dep != "prt"

    def _cut_clauses(self, run: list[int], at: int) -> list[int]:
        """Return the part of a run around `at` that holds no finite verb: no value contains a clause."""
        verbs = [one for one in run if self.tokens[one].tag in _FINITE and one != at]
        first = max((one for one in verbs if one < at), default=-1)
        last = min((one for one in verbs if one > at), default=len(self.tokens))
        return [one for one in run if first < one < last]

    def _leads(self, at: int, *, whole: bool) -> bool:
        token = self.tokens[at]
        titled = token.text.istitle() and at > 0
        if token.dep == "poss" and (whole or (titled and token.pos == "PROPN")):
            return False  # "Schitt's Creek"
        if titled and token.dep == "det":
            return False  # "The Office"
        if token.dep == "advmod" and token.text.lower().endswith("ly"):
            return True  # "specifically Flask"
        return token.dep in _LEADING or (token.pos == "DET" and token.lemma in {"a", "an", "the", "some", "any"})

    def action(self, head: int) -> str:
        """Return a verb with the words after it in its own phrase: "visit Hawaii with friends"."""
        joined = {"conj", "cc"} if self.tokens[head].tag in _FINITE else frozenset[str]()
        inside = [one for one in self.descend(head, CLAUSAL | joined) if one > head]
        while inside and self._opens_loosely(inside[0]):
            inside = inside[1:]
        while inside and (self.tokens[inside[-1]].pos in _LOOSE or self.tokens[inside[-1]].dep == "nsubj"):
            inside = inside[:-1]
        run = self._shorten(_run_around(inside, inside[0]), inside[0]) if inside else []
        run = [] if len(run) == 1 and self._hangs(run[0]) else run
        return " ".join([self.tokens[head].text, *([self.slice(run[0], run[-1])] if run else [])])

    def _opens_loosely(self, at: int) -> bool:
        """Return whether a word before an action's object is left out, but in "where to work" and "moving closer"."""
        token = self.tokens[at]
        return token.dep in {"neg", "punct"} or (token.dep == "advmod" and token.tag == "RB")

    def slice(self, first: int, last: int) -> str:
        """Return the text from one token to another, up to a bracket or without a mark that is not closed."""
        words = " ".join(self.text[self.tokens[first].start : self.tokens[last].stop].split())
        if last == len(self.tokens) - 1 and words.rpartition(" ")[2].count(".") == 1:
            words = words.removesuffix(".")  # "DeepL." at the end is one token
        if words.count("(") != words.count(")"):
            words = words.partition("(")[0].replace(")", "").strip() or words.strip("() ")
        for mark in '"`':
            words = words.replace(mark, "") if words.count(mark) % 2 else words
        return words.strip() if words.count("“") == words.count("”") else words.translate(_CURLED).strip()


def is_pointing(tree: Tree, at: int) -> bool:
    """Return whether a noun names nothing without the sentences before it: "it", "that decision"."""
    token = tree.tokens[at]
    pointing = any(tree.lemma(one) in _POINTING for one in tree.find_all(at, "det"))
    return pointing or (token.pos == "PRON" and token.tag in {"PRP", "DT"} and token.text.lower() not in _SPEAKERS)


def _run_around(inside: Sequence[int], at: int) -> list[int]:
    """Return the unbroken run of token numbers that holds `at`."""
    place = inside.index(at)
    first = last = place
    while first and inside[first - 1] == inside[first] - 1:
        first -= 1
    while last + 1 < len(inside) and inside[last + 1] == inside[last] + 1:
        last += 1
    return list(inside[first : last + 1])
