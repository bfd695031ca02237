"""What a clause says of its subject: the main verb in its base form, tense, negation, and small words that matter."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from credenda.write.extract.lexicon import Form, lexicon

__all__ = ["Predicate", "read_predicate"]

_STEPS_MAX: Final = 12
_NO_MORE: Final = re.compile(r",?\s*\b(?:any ?more|any longer)\b", re.IGNORECASE)
_MODALS: Final = {"will": "future", "shall": "future", "might": "modal", "may": "modal", "could": "maybe", "should": "maybe",
                  "would": "wish", "must": "skip", "can": "can"}  # fmt: skip
_STOPPING: Final = frozenset({"stop", "quit"})
_DETERMINERS: Final = frozenset({"the", "a", "an", "my", "our", "this", "that", "his", "her", "their", "your", "some", "school", "work"})
_PENDING: Final = frozenset({"think", "consider", "plan", "hope", "lean", "debate"})


class Predicate(NamedTuple):
    """A predicate in plain form: `text` begins with the main verb's base, `said` with the verb as it was said.

    `tense`: simple, progressive, past, perfect, future, former ("used to"), modal, or skip for what is only wished.
    """

    verb: str
    text: str
    said: str
    tense: str
    negated: bool = False
    ended: bool = False
    cues: frozenset[str] = frozenset()


class _Reader:
    """Walks over the words before the main verb."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = words
        self.at = 0
        self.negated = False
        self.ended = False
        self.tense = "simple"
        self.cues: set[str] = set()

    def form(self, at: int | None = None) -> Form | None:
        at = self.at if at is None else at
        return lexicon().forms.get(self.words[at].lower().rstrip(",")) if at < len(self.words) else None

    def word(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.words[at].lower().rstrip(",") if at < len(self.words) else ""

    def small_words(self) -> None:
        """Pass over adverbs and "not", keeping what they tell."""
        for _ in range(_STEPS_MAX):
            word = self.word()
            if word == "no" and self.word(1) == "longer":
                self.ended = True
                self.at += 2
            elif word == "not":
                self.negated = not self.negated
                self.at += 1
            elif word in lexicon().adverbs and self.at + 1 < len(self.words):
                cue = lexicon().adverbs[word]
                self.negated ^= cue == "never"
                self.cues.add(cue)
                self.at += 1
            else:
                return

    def auxiliaries(self) -> bool:
        """Pass over one auxiliary; False at the main verb."""
        word, form = self.word(), self.form()
        if word in _MODALS and self.at + 1 < len(self.words):
            kind = _MODALS[word]
            self.tense = self.tense if kind == "can" else kind
            self.cues.add(word)
            self.at += 1
            return True
        if word in {"tend", "tends"} and self.word(1) == "to":
            self.cues.add("usually")
            self.at += 2
            return True
        if word == "used" and self.word(1) == "to":
            self.tense = "former"
            self.at += 2
            return True
        if form is None:
            return False
        match form.base:
            case "do":
                return self._do(word)
            case "have":
                return self._have(form)
            case "be":
                return self._be(form)
            case _:
                return self._phase(form)

    def _next(self) -> tuple[int, Form | None]:
        """Look at the word after this one and its small words."""
        at = self.at + 1
        while at < len(self.words) - 1 and (
            self.words[at].lower() in lexicon().adverbs or self.words[at].lower() == "not"
        ):
            at += 1
        return at, self.form(at)

    def _do(self, word: str) -> bool:
        at, form = self._next()
        negated = any(one.lower() == "not" for one in self.words[self.at + 1 : at])
        if form is None or "base" not in form.kinds or (at == self.at + 1 and not negated and word != "do"):
            return False
        if word == "did":
            self.tense = "past"
        self.at += 1
        return True

    def _have(self, form: Form) -> bool:
        _, following = self._next()
        if self.word(1) == "got" and form.kinds != {"past"}:
            if self.word(2) in {"to", "into"}:
                self.tense = "skip"
            else:
                self.words = (*self.words[: self.at], "have", *self.words[self.at + 2 :])
                return False
        if self.word(1) == "to":
            self.tense = "skip"
            return False
        if following is None or not ("participle" in following.kinds):
            return False
        self.tense = "perfect"
        self.at += 1
        return True

    def _be(self, form: Form) -> bool:
        at, following = self._next()
        if following is None or self.tense == "future":
            return False
        if "gerund" in following.kinds and following.base != "be" and self.word(at - self.at) != "being":
            if following.base == "go" and at + 1 < len(self.words) and self.words[at + 1].lower() == "to":
                goes_on = self.words[at + 2] if at + 2 < len(self.words) else ""
                if goes_on.islower() and goes_on not in _DETERMINERS:
                    self._skip_to(at + 2)
                    self.tense = "future"
                    return True
            past = form.kinds == {"past"} and following.base not in _PENDING
            self._skip_to(at)
            self.tense = "past" if past else "progressive"
            return False
        return False

    def _skip_to(self, at: int) -> None:
        """Move ahead over small words, keeping what they tell."""
        self.at += 1
        self.small_words()
        self.at = at

    def _phase(self, form: Form) -> bool:
        """Read "stopped drinking", "gave up smoking" and "started using" as what ended or began."""
        step = 2 if form.base == "give" and self.word(1) == "up" else 1
        following = self.form(self.at + step)
        if following is None or "gerund" not in following.kinds:
            return False
        if form.base in _STOPPING or step == 2:  # noqa: PLR2004
            self.ended = self.tense != "future"
        elif form.base in {"start", "begin"} and not form.kinds.isdisjoint({"past", "participle"}):
            self.cues.add("changed")
        elif form.base not in {"keep"}:
            return False
        self.at += step
        self.tense = "simple" if self.tense in {"simple", "past", "perfect"} else self.tense
        return False


def _tense(reader: _Reader, form: Form, word: str) -> str:
    """Settle the tense from the main verb's own form."""
    if reader.tense != "simple" or form.kinds & {"base", "third"} or "gerund" in form.kinds:
        return reader.tense
    del word
    return "past"


def read_predicate(words: tuple[str, ...], *, third: bool) -> Predicate | None:
    """Bring a predicate into plain form; None where no known verb leads it.

    `third` says that the subject is another than "I" and "we", so that a bare base form is no verb of it.
    """
    joined = " ".join(words)
    shortened = _NO_MORE.sub("", joined, count=1)
    reader = _Reader(tuple(shortened.split(" ")))
    ended = shortened != joined
    for _ in range(_STEPS_MAX):
        reader.small_words()
        if not reader.auxiliaries():
            break
    reader.small_words()
    if reader.word() == "would_rather":
        rest = " ".join(reader.words[reader.at :])
        return Predicate("would_rather", rest, rest, "simple", reader.negated)
    form = reader.form()
    if form is None:
        return None
    del third
    tense = _tense(reader, form, reader.word())
    return _finished(reader, form, tense, ended=ended)


def _finished(reader: _Reader, form: Form, tense: str, *, ended: bool) -> Predicate:
    said = " ".join(reader.words[reader.at :])
    reader.at += 1
    if form.base == "be":
        reader.small_words()
        if "third" not in form.kinds and tense == "simple":
            tense = "past" if "past" in form.kinds else tense
    verb = "is" if form.base == "be" else form.base
    text = " ".join([verb, *reader.words[reader.at :]])
    ended = ended or reader.ended
    negated = reader.negated and not ended
    return Predicate(verb, text, said, tense, negated, ended, frozenset(reader.cues))
