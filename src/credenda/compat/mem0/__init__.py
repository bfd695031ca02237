"""A `Memory` with mem0's methods and results, implemented by Credenda: no model, no vector database, one file."""

from __future__ import annotations

from credenda.compat.mem0.memory import Memory

__all__ = ["Memory"]
