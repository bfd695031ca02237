"""What was replaced stays replaced, and is found as such, whatever runs in the background and in whatever order."""

import json
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from credenda import Credenda
from credenda.model.memory import Memory, Status
from credenda.testing import Answer, ManualClock, Question, ScriptedModel

TOLD = (
    (("I work at Google.", "I left Google, I'm at Microsoft now."), "Where do I work?", "Google", "Microsoft"),
    (("I live in Linz.", "I moved to Graz."), "Where do I live?", "Linz", "Graz"),
    (("I use unittest.", "No, I use pytest, not unittest."), "Which test tool do I use?", "unittest", "pytest"),
)
STEPS = (
    *("consolidate", "judge", "dream", "decay", "lifecycle", "rebuild", "reextract", "repair", "compress", "sync"),
    *("import", "wait", "say", "change"),
)
MANAGERS = ("Ulla", "Bo", "Ines", "Karim", "Lotte", "Noor", "Otto", "Pia", "Runa", "Sven", "Tove")
HELD = {Status.ACTIVE, Status.CHALLENGED}


def merge_everything(question: Question) -> Answer:
    entries = json.loads(question.prompt)["entries"]
    oldest, *rest = [one["id"] for one in entries]
    kinds = ("same", "change", "correction")
    return {
        "operations": [
            *(
                {"op": "replace", "target": oldest, "with": rest, "kind": kind, "text": entries[0]["text"]}
                for kind in kinds
            ),
            *({"op": "remove", "target": one, "with": [oldest], "kind": None, "text": None} for one in rest),
        ]
    }


class Life:
    """One user's memory, to which background steps are applied; an import moves it to another file."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock = folder, ManualClock("2026-03-01T09:00:00Z")
        self.moves = self.said = self.changes = 0
        self.mem = self.open()

    def open(self, model: ScriptedModel | None = None) -> Credenda:
        path = self.folder / f"{self.moves}.db"
        return Credenda.open(path, user="ana", clock=self.clock, workers=False, embedder="none", llm=model)

    def tell(self, text: str) -> None:
        self.mem.remember(text)
        self.mem.settle()
        self.clock.advance(timedelta(days=2))

    def do(self, step: str) -> None:
        """Take one step: a verb of `manage` or `data`, or something that the user does between them."""
        mem = self.mem
        steps: dict[str, Callable[[], object]] = {
            "consolidate": lambda: mem.manage.consolidate(force=True),
            "judge": self.judge,
            "dream": mem.manage.dream,
            "decay": mem.manage.decay,
            "lifecycle": mem.manage.lifecycle,
            "rebuild": self.rebuild,
            "reextract": lambda: mem.data.rebuild(reextract=True),
            "repair": lambda: mem.data.doctor(repair=True),
            "compress": lambda: mem.manage.compress(dry_run=False),
            "sync": lambda: mem.data.sync_files(self.folder / "vault"),
            "import": self.move,
            "wait": lambda: self.clock.advance(timedelta(days=11)),
            "say": self.say,
            "change": self.change,
        }
        steps[step]()
        self.mem.settle()

    def judge(self) -> None:
        """Consolidate once with a model that merges everything, corrects everything and removes the rest."""
        self.mem.close()
        self.mem = self.open(ScriptedModel(merge_everything))
        self.mem.manage.consolidate(force=True, similarity_threshold=0.0)
        self.mem.close()
        self.mem = self.open()

    def rebuild(self) -> None:
        assert self.mem.data.rebuild().differences == ()

    def say(self) -> None:
        self.said += 1
        self.tell(f"Crate number {self.said} stands in the shed.")

    def change(self) -> None:
        self.changes += 1
        self.clock.advance(timedelta(days=20))  # more often, and the user would be asked
        self.tell(f"My manager is {MANAGERS[self.changes]} now.")

    def move(self) -> None:
        """Go on in another file, which has imported all of this one."""
        path = self.folder / f"{self.moves}.jsonl"
        self.mem.data.export(path)
        self.mem.close()
        self.moves += 1
        self.mem = self.open()
        self.mem.data.import_(path)


def holding(mem: Credenda, value: str) -> list[Memory]:
    return [one for one in mem.list(status=None, limit=50).items if one.value == value and one.status in HELD]


def check(mem: Credenda, question: str, old: str, new: str) -> None:
    assert holding(mem, old) == []
    ended = [one for one in mem.list(status="superseded", limit=50).items if one.relation != "corrected"]
    assert all(one.valid_until for one in ended)
    assert [one.value for one in holding(mem, new)] == [new]
    hits = mem.search(question, record_access=False).hits
    assert new in hits[0].text
    assert "superseded" not in hits[0].flags
    named = [hit for hit in hits if old in hit.text and new not in hit.text]
    assert [hit.text for hit in named if "superseded" not in hit.flags] == []
    for line in mem.context(question).text.splitlines():
        assert old not in line or new in line or "no longer true" in line


@pytest.mark.requirement("R-128", "S-055", "S-093")
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(st.sampled_from(STEPS), min_size=2, max_size=9), told=st.sets(st.sampled_from(TOLD)))
@example(steps=["change", "consolidate", "change", "consolidate", "change"], told=set())
@example(steps=["consolidate"], told=set(TOLD[:1]))
@example(steps=["judge", "consolidate", "judge", "reextract", "repair", "judge"], told=set(TOLD))
@example(steps=["consolidate", "say", "consolidate", "import", "rebuild", "consolidate"], told=set(TOLD))
def test_what_was_replaced_is_never_told_as_current(
    steps: list[str], told: set[tuple[tuple[str, ...], str, str, str]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        life = Life(Path(folder))
        try:
            for texts, *_ in sorted(told):
                for text in texts:
                    life.tell(text)
            life.tell(f"My manager is {MANAGERS[0]}.")
            for step in steps:
                life.do(step)
                for earlier in MANAGERS[: life.changes]:
                    check(life.mem, "Who is my manager?", earlier, MANAGERS[life.changes])
                for _, question, old, new in sorted(told):
                    check(life.mem, question, old, new)
            assert life.mem.data.doctor().ok
        finally:
            life.mem.close()
