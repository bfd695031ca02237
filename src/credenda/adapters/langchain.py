"""A LangChain retriever over a memory: `CredendaRetriever`."""

from __future__ import annotations

from typing import Any

from credenda.adapters.messages import describe_hit, require_framework
from credenda.client import Credenda

with require_framework("LangChain", "langchain"):
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import ConfigDict, Field


class CredendaRetriever(BaseRetriever):
    """A retriever whose documents are memories and messages, best first; none if nothing relevant is known.

    `k` bounds their number (1 to 50), and may be given to `invoke` too; `search` has further conditions of
    `Credenda.search`, such as `{"topic": "work", "as_of": "2026-03-01"}`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    memory: Credenda
    k: int = 10
    search: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
    ) -> list[Document]:
        del run_manager
        if not query.strip():
            return []
        found = self.memory.search(query, limit=self.k if k is None else k, **self.search)
        return [Document(page_content=hit.text, id=hit.id, metadata=describe_hit(hit)) for hit in found.hits]
