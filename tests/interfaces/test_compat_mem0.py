"""mem0's way of calling: the same code runs, one user never sees another, and what is deleted is gone."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda, CredendaError, Invalid, NotFound, Unavailable
from credenda.compat.mem0 import Memory
from credenda.storage.store import EventFilter
from credenda.testing import ManualClock
from tests.waiting import PATIENCE_SECONDS

START = "2026-03-02T09:00:00Z"
EVERYTHING = EventFilter(redacted=True)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
def memory(tmp_path: Path, clock: ManualClock) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db", clock=clock, settings={"embedder": "none"}) as opened:
        yield opened


def texts(result: dict[str, Any]) -> list[str]:
    return [item["memory"] for item in result["results"]]


def test_a_chat_that_recalls_before_it_answers_and_files_what_was_said(memory: Memory) -> None:
    prompts: list[str] = []

    def model(messages: list[dict[str, str]]) -> str:
        prompts.append(messages[0]["content"])
        return "Understood."

    def chat(message: str, user_id: str = "default_user") -> str:
        relevant = memory.search(query=message, filters={"user_id": user_id}, top_k=3)
        known = "\n".join(f"- {entry['memory']}" for entry in relevant["results"])
        messages = [{"role": "system", "content": f"What you know:\n{known}"}, {"role": "user", "content": message}]
        answer = model(messages)
        messages.append({"role": "assistant", "content": answer})
        memory.add(messages, user_id=user_id)
        return answer

    assert chat("I'm allergic to peanuts.") == "Understood."
    chat("What am I allergic to?")
    assert "- I'm allergic to peanuts." in prompts[1]
    chat("What am I allergic to?")
    assert prompts[2].count("peanuts") == 1, "what was recalled into a prompt must not become a memory"
    assert texts(memory.get_all(filters={"user_id": "default_user"})) == ["I'm allergic to peanuts."]


def test_the_rows_of_add_say_what_it_changed(memory: Memory) -> None:
    (added,) = memory.add("I work at Google.", user_id="ana")["results"]
    assert (added["event"], added["memory"], added["role"]) == ("ADD", "I work at Google.", "user")
    (updated,) = memory.add("I left Google, I'm at Microsoft now.", user_id="ana")["results"]
    assert (updated["event"], updated["previous_memory"]) == ("UPDATE", "I work at Google.")
    assert updated["previous_id"] == added["id"]
    (known,) = memory.add("I work at Microsoft.", user_id="ana")["results"]
    assert (known["event"], known["id"]) == ("NONE", updated["id"])
    (kept,) = memory.add("The lunch at Mario's was cold.", user_id="ana")["results"]
    assert (kept["event"], kept["memory"]) == ("NONE", "The lunch at Mario's was cold.")
    assert texts(memory.search("lunch", user_id="ana")) == ["The lunch at Mario's was cold."]
    assert memory.get(kept["id"]) is not None
    assert memory.history(kept["id"]) == []


def test_a_sentence_of_several_facts_is_one_fact_a_memory(memory: Memory) -> None:
    memory.add("I'm vegetarian and I live in Rome.", user_id="ana")
    memory.add("I moved to Milan.", user_id="ana")
    held = texts(memory.get_all(filters={"user_id": "ana"}))
    assert "diet: vegetarian" in held
    assert not any("Rome" in text for text in held)


def test_what_was_replaced_is_no_result(memory: Memory) -> None:
    memory.add("I work at Google.", user_id="ana")
    memory.add("I left Google, I'm at Microsoft now.", user_id="ana")
    assert texts(memory.search("Where do I work?", user_id="ana")) == ["employer: Microsoft"]


@pytest.mark.parametrize("how", ["read", "held"])
def test_saying_it_twice_makes_one_memory(memory: Memory, how: str) -> None:
    for _ in range(2):
        memory.add("I'm allergic to peanuts.", user_id="ana", infer=how == "read")
    assert texts(memory.get_all(user_id="ana")) == ["I'm allergic to peanuts."]


def test_two_users_never_see_each_other(memory: Memory) -> None:
    (mine,) = memory.add("My tram is line 71.", user_id="ana", infer=False)["results"]
    memory.add("My tram is line 18.", user_id="bob", infer=False)
    assert texts(memory.search("tram", user_id="bob")) == ["My tram is line 18."]
    assert texts(memory.get_all(filters={"user_id": "bob"})) == ["My tram is line 18."]
    assert texts(memory.search("tram", agent_id="any")) == []
    assert memory.get(mine["id"], user_id="bob") is None
    for forbidden in (
        lambda: memory.update(mine["id"], "changed", user_id="bob"),
        lambda: memory.delete(mine["id"], user_id="bob"),
        lambda: memory.history(mine["id"], user_id="bob"),
    ):
        with pytest.raises(NotFound):
            forbidden()
    memory.delete_all(user_id="bob")
    assert memory.get(mine["id"], user_id="ana") == memory.get(mine["id"])
    assert texts(memory.get_all(user_id="ana")) == ["My tram is line 71."]


def test_a_setting_bounds_the_open_memories(tmp_path: Path) -> None:
    with Memory(tmp_path / "few.db", settings={"embedder": "none", "open_memories": 2}) as memory:
        for user in ("ana", "bob", "cem"):
            memory.add("I like tea.", user_id=user, infer=False)
        assert len(memory._tenants) == 2  # noqa: SLF001 - what is open shows nowhere else
        assert texts(memory.get_all(user_id="ana")) == ["I like tea."]


def test_an_id_leads_to_its_user_in_another_process(tmp_path: Path, memory: Memory) -> None:
    (row,) = memory.add("I live in Linz.", user_id="ana")["results"]
    with Memory(tmp_path / "memory.db", settings={"embedder": "none"}) as other:
        found = other.get(row["id"])
    assert found is not None
    assert (found["user_id"], found["memory"]) == ("ana", "I live in Linz.")


def test_only_an_agent_or_a_run_means_the_shared_user(memory: Memory) -> None:
    memory.add("The build runs on ARM.", agent_id="builder", infer=False)
    memory.add("The build runs on x86.", run_id="r1", infer=False)
    assert texts(memory.search("build", agent_id="builder")) == ["The build runs on ARM."]
    assert texts(memory.get_all(run_id="r1")) == ["The build runs on x86."]
    (item,) = memory.get_all(agent_id="builder")["results"]
    assert (item["user_id"], item["agent_id"]) == ("_shared", "builder")


def test_agent_and_run_narrow_and_count_whoever_said_it_again(memory: Memory) -> None:
    memory.add("I'm allergic to peanuts.", user_id="ana", agent_id="cook", run_id="monday")
    memory.add("I'm allergic to peanuts.", user_id="ana", agent_id="waiter", run_id="friday")
    for narrowed in ({"agent_id": "waiter"}, {"run_id": "friday"}, {"agent_id": "cook", "run_id": "monday"}):
        listed = memory.get_all(filters={"user_id": "ana", **narrowed})
        assert texts(listed) == ["I'm allergic to peanuts."]
        assert len(memory.search("allergic", filters={"user_id": "ana", **narrowed})["results"]) == 1
    assert texts(memory.get_all(user_id="ana", agent_id="nurse")) == []
    (item,) = memory.get_all(user_id="ana")["results"]
    assert (item["agent_id"], item["run_id"]) == ("cook", "monday")


def test_an_update_keeps_agent_run_and_metadata(memory: Memory) -> None:
    (row,) = memory.add("I live in Linz.", user_id="ana", agent_id="a", run_id="r", metadata={"k": 1})["results"]
    new = memory.update(row["id"], "I live in Graz.")["id"]
    (item,) = memory.get_all(user_id="ana", agent_id="a", run_id="r")["results"]
    assert (item["id"], item["memory"], item["metadata"]) == (new, "I live in Graz.", {"k": 1})
    assert memory.get(row["id"]) == item, "the id that a caller holds goes on to mean this memory"
    assert memory.update(row["id"], data="I live in Graz.")["id"] == new


def test_history_tells_each_step_in_the_fields_of_mem0(memory: Memory, clock: ManualClock) -> None:
    (row,) = memory.add("I live in Linz.", user_id="ana")["results"]
    clock.advance(timedelta(days=1))
    new = memory.update(row["id"], "I live in Graz.")["id"]
    added, updated = memory.history(new)
    assert (added["event"], added["old_memory"], added["new_memory"]) == ("ADD", None, "I live in Linz.")
    assert (updated["event"], updated["old_memory"], updated["new_memory"]) == (
        "UPDATE",
        "I live in Linz.",
        "I live in Graz.",
    )
    assert updated["updated_at"] == "2026-03-03T09:00:00+00:00"
    assert not added["is_deleted"]
    assert memory.history(row["id"]) == memory.history(new)


def test_deleted_words_are_in_no_history_and_not_in_the_file(memory: Memory, tmp_path: Path) -> None:
    (row,) = memory.add("My badge number is 5318008.", user_id="ana", infer=False)["results"]
    new = memory.update(row["id"], "My badge number is 8005135.")["id"]
    memory.delete(row["id"])
    rows = memory.history(new)
    assert rows[-1]["event"] == "DELETE"
    assert all(row["is_deleted"] and row["old_memory"] is None and row["new_memory"] is None for row in rows)
    assert memory.get(new) is None
    assert memory.get_all(user_id="ana") == {"results": []}
    memory.close()
    raw = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"5318008" not in raw
    assert b"8005135" not in raw


def test_what_was_deleted_comes_back_only_on_purpose(memory: Memory) -> None:
    (row,) = memory.add("I live in Linz.", user_id="ana")["results"]
    memory.delete(row["id"])
    memory.delete(row["id"])
    refused = memory.add("I live in Linz.", user_id="ana")
    assert refused["results"] == []
    assert "deleted" in refused["refused"][0]
    assert memory.add("I live in Linz.", user_id="ana", allow_deleted=True)["results"][0]["event"] == "ADD"


def test_delete_all_takes_more_than_one_page_and_the_messages_too(memory: Memory) -> None:
    for start in range(0, 130, 10):
        told = [{"role": "user", "content": f"Locker {start + n} is painted green."} for n in range(10)]
        memory.add(told, user_id="ana", infer=start % 20 == 0)
    memory.add("I live in Linz.", user_id="ana")
    memory.add("I live in Graz now.", user_id="ana")
    (row,) = memory.add("I prefer tea. My locker is 3.", user_id="ana", infer=False)["results"]
    memory.delete(memory.add("I prefer tea.", user_id="ana")["results"][0]["id"])
    assert row["id"]
    memory.delete_all(user_id="ana")
    assert memory.get_all(user_id="ana", top_k=1000) == {"results": []}
    assert memory.search("Which locker is painted green?", user_id="ana")["results"] == []
    memory.close()
    assert remaining(memory) == []


def remaining(memory: Memory) -> list[str]:
    """Every word left in the file of a closed memory."""
    store = memory._tenants._open_parts("ana").store  # noqa: SLF001 - what lies on disk is the point
    with closing(store), store.reader("ana") as reader:
        return [event.text for event in reader.find_events(EVERYTHING) if event.text]


def test_delete_all_of_an_agent_leaves_the_rest(memory: Memory) -> None:
    memory.add("I'm allergic to peanuts.", user_id="ana", agent_id="cook")
    memory.add("I'm allergic to peanuts.", user_id="ana", agent_id="nurse")
    memory.add("I live in Linz.", user_id="ana", agent_id="cook")
    memory.delete_all(user_id="ana", agent_id="cook")
    assert texts(memory.get_all(user_id="ana")) == ["I'm allergic to peanuts."]
    assert texts(memory.get_all(user_id="ana", agent_id="cook")) == []


def test_filters_see_beyond_the_first_results(memory: Memory) -> None:
    for number in range(120):
        kind = "rare" if number == 7 else "usual"
        memory.add(f"The meeting room {number} is free", user_id="ana", metadata={"kind": kind}, infer=False)
    assert len(memory.search("meeting room", filters={"user_id": "ana", "kind": "rare"}, top_k=5)["results"]) == 1
    assert len(memory.get_all(user_id="ana", top_k=500)["results"]) == 120


def test_scores_threshold_and_abstention(memory: Memory) -> None:
    memory.add("I live in Linz.", user_id="ana")
    found = memory.search("Where do I live?", user_id="ana", explain=True)
    assert not found["abstained"]
    assert all(0 <= item["score"] <= 1 for item in found["results"])
    assert found["results"][0]["score_details"]
    assert memory.search("What is my blood type?", user_id="ana") == {"results": [], "abstained": True}
    assert memory.search("Where do I live?", user_id="ana", top_k=0)["results"] == []


def test_what_the_assistant_said_must_be_asked_for(memory: Memory) -> None:
    memory.add([{"role": "assistant", "content": "I recommend the Aurora hotel in Oslo."}], user_id="ana")
    assert texts(memory.search("Which hotel in Oslo?", user_id="ana")) == []
    asked = memory.search("Which hotel in Oslo?", filters={"user_id": "ana", "role": "assistant"})
    assert texts(asked) == ["I recommend the Aurora hotel in Oslo."]


def test_named_speakers_are_actors(memory: Memory) -> None:
    told = [{"role": "user", "name": "Jack", "content": "I hate football."}]
    memory.add(told, user_id="ana", infer=False)
    (item,) = memory.get_all(filters={"user_id": "ana", "actor_id": "Jack"})["results"]
    assert (item["actor_id"], item["role"]) == ("Jack", "user")


def test_an_expired_memory_is_not_found(memory: Memory, clock: ManualClock) -> None:
    memory.add("The code is 4711.", user_id="ana", infer=False, expiration_date=date(2026, 3, 3))
    clock.advance(timedelta(days=1))
    assert len(memory.get_all(user_id="ana")["results"]) == 1
    clock.advance(timedelta(days=1))
    assert memory.get_all(user_id="ana")["results"] == []
    assert memory.search("code", user_id="ana")["results"] == []
    (item,) = memory.get_all(user_id="ana", show_expired=True)["results"]
    assert item["expiration_date"] == "2026-03-04T00:00:00Z"


def test_a_timestamp_says_since_when_it_is_true(memory: Memory) -> None:
    memory.add("I live in Linz.", user_id="ana", timestamp=1_600_000_000)
    memory.add("I moved to Graz.", user_id="ana", timestamp="2026-01-01")
    then = memory.search("Where do I live?", user_id="ana", reference_date="2024-01-01")
    assert texts(then) == ["I live in Linz."]


def test_a_procedure_is_kept_as_one(memory: Memory, tmp_path: Path) -> None:
    memory.add("Run make, then make install.", user_id="ana", agent_id="a", memory_type="procedural_memory")
    memory.close()
    with Credenda.open(tmp_path / "memory.db", user="ana", embedder="none") as mem:
        assert [found.type for found in mem.list().items] == ["procedure"]


def test_a_long_message_is_held_as_far_as_a_memory_goes(memory: Memory) -> None:
    (row,) = memory.add("word " * 1_000 + "Zanzibar", user_id="ana", infer=False)["results"]
    assert 1_900 < len(row["memory"]) <= 2_000
    assert memory.search("Zanzibar", user_id="ana")["results"]


@pytest.mark.parametrize("id", ["m1-aaaaa1", "m1", "", "e99-aaaaa1", "c1-aaaaa1", "m" * 100])
def test_an_unknown_id_is_nothing(memory: Memory, id: str) -> None:
    memory.add("I live in Linz.", user_id="ana")
    assert memory.get(id) is None
    for call in (lambda: memory.update(id, "x"), lambda: memory.delete(id), lambda: memory.history(id)):
        with pytest.raises(NotFound):
            call()


def test_a_message_is_deleted_but_not_rewritten(memory: Memory) -> None:
    (row,) = memory.add("The lunch at Mario's was cold.", user_id="ana")["results"]
    with pytest.raises(Invalid, match="message cannot be updated"):
        memory.update(row["id"], "The lunch was warm.")
    memory.delete(row["id"])
    assert memory.get(row["id"]) is None
    assert memory.search("lunch", user_id="ana")["results"] == []


def test_reset_begins_anew_even_for_what_was_deleted(memory: Memory, tmp_path: Path) -> None:
    (row,) = memory.add("I live in Linz.", user_id="ana")["results"]
    memory.add("I live in Graz.", user_id="bob")
    memory.delete(row["id"])
    memory.reset()
    assert not (tmp_path / "memory.db").exists()
    assert memory.get_all(user_id="bob") == {"results": []}
    assert memory.get(row["id"]) is None
    assert memory.add("I live in Linz.", user_id="ana")["results"][0]["event"] == "ADD"


def test_threads_share_one_memory(memory: Memory) -> None:
    wrong: list[BaseException] = []

    def work(user: str) -> None:
        try:
            for number in range(5):
                memory.add(f"My locker {number} is green.", user_id=user, infer=False)
        except CredendaError as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(f"user{number % 3}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert wrong == []
    assert [len(memory.get_all(user_id=f"user{number}")["results"]) for number in range(3)] == [5, 5, 5]


def test_a_closed_memory_says_so_and_closing_twice_does_nothing(memory: Memory) -> None:
    memory.add("I live in Linz.", user_id="ana")
    memory.close()
    memory.close()
    with pytest.raises(Unavailable, match="closed"):
        memory.search("x", user_id="ana")


def test_a_configuration_of_our_own_is_read(tmp_path: Path) -> None:
    with Memory.from_config({"path": str(tmp_path / "own.db"), "embedder": "none"}) as made:
        made.add("I live in Linz.", user_id="ana")
    with closing(sqlite3.connect(tmp_path / "own.db")) as database, database:
        assert database.execute("SELECT count(*) FROM events").fetchone() == (1,)
    database.close()


def test_the_page_for_those_who_move_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "move-from-mem0.md").read_text("utf-8")
    block, later = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "move-from-mem0.md", "exec"), {})  # noqa: S102 - the page's own code
    assert "peanuts" in capsys.readouterr().out
    exec(compile(later, "move-from-mem0.md", "exec"), {})  # noqa: S102 - as above
    assert "cello" in capsys.readouterr().out
