"""Reorder French, Spanish and Portuguese clauses into English order, with subject and negation. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from credenda.write.extract.conjugate import Form, inflected
from credenda.write.extract.glossary import Item
from credenda.write.extract.southern_clause import DENIALS, DENYING, SUBJECTS, Clause, Said, subject_before
from credenda.write.extract.southern_plain import in_order, put_plain
from credenda.write.extract.southern_verbs import Group, compound, form_of
from credenda.write.extract.southern_words import settle

__all__ = ["southern"]

_NAMING: Final = frozenset({"noun", "kin", "x", "number", "subject"})
_OBJECTS: Final = frozenset({"lo", "la", "los", "las", "le", "les", "l'", "o", "a", "os", "as"})
_TAKING_UP: Final = frozenset({"lo", "la", "los", "las"})
_LINKS: Final = frozenset({"de", "d'", "a", "à", "en", "por", "que", "em"})
_BETWEEN: Final = DENIALS | {"clitic", "prep", "conj", "det", "than", "adv"}
_BARE: Final = frozenset({"can", "must", "should", "may", "will"})
_DOING: Final = frozenset({"stop", "quit", "avoid", "start", "finish", "keep", "give up", "end", "consider"})
_PREPOSITIONS: Final = frozenset({"to", "from", "with", "in", "at", "of", "for", "by", "about"})
_BEFORE_DOING: Final = (" about", " of", " from", " for", "considering")
_OPENING: Final = frozenset({"adv", "say", "mark", "conj"})
_LIKING: Final = {"me": 1, "m'": 1, "nos": 4, "te": 2, "le": 3, "les": 6}
_ME: Final = frozenset({"me", "moi", "m'"})
_SPOKEN_TO: Final = frozenset({"speak", "write", "explain", "talk", "show"})
_NO_PERSON: Final = frozenset({"infinitive", "participle", "gerund"})
_THIRD, _THEY = 3, 6


def southern(items: Sequence[Item], language: str, *, told: bool = False) -> list[Said]:
    """Return a clause in English order. `told`: the sentence has named a subject, which may be this clause's too."""
    clause = Clause(list(items), language, told=told)
    settle(clause)
    at = 0
    while at < len(clause.items):
        past = _verb_group(clause, at)
        if past == at:
            put_plain(clause, clause.items[at], at)
            clause.named = clause.named or clause.items[at].tag in _NAMING
            past = at + 1
        at = past
    return in_order(clause.out)


def _verb_group(clause: Clause, start: int) -> int:
    """Translate the verb group at a position; return the next position, or the same one without a verb."""
    items, weak = clause.items, list[str]()
    first, denied = _around(clause, start, weak, "")
    if first >= len(items) or not items[first].verb:
        return start
    taken_up = clause.language != "fr" and not _TAKING_UP.isdisjoint(weak)
    form = form_of(clause, items[first], subject_before(clause) or int(taken_up))
    at, denied = _around(clause, first + 1, weak, denied, asked=clause.language == "fr" and not clause.named)
    if items[first].tail:
        weak.append(items[first].tail[:2])
    if denied == "not" and at < len(items) and items[at].source.lower() in {"mais", "más", "mas"}:
        denied, at = "no longer", at + 1
    group = compound(clause, Group(form, at, denied))
    _say(clause, group, weak, (items[first].start, items[group.at - 1].stop))
    return _chained(clause, group.form, group.at)


def _around(clause: Clause, at: int, weak: list[str], denied: str, *, asked: bool = False) -> tuple[int, str]:
    """Skip negations and pronouns beside a verb; `asked`: the subject may follow, as in "peux-tu"."""
    items = clause.items
    while at < len(items):
        item = items[at]
        if item.tag == "clitic":
            weak.append(item.source.lower())
        elif item.tag in DENIALS:
            denied = DENYING.get(item.tag, denied)
        elif not (asked and item.tag == "subject" and at and items[at - 1].stop + 1 == item.start):
            break
        at += 1
    return at, denied


