"""What a run of embedding compression did, or would do."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CompressReport", "CompressTier"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressTier:
    """The vectors of one tier of retention: how many, of how many bytes, and what those that moved keep of themselves.

    `bits` is 32 for what stays exact, and 0 for what is so far forgotten that it is left as it is. Fidelity is the
    cosine of a vector before and after, on average and at worst; None where none moved.
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
    """What became of the vectors of memories, by tier; `restores` says whether recall can give precision back."""

    examined: int
    compressed: int
    bytes_before: int
    bytes_after: int
    tiers: tuple[CompressTier, ...]
    dry_run: bool
    restores: bool
