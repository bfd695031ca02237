"""The memory of CrewAI, in a real crew around a model that keeps what it was sent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("crewai")

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from pydantic import Field

from credenda import Credenda
from credenda.adapters.crewai import CredendaMemory
from credenda.errors import Invalid
from credenda.text.fence import OPENING

Said = Callable[[str], list[tuple[str, str]]]
ASKED = "Which database do we use for billing?"


class Stub(BaseLLM):
    """A model that answers the same each time, and keeps the messages of each call."""

    sent: list[str] = Field(default_factory=list)

    def call(self, messages: Any, *_: Any, **__: Any) -> str:
        self.sent.append("\n".join(str(one["content"]) for one in messages))
        return "It is Postgres, as before."


def run_crew(memory: CredendaMemory | None, *, own: CredendaMemory | None = None) -> Stub:
    model = Stub(model="stub")
    clerk = Agent(role="clerk", goal="answer", backstory="knows the shop", llm=model, memory=own)
    task = Task(description=ASKED, expected_output="a name", agent=clerk)
    Crew(agents=[clerk], tasks=[task], memory=memory or False).kickoff()
    return model


def test_what_was_said_before_reaches_the_model_and_its_answer_is_kept(known: Credenda, said: Said) -> None:
    model = run_crew(CredendaMemory(known, session="s1"))
    assert len(model.sent) == 1
    assert model.sent[0].count("Postgres") >= 1
    assert OPENING in model.sent[0]
    assert said("s1") == [("assistant", "It is Postgres, as before.")]


def test_an_agent_may_have_a_memory_of_its_own(known: Credenda) -> None:
    assert OPENING in run_crew(None, own=CredendaMemory(known)).sent[0]


def test_a_memory_that_is_only_read_keeps_nothing(known: Credenda) -> None:
    assert OPENING in run_crew(CredendaMemory(known, session="s1", read_only=True)).sent[0]
    assert known.stats().events == 1


def test_an_empty_memory_adds_nothing_and_a_crew_deletes_nothing(memory: Credenda) -> None:
    kept = CredendaMemory(memory)
    assert kept.recall(ASKED) == []
    for step in (kept.forget, kept.reset):
        with pytest.raises(Invalid):
            step()


def test_the_example_of_the_page_runs(known: Credenda) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "adapters.md"
    block = page.read_text("utf-8").partition("## CrewAI\n\n```python\n")[2].partition("```")[0]
    names: dict[str, object] = {"memory": known}
    exec(compile(block, page.name, "exec"), names)  # noqa: S102 - the page's own code
    assert isinstance(names["crew_memory"], CredendaMemory)


def test_a_view_of_a_part_reads_the_whole(known: Credenda) -> None:
    assert len(CredendaMemory(known).scope("/shop").recall(ASKED)) == 1
