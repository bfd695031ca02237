"""German clauses in English order: the verb after who does it, and what denies it beside the verb. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from credenda.write.extract.conjugate import Form, inflected
from credenda.write.extract.glossary import Glossary, Item, folded
from credenda.write.extract.southern import Said

__all__ = ["german", "split_at_and"]

_FINITE: Final = ("present", "past")
_WENT: Final = frozenset(
    {"move", "switch", "go", "become", "be", "keep", "come", "return", "increase", "decrease", "die", "end", "grow", "grow up", "run", "get up", "arrive", "depart", "change", "drive"}
)
"""What "sein" and the participle tell as past; of other verbs they tell what is done."""
_MOVING: Final = frozenset({"move", "postpone", "switch", "change", "increase", "decrease", "rename", "bring", "lower"})
_LANGUAGES: Final = frozenset({"German", "English", "French", "Spanish", "Italian", "Portuguese", "Russian", "Japanese", "Chinese"})
_PERSONS: Final = {"I": 1, "we": 4, "you": 2}
_LEADING: Final = frozenset({"prep", "adv", "say", "conj", "number"})
_NOMINAL: Final = frozenset({"noun", "kin", "x", "det", "adj", "number"})
_DENIALS: Final = {"neg": "not", "longer": "no longer", "never": "never"}
_MODALS: Final = frozenset({"can", "must", "should", "may", "will", "want"})


def split_at_and(items: Sequence[Item]) -> list[list[Item]]:
    """Cut a clause at "und", "aber" and "sondern" where a verb stands on both sides."""
    found: list[list[Item]] = [[]]
    for at, item in enumerate(items):
        joins = item.tag == "conj" and item.english in {"and", "but"}
        before = any(_finite(one) for one in found[-1])
        if joins and before and any(_finite(one) for one in items[at + 1 :]):
            found.append([item])
            continue
        found[-1].append(item)
    return found


def _finite(item: Item) -> bool:
    return any(one.person for one in item.forms) and (item.verb or item.tag == "x")


def settle(items: Sequence[Item]) -> None:
    """Decide of each item that may be a verb whether it is one: a capital or an article tells a noun."""
    for at, item in enumerate(items):
        if not item.forms:
            continue
        capital = item.source[0].isupper() and at > 0
        adjective = at > 1 and items[at - 1].tag == "adj" and items[at - 2].tag in {"det", "no"}
        after = at > 0 and (adjective or items[at - 1].tag in {"det", "no"}) and items[at - 1].source.lower() not in {"das", "die", "der", "es"}
        prep = at > 0 and items[at - 1].tag == "prep" and not any(one.tense in {"infinitive", "to"} for one in item.forms)
        if item.tag == "verb" and (capital or (after and not any(one.tense == "participle" for one in item.forms))):
            item.tag, item.english = "x", item.source
        elif item.tag in {"noun", "adj", "x"} and not (capital or after or prep):
            item.tag = "verb" if item.tag != "adj" else item.tag


def german(items: Sequence[Item], known: Glossary, *, opened: str = "", first: bool = False) -> list[Said]:
    """Say a clause in English order; `opened` is who did what the clause before told, for one without a subject.

    `first`: it opens the sentence, where "wäre ich" is "if I were".
    """
    items = [one for one in items if one.tag != "skip"]
    settle(items)
    _name(items)
    head, items = _head(items)
    items, denied, taken = _denied(items)
    subordinate = bool(head) and head[-1].english in {"that", "if", "because", "when", "who", "what if", "imagine", "suppose", "pretend"}
    fin = next((at for at, one in enumerate(items) if _is_finite(one)), None)
    if fin == 0 and len(items) > 1 and items[1].english == "you" and items[1].tag == "subject":
        first = next(one for one in items[0].forms if one.person)
        return [*map(_plain, head), Said(inflected(first.base, 2, first.tense), items[0].start, items[0].stop, "verb"), *map(_plain, items[1:])]
    if fin is None or _is_told_to(items, fin, subordinate=subordinate):
        return [*map(_plain, head), *_without(items, denied)]
    verb, rest_end = items[fin], list(items[fin + 1 :])
    if subordinate and not (rest_end and fin < 2):  # noqa: PLR2004
        fin = max(at for at, one in enumerate(items) if _is_finite(one))
        verb, rest_end = items[fin], list(items[fin + 1 :])
    before = list(items[:fin])
    form = _form(verb, [*before, *rest_end])
    used = [verb]
    if fin == 0 and first and form.tense == "were" and not head and rest_end and rest_end[0].tag == "subject":
        head = [Item(-1, -1, "", "if", "conj")]
    pool = before if subordinate and not rest_end else rest_end
    form, pool_used = _closing(form, verb, pool, known)
    used += pool_used
    front, subject, tail = _arranged(before, [one for one in rest_end if one not in pool_used] if pool is rest_end else rest_end, subordinate=subordinate, pool_used=pool_used)
    return [*map(_plain, head), *_said(form, verb, used, front, subject, tail, denied=denied, taken=taken, opened=opened)]


def _is_told_to(items: Sequence[Item], fin: int, *, subordinate: bool) -> bool:
    """Say whether what looks finite is an infinitive that closes the clause and tells what to do."""
    last = fin == len(items) - 1 and items[fin].of("infinitive") is not None
    return last and not subordinate and all(one.tag != "subject" for one in items) and (fin != 1 or items[0].tag == "adv")


def _plain(item: Item) -> Said:
    return Said(item.english, item.start, item.stop, item.tag)


def _name(items: Sequence[Item]) -> None:
    """Tell "Frau Kolbe" from a wife, and a day from a place."""
    for at, item in enumerate(items[:-1]):
        following = items[at + 1]
        owned = at > 0 and items[at - 1].tag == "det"
        if item.source.lower() == "das" and following.verb and not owned:
            item.english, item.tag = "that", "x"
        if item.source.lower() == "auf" and following.english in _LANGUAGES:
            item.english = "in"
        if item.source.lower() == "als" and (any(one.forms and one.forms[0].base in {"work", "start"} for one in items)):
            item.english, item.tag = "as", "prep"
        if item.source == "Frau" and following.source[0].isupper() and not owned:
            item.english, item.tag = "Mrs", "x"


def _head(items: list[Item]) -> tuple[list[Item], list[Item]]:
    at = 0
    while at < len(items) and items[at].tag in {"conj", "say", "q"}:
        at += 1
    return list(items[:at]), list(items[at:])


def _denied(items: list[Item]) -> tuple[list[Item], str, list[Item]]:
    """Take out what denies the verb: "nicht", "nicht mehr", "nie", "kein … mehr"."""
    found, denied, taken = list[Item](), "", list[Item]()
    no = any(one.tag == "no" for one in items)
    for at, one in enumerate(items):
        following = items[at + 1] if at + 1 < len(items) else None
        contrast = one.tag in {"neg", "longer"} and any(later.source.lower() == "sondern" for later in items[at:])
        if one.tag in _DENIALS and not (contrast and one.tag == "neg"):
            denied = _DENIALS[one.tag]
            taken.append(one)
        elif one.tag == "no" and one.english == "no":
            denied = denied or "not"
            taken.append(one)
        elif no and one.source.lower() == "mehr" and (following is None or following.tag in {"verb", "conj"}):
            denied = "no longer"
            taken.append(one)
        else:
            found.append(one)
    return found, denied, taken


def _is_finite(item: Item) -> bool:
    return item.verb and any(one.person for one in item.forms)


def _form(verb: Item, others: Sequence[Item]) -> Form:
    person = next((_PERSONS.get(one.english, 3) for one in others if one.tag == "subject"), 0)
    finite = [one for one in verb.forms if one.person]
    wanted = [one for one in finite if one.person == person] or finite
    form = wanted[0]
    return form._replace(person=person or form.person)


def _closing(form: Form, verb: Item, pool: list[Item], known: Glossary) -> tuple[Form, list[Item]]:
    """Join the finite verb with what closes the clause: a participle, an infinitive, or a syllable of its own."""
    last = next((one for one in reversed(pool) if one.tag not in {"say", "adv", "mark"} or one.forms), None)
    if last is None:
        return form, []
    parted = known.verbs.get(f"{verb.source.lower()}\x00{last.source.lower()}")
    if parted:
        found = next((one for _, one in parted if one.person == form.person), parted[0][1])
        return found._replace(person=form.person), [last]
    done = next((one for one in last.forms if one.tense == "participle"), None)
    doing = next((one for one in last.forms if one.tense == "infinitive"), None)
    if done is not None and form.base in {"have", "be", "will"} and last.tag in {"verb", "adj", "x"}:
        if form.base == "will":
            return Form(f"be {inflected(done.base, 0, 'participle')}", form.person, form.tense), [last]
        if form.tense == "were":
            return Form(f"have {inflected(done.base, 0, 'participle')}", form.person, "would"), [last]
        if form.base == "have" or done.base in _WENT:
            return Form(done.base, form.person, "past"), [last]
        return Form(f"be {inflected(done.base, 0, 'participle')}", form.person, form.tense), [last]
    if doing is not None and form.base in _MODALS and last.tag == "verb":
        if form.base == "will":
            return Form(doing.base, form.person, "would" if form.tense == "were" else "will"), [last]
        return Form(f"{form.base} {'to ' if form.base == 'want' else ''}{doing.base}", form.person, form.tense), [last]
    if form.base == "will" and form.tense == "were":
        return Form("be", form.person, "would"), []
    if form.base == "will":
        return Form("become", form.person, "present" if form.tense == "present" else "past"), []
    return form, []


def _arranged(
    before: list[Item], rest: list[Item], *, subordinate: bool, pool_used: list[Item]
) -> tuple[list[Item], list[Item], list[Item]]:
    """Part a clause into what leads it, who does it, and the rest."""
    before = [one for one in before if one not in pool_used]
    if subordinate:
        at = next((at for at, one in enumerate(before) if one.tag == "subject"), None)
        if at is not None:
            return [], [before[at]], [*before[:at], *before[at + 1 :], *rest]
        size = _nominal(before)
        return [], before[:size], [*before[size:], *rest]
    if any(one.tag == "subject" for one in before):
        return [], before, rest
    at = next((at for at, one in enumerate(rest[:4]) if one.tag == "subject"), None)
    if at is not None:
        left, objects = [*rest[:at], *rest[at + 1 :]], before
        if before and before[0].tag in _LEADING:
            return before, [rest[at]], left
        return [], [rest[at]], [*objects, *left]
    if before and before[0].tag in {"prep", "adv"} and not (before[0].tag == "adv" and len(before) > 1 and before[-1].tag in _NOMINAL and before[1].tag in _NOMINAL):
        size = _nominal(rest)
        return before, rest[:size], rest[size:]
    return [], before, rest


def _nominal(items: Sequence[Item]) -> int:
    """Count how many pieces at the head are one noun with what belongs to it."""
    size = 0
    while size < len(items) and items[size].tag in _NOMINAL:
        if size and items[size].tag == "det":
            break
        size += 1
        if items[size - 1].tag in {"noun", "kin", "x"} and not (size < len(items) and items[size].tag == "x" and items[size].source[0].isupper()):
            break
    return size


def _said(
    form: Form,
    verb: Item,
    used: Sequence[Item],
    front: list[Item],
    subject: list[Item],
    tail: list[Item],
    *,
    denied: str,
    taken: Sequence[Item],
    opened: str,
) -> list[Said]:
    del used, taken
    out = [*map(_plain, front)]
    if form.base.startswith("@") and (who := _who_likes([*front, *subject, *tail])) is not None:
        rest = [one for one in (*front, *subject, *tail) if one is not who]
        person = {"mir": 1, "uns": 4}.get(who.source.lower(), 3)
        shown = Said({1: "I", 4: "we"}.get(person, who.english), who.start, who.stop, "subject")
        said = inflected(form.base[1:], person, form.tense, denied)
        return [shown, Said(said, verb.start, verb.stop, "verb"), *map(_plain, rest)]
    if subject:
        out += map(_plain, subject)
        if form.person == 4 and not any(one.english == "we" for one in subject):  # noqa: PLR2004
            form = form._replace(person=6)
    elif _orders(form, verb, tail, front):
        form = Form(form.base, 2, "order")
    elif form.person in {1, 4}:
        out.append(Said("I" if form.person == 1 else "we", tag="subject"))
    elif opened:
        out.append(Said(opened, tag="subject"))
    tail = _reflexive_out(tail, order=form.tense == "order")
    if form.base == "be called" and [one.text for one in out] == ["I"]:
        out, form = [Said("my name", tag="noun")], Form("be", 3, form.tense)
    if form.base == "stop" and front and front[0].english in {"with", "with the"}:
        out, tail = [one for one in out if one.start < 0 or one.start > front[-1].start], [*front[1:], *tail]
    if form.base == "stop" and tail and tail[0].english in {"with", "with the"}:
        tail = tail[1:]
    if form.base in _MOVING:
        tail = [_towards(one) for one in tail]
    out.append(Said(inflected(form.base.removeprefix("@"), form.person, form.tense, denied), verb.start, verb.stop, "verb"))
    return _replaced([*out, *_closed(tail)], form, denied)


def _who_likes(items: Sequence[Item]) -> Item | None:
    return next((one for one in items if one.tag == "clitic" and one.source.lower() in {"mir", "uns"}), None)


def _replaced(out: list[Said], form: Form, denied: str) -> list[Said]:
    """Say what is done instead of what is no longer done: "nicht mehr mit Gas, sondern mit Pellets"."""
    subject = next((one.text for one in out if one.tag == "subject"), "")
    if not denied or not subject:
        return out
    return [one._replace(text=f"but now {subject} {inflected(form.base, form.person, form.tense)}") if one.text == "but" else one for one in out]


def _towards(item: Item) -> Item:
    """Say where something is moved: "auf den 21. März verschoben"."""
    if item.tag == "prep" and item.source.lower() in {"auf", "aufs", "in", "ins", "zu", "zum", "zur", "nach"}:
        item.english = "to"
    return item


def _orders(form: Form, verb: Item, tail: Sequence[Item], front: Sequence[Item]) -> bool:
    if any(one.tense == "order" for one in verb.forms) and not folded(verb.source).endswith("e"):
        first = next((one for one in verb.forms if one.person), form)
        return first.person != 3 or any(one.source.lower() in {"mir", "mich"} for one in tail)  # noqa: PLR2004
    asked = any(one.source.lower() in {"mir", "mich", "uns", "bitte"} for one in [*front, *tail])
    stem = folded(verb.source).endswith(("te", "de", "me", "ne"))
    return form.person == 1 and form.tense == "present" and (asked or (stem and form.base in {"answer", "wait", "use", "avoid", "open", "send", "start"}))


def _reflexive_out(tail: Sequence[Item], *, order: bool) -> list[Item]:
    gone = {"sich", "uns"} if order else {"sich", "mich", "mir", "uns"}
    return [one for one in tail if not (one.tag == "clitic" and one.source.lower() in gone)]


def _closed(tail: Sequence[Item]) -> list[Said]:
    """Say the rest; an infinitive with "zu" goes before its object."""
    items = list(tail)
    if items and items[-1].verb and (form := items[-1].forms[0]).tense in {"to", "infinitive"}:
        last = items.pop()
        zu = bool(items) and items[-1].source.lower() == "zu"
        if zu:
            items.pop()
        return [Said(f"to {form.base}", last.start, last.stop, "verb"), *map(_plain, items)]
    return [*map(_plain, items)]


def _without(items: Sequence[Item], denied: str) -> list[Said]:
    """Say a clause without a finite verb: what closes it by an infinitive tells what to do."""
    items = list(items)
    form = items[-1].of("infinitive", "to") if items else None
    if form is None:
        done = items[-1].of("participle") if items else None
        said = [*map(_plain, items)]
        if done is not None:
            said[-1] = Said(inflected(done.base, 0, "participle"), items[-1].start, items[-1].stop, "verb")
        return [Said("no more" if denied == "no longer" else "no" if denied else "", tag="neg"), *said] if denied else said
    last = items.pop()
    if items and items[-1].source.lower() == "zu":
        items.pop()
        return [Said(f"to {form.base}", last.start, last.stop, "verb"), *map(_plain, items)]
    size = 0
    while size < len(items) and items[size].tag in {"adv", "say"}:
        size += 1
    if items and items[0].tag == "prep":
        size = _phrase_end(items)
    front, rest = items[:size], items[size:]
    return [*map(_plain, front), Said(inflected(form.base, 2, "order", denied), last.start, last.stop, "verb"), *map(_plain, rest)]


def _phrase_end(items: Sequence[Item]) -> int:
    size = 1 + _nominal(items[1:])
    while size < len(items) and items[size].tag == "adv":
        size += 1
    return size
