"""Join a short answer to the question before it: "Where do you live?" and "Graz" say "I live in Graz". Pure.

The question only gives the slot. Its values are no claims of whoever answers, so a bare "yes" says nothing.
"""

from __future__ import annotations

import re
from typing import Final

from credenda.model.claim import Turn
from credenda.text.sentences import split_sentences
from credenda.write.parse.clauses import read_clauses
from credenda.write.parse.tree import Tree

__all__ = ["find_question", "join_answer", "strip_answer"]

_WORDS_MAX: Final = 8
_QUESTION_CHARACTERS: Final = 200
_OPENING: Final = re.compile(
    r"^(?:(?:yes|yeah|yep|yup|sure|of course|definitely|oh|ah|well|hmm+|mine(?: is|'s)|for me|it is|it's|that is|that's"
    r"|they are|they're|mostly|mainly|probably|honestly|currently|just|i'd say|i would say|a|an)\b[,:!]?\s*)+",
    re.IGNORECASE,
)
_NO_ANSWER: Final = re.compile(
    r"^(?:no|not|nope|never|none|nothing|you|that|this|so|and|but|good|great|nice|fine|thanks?|haha|lol|what|how|why)\b",
    re.IGNORECASE,
)
_OWN: Final = {"you": "I", "your": "my", "yours": "mine"}
_ASKED: Final = frozenset({"WDT", "WP", "WRB"})
_LOOSE: Final = frozenset({"PUNCT", "INTJ", "CCONJ"})
_ANY: Final = frozenset({"any", "a", "an", "some"})


def find_question(turn: Turn) -> str:
    """Return the last sentence of the event before, if it asks and somebody else said it; else ""."""
    before = next(reversed(turn.before), None)
    if before is None or before.speaker == turn.event.speaker:
        return ""
    span = next(reversed(list(split_sentences(before.text))), None)
    question = "" if span is None else before.text[span.start : span.stop].replace("’", "'").strip()
    return question if question.endswith("?") and len(question) <= _QUESTION_CHARACTERS else ""


def strip_answer(answer: Tree) -> str:
    """Return the value of a short answer without opening words; "" for a clause, a denial or a long sentence."""
    text = _OPENING.sub("", answer.text).strip(" .!,")
    finite = any(token.tag in {"VBP", "VBZ", "VBD", "MD"} and token.lemma != "be" for token in answer.tokens)
    if not text or len(text.split()) > _WORDS_MAX or finite or "?" in text or _NO_ANSWER.match(text):
        return ""
    return (
        ""
        if any(clause.subject is not None and _is_own(answer, clause.subject) for clause in read_clauses(answer))
        else text
    )


def _is_own(tree: Tree, at: int) -> bool:
    return tree.tokens[at].text.lower() in {"i", "we"}


def join_answer(question: Tree, answer: str) -> str:
    """Return the statement that a question and its answer make; "" for a question that names no slot of "you"."""
    head = next((at for at, token in enumerate(question.tokens) if token.dep == "ROOT"), None)
    subject = None if head is None else question.find(head, "nsubj")
    asked = None if head is None else _find_asked(question, head)
    if head is None or subject is None or asked is None:
        return ""
    named = question.descend(subject)
    if not {question.tokens[at].text.lower() for at in named} & _OWN.keys():
        return ""
    verbs = [
        *(
            at
            for at in question.find_all(head, "aux")
            if question.tokens[at].tag not in {"VBP", "VB"} or question.lemma(at) != "do"
        ),
        head,
    ]
    said = [*(_name(question, at) for at in named), *(_conjugate(question, at, subject) for at in verbs)]
    gone = {*named, *verbs, *question.descend(asked)}
    rest = [at for at in range(head, len(question.tokens)) if at not in gone and question.tokens[at].pos not in _LOOSE]
    after = [_name(question, at) for at in rest]
    if rest and question.tokens[rest[-1]].dep == "prep":
        return " ".join([*said, *after, answer])
    if question.tokens[asked].text.lower() == "where":
        said.append("at" if question.lemma(head) == "work" else "in")
    return " ".join([*said, answer, *after])


def _find_asked(tree: Tree, head: int) -> int | None:
    """Return the top of the phrase that is asked for: "which sport", "where", or the object "any instruments"."""
    for at in [*(one for top in tree.children[head] for one in tree.children[top]), *tree.children[head]]:
        if tree.tokens[at].tag in _ASKED:
            return at if tree.tokens[at].dep not in {"det", "poss"} else tree.tokens[at].head
    at = tree.find(head, "dobj")
    is_open = at is not None and any(tree.lemma(one) in _ANY for one in tree.find_all(at, "det"))
    return at if is_open else None


def _conjugate(tree: Tree, at: int, subject: int) -> str:
    """Return a verb of the question as the first person has it."""
    word = tree.tokens[at].text.lower()
    if word not in {"'s", "'re", "are", "is"}:
        return word
    return "am" if tree.lemma(subject) == "you" else "is"


def _name(tree: Tree, at: int) -> str:
    word = tree.tokens[at].text
    return _OWN.get(word.lower(), word)
