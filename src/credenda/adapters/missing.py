"""The error of an adapter whose framework is not installed."""

from __future__ import annotations

from credenda.errors import Unavailable
from credenda.install_hint import format_install

__all__ = ["make_missing_error"]


def make_missing_error(framework: str, extra: str, error: ImportError) -> Unavailable:
    """Return the error of an adapter that cannot import its framework."""
    return Unavailable(f"this adapter needs {framework}", why=str(error), fix=format_install(extra))
