"""Read what somebody has not decided yet: "should I take the bus or walk?", "torn between Oslo and Bergen". Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from credenda.model.memory import Stance
from credenda.write.parse.fact import Fact, load_frames
from credenda.write.parse.tree import Tree

__all__ = ["read_considered"]

_FIRST: Final = frozenset({"i", "we"})
_DECIDING: Final = frozenset(
    {"tear", "choose", "decide", "pick", "debate", "choice", "decision", "hesitate", "torn", "in", "be"}
)
"""Words before "between A and B"."""


def read_considered(tree: Tree, speaker: str) -> Iterator[Fact]:
    """Yield the actions, and the things to choose from, that a sentence leaves open."""
    for at, token in enumerate(tree.tokens):
        value = ""
        if token.pos == "VERB" and token.lemma not in load_frames()["empty"]["verbs"] and _is_left_open(tree, at):
            value = tree.action(at)
        elif token.text.lower() == "between" and tree.lemma(token.head) in _DECIDING:
            several = tree.find(at, "pobj")
            if several is not None and len(tree.conjuncts(several)) > 1 and tree.tokens[several].pos != "PRON":
                value = " or ".join(tree.phrase(one) for one in tree.conjuncts(several))
        if " " in value:
            inside = tree.descend(at)
            start, stop = tree.tokens[min(inside[0], at)].start, tree.tokens[inside[-1]].stop
            yield Fact(
                entity=speaker,
                attribute="considering",
                value=value,
                start=start,
                stop=stop,
                stance=Stance.CONSIDERED,
                many=True,
            )


def _is_left_open(tree: Tree, at: int) -> bool:
    """Return whether the speaker asks about an action of their own: "should I go", "whether to go"."""
    subject = tree.find(at, "nsubj")
    own = subject is not None and tree.tokens[subject].text.lower() in _FIRST
    helpers = tree.find_all(at, "aux")
    asked = own and any(tree.lemma(one) == "should" and one < (subject or 0) for one in helpers)
    if asked and any(tree.tokens[one].tag in {"WP", "WRB", "WDT"} for one in tree.descend(at) if one < at):
        return False  # "what should I do?"
    weighed = any(tree.lemma(one) == "whether" for one in tree.children[at])
    infinitive = subject is None and any(tree.lemma(one) == "to" for one in helpers)
    return asked or (weighed and (infinitive or (own and any(tree.lemma(one) == "should" for one in helpers))))
