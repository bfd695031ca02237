"""Read the clauses of a tree: subject, polarity, tense and stance of each. Pure.

A clause is a predicate with a subject of its own, a shared one ("I sing and play"), or that of its relative pronoun.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from credenda.model.memory import Stance
from credenda.write.parse.tree import Tree

__all__ = ["HEDGING", "Clause", "Tense", "read_clauses"]


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
    subject: int | None
    """None where the speaker leaves out "I"."""
    negated: bool
    tense: Tense
    perfect: bool
    passive: bool
    stance: Stance
    hedged: bool
    start: int
    stop: int


_UNREAL: Final = frozenset({"imagine", "suppose", "pretend", "wonder", "doubt", "wish", "dream"})
"""Verbs whose complement is not asserted."""
_ENSURING: Final = frozenset({"ensure", "verify", "check", "sure", "confirm", "know", "see"})
HEDGING: Final = frozenset({"think", "believe", "guess", "feel", "suspect", "assume", "expect", "seem", "appear"})
"""Verbs whose complement is a thought."""
_REPORTING: Final = frozenset(
    {"say", "tell", "mention", "hear", "claim", "write", "report", "announce", "admit", "suggest", "insist"}
)
_REMINDING: Final = frozenset({"remind", "remember", "forget"})
"""Verbs whose complement is so, whoever is asked to: "can you remind me that it's on Friday?"."""
_CONDITIONS: Final = frozenset({"if", "unless", "whether", "lest"})
_TIMES: Final = frozenset({"after", "before", "once", "until", "till", "when", "whenever", "while", "as"})
"""Words that place one clause by another: "after I finish the series" tells nothing that is done."""
_UNREAL_MODALS: Final = frozenset({"would", "could", "might", "may", "should", "'d"})
_SUPPOSING: Final = frozenset({"maybe", "perhaps", "how", "why"})
_FUTURE_MODALS: Final = frozenset({"will", "'ll", "wo", "shall", "ll", "going"})
_NEGATIONS: Final = frozenset({"not", "n't", "never", "no", "neither", "nor", "hardly", "nt"})
_PREDICATES: Final = frozenset({"VERB", "AUX"})
_CLAUSE_RELATIONS: Final = frozenset({"ROOT", "conj", "ccomp", "advcl", "relcl", "parataxis", "appos", "dep"})


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
        if token.pos in _PREDICATES and token.dep in _CLAUSE_RELATIONS:
            yield at


def _read_clause(tree: Tree, at: int) -> Clause | None:
    subject = _find_subject(tree, at)
    if (subject is None and not _is_subject_omitted(tree, at)) or _is_question(tree, at):
        return None
    stance, hedged = _find_stance(tree, at)
    tense, perfect = _find_tense(tree, at)
    if stance is Stance.HYPOTHETICAL or _is_untold(tree, at, tense, perfect=perfect):
        return None
    if tense is Tense.FUTURE and stance is Stance.ASSERTED:
        stance = Stance.PLANNED
    inside = tree.descend(at)
    return Clause(
        head=at,
        subject=subject,
        negated=_is_negated(tree, at),
        tense=tense,
        perfect=perfect,
        passive=tree.find(at, "auxpass", "nsubjpass") is not None,
        stance=stance,
        hedged=hedged,
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


def _is_subject_omitted(tree: Tree, at: int) -> bool:
    """Return whether a verb in the past or the progressive opens a sentence without "I": "Went to Leeds"."""
    token = tree.tokens[at]
    if token.dep != "ROOT" or tree.find(at, "expl", "csubj", "aux", "auxpass") is not None:
        return False
    if token.tag not in {"VBD", "VBG"} and not (token.tag == "VBN" and tree.find(at, "dobj", "prt") is not None):
        return False
    before = [one for one in range(at) if tree.tokens[one].pos not in {"ADV", "INTJ", "PUNCT", "CCONJ"}]
    return not before


def _is_question(tree: Tree, at: int) -> bool:
    """Return whether a clause asks: its subject follows an auxiliary, or its sentence ends with a question mark."""
    root = at
    while tree.tokens[root].dep == "conj":
        root = tree.tokens[root].head
    subject = tree.find(root, "nsubj", "nsubjpass", "expl")
    if subject is not None and tree.tokens[root].dep != "relcl":
        helpers = tree.find_all(root, "aux", "auxpass")
        if any(one < subject for one in helpers):
            return True
    if not _is_asked(tree, root):
        return False
    if subject is not None and tree.tokens[root].pos == "AUX" and root < subject:
        return True
    asked = any(tree.tokens[one].tag in {"WP", "WRB", "WDT"} and one < root for one in tree.children[root])
    first = min(tree.descend(root, {"ccomp", "advcl", "parataxis", "intj"}))
    return (asked and tree.tokens[root].dep in {"ROOT", "ccomp"}) or (tree.tokens[root].dep == "ROOT" and first == root)


def _is_asked(tree: Tree, at: int) -> bool:
    """Return whether the sentence of a token ends with a question mark."""
    top = next(iter(reversed([at, *tree.ancestors(at)])))
    last = tree.descend(top)[-1]
    rest = tree.text[tree.tokens[last].start :].lstrip()
    return rest.startswith("?") or tree.tokens[last].text.endswith("?")


def _find_stance(tree: Tree, at: int) -> tuple[Stance, bool]:
    """Return the stance of a clause, from its modal verb and the verbs above it, and whether it is hedged."""
    modal = {word for one in _find_auxiliaries(tree, at) for word in (tree.lemma(one), tree.tokens[one].text.lower())}
    unreal = bool(modal & _UNREAL_MODALS) and tree.lemma(at) not in {"like", "love", "prefer"}
    if unreal or _is_unsure(tree, at) or _has_condition(tree, at):
        return Stance.HYPOTHETICAL, False
    stance, hedged, below = Stance.ASSERTED, False, at
    for above in tree.ancestors(at):
        found = _judge(tree, below, above)
        if found is Stance.HYPOTHETICAL:
            return found, False
        stance = Stance.REPORTED if found is Stance.REPORTED else stance
        hedged = hedged or found is Stance.CONSIDERED
        below = above
    return stance, hedged


def _is_untold(tree: Tree, at: int, tense: Tense, *, perfect: bool) -> bool:
    """Return whether a clause only gives the time of another, depends on a condition, or was given up.

    "When I need to sleep"; "if I fail, I will step down"; "I was going to skate, but …".
    """
    helpers = {tree.tokens[one].tag for one in tree.find_all(at, "aux")}
    if tense is Tense.FUTURE or "MD" in helpers:
        conditional = any(_has_condition(tree, one) for one in tree.find_all(at, "advcl") if one < at)
        return conditional or (tense is Tense.FUTURE and "VBD" in helpers)
    words = {tree.lemma(one) for one in tree.find_all(at, "mark", "advmod") if one < at}
    return tense is Tense.PRESENT and not perfect and tree.tokens[at].dep == "advcl" and bool(words & _TIMES)


def _find_auxiliaries(tree: Tree, at: int) -> list[int]:
    """Return the auxiliaries of a verb, those of the first of joined verbs: "I might watch a film or read"."""
    helpers, token = tree.find_all(at, "aux"), tree.tokens[at]
    shares = token.dep == "conj" and token.tag == "VB" and not helpers and tree.find(at, "nsubj") is None
    return _find_auxiliaries(tree, token.head) if shares else helpers


def _is_unsure(tree: Tree, at: int) -> bool:
    """Return whether a clause is a supposition ("maybe read a book") or asks ("show me how I can import it")."""
    return any(tree.lemma(one) in _SUPPOSING for one in tree.find_all(at, "advmod"))


def _judge(tree: Tree, below: int, above: int) -> Stance:
    """Return how a verb presents the clause below it; `CONSIDERED` stands for a hedge such as "I think"."""
    relation, lemma = tree.tokens[below].dep, tree.lemma(above)
    if relation in {"ccomp", "xcomp", "advcl"} and _has_condition(tree, below):
        return Stance.HYPOTHETICAL
    if relation not in {"ccomp", "xcomp"} or _is_before(tree, below, above):
        return Stance.ASSERTED
    sure = lemma in _ENSURING or tree.lemma(tree.find(above, "acomp", "ccomp")) == "sure"
    if sure or lemma in _UNREAL or (lemma in {"hope", "want"} and relation == "ccomp"):
        return Stance.HYPOTHETICAL
    if lemma in HEDGING:
        return _judge_thought(tree, above)
    if lemma in _REPORTING and not _has_subject(tree, above, {"i", "we"}):
        return Stance.REPORTED
    doubted = _has_subject(tree, above, {"you"}) and lemma not in _REMINDING
    return Stance.HYPOTHETICAL if doubted else Stance.ASSERTED


def _judge_thought(tree: Tree, at: int) -> Stance:
    """Return how a verb of thinking presents its thought: that of somebody else is hearsay."""
    if _is_negated(tree, at):
        return Stance.HYPOTHETICAL
    others = _find_subject(tree, at) is not None and not _has_subject(tree, at, {"i", "we", "you"})
    return Stance.REPORTED if others else Stance.CONSIDERED


def _has_condition(tree: Tree, at: int) -> bool:
    return any(tree.lemma(one) in _CONDITIONS for one in tree.find_all(at, "mark"))


def _is_before(tree: Tree, below: int, above: int) -> bool:
    """Return whether a complement with its own subject precedes its head: the first half of a comma splice."""
    return below < above and tree.find(below, "nsubj", "nsubjpass") is not None and tree.find(below, "mark") is None


def _has_subject(tree: Tree, at: int, lemmas: Collection[str]) -> bool:
    subject = _find_subject(tree, at)
    return subject is not None and tree.lemma(subject) in lemmas


def _is_negated(tree: Tree, at: int) -> bool:
    """Return whether a clause is denied: by its verb, by "no longer", or by "no" before its object."""
    for one in tree.children[at]:
        token = tree.tokens[one]
        longer = token.lemma in {"long", "longer"} and any(tree.lemma(below) == "no" for below in tree.children[one])
        if token.dep == "neg" or longer or (token.dep in {"advmod", "preconj"} and token.lemma in _NEGATIONS):
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
    if words & _FUTURE_MODALS or _is_going_to(tree, at):
        return Tense.FUTURE, False
    if token.lemma == "use" and token.tag == "VBD" and tree.find(at, "xcomp") is not None:
        return (Tense.PAST if tree.find(at, "dobj") is not None else Tense.FORMER), False
    if any(one.lemma == "have" and one.tag in {"VBP", "VBZ"} for one in helpers):
        return Tense.PRESENT, True
    if token.tag == "VBD" or any(one.tag == "VBD" for one in helpers):
        return Tense.PAST, False
    if token.dep == "conj" and not helpers and token.tag in {"VBN", "VB"}:
        return _find_tense(tree, token.head)
    return Tense.PRESENT, False


def _is_going_to(tree: Tree, at: int) -> bool:
    """Return whether a clause is "going to" do something."""
    if tree.lemma(at) != "go" or tree.tokens[at].tag != "VBG":
        return False
    below = tree.find(at, "xcomp")
    return below is not None and any(tree.lemma(one) == "to" for one in tree.find_all(below, "aux"))
