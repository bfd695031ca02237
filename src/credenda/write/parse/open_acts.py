"""Keep what a verb without a frame says, as something that somebody does or did. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from credenda.model.claim import UpdateKind
from credenda.write.parse.clauses import Tense
from credenda.write.parse.fact import Fact, Statement, load_frames, make_fact
from credenda.write.parse.objects import find_made_object, is_making
from credenda.write.parse.tree import Tree, is_pointing

__all__ = ["COMPLETIONS", "has_pronoun_object", "is_habitual", "is_helped_by_can", "make_open", "read_open"]

COMPLETIONS: Final = {
    "complete": "completed",
    "finish": "finished",
    "finalize": "finalized",
    "finalise": "finalised",
    "deploy": "deployed",
    "launch": "launched",
    "release": "released",
    "publish": "published",
    "submit": "submitted",
    "cancel": "cancelled",
    "postpone": "postponed",
    "merge": "merged",
    "resolve": "resolved",
}
"""The state that a verb leaves its object in."""
_REPEATED: Final = frozenset(
    ["usually", "often", "always", "regularly", "normally", "typically", "generally", "weekly", "daily", "sometimes"]
)


def has_pronoun_object(tree: Tree, action: int) -> bool:
    """Return whether an action cannot stand alone, since its object was named before: "add it to my list"."""
    return any(is_pointing(tree, one) for one in tree.find_all(action, "dobj", "dative"))


def read_open(said: Statement, head: int) -> Iterator[Fact]:
    """Keep what a verb without a frame says, as something that the speaker does or did."""
    tree = said.tree
    light = tree.lemma(head) in load_frames()["light"]["verbs"] and tree.find(head, "prt") is None
    light = light or has_pronoun_object(tree, head) or _is_no_act(said, head)
    below = tree.find(head, "xcomp")
    light = light or (below is not None and tree.tokens[below].tag == "VB" and " " not in tree.action(below))
    if not light and tree.tokens[head].pos == "VERB" and " " in _tell_act(said, head):
        yield from _read_completion(said, head)
        yield make_open(said, head)


def _is_no_act(said: Statement, head: int) -> bool:
    """Return whether a verb tells what the speaker can do, has no subject ("Visiting Rome must be fun"), or is a scrap.

    A scrap is the letter that is left of "im" and "ive".
    """
    able = is_helped_by_can(said.tree, head) and not said.clause.negated
    torn = len(said.tree.lemma(head)) == 1
    return able or torn or (said.clause.subject is None and said.tree.tokens[head].tag == "VBG")


def is_helped_by_can(tree: Tree, head: int) -> bool:
    """Return whether a verb stands with "can" or "could"."""
    return any(tree.lemma(one) == "can" for one in tree.find_all(head, "aux"))


def make_open(said: Statement, head: int) -> Fact:
    """Return what somebody does or did, in the words of the clause."""
    past = said.clause.tense is Tense.PAST or said.clause.perfect
    helped = any(said.tree.tokens[one].tag == "MD" for one in said.tree.find_all(head, "aux"))
    lasting = said.clause.perfect and said.tree.tokens[head].tag == "VBG" and _is_for_years(said.tree, head)
    past = past and not lasting
    thing = "" if said.clause.negated else find_made_object(said, head)
    if thing:
        return make_fact(said, "status", said.tree.action(head), entity=thing, made=True)
    habitual = (lasting or is_habitual(said.tree, head)) and not (said.clause.negated or helped)
    works = is_making(said, head) and not habitual and (past or said.tree.tokens[head].tag == "VBG")
    name = "experience" if past else "habit" if habitual else "does"
    topical = "status" if works and not said.clause.negated else ""
    return make_fact(said, name, _tell_act(said, head), topical=topical)


def _tell_act(said: Statement, head: int) -> str:
    """Return an action with its object, which stands before a relative clause: "the essay, which I sent on May 3"."""
    tree, at = said.tree, said.clause.head
    told, above = tree.action(head), tree.tokens[at].head
    helper = tree.find(head, "auxpass")
    if helper is not None and said.clause.passive and told:
        return f"{tree.tokens[helper].text.lower()} {told}"  # "was kicked"
    objects = tree.find_all(at, "dobj", "pobj", "advmod", "attr")
    whole = any(tree.tokens[one].tag not in {"WDT", "WP"} for one in objects if tree.tokens[one].dep != "advmod")
    whole = whole or any(tree.tokens[one].tag == "WRB" for one in objects)
    if head != at or tree.tokens[at].dep != "relcl" or said.clause.subject == above or said.clause.passive or whole:
        return told
    stranded = any(tree.find(one, "pobj", "pcomp") is None for one in tree.find_all(at, "prep", "prt"))
    if stranded or tree.find(at, "xcomp", "ccomp") is not None or tree.tokens[above].pos not in {"NOUN", "PROPN"}:
        return ""
    verb, _, rest = told.partition(" ")
    return f"{verb} {tree.phrase(above, prepositions=False)} {rest}".strip()


def _is_for_years(tree: Tree, head: int) -> bool:
    """Return whether a verb has a long time: "for about 10 years"."""
    return tree.lemma(tree.preposition(head, "for")) in {"year", "month", "decade"}


def _read_completion(said: Statement, head: int) -> Iterator[Fact]:
    """Yield the state of a thing that the speaker has finished: "I've completed the login module"."""
    tree, clause = said.tree, said.clause
    if tree.lemma(head) not in COMPLETIONS or clause.negated or clause.tense is Tense.FUTURE:
        return
    target = tree.find(head, "dobj")
    thing = "" if target is None else tree.phrase(target, prepositions=False)
    named = target is not None and "," not in thing and (" " in thing or tree.tokens[target].pos == "PROPN")
    if named and (clause.tense is Tense.PAST or clause.perfect):
        yield make_fact(said, "status", COMPLETIONS[tree.lemma(head)], entity=thing, made=True, move=UpdateKind.CHANGE)


def is_habitual(tree: Tree, head: int) -> bool:
    """Return whether a verb has an adverb or a time of repetition: "usually", "every Sunday", "twice a week"."""
    below = tree.find_all(head, "xcomp")
    for one in (at for verb in (head, *below) for at in tree.find_all(verb, "advmod", "npadvmod")):
        words = [tree.lemma(at) for at in tree.descend(one)]
        if words[0] in _REPEATED or words[-1] in _REPEATED or "every" in words or "each" in words:
            return True
    return False
