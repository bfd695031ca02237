"""Parse the predicate of a clause: base form of the main verb, tense, negation, and adverbs."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from credenda.write.extract.lexicon import RECENT, Form, lexicon

__all__ = ["Predicate", "read_predicate"]

_STEPS_MAX: Final = 12
_NO_MORE: Final = re.compile(r",?\s*\b(?:any ?more|any longer)\b", re.IGNORECASE)
_CONTRASTED: Final = re.compile(r", (?:and )?not ", re.IGNORECASE)
"""Before a value that ended beside the one that holds: "Tom, not Anna any more"."""
_NOW: Final = re.compile(
    r",? (?:(?:right |by |as of )?now|as of today|from now on|these days|nowadays)$", re.IGNORECASE
)
_MODALS: Final = {
    "will": "future",
    "shall": "future",
    "might": "modal",
    "may": "modal",
    "could": "maybe",
    "should": "maybe",
    "would": "wish",
    "must": "skip",
    "can": "can",
}
_STOPPING: Final = frozenset({"stop", "quit", "give"})
_PENDING: Final = frozenset({"think", "consider", "plan", "hope", "lean", "debate"})
_NO_VERBS: Final = frozenset("the a an my our this that his her their your some school work".split())  # noqa: SIM905
_NOT_VERBS: Final = frozenset(
    "and or but too as for to alone myself ourselves with in on at of from who that which also not like than then there"  # noqa: SIM905
    " here once ever smell sense would_rather else both all the one two three if when while because since until"
    " froze stole hid wove shot shook swept strove dealt led laid lit bred bound struck stuck stung sank swung slid"
    " sped spilt spelt learnt leapt knelt lent leant burnt dreamt bent blew beat bled clung crept fled flung ground"
    " overcame overtook spat sprang stank strode swore threw tore trod undid withdrew wrung ate hung overslept".split()
)
"""Words after "I" that are no verb, or only a past form."""
_GUESSED_WORDS_MAX: Final = 5
_LETTERS: Final = 2
_SURE_VERBS: Final = frozenset({"is", "are", "was", "were", "has", "will"})
_BASE_FORM: Final = frozenset({"base"})
_NO_BASES: Final = ("ly", "ing", "ed")
_ONLY_PAST: Final = frozenset({"past"})


class Predicate(NamedTuple):
    """A normalised predicate: `text` begins with the base form of the main verb, `said` with its original form.

    `tense`: simple, progressive, past, perfect, future, former ("used to"), modal ("might"), maybe ("should"), wish
    ("would"), or skip for a predicate that states nothing.
    """

    verb: str
    text: str
    said: str
    tense: str
    negated: bool = False
    ended: bool = False
    cues: frozenset[str] = frozenset()


class _Reader:
    """Parses the words before the main verb."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = words
        self.plain = [word.lower().rstrip(",") for word in words]
        self.at = 0
        self.negated = False
        self.ended = False
        self.tense = "simple"
        self.cues: set[str] = set()

    def word(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.plain[at] if at < len(self.plain) else ""

    def form(self, ahead: int = 0) -> Form | None:
        return lexicon().forms.get(self.word(ahead))

    def small_words(self) -> None:
        """Skip adverbs and "not", and record their features."""
        adverbs = lexicon().adverbs
        for _ in range(_STEPS_MAX):
            word = self.word()
            if word == "no" and self.word(1) == "longer":
                self.ended = True
                self.at += 2
            elif word == "not":
                self.negated = not self.negated
                self.at += 1
            elif word in adverbs and self.at + 1 < len(self.words):
                self.negated ^= adverbs[word] == "never"
                self.cues.add(adverbs[word])
                self.at += 1
            else:
                return

    def auxiliary(self) -> bool:
        """Skip one auxiliary; False at the main verb."""
        word, form = self.word(), self.form()
        if word in _MODALS and self.at + 1 < len(self.words):
            return self._modal(word)
        if self.word(1) == "to" and word in {"tend", "tends", "used"}:
            if word == "used":
                self.tense = "former"
            else:
                self.cues.add("usually")
            self.at += 2
            return True
        match form.base if form is not None else "":
            case "do":
                return self._do(word)
            case "have":
                return self._have()
            case "be":
                return self._be()
            case _:
                return False

    def _modal(self, word: str) -> bool:
        kind = _MODALS[word]
        self.tense = self.tense if kind == "can" else kind
        self.cues.add(word)
        self.at += 1
        return True

    def _next(self) -> int:
        """Return the distance to the next word after this one and its adverbs."""
        ahead = 1
        while self.at + ahead < len(self.words) - 1 and (
            self.word(ahead) in lexicon().adverbs or self.word(ahead) == "not"
        ):
            ahead += 1
        return ahead

    def _do(self, word: str) -> bool:
        ahead = self._next()
        form = self.form(ahead)
        negated = any(self.word(step) == "not" for step in range(1, ahead))
        if form is None or "base" not in form.kinds or not (negated or ahead > 1 or word == "do"):
            return False
        self.tense = "past" if word == "did" else self.tense
        self.at += 1
        return True

    def _have(self) -> bool:
        following = self.form(self._next())
        got = self.word(1) == "got" and self.word() != "had"
        if self.word(2 if got else 1) == "to":
            self.tense = "skip"
            return False
        if got:
            self.words = (*self.words[: self.at], "have", *self.words[self.at + 2 :])
            self.plain[self.at : self.at + 2] = ["have"]
            return False
        if following is None or "participle" not in following.kinds:
            return False
        self.tense = "perfect" if self.tense == "simple" else "skip"
        self.at += 1
        return True

    def _be(self) -> bool:
        ahead = self._next()
        form, following = self.form(), self.form(ahead)
        if form is None or following is None or self.tense == "future":
            return False
        if "gerund" not in following.kinds or following.base == "be":
            return False
        if following.base == "go" and self._goes_on(ahead):
            self._skip(ahead + 2)
            self.tense = "skip" if form.kinds == _ONLY_PAST else "future"  # "I was going to" did not happen
            return True
        past = form.kinds == _ONLY_PAST and following.base not in _PENDING
        self._skip(ahead)
        self.tense = "past" if past else "progressive"
        return False

    def _goes_on(self, ahead: int) -> bool:
        """Return whether "going to" precedes a verb rather than a place."""
        goal = self.at + ahead + 2
        if self.word(ahead + 1) != "to" or goal >= len(self.words):
            return False
        return self.words[goal].islower() and self.words[goal] not in _NO_VERBS

    def _skip(self, ahead: int) -> None:
        """Advance over adverbs, and record their features."""
        goal = self.at + ahead
        self.at += 1
        self.small_words()
        self.at = goal

    def phase(self) -> None:
        """Parse "stopped drinking", "gave up smoking" and "started using" as an ending or a beginning."""
        form = self.form()
        step = 2 if form is not None and form.base == "give" and self.word(1) == "up" else 1
        following = self.form(step)
        if form is None or following is None or "gerund" not in following.kinds:
            return
        if form.base in _STOPPING:
            self.ended = self.tense != "future"
        elif form.base in {"start", "begin"} and not form.kinds.isdisjoint({"past", "participle"}):
            self.cues.add("changed")
        elif form.base != "keep":
            return
        self.at += step
        self.tense = "simple" if self.tense in {"simple", "past", "perfect"} else self.tense


def _tense(reader: _Reader, form: Form) -> str:
    """Derive the tense from the form of the main verb."""
    if reader.tense == "simple" and reader.word() == "quit":
        return "past"
    if reader.tense == "simple" and form.kinds.isdisjoint({"base", "third", "gerund"}):
        return "past" if "past" in form.kinds or form.base != "be" else "simple"
    return reader.tense


@lru_cache(maxsize=RECENT)
def read_predicate(words: tuple[str, ...], *, doing: bool = False) -> Predicate | None:
    """Normalise a predicate; None without a known verb.

    `doing`: a verb must follow, as after "I"; then an unknown word counts as one.
    """
    joined = " ".join(words)
    shortened = _NO_MORE.sub("", joined, count=1) if "any" in joined.lower() else joined
    present = _NOW.sub("", shortened)
    reader = _Reader(tuple(present.split(" ")))
    if present != shortened and " " in present:
        reader.cues.add("now")
    reader.ended = shortened != joined and _CONTRASTED.search(shortened) is None
    for _ in range(_STEPS_MAX):
        reader.small_words()
        if not reader.auxiliary():
            break
    reader.small_words()
    reader.phase()
    if reader.word() == "would_rather":
        rest = " ".join(reader.words[reader.at :])
        return Predicate("would_rather", rest, rest, "simple", reader.negated)
    form = reader.form()
    if form is None and doing:
        form = _guessed(reader)
    return None if form is None else _finished(reader, form)


def _guessed(reader: _Reader) -> Form | None:
    """Treat an unknown word after "I" as a verb: "I tat lace"."""
    word = reader.word()
    if len(reader.words) - reader.at > _GUESSED_WORDS_MAX:
        return None
    plain = word.isalpha() and word.isascii() and len(word) > _LETTERS and reader.at + 1 < len(reader.words)
    helped = (
        reader.tense != "simple" or reader.negated or "can" in reader.cues or not _SURE_VERBS.isdisjoint(reader.plain)
    )
    if not plain or helped or word in _NOT_VERBS or word.endswith(_NO_BASES) or not reader.words[reader.at].islower():
        return None
    return Form(word, _BASE_FORM)


def _finished(reader: _Reader, form: Form) -> Predicate:
    said = " ".join(reader.words[reader.at :])
    tense = _tense(reader, form)
    reader.at += 1
    verb = form.base
    if form.base == "be":
        reader.small_words()
        verb = "is"
    text = " ".join([verb, *reader.words[reader.at :]])
    negated = reader.negated and not reader.ended
    return Predicate(verb, text, said, tense, negated, reader.ended, frozenset(reader.cues))
