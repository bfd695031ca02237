"""Memory for programs that talk to language models: recall before a call, and remember after it.

>>> from credenda import Credenda, agents
>>> with Credenda.open(getfixture("tmp_path") / "memory.db", user="ana") as mem:
...     with_memory = agents.remembering(mem, lambda **call: {"content": "Noted."}, session="s1")
...     answer = with_memory(messages=[{"role": "user", "content": "I live in Linz."}])
...     mem.settle()
...     [memory.value for memory in mem.list(attribute="residence").items]
['Linz']
"""

from typing import TYPE_CHECKING, Any

from credenda.lazy import import_on_use

if TYPE_CHECKING:
    from credenda.agents.conversation import remembering as remembering

__all__ = ["remembering"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - loaded on first use: a server needs other parts alone
    if name != "remembering":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_on_use("credenda.agents.conversation").remembering
