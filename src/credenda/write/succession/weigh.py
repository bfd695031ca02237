"""Which memory a sentence most likely takes the place of, by the weights of its signs. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from credenda.model.memory import Cardinality, Memory, Stance
from credenda.text.languages import function_words
from credenda.write.slots import BY_BIRTH, FIRM, slot_of
from credenda.write.succession.likely import Nearness, Said, near_signs, signs_between
from credenda.write.succession.old import Match, old_of, others_words
from credenda.write.succession.weights import near_weights, weights
from credenda.write.succession.words import phrase

__all__ = ["LAID", "closest", "likeliest", "limit_among", "may_take", "speaks"]

LAID: Final = 13
"""Memories on which each sentence was laid when the weights were fitted: its own, and twelve of other matters."""

_CROWD: Final = 0.9
_CROWD_NEAR: Final = 0.9
"""How much the limit rises with the logarithm of how many memories share a word; less where nearness in meaning tells
already which of them is meant."""
_ALONE: Final = 2.0
_ALONE_NEAR: Final = 1.0
"""Logits by which the limit is lower for a change that is told alone. The limits of the fit are those of the hardest
writers, half of whose pairs change nothing. Of 228 pairs of three plain authors that stand beside, on whom nothing was
fitted, none is replaced from here on; of 417 that were written to trick, 14, and 27 with nearness (decision 0053)."""
_UNTOLD: Final = 6
"""As many memories count at least where nothing is told of a change, and only what differs speaks for one."""
_KEPT: Final = BY_BIRTH - {"nationality"} | {
    "event",
    "birth_year",
    "birthday",
    "birthplace",
    "origin",
    "blood_type",
    "grew_up_in",
}
"""Nobody becomes a brother in another's place."""
_SOMEBODY: Final = frozenset({"he", "she", "they", "him", "her", "them", "his", "hers", "their", "theirs"})
_OWN: Final = frozenset({"i", "we", "me", "us", "my", "our"})
_ABOUT: Final = re.compile(r"(?:the|our|my) (?P<noun>[a-z-]+) (?:is|are|was|has|have|will|starts|opens|runs|costs) ")
_ONE_OF: Final = re.compile(r"(?:the|our|my|his|her|their) (?P<which>[a-z]+) (?P<noun>[a-z-]+) ")
_NEUTRAL: Final = frozenset(
    "new old current present next last latest previous former first main usual regular daily weekly monthly annual"  # noqa: SIM905
    " own big whole same favourite favorite best dear good other only real official final early late long short".split()
)
"""What may stand before a noun without telling it from others of its kind, as "design" in "design review" does."""
_KINDS: Final = (
    frozenset({"first", "second", "third", "fourth", "fifth"}),
    frozenset({"left", "right"}),
    frozenset({"older", "younger", "eldest", "oldest", "youngest", "elder", "middle", "twin", "big", "little"}),
    frozenset({"front", "back", "rear", "side"}),
    frozenset({"upper", "lower", "top", "bottom"}),
    frozenset({"upstairs", "downstairs"}),
    frozenset({"main", "spare", "backup", "secondary"}),
    frozenset({"work", "private", "personal", "home"}),
    frozenset({"staging", "production", "test", "dev"}),
    frozenset({"morning", "afternoon", "evening", "night", "lunchtime"}),
    frozenset({"summer", "winter"}),
)
"""Words that tell one thing of a kind from another beside it."""
_BEING: Final = frozenset({"is", "are", "was", "were", "has", "have", "had", "will", "got", "gets", "can", "must"})
_QUALITIES: Final = frozenset(
    "time times date dates day days hour hours slot place venue location address room name title price cost fee"  # noqa: SIM905
    " colour color size number deadline start end budget rate password code schedule status version plan length"
    " duration topic theme host owner key target limit".split()
)
_NUMBER: Final = re.compile(r"\d+")
_MARGIN: Final = 0.7
"""Logits by which the best memory must lead: the odds are two to one."""


def may_take(said: Said, *, near: bool = False) -> bool:
    """Return cheaply whether the sentence's own words leave room for a change at all.

    With `near` it is asked of the weights for where the nearness in meaning is known.
    """
    if "?" in said.tokens:
        return False
    known = near_weights() if near else weights()
    return known.logit(said.plain) + known.logit(set(said.others(frozenset()))) >= known.least - (
        _ALONE_NEAR if near else _ALONE
    )


def closest(said: Said, memories: Sequence[Memory], most: int) -> list[Memory]:
    """Choose the memories that share the rarest words with a sentence, at most so many; none that shares no word."""
    rarity = weights().rarity
    shared = ((sum(rarity.get(term, 1.0) for term in phrase(one.text).terms & said.terms), one) for one in memories)
    near = sorted(((common, one) for common, one in shared if common), key=lambda found: (-found[0], found[1].id))
    return [one for _, one in near[:most]]


def speaks(signs: Collection[str]) -> bool:
    """Return whether anything but shared words speaks for a change: people go on talking of the same things.

    A sign of change, something left or ended, or a thing of one kind with what it could take the place of.
    """
    return "cue:none" not in signs or "departs" in signs or "alike" in signs


def limit_among(threshold: float, among: int, *, near: bool = False) -> float:
    """Return the limit, in logits, where `among` memories, in [1, ∞), share a word with a sentence.

    `threshold` is that of the fit, in which each sentence was laid on `LAID` memories. Bayes: the odds that one of n is
    the one that is meant are divided by n. `near`: it is known how near in meaning each of them is.
    """
    return threshold + (_CROWD_NEAR if near else _CROWD) * math.log(max(1, among) / LAID)


