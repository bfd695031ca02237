"""The memory block of LlamaIndex, alone and inside its `Memory`."""

from __future__ import annotations

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory

from credenda import Credenda
from credenda.adapters.llama_index import CredendaMemoryBlock


@pytest.fixture
def block(memory: Credenda) -> CredendaMemoryBlock:
    return CredendaMemoryBlock(memory=memory)


async def test_what_is_put_is_there_for_a_question_about_it(block: CredendaMemoryBlock, memory: Credenda) -> None:
    await block.aput([ChatMessage("I live in Linz.", role="user"), ChatMessage("Noted.", role="assistant")])
    memory.settle()
    assert "residence: Linz" in await block.aget([ChatMessage("Where do I live?", role="user")])
    assert "residence: Linz" in await block.aget()


async def test_only_words_of_the_conversation_are_remembered(block: CredendaMemoryBlock, memory: Credenda) -> None:
    await block.aput([ChatMessage("Be brief.", role="system"), ChatMessage("", role="user")])
    assert memory.search("brief").hits == ()


async def test_the_block_stays_below_its_budget(memory: Credenda) -> None:
    for number in range(60):
        memory.remember(f"Boat number {number} is called Ada {number} and lies in the harbour of Linz.")
    block = CredendaMemoryBlock(memory=memory, token_budget=100)
    assert 0 < len(await block.aget([ChatMessage("Which boats lie in Linz?", role="user")])) < 100 * 6


@pytest.mark.parametrize(("less", "left"), [(0, "one\ntwo"), (1, "one"), (9, None)])
async def test_a_block_is_truncated_from_its_end(block: CredendaMemoryBlock, less: int, left: str | None) -> None:
    assert await block.atruncate("one\ntwo", less) == left


async def test_the_memory_of_llama_index_passes_old_messages_on_and_shows_the_block(
    block: CredendaMemoryBlock, memory: Credenda
) -> None:
    chat = Memory.from_defaults(
        session_id="s1",
        token_limit=300,
        token_flush_size=20,
        chat_history_token_ratio=0.2,
        memory_blocks=[block],
    )
    await chat.aput(ChatMessage("I live in Linz.", role="user"))
    for number in range(12):
        await chat.aput(ChatMessage(f"This is the small talk number {number}, which says little.", role="user"))
    memory.settle()
    assert "I live in Linz." in [one.text for one in memory.list().items]
    await chat.aput(ChatMessage("Where do I live?", role="user"))
    shown = await chat.aget()
    assert "residence: Linz" in "".join(str(message.content) for message in shown)
