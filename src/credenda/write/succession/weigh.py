"""The replacement classifier: find the memory that a sentence most probably replaces. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from credenda.model.memory import Cardinality, Memory, Stance
from credenda.text.languages import get_function_words
from credenda.write.reconcile.slots import ASSERTIVE_STANCES, BY_BIRTH, get_slot
from credenda.write.succession.likely import Assertion, Nearness, near_signs, signs_between
from credenda.write.succession.old import Match, old_of, others_words
from credenda.write.succession.weights import near_weights, weights
from credenda.write.succession.words import phrase

__all__ = ["LAID", "closest", "likeliest", "limit_among", "may_take", "speaks"]

LAID: Final = 13
"""Memories paired with each sentence in the fit: its own, and twelve negatives."""

_CROWD: Final = 0.9
_CROWD_NEAR: Final = 0.9
"""The rise of the limit with the logarithm of the number of memories that share a word.

It is lower with known similarity, which already tells which of them is meant.
"""
_ALONE: Final = 2.0
_ALONE_NEAR: Final = 1.0
"""Logits by which the limit is lower for a change that is stated alone.

The fitted limits suit the hardest authors, half of whose pairs change nothing. Of 228 pairs that change nothing, by
three authors outside the fit, none is replaced above this limit; of 417 adversarial pairs, 14, and 27 with similarity
(decision 0053).
"""
_UNTOLD: Final = 6
"""Minimum assumed number of competitors without a change cue, if only the differing words suggest a change."""
_KEPT: Final = BY_BIRTH - {"nationality"} | {
    "event",
    "birth_year",
    "birthday",
    "birthplace",
    "origin",
    "blood_type",
    "grew_up_in",
}
"""Attributes of relatives by birth, which cannot be replaced."""
_SOMEBODY: Final = frozenset({"he", "she", "they", "him", "her", "them", "his", "hers", "their", "theirs"})
_OWN: Final = frozenset({"i", "we", "me", "us", "my", "our"})
_ABOUT: Final = re.compile(r"(?:the|our|my) (?P<noun>[a-z-]+) (?:is|are|was|has|have|will|starts|opens|runs|costs) ")
_ONE_OF: Final = re.compile(r"(?:the|our|my|his|her|their) (?P<which>[a-z]+) (?P<noun>[a-z-]+) ")
_NEUTRAL: Final = frozenset(
    "new old current present next last latest previous former first main usual regular daily weekly monthly annual"  # noqa: SIM905
    " own big whole same favourite favorite best dear good other only real official final early late long short".split()
)
"""Words before a noun that do not distinguish it from others of its kind, as "design" in "design review"."""
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
"""Words that distinguish one thing of a kind from another."""
_BEING: Final = frozenset({"is", "are", "was", "were", "has", "have", "had", "will", "got", "gets", "can", "must"})
_QUALITIES: Final = frozenset(
    "time times date dates day days hour hours slot place venue location address room name title price cost fee"  # noqa: SIM905
    " colour color size number deadline start end budget rate password code schedule status version plan length"
    " duration topic theme host owner key target limit".split()
)
_NUMBER: Final = re.compile(r"\d+")
_MARGIN: Final = 0.7
"""Minimum lead of the best memory in logits: odds of two to one."""


def may_take(said: Assertion, *, near: bool = False) -> bool:
    """Return whether the sentence's own words may state a change. Cheap.

    With `near` the weights for known similarity are used.
    """
    if "?" in said.tokens:
        return False
    known = near_weights() if near else weights()
    return known.logit(said.plain) + known.logit(set(said.others(frozenset()))) >= known.least - (
        _ALONE_NEAR if near else _ALONE
    )


def closest(said: Assertion, memories: Sequence[Memory], most: int) -> list[Memory]:
    """Choose at most `most` memories that share the rarest words with a sentence."""
    rarity = weights().rarity
    shared = ((sum(rarity.get(term, 1.0) for term in phrase(one.text).terms & said.terms), one) for one in memories)
    near = sorted(((common, one) for common, one in shared if common), key=lambda found: (-found[0], found[1].id))
    return [one for _, one in near[:most]]


def speaks(signs: Collection[str]) -> bool:
    """Return whether there is evidence of a change besides shared words, which any two texts on a topic have.

    Evidence is a change cue, something left or ended, or two values of one kind.
    """
    return "cue:none" not in signs or "departs" in signs or "alike" in signs


def limit_among(threshold: float, among: int, *, near: bool = False) -> float:
    """Return the limit in logits if `among` memories, in [1, ∞), share a word with a sentence.

    `threshold` is that of the fit, in which each sentence was paired with `LAID` memories. Bayes: the odds of one of n
    memories are divided by n. `near`: their similarities are known.
    """
    return threshold + (_CROWD_NEAR if near else _CROWD) * math.log(max(1, among) / LAID)


def _of_another(given: Sequence[Memory], memory: Memory) -> bool:
    """Return whether all claims of the sentence are about other people than the memory names."""
    people = [others_words(one.entity, one.attribute, one.speaker) for one in given]
    return bool(people) and all(one and one.isdisjoint(old_of(memory).said.terms) for one in people)


def _anothers(said: Assertion, memory: Memory) -> bool:
    """Return whether a memory is about another person whom the speaker's sentence does not name."""
    people = others_words(memory.entity, memory.attribute, memory.speaker)
    words = set(said.tokens)
    return bool(people) and people.isdisjoint(said.terms) and words.isdisjoint(_SOMEBODY) and not words.isdisjoint(_OWN)


