"""mem0's classes with its methods and results, implemented by Credenda: no model, no vector database, one file."""

from __future__ import annotations

from credenda.compat.mem0.client import AsyncMemory, AsyncMemoryClient, MemoryClient
from credenda.compat.mem0.memory import Memory

__all__ = ["AsyncMemory", "AsyncMemoryClient", "Memory", "MemoryClient"]
