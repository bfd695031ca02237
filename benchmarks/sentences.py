"""Generated chat, by seed: sentences as people write them to an assistant, and questions about some of them.

Half of the questions share words with their answer, half use words that occur nowhere in the texts, so that only
embeddings can find the answer.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from credenda.text.passages import MONTHS

_NAMES: Final = (
    "Mara",
    "Jonas",
    "Priya",
    "Tom",
    "Elif",
    "Bruno",
    "Aiko",
    "Sofia",
    "Kwame",
    "Nina",
    "Oskar",
    "Leila",
    "Pedro",
    "Hanna",
    "Yusuf",
    "Clara",
    "Ivan",
    "Ruth",
    "Diego",
    "Amina",
    "Felix",
    "Greta",
    "Omar",
    "Lucia",
    "Matteo",
    "Ingrid",
    "Samir",
    "Paula",
    "Henrik",
    "Zoe",
)
_PLACES: Final = (
    "Linz",
    "Porto",
    "Leeds",
    "Oslo",
    "Kyoto",
    "Denver",
    "Lyon",
    "Gdansk",
    "Turin",
    "Malmo",
    "Bergen",
    "Seville",
    "Ghent",
    "Brno",
    "Cork",
    "Austin",
    "Quito",
    "Perth",
    "Halifax",
    "Graz",
    "Utrecht",
    "Nantes",
    "Tampere",
    "Split",
    "Bologna",
)
_THINGS: Final = {
    "violin": "stringed instrument",
    "greenhouse": "glass shed for growing",
    "motorbike": "two-wheeled vehicle",
    "telescope": "stargazing tube",
    "sourdough": "homemade loaf",
    "kayak": "small paddling boat",
    "accordion": "squeezable instrument",
    "beehive": "home of buzzing insects",
    "typewriter": "old writing machine",
    "hammock": "hanging bed",
    "marathon": "very long run",
    "dentist": "tooth doctor",
    "mortgage": "home loan",
    "allergy": "immune trouble",
    "passport": "travel document",
    "terrier": "little dog",
    "espresso": "strong drink",
    "saxophone": "brass horn",
    "orchard": "fruit grove",
    "pottery": "clay craft",
    "chess": "board game of kings",
    "sauna": "hot wooden room",
    "novel": "long fiction",
    "laptop": "portable computer",
    "bakery": "bread shop",
    "choir": "singing group",
    "attic": "room under the roof",
    "knee": "leg joint",
    "salary": "monthly pay",
    "wedding": "marriage party",
}
"""Topics of the sentences, with their paraphrases in questions."""
_OPENINGS: Final = (
    "I finally talked to {name} about the {thing} yesterday, and",
    "My cousin {name} moved to {place} because of the {thing}, so",
    "Remember the {thing} from {place}? Well,",
    "I started looking for a {thing} near {place} and",
    "{name} asked me again whether the {thing} was worth it, but",
    "We spent the whole weekend in {place} with {name}; the {thing} was the reason and",
    "The {thing} that {name} gave me is still in {place}, which means",
    "I'm thinking of selling the {thing} before we leave {place}, since",
    "Last {month} the {thing} cost me {number} euros, and",
    "After work {name} showed me a {thing} in {place};",
    "I prefer to keep the {thing} at {place} for now, because",
    "Our neighbour {name} wants to borrow the {thing} until {month}, and",
)
_ENDINGS: Final = (
    "honestly I was tired for {number} days afterwards.",
    "now I have to call the office before {month}.",
    "my sister thinks that it is a waste of {number} hours a week.",
    "I promised to bring photos when we meet in {month}.",
    "the train from there takes {number} minutes longer than before.",
    "they said the price goes up by {number} percent in {month}.",
    "it reminds me of the summer when we met {other}.",
    "I'd rather wait until {other} is back from holiday.",
    "my manager {other} was surprisingly kind about it.",
    "we agreed to split the bill with {other}.",
    "nobody told {other} that the plan changed twice.",
    "I learned more in {number} evenings than in years of school.",
)
_ASKING: Final = ("What was it about the {}?", "Can you recall that {}?", "Is there any news of the {}?")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the sentence that answers it, and whether they share words."""

    text: str
    gold: str
    worded: bool


def make_sentences(count: int, *, seed: int = 0) -> list[str]:
    """Make this many different sentences of about 120 characters."""
    draw = random.Random(f"sentences {seed}")
    found: dict[str, None] = {}
    while len(found) < count:
        template = f"{draw.choice(_OPENINGS)} {draw.choice(_ENDINGS)}"
        found[
            template.format(
                name=draw.choice(_NAMES),
                other=draw.choice(_NAMES),
                place=draw.choice(_PLACES),
                thing=draw.choice([*_THINGS]),
                month=draw.choice(MONTHS),
                number=draw.randrange(2, 400),
            )
        ] = None
    return list(found)


def make_questions(texts: Sequence[str], count: int, *, seed: int = 0) -> list[Asked]:
    """Make questions about this many texts, alternating between shared and paraphrased words; all are different."""
    draw = random.Random(f"questions {seed}")
    found: dict[str, Asked] = {}
    for place, gold in enumerate(draw.sample(texts, len(texts))):
        if len(found) == count:
            break
        worded = len(found) % 2 == 0
        asked = draw.choice(_ASKING).format(_name_subject(gold, place, worded=worded))
        found.setdefault(asked, Asked(asked, gold, worded))
    return list(found.values())


def _name_subject(gold: str, place: int, *, worded: bool) -> str:
    """Describe the topic of a sentence with person and place; the place makes a paraphrased question unique."""
    thing = next(name for name in _THINGS if name in gold)
    if not worded:
        return f"{_THINGS[thing]} ({place})"
    said = [word for word in gold.replace(";", "").replace("?", "").split() if word in (*_NAMES, *_PLACES)]
    return " ".join((thing, *said))
