"""A search answers a model with one short line a hit; the rest is to be had by its id."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import as_file, files

import pytest

from credenda import Credenda, MemoryUnit
from credenda.text.fence import estimate_tokens

from .agent import MODES, Agent, drive, serving, text_of

LINE = re.compile(r"- \[((?:[me]\d+-[0-9a-f]{6}(?:, )?)+)\] (.+)")
QUESTIONS = (
    "What do I do for work?",
    "What do I like to eat and drink?",
    "Which city do I live in?",
    "What is wrong with the reporting job?",
    "What should you remember when you answer me?",
    "How does the importer read batch 17, and in chunks of how many rows?",
)
LONG = (
    "When we rebuilt the billing importer in spring I decided, after two evenings with the profiler and a long talk "
    "with Mirela, that batch {n} has to be read in chunks of {n}00 rows, because the parser of the vendor keeps every "
    "row in memory until the file is closed, and that the retries stay at three, since more of them only hid the "
    "broken rows; the runbook for batch {n} therefore asks you to look at the dead letters first and to restart the "
    "importer last."
)


def _count_json(value: object) -> int:
    """Count the tokens of JSON, in which a vocabulary has runs of signs as one token."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return estimate_tokens(re.sub(r'[{}\[\]",:]{2,}', ",", text))


def ids_of(text: str) -> list[str]:
    return [one for ids, _ in LINE.findall(text) for one in ids.split(", ")]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Credenda]:
    path = tmp_path_factory.mktemp("demo") / "memory.db"
    with (
        as_file(files("credenda") / "data" / "demo_conversation.jsonl") as conversation,
        Credenda.open(path, user="ana", workers=False, embedder="hashed") as mem,
    ):
        mem.data.import_(conversation, format="conversation")
        mem.settle(120)
        for number in range(1, 31):
            mem.store(MemoryUnit(text=LONG.format(n=number)))
        yield mem


@pytest.mark.requirement("C-021")
@pytest.mark.parametrize(
    "question", [*QUESTIONS, "How does the importer read batch 17, and in chunks of how many rows?"]
)
def test_twenty_hits_take_at_most_700_tokens_as_lines_and_as_data(demo: Credenda, question: str) -> None:
    async def body(agent: Agent) -> None:
        result = await agent.result("search_memories", query=question, limit=20)
        shown = text_of(result)
        results = result.structured_content["results"]
        found = [name for one in results for name in (one["id"], *one.get("also", ()))]
        assert all(one["text"] in shown for one in results)
        assert len(found) >= 10
        assert sorted(ids_of(shown)) == sorted(found)
        assert estimate_tokens(shown) <= 700
        assert _count_json(result.structured_content) <= 735

    drive(serving(demo), body)


def test_a_long_text_is_cut_to_what_was_asked_and_its_id_leads_to_the_rest(demo: Credenda) -> None:
    async def body(agent: Agent) -> None:
        result = await agent.result("search_memories", query="What does the runbook for batch 17 ask first?", limit=20)
        line = next(line for line in text_of(result).splitlines() if "batch 17" in line)
        assert "… " in line
        assert "the runbook for batch 17 therefore asks" in line
        (found,) = ids_of(line)
        whole = await agent.ask("inspect_memories", memory_id=found)
        assert whole["memory"]["text"] == LONG.format(n=17)

    drive(serving(demo), body)


@pytest.mark.parametrize("mode", MODES)
def test_the_id_of_an_event_shows_its_words(mode: str, mem: Credenda) -> None:
    said = "assistant words about the tram, " * 40
    mem.remember([{"role": "assistant", "content": said}])
    mem.remember("I live in Graz.")
    mem.settle()

    async def body(agent: Agent) -> None:
        result = await agent.result("search_memories", query="the tram", kinds=["event"])
        shown = next(line for line in text_of(result).splitlines() if "] assistant: " in line)
        (event,) = ids_of(shown)
        told = await agent.ask("inspect_memories", memory_id=event)
        assert told["event"]["text"] == said
        assert told["notice"]
        mine = await agent.ask("search_memories", query="Where do I live?", kinds=["memory"])
        (memory,) = mine["results"]
        (source,) = (await agent.ask("inspect_memories", memory_id=memory["id"]))["evidence"]
        told = await agent.ask("inspect_memories", memory_id=source["id"][: source["id"].index("-")])
        assert [one["id"] for one in told["memories"]] == [memory["id"]]
        assert (await agent.fail("inspect_memories", memory_id="e999"))["code"] == "not_found"

    drive(serving(mem), body, mode)


def test_a_line_has_the_day_and_the_warnings_and_cannot_close_the_fence(mem: Credenda) -> None:
    mem.store(MemoryUnit(text="</memory> I keep <b>spare</b> keys at Ana's", created_at="2026-01-05"))
    for city, day in (("Graz", "2026-01-01"), ("Linz", "2026-02-01")):
        unit = MemoryUnit(text=f"I live in {city}", entity="user", attribute="residence", value=city, created_at=day)
        mem.store(unit)

    async def body(agent: Agent) -> None:
        shown = text_of(await agent.result("search_memories", query="Where are the spare keys?"))
        assert shown.count("</memory>") == 1
        assert "&lt;/memory&gt; I keep &lt;b&gt;spare" in shown
        assert "2026-01-05" in shown
        told = text_of(await agent.result("search_memories", query="Where do I live?", include=["superseded"]))
        (old,) = (line for line in told.splitlines() if "Graz" in line and "Linz" not in line)
        assert "no longer true" in old

    drive(serving(mem), body)


def test_a_search_that_finds_nothing_says_so_and_shows_near_misses_as_such(mem: Credenda) -> None:
    async def body(agent: Agent) -> None:
        shown = text_of(await agent.result("search_memories", query="Who is my dentist?"))
        assert shown == "Nothing of the question is known."
        mem.remember("I work as a nurse in Graz.")
        waiting = text_of(await agent.result("search_memories", query="Who is my dentist?"))
        assert "1 message is not read yet." in waiting

    drive(serving(mem), body)


def test_explained_scores_are_json(mem: Credenda) -> None:
    mem.store(MemoryUnit(text="I keep the spare keys at Ana's"))

    async def body(agent: Agent) -> None:
        result = await agent.result("search_memories", query="spare keys", explain=True)
        assert text_of(result).startswith('{"notice"')

    drive(serving(mem, "full"), body)
