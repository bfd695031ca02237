"""Promises about likeness, judges, writers and the files, each in the sentences of its row."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread

import pytest

from credenda import Credenda, MemoryUnit, Unavailable
from credenda.model.memory import Memory, Status
from credenda.providers.embed.minilm import MiniLmEmbedder
from credenda.testing import ManualClock, Question, ScriptedModel

Say = Callable[..., None]
THRESHOLD = 0.85
ALIKE = (
    ("The meeting is on October 15th.", "The meeting is on October 16th."),
    ("User deploys to AWS on Fridays.", "User deploys to AWS on Mondays."),
    ("User's locker is number 12.", "User's locker is number 13."),
    ("User is allergic to peanuts.", "User is not allergic to peanuts."),
)
"""Two facts that the threshold takes for one."""
TOLD_TWICE = ("I live in Linz.", "My home is Linz.")
"""One fact that it takes for two."""


def measure(one: str, other: str) -> float:
    first, second = MiniLmEmbedder().embed([one, other])
    return float(first @ second)


def held(mem: Credenda) -> list[Memory]:
    return list(mem.list(limit=50).items)


@pytest.mark.requirement("S-001")
@pytest.mark.parametrize("pair", ALIKE)
@pytest.mark.parametrize("threshold", [THRESHOLD, 0.5])
def test_two_facts_that_are_alike_stay_two(
    path: Path, clock: ManualClock, pair: tuple[str, str], threshold: float
) -> None:
    assert measure(*pair) > THRESHOLD
    with Credenda.open(path, user="ana", clock=clock, workers=False, embedder="minilm") as mem:
        for text in pair:
            mem.store(MemoryUnit(text=text))
        mem.settle()
        assert {one.text for one in held(mem)} == set(pair)
        mem.manage.consolidate(force=True, similarity_threshold=threshold)
        assert {one.text for one in held(mem)} == set(pair)


@pytest.mark.requirement("S-001", "S-094")
def test_one_fact_in_unlike_words_is_one(mem: Credenda, say: Say) -> None:
    assert measure(*TOLD_TWICE) < THRESHOLD
    say(*TOLD_TWICE)
    (one,) = held(mem)
    assert (one.text, one.confirmations) == (TOLD_TWICE[0], 1)


@pytest.mark.requirement("S-007")
@pytest.mark.parametrize("merges", [True, False])
def test_likeness_finds_the_candidates_and_the_model_decides(path: Path, clock: ManualClock, *, merges: bool) -> None:
    """Of two pairs the model merges the one that is less alike, or none; what is near neither it does not read."""
    dates, meetings = ALIKE[0], ("User finds long meetings exhausting.", "Long meetings tire the user out.")
    assert measure(*dates) > THRESHOLD > measure(*meetings)
    read: set[str] = set()

    def judge(question: Question) -> list[dict[str, object]]:
        entries = {one["text"]: one["id"] for one in json.loads(question.prompt)["entries"]}
        read.update(entries)
        if not merges or not set(meetings) <= set(entries):
            return []
        first, second = (entries[text] for text in meetings)
        return [{"op": "replace", "target": first, "with": [second], "kind": "same", "text": meetings[0]}]

    model = ScriptedModel(judge)
    with Credenda.open(path, user="ana", clock=clock, workers=False, embedder="minilm", llm=model) as mem:
        for text in (*dates, *meetings, "The queue is RabbitMQ."):
            mem.store(MemoryUnit(text=text))
        mem.settle()
        mem.manage.consolidate(force=True)
        assert read == {*dates, *meetings}
        left = {*dates, *meetings, "The queue is RabbitMQ."} - ({meetings[1]} if merges else set())
        assert {one.text for one in held(mem)} == left


@pytest.mark.requirement("S-035")
def test_what_is_told_since_the_watermark_is_new_to_a_consolidation_but_for_deleted_facts(
    path: Path, clock: ManualClock
) -> None:
    prompts: list[dict[str, bool]] = []

    def judge(question: Question) -> list[dict[str, object]]:
        entries = json.loads(question.prompt)["entries"]
        prompts.append({one["text"]: bool(one.get("new")) for one in entries})
        return []

    model = ScriptedModel(judge)
    with Credenda.open(path, user="ana", clock=clock, workers=False, embedder="minilm", llm=model) as mem:

        def tell(text: str) -> str:
            clock.advance(timedelta(days=1))
            stored = mem.store(MemoryUnit(text=text)).id
            mem.settle()
            return stored

        tell("User finds long meetings exhausting.")
        assert mem.manage.consolidate(force=True).examined == 1
        tell("User thinks long meetings are exhausting.")
        mem.delete(tell("User says long meetings are exhausting."))
        prompts.clear()
        assert mem.manage.consolidate(force=True).examined == 1
        assert prompts == [
            {"User finds long meetings exhausting.": False, "User thinks long meetings are exhausting.": True}
        ]
        assert mem.manage.consolidate(force=True).examined == 0  # the mark has moved


@pytest.mark.requirement("S-003")
def test_a_manager_and_an_indexer_that_race_write_every_fact_once(path: Path, tmp_path: Path) -> None:
    """One program stores the turns, as the manager did; another reads and writes the pages all the while."""
    vault, done = tmp_path / "vault", Event()
    towns = ("Linz", "Graz", "Wels", "Steyr", "Enns", "Ried", "Lienz", "Hall")
    (vault / "archive").mkdir(parents=True)
    (vault / "archive/2026-01-05.md").write_text("# 2026-01-05\n\n- User plays the viola.\n", "utf-8")

    def manage() -> None:
        with Credenda.open(path, user="ana", workers=False, embedder="hashed") as mem:
            for town in towns:
                mem.remember(f"My friend in {town} is called Mara {town}.")
                mem.store(MemoryUnit(text=f"The shed in {town} is green."))
                mem.settle()
        done.set()

    def index() -> None:
        with Credenda.open(path, user="ana", workers=False, embedder="hashed") as mem:
            while not done.is_set():
                with suppress(Unavailable):  # a page that changed while it was compared: the next run takes it
                    mem.data.sync_files(vault)

    threads = [Thread(target=manage), Thread(target=index)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Credenda.open(path, user="ana", workers=False, embedder="hashed") as mem:
        mem.data.sync_files(vault)
        texts = [one.text for one in held(mem)]
        assert len(texts) == len(set(texts))
        assert sum("shed" in text for text in texts) == len(towns)
        assert sum("viola" in text for text in texts) == 1
        pages = "".join(one.read_text("utf-8") for one in sorted(vault.glob("consolidated/*.md")))
        assert all(pages.count(f"- {text}\n") == 1 for text in texts)
        assert not mem.data.sync_files(vault).changed
        assert mem.data.doctor().ok


@pytest.mark.requirement("S-008")
@pytest.mark.sqlite_file  # it damages the file
def test_vectors_are_made_again_from_what_is_true(path: Path, clock: ManualClock) -> None:
    def find() -> list[str]:
        with Credenda.open(path, user="ana", clock=clock, workers=False, embedder="minilm") as mem:
            mem.settle()
            found = mem.search("Which company am I employed by?", kinds=["memory"], record_access=False)
            return [hit.text for hit in found.hits]

    with Credenda.open(path, user="ana", clock=clock, workers=False, embedder="minilm") as mem:
        mem.remember("I work at Microsoft.")
        mem.remember("I'm allergic to peanuts.")
        mem.settle()
        made = mem.stats().vectors
    before = find()
    assert before
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("DELETE FROM embeddings").rowcount
        database.commit()
    with Credenda.open(path, user="ana", clock=clock, workers=False, embedder="minilm") as mem:
        assert mem.stats().vectors == 0
        assert mem.data.reembed().embedded == 2
        assert mem.stats().vectors == made
    assert find() == before


@pytest.mark.requirement("S-008")
def test_the_pages_alone_hold_every_belief_and_what_stands_in_them_counts(tmp_path: Path, clock: ManualClock) -> None:
    told = ("I work at Google.", "I left Google, I'm at Microsoft now.", "I'm allergic to peanuts.")
    vault = tmp_path / "vault"
    with Credenda.open(tmp_path / "one.db", user="ana", clock=clock, workers=False, embedder="hashed") as mem:
        for text in told:
            mem.remember(text)
            mem.settle()
            clock.advance(timedelta(days=1))
        mem.data.sync_files(vault)
        page = vault / "consolidated/user.md"
        page.write_text(
            page.read_text("utf-8").replace("- I'm allergic to peanuts.", "- I'm allergic to figs."), "utf-8"
        )
        mem.data.sync_files(vault)
        assert [one.value for one in mem.list(attribute="allergy").items] == ["figs"]
        states = {(one.value, one.status) for one in mem.list(status=None).items}
    with Credenda.open(tmp_path / "two.db", user="ana", clock=clock, workers=False, embedder="hashed") as mem:
        mem.data.rebuild(from_files=vault)
        assert {(one.value, one.status) for one in mem.list(status=None).items} == states
        assert {("Google", Status.SUPERSEDED), ("Microsoft", Status.ACTIVE), ("figs", Status.ACTIVE)} <= states
