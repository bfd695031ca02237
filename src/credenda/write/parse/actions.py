"""Read what somebody does, has or wants: the frame of the verb names the attribute. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from credenda.model.claim import UpdateKind
from credenda.model.memory import Stance
from credenda.write.parse.clauses import Tense
from credenda.write.parse.fact import Fact, Statement, load_frames, make_fact
from credenda.write.parse.objects import find_made_object, is_making, is_tool, make_tool
from credenda.write.parse.open_acts import has_pronoun_object, is_habitual, is_helped_by_can, make_open, read_open
from credenda.write.parse.people import PartyKind
from credenda.write.parse.possessions import PASSING, name_possession
from credenda.write.parse.tree import CLAUSAL, Tree, is_pointing

__all__ = ["read_actions", "read_journeys"]

_PLACES: Final = frozenset({"residence", "birthplace", "grew_up_in", "origin", "employer"})
"""Attributes whose values are names."""
_ONGOING: Final = frozenset(
    {
        "uses",
        "attends",
        "plays",
        "practices",
        "learns",
        "teaches",
        "drives",
        "speaks",
        "working_on",
        "looking_for",
        "habit",
        "origin",
        "reads",
        "mentors",
    }
)
"""Attributes of what somebody does at present; the simple past tells an event instead."""
_PRACTISED: Final = frozenset({"plays", "practices", "teaches", "drives"})
"""Those of an activity that "I've played chess before" only knows, unless it has lasted: "for years"."""
_DONE: Final = frozenset(
    {"bought", "met", "watched", "took_part_in", "explored", "researched", "celebrated", "donated"}
)
"""Attributes of what somebody has done."""
_STATES: Final = frozenset({"employer", "job_title", "residence", "work_field"})
"""Attributes of a state, which is over if it is told in the simple past: "I worked at Bosch"."""
_TIMES: Final = frozenset({"DATE", "TIME"})
_TIMED: Final = frozenset({"likes", "dislikes", "prefers", "schedule", "scheduled", "birthday", "graduation"})
"""Attributes whose values may be days or times."""
_LETTERS_MIN: Final = 3
_SUBJECT_WORDS: Final = 2
"""Most words of a subject that somebody takes a degree in: whoever studies "different types of planes" takes none."""
_FLAGS: Final = frozenset({"move", "plan", "change"})
_CONSIDERING: Final = frozenset({"consider", "think"})
_GETTING: Final = frozenset({"get", "make", "have", "find"})
_TRAVELLING: Final = frozenset({"visit", "travel", "fly"})
_PLANNED: Final = frozenset({"plan", "considering", "goal"})
_ACTED: Final = _PLANNED | {"started"}
"""Attributes whose action says nothing without an object: "I want to explore"."""
_TRYING: Final = {"object": "tried", "to": "tried"}
_TRIED: Final = frozenset({"hand", "best", "good", "well", "following"})
"""Nouns that say nothing of what was tried."""
_WISHING: Final = {"object": "wish", "to": "goal", "plan": True}


def read_actions(said: Statement, head: int | None = None) -> Iterator[Fact]:
    """Yield the facts of a verb, the head of the clause unless another is given."""
    tree, clause = said.tree, said.clause
    head = clause.head if head is None else head
    lemma, below = tree.lemma(head), tree.find(head, "xcomp")
    if lemma in {"quit", "resign"} and _is_leaving_job(said, head):
        own = "my" if said.party.kind is PartyKind.SPEAKER else "their"
        yield make_fact(said, "employment_status", f"quit {own} job", move=UpdateKind.CHANGE)
    elif lemma == "use" and clause.tense is Tense.FORMER and below is not None:
        yield from read_actions(said, below)
    elif lemma == "have" and is_helped_by_can(tree, head):
        yield make_open(said, head)  # "I can't have cheese" is no possession
    elif lemma == "have" or (lemma == "get" and clause.perfect and tree.find(head, "dobj") is not None):
        yield from _read_having(said, head)
    elif lemma == "go" and below is not None and tree.tokens[head].tag == "VBG":
        yield from _read_intention(said, "plan", below, stance=Stance.PLANNED)
    else:
        frame = _find_frame(said, head)
        found = list(_fill_frame(said, head, frame))
        if not found and frame is not _WISHING and said.party.kind is PartyKind.SPEAKER:
            found = list(read_open(said, head))
        yield from found


def _find_frame(said: Statement, head: int) -> Mapping[str, Any]:
    """Return the frame of a verb; a phrasal verb has none, and a thing that was tried is no goal."""
    tree, lemma = said.tree, said.tree.lemma(head)
    past = said.clause.perfect or said.clause.tense is Tense.PAST
    if lemma == "try" and past:
        below = tree.find(head, "xcomp")
        vague = tree.lemma(tree.find(head, "dobj")) in _TRIED or (below is not None and tree.tokens[below].tag != "VBG")
        return {} if vague else _TRYING
    if tree.find(head, "prt") is not None:
        return {}
    if lemma == "consider" and (said.clause.tense is Tense.PAST or _is_taken_as(tree, head)):
        return {}
    wishes = any(tree.lemma(one) in {"would", "'d", "d"} for one in tree.find_all(head, "aux"))
    if lemma in {"love", "like"} and wishes:
        return _WISHING
    frame = load_frames()["verbs"].get(lemma, {})
    done = past or tree.tokens[head].text.lower() == "quit"  # one form for present and past
    return {} if frame.get("move") == "end" and not done else frame


def _is_taken_as(tree: Tree, head: int) -> bool:
    """Return whether a verb takes its object for something: "I consider his family as mine"."""
    places = (head, *tree.find_all(head, "dobj", "xcomp", "ccomp"))
    return any(tree.preposition(one, "as") is not None for one in places)


def _fill_frame(said: Statement, head: int, frame: Mapping[str, Any]) -> Iterator[Fact]:
    tree, lemma = said.tree, said.tree.lemma(head)
    more = _read_flags(tree, head, frame)
    move = more["move"]
    for word, attribute in frame.items():
        if word in _FLAGS or (word == "to" and tree.find(head, "dobj") is not None):
            continue  # "chose it to save time" tells a purpose
        action = tree.find(head, "xcomp") if word == "to" and attribute != "visited" else _find_gerund(tree, head, word)
        if action is not None and tree.tokens[action].pos in {"VERB", "AUX"}:
            yield from _read_intention(said, attribute, action, **more)
            continue
        if word == "with" and tree.preposition(head, "on") is not None:
            continue  # "working on a sprint with a deadline"
        target = tree.find(head, "dobj", "attr", "oprd") if word == "object" else tree.preposition(head, word)
        hoped = lemma == "look" and word == "to"  # forward to
        if target is None or (hoped and tree.lemma(target) not in load_frames()["events"]["nouns"]):
            continue
        if attribute == "visited" and _is_ahead(said, head) and tree.tokens[target].pos == "PROPN":
            yield make_fact(said, "travel_plan", tree.action(head), stance=Stance.PLANNED)
            continue
        if not _may_fill(said, head, attribute, move) or (
            tree.tokens[target].entity in _TIMES and attribute not in _TIMED
        ):
            if attribute not in _DONE:
                yield make_open(said, head)
            continue
        prior = _find_prior(tree, head, attribute, move)
        either = any(tree.lemma(one) == "or" for one in tree.find_all(target, "cc"))
        for one in [] if either and attribute == "plays" else tree.conjuncts(target):
            yield from _fill_slot(said, head, one, attribute, more={"prior": prior, **more})


def _fill_slot(said: Statement, head: int, at: int, attribute: str, *, more: Mapping[str, Any]) -> Iterator[Fact]:
    """Yield one value of a frame; nothing that cannot stand alone fills a slot."""
    tree = said.tree
    torn = attribute == "started" and (tree.tokens[at].tag == "VBG" or len(tree.phrase(at)) < _LETTERS_MIN)
    if is_pointing(tree, at) or torn:
        return
    if attribute == "degree" and not _may_be_subject(tree, at):
        yield make_open(said, head)
    elif attribute == "uses" and is_tool(tree, at):
        yield replace(make_tool(said, head, at), **more)
    elif _may_be_place(tree, at, attribute, tree.lemma(head)):
        topical = "decision" if attribute == "decision" else ""
        yield make_fact(said, attribute, tree.phrase(at), topical=topical, **more)


def _read_flags(tree: Tree, head: int, frame: Mapping[str, Any]) -> dict[str, Any]:
    """Return the move of a frame, and its stance if that is not the one of the clause."""
    move = UpdateKind.CHANGE if frame.get("change") else UpdateKind(frame.get("move", UpdateKind.STATE))
    if frame.get("plan"):
        return {"move": move, "stance": Stance.CONSIDERED if tree.lemma(head) in _CONSIDERING else Stance.PLANNED}
    return {"move": move, "stance": Stance.NEGATED} if move is UpdateKind.END else {"move": move}


def _may_fill(said: Statement, head: int, attribute: str, move: UpdateKind) -> bool:
    """Return whether the tense of a clause fits an attribute, and whether a decision is a single one."""
    clause = said.clause
    if attribute == "visited":
        return clause.tense is Tense.PAST or clause.perfect
    if attribute in _STATES and move is UpdateKind.STATE:
        return clause.tense is not Tense.PAST
    if attribute in _DONE:
        return clause.tense is Tense.PAST or clause.perfect
    if attribute == "decision":
        return not is_habitual(said.tree, head)
    known = attribute in _PRACTISED and clause.perfect and said.tree.tokens[head].tag == "VBN"
    if known and said.tree.preposition(head, "for", "since") is None:
        return False
    return attribute not in _ONGOING or clause.tense is not Tense.PAST


def _is_leaving_job(said: Statement, head: int) -> bool:
    """Return whether somebody quits "my job", or names nothing and starts somewhere else in the same sentence."""
    tree, target = said.tree, said.tree.find(head, "dobj")
    if said.clause.negated or said.clause.tense is Tense.FUTURE or target is not None:
        return target is not None and tree.lemma(target) == "job" and said.clause.stance is Stance.ASSERTED
    begins = [one for one, token in enumerate(tree.tokens) if token.lemma in {"start", "join"} and one != head]
    named = [place for one in begins if (place := tree.preposition(one, "at") or tree.find(one, "dobj")) is not None]
    new = any(tree.tokens[place].pos == "PROPN" for place in named)
    return new and tree.find(head, "xcomp", "prep") is None


def _is_ahead(said: Statement, head: int) -> bool:
    """Return whether somebody is going somewhere, or will."""
    progressive = said.clause.tense is Tense.PRESENT and said.tree.tokens[head].tag == "VBG"
    told = said.clause.subject is not None and not said.clause.negated
    return told and (said.clause.tense is Tense.FUTURE or (progressive and not said.clause.perfect))


def _may_be_subject(tree: Tree, at: int) -> bool:
    """Return whether somebody can take a degree in a noun: nobody takes one in "the Toulmin model"."""
    return len(tree.phrase(at).split()) <= _SUBJECT_WORDS and tree.find(at, "det") is None


def _may_be_place(tree: Tree, at: int, attribute: str, verb: str) -> bool:
    """Return whether a noun can be the value of an attribute: somebody lives in a named place, and visits no day."""
    token = tree.tokens[at]
    if attribute == "visited":
        return token.pos == "PROPN"
    return token.pos == "PROPN" or not (attribute in _PLACES or (attribute == "employer" and verb == "start"))


def _find_prior(tree: Tree, head: int, attribute: str, move: UpdateKind) -> str | None:
    """Return the value that a change leaves ("from Leeds"), or that a preference comes before ("over tea")."""
    old = tree.preposition(head, "from") if move is UpdateKind.CHANGE else None
    if attribute == "prefers":
        old = tree.preposition(head, "over", "to")
    return None if old is None else tree.phrase(old)


def _find_gerund(tree: Tree, head: int, word: str) -> int | None:
    """Return the verb after a preposition, or as the object: "thinking about moving", "love playing chess"."""
    if word == "object":
        target = tree.find(head, "dobj")
        return target if target is not None and tree.tokens[target].tag == "VBG" else None
    for one in tree.find_all(head, "prep"):
        if tree.lemma(one) == word:
            below = tree.find(one, "pcomp")
            if below is None or tree.tokens[below].tag != "VBG" or tree.find(below, "nsubj") is not None:
                return None
            return below
    return None


def _read_intention(said: Statement, attribute: str, action: int, **more: Any) -> Iterator[Fact]:  # noqa: ANN401
    """Read an action that somebody plans, likes or decides on; a liked activity is a hobby, and a journey a journey."""
    tree, lemma = said.tree, said.tree.lemma(action)
    if attribute == "habit" and said.clause.tense is Tense.PAST:
        return  # "they kept laughing"
    below = tree.find(action, "xcomp", "advcl", "dobj") if lemma == "go" else None
    if below is not None and tree.tokens[below].text.endswith("ing"):  # "planning on going skiing"
        action, lemma = below, tree.lemma(below)
    chosen = tree.preposition(action, "with") if attribute == "decision" and lemma in {"go", "stick"} else None
    if chosen is not None:
        yield make_fact(said, attribute, tree.phrase(chosen), topical=attribute, **more)
        return
    place = tree.preposition(action, "to")
    travels = lemma in _TRAVELLING or (lemma == "go" and place is not None and tree.tokens[place].pos == "PROPN")
    if attribute in {"plan", "considering"} and travels:
        attribute = "travel_plan"
    elif (lemma in load_frames()["empty"]["verbs"] and not _is_getting(tree, action)) or _is_torn(
        said, action, attribute
    ):
        return
    elif attribute == "likes" and tree.tokens[action].tag == "VBG" and not _is_over(said):
        target = tree.find(action, "dobj")
        attribute = "likes" if target is not None and tree.tokens[target].pos == "PRON" else "hobby"
    thing = find_made_object(said, action) if attribute in _PLANNED and is_making(said, action) else ""
    if thing:
        yield make_fact(said, "goal", tree.action(action), entity=thing, made=True, **more)
    else:
        topical = "goal" if attribute in _PLANNED and is_making(said, action) else ""
        yield make_fact(said, attribute, tree.action(action), topical=topical, **more)


def _is_torn(said: Statement, action: int, attribute: str) -> bool:
    """Return whether an action says nothing alone: its object was named before, by a pronoun or above its clause."""
    tree, head = said.tree, said.clause.head
    related = tree.tokens[head].dep == "relcl" and said.clause.subject != tree.tokens[head].head
    alone = tree.find(action, "dobj") is None and (related or " " not in tree.action(action))
    return has_pronoun_object(tree, action) or (attribute in _ACTED and alone)


def _is_getting(tree: Tree, action: int) -> bool:
    """Return whether a light verb has an object that says what it is: "get a dog", "get into politics"."""
    target = tree.find(action, "dobj") or tree.preposition(action, "into")
    if target is None or tree.lemma(action) not in _GETTING or tree.lemma(target) in PASSING:
        return False
    return tree.tokens[target].pos in {"NOUN", "PROPN"} and not is_pointing(tree, target)


def read_journeys(said: Statement) -> Iterator[Fact]:
    """Yield the place of a journey of the speaker: planned with a verb of planning, visited if the clause is past."""
    tree, clause = said.tree, said.clause
    if said.party.kind is not PartyKind.SPEAKER or clause.negated:
        return
    past = clause.tense is Tense.PAST or (clause.perfect and tree.tokens[clause.head].tag != "VBG")
    plans = clause.tense is Tense.FUTURE or load_frames()["verbs"].get(tree.lemma(clause.head), {}).get("plan", False)
    plans = plans or tree.tokens[clause.head].tag == "VBG" or tree.lemma(clause.head) in {"book", "have"}
    for at in tree.descend(clause.head, CLAUSAL):
        journey = tree.tokens[at].pos == "NOUN" and tree.lemma(at) in load_frames()["journeys"]["nouns"]
        place = tree.preposition(at, "to", "in", "around") if journey else None
        if place is None or tree.tokens[place].pos != "PROPN" or not (past or plans):
            continue
        ahead = plans and (not past or tree.lemma(clause.head) == "book")
        more = {"stance": Stance.PLANNED} if ahead else {}
        for one in tree.conjuncts(place):
            yield make_fact(said, "travel_plan" if ahead else "visited", tree.phrase(one), **more)


def _is_over(said: Statement) -> bool:
    return said.clause.negated or said.clause.tense in {Tense.PAST, Tense.FORMER}


def _read_having(said: Statement, head: int) -> Iterator[Fact]:
    """Read "I have …": relatives, pets, health, appointments, or another possession; "I have to …" is a plan."""
    tree = said.tree
    below, target = tree.find(head, "xcomp"), tree.find(head, "dobj")
    if below is not None and (said.clause.perfect or said.clause.tense is Tense.PAST):
        yield make_fact(said, "experience", tree.action(head))
        return
    if below is not None:
        if tree.tokens[below].tag == "VB":  # but "I have fun trying out sounds"
            yield from _read_intention(said, "plan", below, stance=Stance.PLANNED)
        return
    for one in [] if target is None else tree.conjuncts(target):
        if is_pointing(tree, one):
            continue
        attribute, value = name_possession(tree, one)
        if attribute != "appointment" and said.clause.tense is Tense.PAST:
            yield make_fact(said, "experience", tree.action(head))
            return
        if value:
            yield make_fact(said, attribute, value)
