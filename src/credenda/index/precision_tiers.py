"""At how many bits the vector of a memory is kept, by how much of the memory is retained (E-082…E-086). Pure."""

from __future__ import annotations

from typing import Final

__all__ = ["EXACT", "FORGOTTEN", "TIERS", "choose_bits"]

EXACT: Final = 32
"""Kept as it is, at the width of the setting `vector_bits`."""
FORGOTTEN: Final = 0
"""So little is retained that it is not worth the work: left as it is, and not deleted (E-086)."""
TIERS: Final = ((0.8, EXACT), (0.5, 8), (0.2, 4), (0.05, 2))
"""Above which retention, at how many bits."""


def choose_bits(retention: float) -> int:
    """Return the bits of a tier, `FORGOTTEN` below all of them.

    >>> [bits_of(retention) for retention in (1.0, 0.8, 0.5, 0.2, 0.05)]
    [32, 8, 4, 2, 0]
    """
    return next((bits for above, bits in TIERS if retention > above), FORGOTTEN)