def _say(clause: Clause, group: Group, weak: Sequence[str], span: tuple[int, int]) -> None:
    """Translate subject and verb; move a preceding object, and an experiencer, to their English positions."""
    base, person, tense, _ = group.form
    liked = base.startswith("@")
    if liked:
        base = base[1:]
        person = next((_LIKING[one] for one in weak if one in _LIKING), _THIRD)
    order = not liked and _orders(clause, group.form, weak)
    moved = _fronted(clause, person, weak, liked=liked)
    clause.ordered = clause.ordered or order
    if order:
        tense, person = "order", 2
    else:
        _put_subject(clause, base, person, tense)
    for one in group.between:
        clause.put(one.english, one)
    said = _verb(clause, Form(base, person, tense), group.denied)
    head, _, last = said.rpartition(" ")
    parted = bool(moved) and last in _PREPOSITIONS
    clause.out.append(Said(head if parted else said, *span, "verb"))
    if order and not _ME.isdisjoint(weak):
        clause.put("to me" if base in _SPOKEN_TO else "me", tag="clitic")
    clause.out.extend(moved)
    if parted:
        clause.put(last, tag="prep")
    clause.verbed = clause.verbed or tense not in {"participle", "gerund"}
    clause.doing = base.removeprefix("be ")
    clause.denied = (base, person, tense) if group.denied in {"not", "no longer"} else None


def _fronted(clause: Clause, person: int, weak: Sequence[str], *, liked: bool) -> list[Said]:
    """Remove a fronted object that a pronoun repeats: "el café lo tomo solo"."""
    if liked and clause.out and clause.out[0].text.lower() in {"to", "at"} and person in {_THIRD, _THEY}:
        clause.out.pop(0)
    taken_up = not _OBJECTS.isdisjoint(weak) and clause.language != "fr"
    free = clause.named and not clause.verbed and not subject_before(clause)
    if not (person in SUBJECTS and (liked or taken_up) and free):
        return []
    lead = 1 if clause.out[0].text.lower() == "to" else 0
    moved, clause.out = clause.out[lead:], []
    return moved


def _put_subject(clause: Clause, base: str, person: int, tense: str) -> None:
    """Add the subject that only the verb form tells."""
    if person in SUBJECTS and not subject_before(clause) and tense not in _NO_PERSON:
        clause.put(SUBJECTS[person], tag="subject")
    elif clause.named:
        return
    elif person == _THIRD and base == "be" and not clause.out and tense in {"present", "past", "was"}:
        clause.put("it", tag="subject")
    elif person == _THEY:
        clause.put("they", tag="subject")


def _verb(clause: Clause, form: Form, denied: str) -> str:
    """Return the verb itself; an infinitive is an instruction, a purpose or an activity."""
    base, person, tense, _ = form
    if tense != "infinitive":
        return inflected(base, person, tense, denied)
    if clause.out and clause.out[-1].tag == "prep":
        if clause.out[-1].text in {"for", "to", "at", "of", "from"}:
            clause.out.pop()
            return f"{denied} to {base}".strip()
        return inflected(base, 0, "gerund", denied)
    opens = all(one.tag in _OPENING for one in clause.out)
    return inflected(base, 0, "order" if opens else tense, denied)


def _orders(clause: Clause, form: Form, weak: Sequence[str]) -> bool:
    """Return whether a verb at the head of its clause is an imperative."""
    again = clause.ordered and bool(clause.out) and clause.out[-1].tag in {"conj", "adv"}
    free = not (clause.named or clause.verbed or subject_before(clause))
    opens = free and all(one.tag in _OPENING for one in clause.out)
    if not (again or opens) or (clause.told and form.tense == "present"):
        return False
    if clause.language == "fr":
        return form.tense == "present" and form.person in {1, 2, 3}
    if form.tense == "be":
        return form.person in {1, 2, 3}
    told_to = form.tense == "present" and form.person == _THIRD
    return told_to and form.base not in {"be", "have"} and "se" not in weak


def _chained(clause: Clause, form: Form, at: int) -> int:
    """Return the infinitive that depends on a verb: "stop smoking", "can swim", "want to move"."""
    items, look = clause.items, at
    if look < len(items) and items[look].source.lower() in _LINKS and look + 1 < len(items):
        look += 1
    while look < len(items) and items[look].tag in DENIALS | {"clitic"}:
        look += 1
    if look >= len(items) or (one := items[look].of("infinitive")) is None:
        return at
    if any(between.tag not in _BETWEEN for between in items[at:look]):
        return at
    denied = next((DENYING.get(step.tag, "") for step in items[at:look] if step.tag in DENIALS), "")
    if form.base.lstrip("@") in _DOING or form.base.endswith(_BEFORE_DOING):
        said = inflected(one.base, 0, "gerund", denied)
    elif form.base.split(" ", 1)[0] in _BARE or form.base.endswith(" to"):
        said = f"{denied} {one.base}".strip()
    else:
        said = f"{denied} to {one.base}".strip()
    clause.out.append(Said(said, items[at].start, items[look].stop, "verb"))
    return _chained(clause, one, look + 1)
