"""Verb groups of a French, Spanish or Portuguese clause: participles, infinitives. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

from credenda.write.extract.conjugate import Form, inflected
from credenda.write.extract.glossary import Item
from credenda.write.extract.southern_clause import DENIALS, DENYING, Clause, done_of

__all__ = ["Group", "compound", "form_of"]

_DONE: Final = frozenset({"decide", "choose", "agree", "buy", "sell", "move", "change", "switch", "split up", "cancel"})
"""Verbs whose ambiguous form is rather past: "decidimos" is "we decided"."""
_WE: Final = 4
_NEAR: Final = 3


class Group(NamedTuple):
    """A verb group: its form, the next position, its negation, and the words between its parts."""

    form: Form
    at: int
    denied: str
    between: tuple[Item, ...] = ()


def form_of(clause: Clause, item: Item, subject: int) -> Form:
    """Choose the form of an ambiguous verb by its subject: a person from 1 to 6, 0 for none."""
    forms = item.forms
    if subject == _WE and clause.language in {"fr", "pt"}:  # "on", "a gente"
        found = next((one for one in forms if one.person in {3, 4}), None)
        if found is not None:
            return found._replace(person=_WE)
    wanted = subject or (3 if clause.named else 1)
    finite = [one for one in forms if one.person]
    matching = [one for one in finite if one.person == wanted]
    if item.forms[0].base in _DONE:
        matching.sort(key=lambda one: one.tense != "past")
        finite.sort(key=lambda one: one.person != _WE or one.tense != "past")
    if item.tail and not matching:
        matching = [one for one in forms if one.tense in {"present", "infinitive", "gerund"}]
    return (matching or finite or list(forms))[0]


def compound(clause: Clause, group: Group) -> Group:
    """Join "have" and "be" with the following participle, gerund or infinitive."""
    items, look, between, denied = clause.items, group.at, list[Item](), group.denied
    while look < len(items) and look - group.at < _NEAR and items[look].tag in DENIALS | {"adv", "clitic"}:
        if items[look].tag in DENIALS:
            denied = DENYING.get(items[look].tag, denied)
        elif items[look].tag == "adv":
            between.append(items[look])
        look += 1
    if look >= len(items):
        return group._replace(denied=denied)
    joined = _joined(clause, group.form, items[look])
    if joined is not None:
        return Group(joined, look + 1, denied, tuple(between))
    return _ahead(clause, group._replace(denied=denied))


def _joined(clause: Clause, form: Form, item: Item) -> Form | None:
    """Return the meaning of "have" and "be" with a participle or a gerund."""
    if form.base not in {"have", "be"} or not item.verb:
        return None
    done = done_of(item)
    if done is None:
        doing = item.of("gerund") if form.base == "be" else None
        return None if doing is None else form._replace(base=f"be {inflected(doing.base, 0, 'gerund')}")
    told = inflected(done.base, 0, "participle")
    if form.base == "be" and not (done.moved and clause.language == "fr"):
        return form._replace(base=f"be {told}")
    if form.tense in {"would", "were"}:
        return Form(f"have {told}", form.person, "would")
    return Form(done.base, form.person, "past" if form.tense in {"present", "past"} else form.tense)


def _ahead(clause: Clause, group: Group) -> Group:
    """Join "going to", "have just", "am doing" and "now" with the following infinitive."""
    items, form, at = clause.items, group.form, group.at
    look = at + 1 if at < len(items) and items[at].source.lower() in {"a", "à"} else at
    between: list[Item] = []
    while look < len(items) and items[look].tag == "adv" and form.base == "go":
        between.append(items[look])
        look += 1
    one = items[look].of("infinitive") if look < len(items) else None
    if one is None:
        return group._replace(form=form._replace(base="come from")) if form.base == "have just" else group
    joined, denied = form, group.denied
    match form.base:
        case "have just":
            joined = Form(f"have just {inflected(one.base, 0, 'participle')}", form.person, "present")
        case "go":
            joined = form._replace(base=f"be going to {one.base}")
        case "be" if look > at or clause.language == "fr":
            joined = form._replace(base=f"be {inflected(one.base, 0, 'gerund')}")
        case "begin again to":
            joined, denied = Form(one.base, form.person, "present"), "now"
        case "switch" if look > at:
            joined, denied = Form(one.base, form.person, "present"), "now"
        case _:
            return group
    return Group(joined, look + 1, denied, tuple(between))
