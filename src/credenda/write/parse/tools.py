"""Read tools that a clause names beside its verb: "using Redis for …", "with SQLite as my database". Pure."""

from __future__ import annotations

from collections.abc import Iterator

from credenda.write.extract.lexicon import lexicon
from credenda.write.parse.fact import Fact, Statement, make_fact
from credenda.write.parse.people import PartyKind
from credenda.write.parse.tree import CLAUSAL

__all__ = ["read_tools"]


def read_tools(said: Statement) -> Iterator[Fact]:
    """Yield the tools of a clause about the speaker: objects of "using", and "X as my Y"."""
    tree, clause = said.tree, said.clause
    if said.party.kind is not PartyKind.SPEAKER or clause.negated:
        return
    for at in tree.descend(clause.head, CLAUSAL - {"advcl"}):
        token = tree.tokens[at]
        by = token.dep == "pcomp" and tree.lemma(token.head) == "by"
        if token.lemma == "use" and token.tag == "VBG" and (by or token.dep in {"advcl", "acl"}):
            target = tree.find(at, "dobj")
            for one in [] if target is None else tree.conjuncts(target):
                if tree.is_name(one) and tree.tokens[one].text[0].isalpha():
                    yield make_fact(said, "uses", tree.phrase(one, prepositions=False))
        role = tree.preposition(at, "as")
        tool = at if tree.is_name(at) else tree.find(at, "dobj") or tree.preposition(at, "with")
        if role is None or tool is None or tree.tokens[role].pos != "NOUN":
            continue
        noun = tree.phrase(role, prepositions=False).lower()
        if tree.is_name(tool) and lexicon().attribute(noun).known:
            yield make_fact(said, lexicon().attribute(noun).name, tree.phrase(tool, prepositions=False))
