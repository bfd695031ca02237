"""Memory for AI agents, kept as a belief state."""

__all__: list[str] = []
