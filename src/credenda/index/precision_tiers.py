"""The precision of a memory's vector in bits, by the memory's retention (E-082…E-086). Pure."""

from __future__ import annotations

from typing import Final

EXACT: Final = 32
"""Unchanged, at the width of the setting `vector_bits`."""
FORGOTTEN: Final = 0
"""Retention so low that conversion is not worth the work: left unchanged, and not deleted (E-086)."""
TIERS: Final = ((0.8, EXACT), (0.5, 8), (0.2, 4), (0.05, 2))
"""Lower bounds of retention, with the bits from there on."""


def choose_bits(retention: float) -> int:
    """Return the bits of a tier, `FORGOTTEN` below all of them.

    >>> [choose_bits(retention) for retention in (1.0, 0.8, 0.5, 0.2, 0.05)]
    [32, 8, 4, 2, 0]
    """
    return next((bits for above, bits in TIERS if retention > above), FORGOTTEN)
