"""Reports of embedding compression."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressTier:
    """The vectors of one retention tier: their number and bytes, and the fidelity of the converted vectors.

    `bits` is 32 for vectors that stay exact, and 0 for forgotten ones that stay unchanged. Fidelity is the cosine of a
    vector before and after, on average and at worst; None without conversions.
    """

    bits: int
    vectors: int
    compressed: int
    bytes_before: int
    bytes_after: int
    fidelity: float | None
    least_fidelity: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressReport:
    """The result of a compression, by tier; `restores` tells whether recall can restore precision."""

    examined: int
    compressed: int
    bytes_before: int
    bytes_after: int
    tiers: tuple[CompressTier, ...]
    dry_run: bool
    restores: bool
