"""Benchmarks that are part of the distribution: one reproducible command each."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.bench import (
        cli as cli,
    )

__getattr__ = load_on_use(__name__)
