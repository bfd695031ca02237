"""What the path of a model loses: a program answers with the gold claims, `python -m benchmarks ceiling`.

Each question of the prompt is answered with the claims that the gold has for its messages, with an effect on the known
memory, or the earlier claim of the answer, that says the replaced value. It is no measure of a model, which chooses its
own claims and words.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.locomo import Conversation
from benchmarks.talk import Note, count_memories, load_pairs, make_document, open_store
from benchmarks.talk_figures import Gold, GoldClaim, Replaced, Tally, measure_coverage
from credenda import limits
from credenda.providers.llm.client import estimate_question_tokens
from credenda.providers.llm.protocol import Question, Reply

_MODEL: Final = "gold:reader"
_SETTLE_SECONDS: Final = 3_600
_SAYS_VALUE: Final = 0.7
_SAME_CHARACTERS: Final = 200
"""Characters by which a message is found; further ones may be masked."""
_STANCES: Final = {"denied": "negated", "joke": "sarcastic"}
_EFFECTS: Final = {"corrected": "corrects", "ended": "ends", "contradicts": "contradicts"}


class GoldModel:
    """A model that answers with the gold claims of the messages. It finds a message by its text."""

    model_id = _MODEL
    at_once = 1

    def __init__(self, conversation: Conversation, gold: Gold) -> None:
        """Take a conversation and its gold."""
        self._claims: defaultdict[str, list[GoldClaim]] = defaultdict(list)
        for claim in gold.claims:
            self._claims[claim.turn].append(claim)
        self._turns = dict(conversation.turns)
        self._answered: set[str] = set()
        self.counts: Counter[str] = Counter()

    def ask(self, question: Question) -> Reply:
        """Answer with the claims of the messages that have a turn."""
        document = json.loads(question.prompt)
        known = {name: line for day in document["known"].values() for name, line in day.items()}
        answered: list[tuple[GoldClaim | None, dict[str, object]]] = []
        for message in document["messages"]:
            for claim in self._find_claims(message):
                self._answer(claim, message["turn"], known, answered)
        tokens = estimate_question_tokens(question)
        self.counts.update(questions=1, tokens=tokens, known=len(known))
        return Reply(text=json.dumps({"claims": [one for _, one in answered], "more": False}), tokens_in=tokens)

    def close(self) -> None:
        """Do nothing."""

    def _find_claims(self, message: Mapping[str, str]) -> Sequence[GoldClaim]:
        """Find the claims of the first message with this text that is not answered yet."""
        if "turn" not in message:
            return ()
        wanted = message["text"].strip()[:_SAME_CHARACTERS]
        left = ((name, text) for name, text in self._turns.items() if name not in self._answered)
        same = (name for name, text in left if text.strip()[:_SAME_CHARACTERS] == wanted)
        turn = next(same, "")
        self._answered.add(turn)
        return self._claims[turn]

    def _answer(
        self,
        claim: GoldClaim,
        turn: str,
        known: Mapping[str, str],
        answered: list[tuple[GoldClaim | None, dict[str, object]]],
    ) -> None:
        """Append a claim, and an ending for each further memory that it replaces."""
        targets = dict.fromkeys(self._find_targets(claim, known, [one for one, _ in answered]))
        effect = _EFFECTS.get(claim.relation, "replaces")
        said: dict[str, object] = {
            "turn": turn,
            "quote": claim.clause or claim.value,
            "entity": claim.subject,
            "attribute": re.sub(r"\W+", "_", claim.attribute.lower()),
            "value": claim.value[: limits.NAME_CHARACTERS],
            "scope": None,
            "stance": _STANCES.get(claim.stance, claim.stance),
            "effect": next((f"{effect} {name}" for name in targets), None),
        }
        answered.append((claim, said))
        if effect != "contradicts":
            empty = dict.fromkeys(("entity", "attribute", "value"), None) | {"stance": "asserted"}
            answered += [(None, said | empty | {"effect": f"ends {name}"}) for name in list(targets)[1:]]

    def _find_targets(
        self, claim: GoldClaim, known: Mapping[str, str], earlier: Sequence[GoldClaim | None]
    ) -> Iterator[str]:
        for replaced in claim.replaces:
            target = _find_earlier(replaced, earlier) or self._find_known(replaced, known)
            self.counts.update(replaced=1, shown=target is not None)
            if target is not None:
                yield target

    def _find_known(self, replaced: Replaced, known: Mapping[str, str]) -> str | None:
        """Find the known memory that says most of the replaced value, then of its attribute and subject."""
        named = (one for one in self._claims[replaced.turn] if one.value == replaced.value)
        subject = next((one.subject for one in named), "")

        def rate(line: str) -> tuple[float, ...]:
            plain = line.replace("_", " ")
            return tuple(measure_coverage(one, plain) for one in (replaced.value, replaced.attribute, subject))

        rated = [(rate(line), name) for name, line in known.items()]
        return max((one for one in rated if one[0][0] >= _SAYS_VALUE), default=((), None))[1]


def _find_earlier(replaced: Replaced, earlier: Sequence[GoldClaim | None]) -> str | None:
    wanted = (replaced.turn, replaced.attribute, replaced.value)
    found = [
        number
        for number, one in enumerate(earlier, 1)
        if one is not None and (one.turn, one.attribute, one.value) == wanted
    ]
    return f"c{found[-1]}" if found else None


def run_ceiling(data: Path, gold: Path, *, names: Sequence[str] = (), note: Note) -> dict[str, Any]:
    """Store the conversations that have gold with gold answers; return the document of `bench talk --json`.

    It also has the `counts` of the model, and its `outcomes`: the claims that were changed or refused, by reason.
    """
    pairs = load_pairs(data, gold, names)
    tallies: dict[str, Tally] = {}
    counts, outcomes = Counter[str](), Counter[str]()
    for conversation, wanted in pairs:
        model = GoldModel(conversation, wanted)
        with open_store(conversation, "none", model) as memory:
            for session, messages in conversation.sessions:
                for first in range(0, len(messages), limits.MESSAGES_PER_CALL):
                    memory.remember(messages[first : first + limits.MESSAGES_PER_CALL], session=session)
                memory.settle(_SETTLE_SECONDS)
            use = memory.stats().model
            outcomes.update({} if use is None else use.claims)
            tallies[conversation.name] = count_memories(memory, conversation, wanted)
        counts += model.counts
        note(f"{conversation.name}: {model.counts['shown']} of {model.counts['replaced']} replaced values shown")
    document = make_document(pairs, tallies, embedder="none", llm=_MODEL)
    return {**document, "counts": dict(counts), "outcomes": dict(outcomes.most_common())}