def _other_one(said: Assertion, memory: Memory) -> bool:
    """Return whether both are about different members of a kind: "my first child", "my second child"."""
    new, old = _ONE_OF.match(said.phrase.lower), _ONE_OF.match(phrase(memory.text).lower)
    if new is None or old is None or new["noun"] != old["noun"] or new["which"] == old["which"]:
        return False
    named = _NEUTRAL.isdisjoint((new["which"], old["which"]))
    return named or any(new["which"] in kind and old["which"] in kind for kind in _KINDS)


def _compounded(said: Assertion, memory: Memory) -> bool:
    """Return whether a sentence names the memory's object only as part of another thing: "the release notes"."""
    about = _ABOUT.match(phrase(memory.text).lower)
    if about is None:
        return False
    tokens = [*said.tokens, "", ""]
    after = [tokens[at + 1 : at + 3] for at, one in enumerate(said.tokens) if one == about["noun"]]
    return bool(after) and all(_is_noun(*pair) for pair in after)


def _is_noun(word: str, after: str) -> bool:
    """Return whether a word after a noun is a noun too, and no quality of it, as in "the meeting time"."""
    return after in _BEING and word.isalpha() and word not in _QUALITIES and word not in get_function_words("en")


def likeliest(
    said: Assertion,
    memories: Iterable[Memory],
    given: Sequence[Memory],
    *,
    among: int,
    nearness: Nearness | None = None,
    alone: bool = True,
) -> Match | None:
    """Find the one memory that the sentence replaces; None if none is probable, or two are.

    `given` are the memories of the sentence's own claims. `among` is the number of memories that share a word with it,
    in [1, ∞): with more of them, a chance match is more probable (`limit_among`). `nearness` holds the known
    similarities. `alone`: the sentence is the whole statement. A long text continues its topic, so it gets the stricter
    limit and needs a change cue.
    """
    decided = _decided(said, given)
    judged: list[tuple[float, Memory]] = []
    for one in memories:
        noted = one.text.startswith("[")  # a caption is no statement
        if _barred(said, one, given):
            continue
        if (
            (one.stance in ASSERTIVE_STANCES or one.stance is Stance.PLANNED)
            and not noted
            and _matter(one) not in decided
        ):
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


def _barred(said: Assertion, memory: Memory, given: Sequence[Memory]) -> bool:
    """Return whether the sentence cannot end a memory, whatever its score."""
    apart = _of_another(given, memory) or _anothers(said, memory) or _other_one(said, memory)
    return apart or _compounded(said, memory) or (memory.attribute or "") in _KEPT


def _matter(memory: Memory) -> tuple[str, str] | None:
    slot = get_slot(memory)
    return None if slot is None else (slot.entity, slot.attribute)


def _decided(said: Assertion, given: Sequence[Memory]) -> set[tuple[str, str]]:
    """Return the slots in which reconciliation decided already, in any scope.

    A set slot without a change cue counts too, because it keeps all its values.
    """
    among = [one for one in given if one.cardinality is Cardinality.SINGLE or not said.cues]
    return {found for one in among if (found := _matter(one)) is not None}


def _counted_on(said: Assertion, memory: Memory) -> bool:
    """Return whether both differ only in a number: "room 7 is free" after "room 8 is free" changes nothing."""
    return _NUMBER.sub("#", said.phrase.lower).strip(" .!") == _NUMBER.sub("#", phrase(memory.text).lower).strip(" .!")


def _over(
    said: Assertion, memory: Memory, given: Sequence[Memory], *, among: int, cosine: float | None, alone: bool
) -> float | None:
    """Return the logits of a memory above the limit; in a long text above both limits, or None without a cue."""
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
