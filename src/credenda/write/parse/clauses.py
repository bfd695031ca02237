"""Read the clauses of a tree: subject, polarity, tense and stance of each. Pure.

A clause is a predicate with a subject of its own, one that it shares ("I sing and play"), or one of its relative pronoun.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from credenda.model.memory import Stance
from credenda.write.parse.tree import Tree

__all__ = ["Clause", "Tense", "read_clauses"]


class Tense(StrEnum):
    """When a clause holds."""

    PRESENT = "present"
    PAST = "past"
    FUTURE = "future"
    FORMER = "former"
    """"used to": no longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One clause. `head` and `subject` are token numbers; `start` and `stop` character places in the text."""

    head: int
    subject: int
    negated: bool
    tense: Tense
    perfect: bool
    passive: bool
    stance: Stance
    hedged: bool
    reporter: bool
    start: int
    stop: int


_DOUBTING: Final = frozenset(
    [
        "wonder",
        "doubt",
        "imagine",
        "suppose",
        "pretend",
        "dream",
        "ask",
        "wish",
        "question",
        "debate",
        "see",
        "check",
        "know",
    ]
)
"""Verbs whose complement with "if" or "whether", or at all, is not asserted."""
_UNREAL: Final = frozenset({"imagine", "suppose", "pretend", "wonder", "doubt", "wish", "dream"})
_ENSURING: Final = frozenset({"ensure", "verify", "check", "sure", "confirm", "know", "see"})
_HEDGING: Final = frozenset({"think", "believe", "guess", "feel", "suspect", "assume", "expect", "seem", "appear"})
_PLANNING: Final = frozenset(
    [
        "want",
        "plan",
        "intend",
        "aim",
        "hope",
        "aspire",
        "need",
        "wanna",
        "go",
        "try",
        "look",
        "promise",
        "mean",
        "prepare",
        "love",
        "like",
    ]
)
_PLANNED_WITH_TO: Final = frozenset(
    {"want", "plan", "intend", "aim", "hope", "aspire", "wanna", "mean", "prepare", "look"}
)
_CONSIDERING: Final = frozenset({"consider", "contemplate", "think", "ponder"})
_REPORTING: Final = frozenset(
    {"say", "tell", "mention", "hear", "claim", "write", "report", "announce", "admit", "suggest", "insist"}
)
_CONDITIONS: Final = frozenset({"if", "unless", "whether", "lest"})
_UNREAL_MODALS: Final = frozenset({"would", "could", "might", "may", "should", "'d"})
_FUTURE_MODALS: Final = frozenset({"will", "'ll", "wo", "shall", "ll", "going"})
_NEGATIONS: Final = frozenset({"not", "n't", "never", "no", "neither", "nor", "hardly", "nt", "n’t"})
_PREDICATES: Final = frozenset({"VERB", "AUX"})
_CLAUSE_RELATIONS: Final = frozenset(
    {"ROOT", "conj", "ccomp", "advcl", "relcl", "parataxis", "acl", "pcomp", "xcomp", "appos", "dep"}
)


def read_clauses(tree: Tree) -> list[Clause]:
    """Return the finite clauses of a tree in order, without questions, requests and conditions."""
    found: list[Clause] = []
    for at in _list_predicates(tree):
        clause = _read_clause(tree, at)
        if clause is not None:
            found.append(clause)
    return found


def _list_predicates(tree: Tree) -> Iterator[int]:
    for at, token in enumerate(tree.tokens):
        if token.pos in _PREDICATES and token.dep in _CLAUSE_RELATIONS and token.dep not in {"xcomp", "acl", "pcomp"}:
            yield at


def _read_clause(tree: Tree, at: int) -> Clause | None:
    subject = _find_subject(tree, at)
    if subject is None or _is_question(tree, at):
        return None
    stance, hedged, reporter = _find_stance(tree, at)
    tense, perfect = _find_tense(tree, at)
    if stance is Stance.HYPOTHETICAL:
        return None
    if tense is Tense.FUTURE and stance is Stance.ASSERTED:
        stance = Stance.PLANNED
    inside = tree.descend(at, {"parataxis"})
    return Clause(
        head=at,
        subject=subject,
        negated=_is_negated(tree, at),
        tense=tense,
        perfect=perfect,
        passive=tree.find(at, "auxpass", "nsubjpass") is not None,
        stance=stance,
        hedged=hedged,
        reporter=reporter,
        start=tree.tokens[inside[0]].start,
        stop=tree.tokens[inside[-1]].stop,
    )


def _find_subject(tree: Tree, at: int) -> int | None:
    """Return the subject of a predicate; the antecedent for a relative pronoun; that of the first of joined clauses."""
    own = tree.find(at, "nsubj", "nsubjpass")
    token = tree.tokens[at]
    if own is not None:
        if token.dep == "relcl" and tree.tokens[own].tag in {"WDT", "WP"}:
            return token.head
        return own
    if token.dep == "conj" and tree.tokens[token.head].pos in _PREDICATES:
        return _find_subject(tree, token.head)
    return None


def _is_question(tree: Tree, at: int) -> bool:
    """Return whether a clause asks: its sentence ends with "?", and its own subject follows an auxiliary or a wh-word."""
    root = at
    while tree.tokens[root].dep == "conj":
        root = tree.tokens[root].head
    subject = tree.find(root, "nsubj", "nsubjpass", "expl")
    first = min((one for one in tree.descend(root, {"ccomp", "advcl", "parataxis", "intj"})), default=root)
    for one in tree.children[root]:
        token = tree.tokens[one]
        if (
            subject is not None
            and token.dep in {"aux", "auxpass"}
            and one < subject
            and tree.tokens[root].dep != "relcl"
        ):
            return True
        if (
            token.tag in {"WP", "WRB", "WDT"}
            and tree.tokens[root].dep in {"ROOT", "ccomp"}
            and one < root
            and _asks(tree, root)
        ):
            return True
    if subject is not None and tree.tokens[root].pos == "AUX" and root < subject and _asks(tree, root):
        return True
    return _asks(tree, root) and tree.tokens[root].dep == "ROOT" and first == root


def _asks(tree: Tree, at: int) -> bool:
    """Return whether the sentence of a token ends with a question mark."""
    top = next(iter(reversed([at, *tree.ancestors(at)])))
    last = tree.descend(top)[-1]
    rest = tree.text[tree.tokens[last].start :].lstrip()
    return rest.startswith("?") or tree.tokens[last].text.endswith("?")


def _find_stance(tree: Tree, at: int) -> tuple[Stance, bool, bool]:
    """Return the stance of a clause, whether it is hedged, and whether somebody else reports it."""
    stance, hedged, reported = Stance.ASSERTED, False, False
    modal = {tree.lemma(one) for one in tree.find_all(at, "aux")} | {
        tree.tokens[one].text.lower() for one in tree.find_all(at, "aux")
    }
    if modal & _UNREAL_MODALS and not _would_like(tree, at):
        return Stance.HYPOTHETICAL, False, False
    below = at
    for above in (at, *tree.ancestors(at)):
        if above == at:
            if _has_condition(tree, at):
                return Stance.HYPOTHETICAL, False, False
            continue
        relation = tree.tokens[below].dep
        if relation in {"ccomp", "xcomp", "advcl"} and _has_condition(tree, below):
            return Stance.HYPOTHETICAL, False, False
        if relation in {"ccomp", "xcomp"} and not _stands_before(tree, below, above):
            lemma = tree.lemma(above)
            if lemma in _ENSURING or tree.lemma(tree.find(above, "acomp", "ccomp")) == "sure" or lemma == "sure":
                return Stance.HYPOTHETICAL, False, False
            if lemma in _UNREAL or (lemma in {"hope", "want"} and relation == "ccomp"):
                return Stance.HYPOTHETICAL, False, False
            if lemma in _HEDGING:
                if _is_negated(tree, above):
                    return Stance.HYPOTHETICAL, False, False
                hedged = True
            elif lemma in _REPORTING and not _speaks(tree, above):
                reported = True
            elif _is_request(tree, above):
                return Stance.HYPOTHETICAL, False, False
        below = above
    return (Stance.REPORTED if reported else stance), hedged, reported


def _has_condition(tree: Tree, at: int) -> bool:
    return any(tree.lemma(one) in _CONDITIONS for one in tree.find_all(at, "mark"))


def _would_like(tree: Tree, at: int) -> bool:
    return tree.lemma(at) in {"like", "love", "prefer", "rather"}


def _stands_before(tree: Tree, below: int, above: int) -> bool:
    """Return whether a complement with its own subject precedes its head: the first half of a comma splice."""
    return below < above and tree.find(below, "nsubj", "nsubjpass") is not None and tree.find(below, "mark") is None


def _speaks(tree: Tree, at: int) -> bool:
    subject = _find_subject(tree, at)
    return subject is not None and tree.lemma(subject) in {"i", "we"}


def _is_request(tree: Tree, at: int) -> bool:
    subject = _find_subject(tree, at)
    return subject is not None and tree.lemma(subject) == "you"


def _is_negated(tree: Tree, at: int) -> bool:
    """Return whether a clause is denied: by its verb, by "no longer", or by "no" before its object."""
    for one in tree.children[at]:
        token = tree.tokens[one]
        if token.dep == "neg" or (token.dep in {"advmod", "preconj"} and token.lemma in _NEGATIONS):
            return True
        if token.dep in {"dobj", "attr", "nsubj"} and any(
            tree.lemma(below) == "no" and tree.tokens[below].dep == "det" for below in tree.children[one]
        ):
            return True
    return False


def _find_tense(tree: Tree, at: int) -> tuple[Tense, bool]:
    """Return the tense of a clause, and whether it is perfect."""
    token = tree.tokens[at]
    helpers = [tree.tokens[one] for one in tree.find_all(at, "aux", "auxpass")]
    words = {one.text.lower() for one in helpers} | {one.lemma for one in helpers}
    if words & _FUTURE_MODALS or _goes_to(tree, at):
        return Tense.FUTURE, False
    if token.lemma == "use" and tree.find(at, "xcomp") is not None and token.tag == "VBD":
        return Tense.FORMER, False
    if any(one.lemma == "have" and one.tag in {"VBP", "VBZ"} for one in helpers):
        return Tense.PRESENT, True
    if token.tag == "VBD" or any(one.tag == "VBD" for one in helpers):
        return Tense.PAST, False
    if token.dep == "conj" and not helpers and token.tag in {"VBN", "VB"}:
        return _find_tense(tree, token.head)
    return Tense.PRESENT, False


def _goes_to(tree: Tree, at: int) -> bool:
    """Return whether a clause is "going to" do something."""
    if tree.lemma(at) != "go" or tree.tokens[at].tag != "VBG":
        return False
    below = tree.find(at, "xcomp")
    return below is not None and any(tree.lemma(one) == "to" for one in tree.find_all(below, "aux"))
