"""Measure how many messages per CPU second are extracted."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import datetime
from importlib import resources
from typing import Any, Final

from credenda.clock import from_datetime
from credenda.model.claim import Extractor, Turn
from credenda.model.event import Event, Role
from credenda.providers.tagger import TaggingReader
from credenda.write.facts.extractor import ReadingExtractor

_PASSES: Final = 2


def read_demo_turns() -> list[str]:
    """Return the user's messages in the included conversation: real chat length, several sentences each."""
    text = resources.files("credenda.data").joinpath("demo_conversation.jsonl").read_text("utf-8")
    turns = [turn for line in text.splitlines() for one in json.loads(line)["sessions"] for turn in one["turns"]]
    return [turn["text"] for turn in turns if turn["speaker"] != "assistant"]


def measure_rate(texts: Sequence[str], moment: datetime) -> dict[str, Any]:
    """Return the extraction rate for these texts, each as a separate message: the best of some passes, CPU time."""
    reader = ReadingExtractor(TaggingReader())
    now = from_datetime(moment)
    turns = [_turn(text, number, now) for number, text in enumerate(texts)]
    spent = min(_time_pass(reader, turns) for _ in range(_PASSES)) if turns else 0.0
    characters = round(sum(map(len, texts)) / len(texts)) if texts else 0
    rate = round(len(turns) / spent) if spent else None
    return {"turns": len(turns), "characters": characters, "turns_per_cpu_second": rate}


def _turn(text: str, number: int, now_us: int) -> Turn:
    event = Event(text=text, role=Role.USER, speaker="user", occurred_us=now_us, id=f"e{number}", recorded_us=now_us)
    return Turn(event=event)


def _time_pass(reader: Extractor, turns: Sequence[Turn]) -> float:
    began = time.process_time()
    for turn in turns:
        reader.extract(turn)
    return time.process_time() - began
