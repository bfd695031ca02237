"""Reorder German clauses into English order, with the negation beside the verb. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from credenda.write.extract.conjugate import Form, inflected
from credenda.write.extract.german_words import is_finite, opened, settle, without_denial
from credenda.write.extract.glossary import Glossary, Item, folded
from credenda.write.extract.southern_clause import Said, with_time_last

__all__ = ["german"]

_WENT: Final = frozenset(
    "move switch go become be keep come return increase decrease die end grow run arrive depart change drive".split()  # noqa: SIM905
) | {"grow up", "get up"}
"""Verbs for which "sein" and the participle form the past; for others they form the passive."""
_MOVING: Final = frozenset({"move", "postpone", "switch", "change", "increase", "decrease", "rename", "bring", "lower"})
_TOWARDS: Final = frozenset({"auf", "aufs", "in", "ins", "zu", "zum", "zur", "nach"})
_PERSONS: Final = {"I": 1, "we": 4, "you": 2}
_WE, _THEY = 4, 6
_LEADING: Final = frozenset({"prep", "adv", "say", "conj", "number"})
_NOMINAL: Final = frozenset({"noun", "kin", "x", "det", "adj", "number"})
_NOUNS: Final = frozenset({"noun", "kin", "x"})
_MODALS: Final = frozenset({"can", "must", "should", "may", "will", "want"})
_SUBORDINATING: Final = frozenset({"that", "if", "because", "when", "who", "what if", "imagine", "suppose", "pretend"})
_LIKING: Final = {"mir": ("I", 1), "uns": ("we", 4)}
_LIKED: Final = frozenset({"like", "love", "hate"})
_WITH: Final = frozenset({"with", "with the"})
_TOLD_TO: Final = frozenset({"answer", "wait", "use", "avoid", "open", "send", "start"})


@dataclass(slots=True, kw_only=True)
class _Told:
    """A parsed clause: verb and form, negation, opening, subject, and the rest."""

    verb: Item
    form: Form
    denied: str
    front: list[Item]
    subject: list[Item]
    tail: list[Item]


def german(items: Sequence[Item], known: Glossary, *, told: str = "", first: bool = False) -> list[Said]:
    """Return a clause in English order; `told` is the subject and verb of the previous clause, for an elliptic one.

    `first`: it begins the sentence, where "wäre ich" is "if I were".
    """
    settle(items)
    head, rest = opened(items)
    rest, denied = without_denial(rest)
    finite = [at for at, one in enumerate(rest) if is_finite(one)]
    subordinate = bool(head) and head[-1].english in _SUBORDINATING
    if finite and finite[0] == 0 and len(rest) > 1 and (rest[1].english, rest[1].tag) == ("you", "subject"):
        form = next(one for one in rest[0].forms if one.person)
        asked = Said(inflected(form.base, 2, form.tense), rest[0].start, rest[0].stop, "verb")
        return [*map(_plain, head), asked, *map(_plain, rest[1:])]
    if not finite or (not subordinate and _is_told_to(rest, finite[0])):
        return [*map(_plain, head), *_without(rest, denied)]
    at = finite[-1] if subordinate and not (rest[finite[0] + 1 :] and finite[0] < 2) else finite[0]  # noqa: PLR2004
    apart = _apart(rest, at, denied, known, subordinate=subordinate)
    supposed = at == 0 and first and apart.form.tense == "were" and len(rest) > 1 and rest[1].tag == "subject"
    lead = [Said("if", tag="conj")] if supposed and not head else []
    return [*map(_plain, head), *lead, *_said(apart, told)]


def _plain(item: Item) -> Said:
    return Said(item.english, item.start, item.stop, item.tag)


def _is_told_to(items: Sequence[Item], fin: int) -> bool:
    """Return whether an apparently finite verb is a final infinitive used as an instruction."""
    closes = fin == len(items) - 1 and items[fin].of("infinitive") is not None
    return closes and all(one.tag != "subject" for one in items) and (fin != 1 or items[0].tag == "adv")


def _apart(items: Sequence[Item], at: int, denied: str, known: Glossary, *, subordinate: bool) -> _Told:
    """Split a clause at its finite verb."""
    verb, before, after = items[at], list(items[:at]), list(items[at + 1 :])
    form = _form(verb, [*before, *after])
    pool = before if subordinate and not after else after
    form, last = _closing(form, verb, pool, known)
    before = [one for one in before if one is not last]
    after = [one for one in after if one is not last]
    front, subject, tail = _subordinate(before, after) if subordinate else _arranged(before, after)
    return _Told(verb=verb, form=form, denied=denied, front=front, subject=subject, tail=tail)


def _form(verb: Item, others: Sequence[Item]) -> Form:
    person = next((_PERSONS.get(one.english, 3) for one in others if one.tag == "subject"), 0)
    finite = [one for one in verb.forms if one.person]
    form = next((one for one in finite if one.person == person), finite[0])
    return form._replace(person=person or form.person)


def _closing(form: Form, verb: Item, pool: Sequence[Item], known: Glossary) -> tuple[Form, Item | None]:
    """Join the finite verb with the end of the clause: a participle, an infinitive, or a separable prefix."""
    last = next((one for one in reversed(pool) if one.tag not in {"say", "adv", "mark"} or one.forms), None)
    if last is not None:
        parted = known.verbs.get(f"{verb.source.lower()}\x00{last.source.lower()}")
        if parted:
            found = next((one for _, one in parted if one.person == form.person), parted[0][1])
            return found._replace(person=form.person), last
        joined = _with_participle(form, last) or _with_infinitive(form, last)
        if joined is not None:
            return joined, last
    if form.base == "will" and form.tense == "were":
        return Form("be", form.person, "would"), None
    if form.base == "will":
        return Form("become", form.person, "present" if form.tense == "present" else "past"), None
    return form, None


def _with_participle(form: Form, last: Item) -> Form | None:
    done = next((one for one in last.forms if one.tense == "participle"), None)
    if done is None or form.base not in {"have", "be", "will"} or last.tag not in {"verb", "adj", "x"}:
        return None
    told = inflected(done.base, 0, "participle")
    if form.base == "will":
        return form._replace(base=f"be {told}")
    if form.tense == "were":
        return Form(f"have {told}", form.person, "would")
    if form.base == "have" or done.base in _WENT:
        return Form(done.base, form.person, "past")
    return form._replace(base=f"be {told}")


def _with_infinitive(form: Form, last: Item) -> Form | None:
    doing = last.of("infinitive")
    if doing is None or form.base not in _MODALS:
        return None
    if form.base == "will":
        return Form(doing.base, form.person, "would" if form.tense == "were" else "will")
    return form._replace(base=f"{form.base} {'to ' if form.base == 'want' else ''}{doing.base}")


def _subordinate(before: list[Item], rest: list[Item]) -> tuple[list[Item], list[Item], list[Item]]:
    at = next((at for at, one in enumerate(before) if one.tag == "subject"), None)
    if at is not None:
        return [], [before[at]], [*before[:at], *before[at + 1 :], *rest]
    size = _nominal(before)
    return [], before[:size], [*before[size:], *rest]


def _arranged(before: list[Item], rest: list[Item]) -> tuple[list[Item], list[Item], list[Item]]:
    """Split a clause into its opening, its subject and the rest."""
    if any(one.tag == "subject" for one in before):
        return [], before, rest
    at = next((at for at, one in enumerate(rest[:4]) if one.tag == "subject"), None)
    if at is not None:
        left = [*rest[:at], *rest[at + 1 :]]
        leads = bool(before) and before[0].tag in _LEADING
        return (before, [rest[at]], left) if leads else ([], [rest[at]], [*before, *left])
    if before and (before[0].tag == "prep" or (before[0].tag == "adv" and not _names(before[1:]))):
        size = _nominal(rest)
        return before, rest[:size], rest[size:]
    return [], before, rest


def _names(items: Sequence[Item]) -> bool:
    return bool(items) and items[0].tag in _NOMINAL and items[-1].tag in _NOMINAL


def _nominal(items: Sequence[Item]) -> int:
    """Count the leading pieces that form one noun phrase."""
    size = 0
    while size < len(items) and items[size].tag in _NOMINAL and not (size and items[size].tag == "det"):
        size += 1
        named = size < len(items) and items[size].tag == "x" and items[size].source[0].isupper()
        if items[size - 1].tag in _NOUNS and not named:
            break
    return size


def _said(apart: _Told, told: str) -> list[Said]:
    """Return subject and verb in English order."""
    if apart.form.base.startswith("@") and (liking := _liking(apart)):
        return liking
    form, out = apart.form, [*map(_plain, apart.front)]
    if apart.subject:
        out += map(_plain, apart.subject)
        we = any(one.english == "we" for one in apart.subject)
        form = form._replace(person=_THEY) if form.person == _WE and not we else form
    elif _orders(apart):
        form = Form(form.base, 2, "order")
    elif form.person in {1, _WE}:
        out.append(Said("I" if form.person == 1 else "we", tag="subject"))
    elif told:
        out.append(Said(told, tag="subject"))
    tail = _reflexive_out(apart.tail, order=form.tense == "order")
    if form.base == "be called" and [one.text for one in out] == ["I"]:
        out, form = [Said("my name", tag="noun")], Form("be", 3, form.tense)
    if form.base == "stop":
        out, tail = _what_stops(apart.front, out, tail)
    if form.base in _LIKED and tail and tail[0].english == "the":
        tail = tail[1:]
    if form.base in _MOVING:
        tail = list(map(_towards, tail))
    shown = inflected(form.base.removeprefix("@"), form.person, form.tense, apart.denied)
    out.append(Said(shown, apart.verb.start, apart.verb.stop, "verb"))
    return with_time_last(_replaced([*out, *_closed(tail)], form, apart.denied))


def _liking(apart: _Told) -> list[Said]:
    """Return "I like spinach" for "mir schmeckt Spinat"."""
    items = [*apart.front, *apart.subject, *apart.tail]
    who = next((one for one in items if one.tag == "clitic" and one.source.lower() in _LIKING), None)
    if who is None:
        return []
    subject, person = _LIKING[who.source.lower()]
    said = inflected(apart.form.base[1:], person, apart.form.tense, apart.denied)
    verb = Said(said, apart.verb.start, apart.verb.stop, "verb")
    return [Said(subject, who.start, who.stop, "subject"), verb, *(_plain(one) for one in items if one is not who)]


def _what_stops(front: list[Item], out: list[Said], tail: list[Item]) -> tuple[list[Said], list[Item]]:
    """Return "I stopped handball" for "mit dem Handball habe ich aufgehört"."""
    if front and front[0].english in _WITH:
        return [one for one in out if one.start < 0 or one.start > front[-1].start], [*front[1:], *tail]
    return out, tail[1:] if tail and tail[0].english in _WITH else tail


def _replaced(out: list[Said], form: Form, denied: str) -> list[Said]:
    """Return the new activity of a swap: "nicht mehr mit Gas, sondern mit Pellets"."""
    subject = next((one.text for one in out if one.tag == "subject"), "")
    if not denied or not subject:
        return out
    instead = f"but now {subject} {inflected(form.base, form.person, form.tense)}"
    return [one._replace(text=instead) if one.text == "but" else one for one in out]


def _towards(item: Item) -> Item:
    """Return the target of a move: "auf den 21. März verschoben"."""
    if item.tag == "prep" and item.source.lower() in _TOWARDS:
        item.english = "to"
    return item


def _orders(apart: _Told) -> bool:
    """Return whether a verb without a subject is an imperative."""
    source, form = folded(apart.verb.source), apart.form
    around = {one.source.lower() for one in (*apart.front, *apart.tail)}
    if any(one.tense == "order" for one in apart.verb.forms) and not source.endswith("e"):
        first = next((one for one in apart.verb.forms if one.person), form)
        return first.person != 3 or not around.isdisjoint({"mir", "mich"})  # noqa: PLR2004
    asked = not around.isdisjoint({"mir", "mich", "uns", "bitte"})
    stem = source.endswith(("te", "de", "me", "ne")) and form.base in _TOLD_TO
    return form.person == 1 and form.tense == "present" and (asked or stem)


def _reflexive_out(tail: Sequence[Item], *, order: bool) -> list[Item]:
    gone = {"sich", "uns"} if order else {"sich", "mich", "mir", "uns"}
    return [one for one in tail if not (one.tag == "clitic" and one.source.lower() in gone)]


def _closed(tail: Sequence[Item]) -> list[Said]:
    """Return the rest; an infinitive with "zu" is moved before its object."""
    items = list(tail)
    form = items[-1].of("to", "infinitive") if items else None
    if form is None or items[-1].forms[0].tense not in {"to", "infinitive"}:
        return [*map(_plain, items)]
    last = items.pop()
    if items and items[-1].source.lower() == "zu":
        items.pop()
    return [Said(f"to {form.base}", last.start, last.stop, "verb"), *map(_plain, items)]


def _without(items: Sequence[Item], denied: str) -> list[Said]:
    """Return a clause without a finite verb; a final infinitive is an instruction."""
    form = items[-1].of("infinitive", "to") if items else None
    if form is None:
        return _nominal_clause(items, denied)
    last, left = items[-1], list(items[:-1])
    if left and left[-1].source.lower() == "zu":
        return [Said(f"to {form.base}", last.start, last.stop, "verb"), *map(_plain, left[:-1])]
    size = 1 + _nominal(left[1:]) if left and left[0].tag == "prep" else 0
    while size < len(left) and left[size].tag in {"adv", "say"}:
        size += 1
    order = Said(inflected(form.base, 2, "order", denied), last.start, last.stop, "verb")
    return [*map(_plain, left[:size]), order, *map(_plain, left[size:])]


def _nominal_clause(items: Sequence[Item], denied: str) -> list[Said]:
    said = [*map(_plain, items)]
    done = items[-1].of("participle") if items else None
    if done is not None:
        said[-1] = Said(inflected(done.base, 0, "participle"), items[-1].start, items[-1].stop, "verb")
    return [Said("no more" if denied == "no longer" else "no", tag="neg"), *said] if denied else said
