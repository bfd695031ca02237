"""The savings and cost of the gate before a language model, on labelled sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from benchmarks.belief_figures import compute_wilson_interval
from credenda.clock import from_datetime
from credenda.model.claim import Extractor, Turn
from credenda.model.event import Event, Role
from credenda.model.report import ModelUse
from credenda.providers.tagger import TaggingReader
from credenda.write.facts.extractor import ReadingExtractor
from credenda.write.llm.reading import skip

_MOMENT: Final = datetime(2026, 3, 11, 12, tzinfo=UTC)


def compute_gate_figures(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how many model calls the gate saves, and which sentences it loses; shares are in [0, 1].

    `saved` counts the sentences that are not sent to a model, `saved_of_skips` those among the sentences labelled skip;
    `lost` those among the others in which the reader found nothing either.
    """
    extractor = ReadingExtractor(TaggingReader())
    whys = [_find_reason(line, extractor) for line in lines]
    skips = [why for line, why in zip(lines, whys, strict=True) if line["label"] == "skip"]
    worth = [(line, why) for line, why in zip(lines, whys, strict=True) if line["label"] != "skip"]
    return {
        "n": len(lines),
        "saved": compute_wilson_interval(_count(whys), len(whys)),
        "saved_of_skips": compute_wilson_interval(_count(skips), len(skips)),
        "lost": compute_wilson_interval(_count(why for _, why in worth), len(worth)),
        "reasons": dict(Counter(why for why in whys if why)),
        "lost_texts": [line["text"] for line, why in worth if why],
    }


def _count(whys: Iterable[str | None]) -> int:
    return sum(why is not None for why in whys)


def _find_reason(line: Mapping[str, Any], extractor: Extractor) -> str | None:
    role = Role(line.get("role", "user"))
    moment_us = from_datetime(_MOMENT)
    event = Event(
        text=line["text"], role=role, speaker=role.value, occurred_us=moment_us, id="e0", recorded_us=moment_us
    )
    turn = Turn(event=event)
    why = skip(turn, extractor.extract(turn))
    return None if why is None else why.value


@dataclass(slots=True)
class Bill:
    """The total of the calls of a run."""

    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    waiting: Counter[str] = field(default_factory=Counter[str])

    def add(self, use: ModelUse | None) -> None:
        """Add the use of one tenant."""
        if use is not None:
            self.calls += use.calls
            self.tokens += use.tokens
            self.cost_usd += use.cost_usd
            self.waiting.update(use.waiting)

    def as_document(self, model_id: str, prompt: str) -> dict[str, Any]:
        """Return the document of `--json`; `unanswered` counts failed turns by reason."""
        return {
            "model": model_id,
            "prompt": prompt,
            "calls": self.calls,
            "tokens": self.tokens,
            "cost_usd": self.cost_usd,
            "unanswered": dict(self.waiting),
        }
