"""Mark texts by their speakers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from credenda.index.resident import ResidentIndex
from credenda.read.candidates import Floats, Integers, Mask
from credenda.read.weights import load_weights

__all__ = ["ASSISTANT", "make_mask", "mask_spoken_by", "mask_spoken_to", "measure_speaker_fit"]

ASSISTANT: Final = "assistant"
_BEST_OF_SPEAKER: Final = 3


def make_mask(count: int, at: Integers | Sequence[int]) -> Mask:
    """Return a mask of `count` rows that is set at some of them."""
    marks = np.zeros(count, np.bool_)
    marks[at] = True
    return marks


def mask_spoken_by(index: ResidentIndex, speaker: NDArray[np.int32], names: Sequence[str]) -> Mask:
    """Mark the texts of these speakers; a table lookup takes a tenth of the time of a set operation."""
    named = _mask_named_speakers(index, names)
    return named[speaker] if len(named) else np.zeros(len(speaker), np.bool_)


def _mask_named_speakers(index: ResidentIndex, names: Sequence[str]) -> Mask:
    """Mark the speaker numbers that have one of these names."""
    known = index.speaker_names
    return make_mask(len(known), [number for number, name in enumerate(known) if name in names])


def mask_spoken_to(index: ResidentIndex, speaker: NDArray[np.int32], names: Sequence[str]) -> Mask:
    """Mark the texts of speakers who share a session with these people.

    Only their words can be confused with those of the named people; among all speakers, some fit better by chance.
    Texts outside any session count as one session. If the named people share no session, everyone else counts.
    """
    named = _mask_named_speakers(index, names)
    said = ~index.is_memory
    met = np.zeros(len(index.session_names) + 1, np.bool_)  # the last is for "no session", number -1
    met[index.session[said & named[index.speaker]]] = True
    partners = np.zeros(len(named), np.bool_)
    partners[index.speaker[said & met[index.session]]] = True
    partners &= ~named
    return (partners if partners.any() else ~named)[speaker]


def measure_speaker_fit(scores: Floats, by_named: Mask, by_partner: Mask) -> float:
    """Return how well the best turns of the named person fit compared with their partners': 0 worst, 1 fully.

    Users do name the wrong person, and an unconditional bonus for the named one loses ten points on such questions.
    """
    low, high = load_weights().relevance.speaker_fit
    theirs, others = (np.sort(part)[-_BEST_OF_SPEAKER:] for part in (scores[by_named], scores[by_partner]))
    if not len(others) or not len(theirs) or others.mean() <= 0:
        return 1.0
    return float(np.clip((theirs.mean() / others.mean() - low) / (high - low), 0.0, 1.0))