def _of_another(given: Sequence[Memory], memory: Memory) -> bool:
    """Return whether all that the sentence gave is about other people than the memory names."""
    people = [others_words(one.entity, one.attribute, one.speaker) for one in given]
    return bool(people) and all(one and one.isdisjoint(old_of(memory).said.terms) for one in people)


def _anothers(said: Said, memory: Memory) -> bool:
    """Return whether a memory is of another person and the sentence, of the speaker, names nobody it could be."""
    people = others_words(memory.entity, memory.attribute, memory.speaker)
    words = set(said.tokens)
    return bool(people) and people.isdisjoint(said.terms) and words.isdisjoint(_SOMEBODY) and not words.isdisjoint(_OWN)


def _other_one(said: Said, memory: Memory) -> bool:
    """Return whether both are about one of several of a kind, and not the same: "my first child", "my second child"."""
    new, old = _ONE_OF.match(said.phrase.lower), _ONE_OF.match(phrase(memory.text).lower)
    if new is None or old is None or new["noun"] != old["noun"] or new["which"] == old["which"]:
        return False
    named = _NEUTRAL.isdisjoint((new["which"], old["which"]))
    return named or any(new["which"] in kind and old["which"] in kind for kind in _KINDS)


def _compounded(said: Said, memory: Memory) -> bool:
    """Return whether a sentence names what a memory is about only as part of another thing: "the release notes"."""
    about = _ABOUT.match(phrase(memory.text).lower)
    if about is None:
        return False
    tokens = [*said.tokens, "", ""]
    after = [tokens[at + 1 : at + 3] for at, one in enumerate(said.tokens) if one == about["noun"]]
    return bool(after) and all(_is_noun(*pair) for pair in after)


def _is_noun(word: str, after: str) -> bool:
    """Say whether a word behind a noun is one as well, and no quality of the thing itself, as in "the meeting time"."""
    return after in _BEING and word.isalpha() and word not in _QUALITIES and word not in function_words("en")


def likeliest(
    said: Said,
    memories: Iterable[Memory],
    given: Sequence[Memory],
    *,
    among: int,
    nearness: Nearness | None = None,
    alone: bool = True,
) -> Match | None:
    """Find the one memory that the sentence takes the place of; None where none is likely, or two are.

    `given` are the memories that the sentence gave by its own readings. `among` so many memories share a word with it,
    in [1, ∞): the more there are, the likelier one fits by chance (`limit_among`). `nearness` tells how near in meaning
    it is to memories, where that is known. `alone`: nothing else was said in the same breath; who talks at length goes
    on about the same, so that as much is asked for as among many, and a sign of change.
    """
    decided = _decided(said, given)
    judged: list[tuple[float, Memory]] = []
    for one in memories:
        noted = one.text.startswith("[")  # a note of what was shown is no statement
        if _barred(said, one, given):
            continue
        if (one.stance in FIRM or one.stance is Stance.PLANNED) and not noted and _matter(one) not in decided:
            cosine = (nearness or {}).get((said.phrase.text, one.text))
            over = _over(said, one, given, among=among, cosine=cosine, alone=alone)
            if over is not None:
                judged.append((over, one))
    judged.sort(key=lambda found: (-found[0], found[1].id))
    if not judged or judged[0][0] < 0:
        return None
    over, memory = judged[0]
    if any(other > over - _MARGIN and one.text != memory.text for other, one in judged[1:]):
        return None
    shared = sorted(phrase(memory.text).terms & said.terms)
    return Match(memory=memory, score=over, rule="weighed", shared=(*shared, *said.cues))


def _barred(said: Said, memory: Memory, given: Sequence[Memory]) -> bool:
    """Return whether a memory is none that the sentence could end, whatever its words weigh."""
    apart = _of_another(given, memory) or _anothers(said, memory) or _other_one(said, memory)
    return apart or _compounded(said, memory) or (memory.attribute or "") in _KEPT


def _matter(memory: Memory) -> tuple[str, str] | None:
    slot = slot_of(memory)
    return None if slot is None else (slot.entity, slot.attribute)


def _decided(said: Said, given: Sequence[Memory]) -> set[tuple[str, str]]:
    """Return the matters in which reconciliation decided what stands beside what, in whatever scope.

    Of a slot of several values that says nothing of a change that is told: it lets all of them stand.
    """
    among = [one for one in given if one.cardinality is Cardinality.SINGLE or not said.cues]
    return {found for one in among if (found := _matter(one)) is not None}


def _counted_on(said: Said, memory: Memory) -> bool:
    """Say whether both are the same but for a number: "room 7 is free", "room 8 is free" go on, and change nothing."""
    return _NUMBER.sub("#", said.phrase.lower).strip(" .!") == _NUMBER.sub("#", phrase(memory.text).lower).strip(" .!")


def _over(
    said: Said, memory: Memory, given: Sequence[Memory], *, among: int, cosine: float | None, alone: bool
) -> float | None:
    """Return by how many logits a memory is past the limit; in talk, past both limits, or None where no sign speaks."""
    old, known = old_of(memory), weights()
    signs = signs_between(said, old, known.rarity, given)
    if (not alone and not speaks(signs)) or (not said.cues and "kind:number" in signs and _counted_on(said, memory)):
        return None
    told = alone and bool(said.cues)
    crowd = max(among, 1 if alone and said.cues else _UNTOLD if alone and speaks(signs) else LAID)
    over = known.logit(signs) - limit_among(known.threshold, crowd) + (_ALONE if told else 0.0)
    if cosine is None:
        return over
    known = near_weights()
    near = known.logit([*signs, *near_signs(said, old, cosine)]) - limit_among(known.threshold, crowd, near=True)
    return near + (_ALONE_NEAR if told else 0.0) if alone else min(over, near)
