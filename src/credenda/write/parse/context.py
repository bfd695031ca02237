"""Complete a sentence that leans on the one before: "it" by the thing named there, an answer by its question. Pure.

A completed sentence is read like any other. Only one thing of the fitting kind may be meant, else nothing is completed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from credenda.model.claim import Turn
from credenda.model.event import Role
from credenda.write.extract.lexicon import names
from credenda.write.parse.fact import load_frames
from credenda.write.parse.people import is_owned
from credenda.write.parse.tree import CLAUSAL, Tree

__all__ = ["complete_answer", "find_open_question", "is_greeting", "resolve_it"]

_QUESTION: Final = re.compile(r"([^.!?\n]+)\?[^\w\[]*(?:\[[^\]]*\]\s*)?$")
_GREETING: Final = re.compile(
    r"(?:hi|hey|hello|thanks|thank you|oh|wow|aww?|good \w+)\b[\w ,']{0,24}[!.]*$", re.IGNORECASE
)
_YES: Final = re.compile(
    r"(?:(?:oh|haha|well|hey|hi)[\w ]{0,12}[,!] )?(?:yes|yeah|yep|yup|yea|definitely|absolutely|of course"
    r"|(?:i|we) (?:did|have|am|are)\b)(?!\?)(?!.*\b(?:but|if|should|hop|maybe|next)\b)",
    re.IGNORECASE,
)
_ASKED_YOU: Final = re.compile(r"\b(?P<helper>did|have|are|were|do|had) you (?P<rest>.+)", re.IGNORECASE)
_VAGUE: Final = re.compile(
    r"\b(?:any\w*|some\w+|lots?|or|if|what|how|why|who|which|else)\b|^(?:ever |still )?(?:think|know|mean|want|need"
    r"|mind|guess|hear|see|feel|find|plan|considered|thought|remember|believe|agree|doing|okay|ok|ready|sure|kidding|able"
    r"|going to)\b",
    re.IGNORECASE,
)
_ASKED_WHAT: Final = re.compile(
    r"\b(?:when|where|what|what time|which \w+|what \w+)(?P<helper>'s| is| are| was| were| do| did)"
    r" (?P<who>you|your [\w' -]+)(?P<rest>(?<=you) .+)?$",
    re.IGNORECASE,
)
_JUDGED: Final = re.compile(
    r"\b(?:how|did|have)\b.*?\b(?P<noun>(?:your|the|that) [\w'-]+(?: [\w'-]+){0,3}?)"
    r"(?= you\b| go\b| going\b| turn| yesterday| today| last\b| so far| at\b| in\b| on\b| with\b|$)",
    re.IGNORECASE,
)
_IT_WAS: Final = re.compile(r"(?P<start>(?:\w+, )?)(?:it|that|they) (?=was|were|went|turned)", re.IGNORECASE)
_SWAPPED: Final = {
    "you": "I",
    "your": "my",
    "yours": "mine",
    "i": "you",
    "my": "your",
    "me": "you",
    "yourself": "myself",
}
_SHORT_WORDS: Final = 6
_MOVED: Final = frozenset(
    ["reschedule", "move", "postpone", "push", "schedule", "start", "begin", "end", "cancel", "shift", "be", "delay"]
)
"""Verbs whose "it" is an event."""
_FINISHED: Final = frozenset(
    [
        *("finish", "complete", "submit", "publish", "sell", "buy", "book", "cancel", "accept", "decline", "sign"),
        *("deploy", "pass", "send", "receive", "approve", "finalize", "finalise", "reject", "purchase", "order"),
        *("launch", "return"),
    ]
)
"""Verbs that settle their object, which is named with them or before."""
_NAMING: Final = frozenset({"dobj", "nsubj", "nsubjpass", "attr", "pobj", "conj"})
_NO_THINGS: Final = frozenset({"PERSON", "DATE", "TIME", "MONEY", "PERCENT", "CARDINAL", "QUANTITY", "GPE"})


def find_open_question(turn: Turn) -> str:
    """Return the question that the turn before ends with, without its mark; "" if nobody else asked."""
    before = turn.addressed
    spoken = before is not None and before.role in {Role.USER, Role.PERSON, Role.ASSISTANT}
    found = _QUESTION.search(before.text) if before is not None and spoken else None
    return "" if found is None else found[1].strip().replace("’", "'")


def is_greeting(text: str) -> bool:
    """Return whether a sentence only greets or thanks, so that the next one answers."""
    return _GREETING.match(text) is not None


def complete_answer(tree: Tree, asked: str) -> str:
    """Return the sentence that an answer stands for: "yes" to "Did you finish the course?"; "" for another sentence."""
    text = tree.text
    judged, pronoun = _JUDGED.search(asked), _IT_WAS.match(text)
    if judged is not None and pronoun is not None:
        return f"{pronoun['start']}{_swap(judged['noun'])} {text[pronoun.end() :]}"
    closed = _ASKED_YOU.search(asked)
    if closed is not None and _YES.match(text) and _VAGUE.search(closed["rest"]) is None:
        helper, rest = closed["helper"].lower(), re.sub(r"\bever |\bbefore\b.*", "", closed["rest"])
        return f"I {_swap(rest)}." if helper == "do" else f"I {_swap_helper(helper)} {_swap(rest)}."
    opened = _ASKED_WHAT.search(asked)
    words = text.rstrip(" .!").split()
    clause = any(one.tag[:1] == "V" or one.tag in {"MD", "UH"} for one in tree.tokens)
    if opened is None or clause or len(words) > _SHORT_WORDS or is_greeting(text):
        return ""
    answer, helper = text.rstrip(" .!"), opened["helper"].strip(" '").lower()
    if opened["rest"] is None:
        on = "on " if "when" in opened[0].lower() and tree.tokens[0].pos != "ADP" else ""
        return f"{_swap(opened['who']).capitalize()} {'is' if helper == 's' else helper} {on}{answer}."
    return f"I {'' if helper == 'do' else _swap_helper(helper)} {_swap(opened['rest'].strip())} {answer}."


def _swap(words: str) -> str:
    """Return words of the one who asks as those of the one who answers; "that class" becomes "the class"."""
    swapped = " ".join(_SWAPPED.get(word.lower(), word) for word in words.split())
    return re.sub(r"\bthat (?!I\b|you\b|we\b)(?=\w)", "the ", swapped)


def _swap_helper(helper: str) -> str:
    return {"are": "am", "were": "was"}.get(helper, helper)


def resolve_it(tree: Tree, before: Tree | None) -> str:
    """Return a sentence with the thing that its "it" means, the only one of its kind named before; "" without one."""
    for at, token in enumerate(tree.tokens):
        verb = tree.lemma(token.head)
        acted = token.dep in {"dobj", "nsubjpass"} and verb in _FINISHED
        moved = token.dep in {"nsubj", "nsubjpass", "dobj"} and verb in _MOVED
        if token.text.lower() != "it" or not (acted or moved) or not _is_outcome(tree, token.head):
            continue
        places = [(tree, at)] if before is None else [(tree, at), (before, len(before.tokens))]
        roles = (_NAMING,) if moved else (_NAMING - {"pobj"}, _NAMING)
        found = (set(_list_named_nouns(*place, role, events=moved)) for place in places for role in roles)
        nouns = next((one for one in found if one), set[str]())
        if len(nouns) == 1:
            rest = tree.text[token.stop :]
            rest = f" is{rest[2:]}" if rest.startswith("'s") else rest  # the parser takes "meeting's" for an owner
            return f"{tree.text[: token.start]}{nouns.pop()}{rest}"
    return ""


def _is_outcome(tree: Tree, head: int) -> bool:
    """Return whether a verb tells of its "it" what is past or has a day: "it was fun", "it's on Friday"."""
    while tree.tokens[head].pos not in {"VERB", "AUX"} and tree.tokens[head].head != head:
        head = tree.tokens[head].head
    past = tree.tokens[head].tag in {"VBD", "VBN"} and tree.find(head, "prt") is None
    dated = any(tree.tokens[one].entity in {"DATE", "TIME"} for one in tree.descend(head, CLAUSAL))
    judged = tree.find(head, "acomp", "attr")
    general = (
        judged is not None and (tree.find(judged, "xcomp", "ccomp") or tree.find(head, "xcomp", "ccomp")) is not None
    )
    return (past or dated) and not (general and tree.lemma(head) == "be")


def _list_named_nouns(tree: Tree, stop: int, roles: Collection[str], *, events: bool) -> Iterator[str]:
    """Yield the things that the tokens before `stop` name as somebody's own or as a definite or new one."""
    for at, token in enumerate(tree.tokens[:stop]):
        if token.pos not in {"NOUN", "PROPN"} or token.dep not in roles or token.entity in _NO_THINGS:
            continue
        owned = is_owned(tree, at)
        article = tree.find(at, "det")
        known = owned or (tree.find(at, "poss") is None and tree.lemma(article) in {"the", "a", "an", "this"})
        if token.tag in {"NNS", "NNPS"}:
            continue
        is_event = token.lemma in load_frames()["events"]["nouns"]
        is_person = names().kin_noun(token.lemma) is not None
        if known and not is_person and (is_event or not events):
            phrase = tree.phrase(at, prepositions=not events)
            yield f"{'my' if owned else 'the'} {phrase}"
