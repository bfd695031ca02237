"""The retriever, by LangChain's own suite, and what it says about each document."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

from credenda import Credenda
from credenda.adapters.langchain import CredendaRetriever


class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _remember(self, memory: Credenda) -> None:
        for name in ("Ada", "Bella", "Cora", "Dora", "Emma"):
            memory.remember(f"One of our boats is called {name}.")
        memory.settle()
        self.memory = memory

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return CredendaRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": self.memory}

    @property
    def retriever_query_example(self) -> str:
        return "What are our boats called?"


def test_a_document_says_which_memory_it_is_and_since_when(memory: Credenda) -> None:
    memory.remember("I live in Linz.")
    memory.settle()
    (document,) = CredendaRetriever(memory=memory, search={"kinds": ("memory",)}).invoke("Where do I live?")
    assert document.page_content == "user: residence: Linz, told 2026-03-01"
    assert document.id == document.metadata["id"] == memory.list().items[0].id
    assert document.metadata["valid_from"] == "2026-03-01T09:00:00+00:00"
    assert document.metadata["status"] == "active"


@pytest.mark.parametrize("query", ["", "  ", "volcanoes of Iceland"])
def test_nothing_relevant_gives_no_document(memory: Credenda, query: str) -> None:
    memory.remember("I live in Linz.")
    assert CredendaRetriever(memory=memory).invoke(query) == []


async def test_it_is_called_asynchronously_too(memory: Credenda) -> None:
    memory.remember("I live in Linz.")
    assert [one.page_content for one in await CredendaRetriever(memory=memory, k=1).ainvoke("Where do I live?")] == [
        "I live in Linz."
    ]
