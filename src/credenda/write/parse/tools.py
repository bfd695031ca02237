"""Read tools that a clause names beside its verb: "using Redis for …", "with SQLite as my database". Pure."""

from __future__ import annotations

from collections.abc import Iterator

from credenda.write.extract.lexicon import lexicon
from credenda.write.parse.clauses import Tense
from credenda.write.parse.fact import Fact, Statement, make_fact
from credenda.write.parse.objects import is_tool, make_tool
from credenda.write.parse.people import PartyKind
from credenda.write.parse.tree import CLAUSAL, Tree

__all__ = ["read_tools"]


def read_tools(said: Statement) -> Iterator[Fact]:
    """Yield the tools of a clause about the speaker: objects of "using", "X as my Y", and versions in what is tried."""
    tree, clause = said.tree, said.clause
    if said.party.kind is not PartyKind.SPEAKER or clause.negated:
        return
    tried = tree.find(clause.head, "xcomp") if tree.lemma(clause.head) == "try" else None
    for at in tree.descend(clause.head, CLAUSAL - {"advcl"}):
        token = tree.tokens[at]
        by = token.dep == "pcomp" and tree.lemma(token.head) == "by"
        if token.lemma == "use" and token.tag == "VBG" and (by or token.dep in {"advcl", "acl"}):
            target = tree.find(at, "dobj")
            action = tree.tokens[token.head].head if by else token.head
            for one in [] if target is None else tree.conjuncts(target):
                if is_tool(tree, one):
                    yield make_tool(said, at, one, action)
        elif tried is not None and clause.tense is Tense.PRESENT and _is_versioned(tree, at):
            yield make_tool(said, tried, at, tried)
        yield from _read_role(said, at)


def _read_role(said: Statement, at: int) -> Iterator[Fact]:
    """Read "X as my Y", "with X as the Y"."""
    tree = said.tree
    role = tree.preposition(at, "as")
    tool = at if tree.is_name(at) else tree.find(at, "dobj") or tree.preposition(at, "with")
    if role is None or tool is None or tree.tokens[role].pos != "NOUN" or not tree.is_name(tool):
        return
    noun = tree.phrase(role, prepositions=False).lower()
    if lexicon().attribute(noun).known:
        yield make_fact(said, lexicon().attribute(noun).name, tree.phrase(tool, prepositions=False))


def _is_versioned(tree: Tree, at: int) -> bool:
    """Return whether a noun names a product with its version: "Flask 2.3.1"."""
    number = tree.find(at, "nummod")
    is_last = tree.tokens[at].dep not in {"compound", "nmod"}
    return is_last and is_tool(tree, at) and ((number is not None and number > at) or not tree.is_name(at))
