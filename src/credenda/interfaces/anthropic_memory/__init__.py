"""The Anthropic memory tool (`memory_20250818`) over the directory of a memory."""

from credenda.interfaces.anthropic_memory.pages import Pages, Refused, async_memory_tool, memory_tool, open_pages

__all__ = ["Pages", "Refused", "async_memory_tool", "memory_tool", "open_pages"]
