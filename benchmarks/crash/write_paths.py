"""The calls that write, each as one function of an open memory, for attacks that fail or interrupt them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from benchmarks.crash.ledger import Ledger
from credenda import Credenda, MemoryUnit

_USER: Final = "ana"
NEXT_TEXT: Final = "Remember that I love after1z0."
"""The message of the call after the failed one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A database with a message, memories and an earlier backup, copied for each attempt."""

    folder: Path
    ledger: Ledger
    event: str
    memory: str
    forgotten: str

    def copy(self, folder: Path) -> Attempt:
        """Copy the files, and the acknowledgements about them."""
        shutil.copytree(self.folder, folder)
        known = self.ledger
        ledger = replace(
            known,
            path=str(folder / "memory.db"),
            said=dict(known.said),
            texts=dict(known.texts),
            memories={name: list(statuses) for name, statuses in known.memories.items()},
            deleted=list(known.deleted),
            doubtful=list(known.doubtful),
            together=list(known.together),
            guests=list(known.guests),
        )
        return Attempt(template=self, folder=folder, ledger=ledger)


@dataclass(slots=True, kw_only=True)
class Attempt:
    """One call on a copy of the template."""

    template: Template
    folder: Path
    ledger: Ledger
    contradictions: list[str] | None = None

    def tell(self, **fact: object) -> None:
        """Enter a fact."""
        self.contradictions = [*(self.contradictions or ()), *self.ledger.take(fact)]

    def open(self, embedder: object = "hashed", llm: object = None) -> Credenda:
        """Open the copy."""
        return Credenda.open(self.ledger.path, user=_USER, embedder=embedder, llm=llm, workers=False)  # type: ignore[arg-type]


def make_template(folder: Path) -> Template:
    """Make the database that every attempt starts from."""
    folder.mkdir()
    ledger = Ledger(path=str(folder / "memory.db"), user=_USER, embedder="hashed")
    text = "Remember that I love first1z0."
    with Credenda.open(ledger.path, user=_USER, embedder="hashed", workers=False) as memory:
        (event,) = memory.remember(text).event_ids
        ledger.take({"e": "said", "ids": [event], "texts": [text]})
        memory.settle()
        ids: list[str] = []
        for word in ("lamp1z0", "desk1z0"):
            held = memory.store(MemoryUnit(text=f"The {word} is red.", entity=word, attribute="colour", value="red"))
            ledger.take({"e": "did", "op": "store", "id": held.id, "text": held.text})
            ids.append(held.id)
        memory.forget(ids[1])
        ledger.take({"e": "did", "op": "forget", "id": ids[1]})
        waiting = "Remember that I love waits1z0."
        ledger.take({"e": "said", "ids": memory.remember(waiting).event_ids, "texts": [waiting]})
    return Template(folder=folder, ledger=ledger, event=event, memory=ids[0], forgotten=ids[1])


def _remember(memory: Credenda, attempt: Attempt) -> None:
    text = "Remember that I love said1z0."
    attempt.tell(e="said", ids=memory.remember(text).event_ids, texts=[text])


def _remember_several(memory: Credenda, attempt: Attempt) -> None:
    texts = ["Remember that I love both1z0.", "I live in Linz since both2z0."]
    attempt.tell(e="sends", texts=texts)
    receipt = memory.remember([{"role": "user", "content": text} for text in texts], session="talk")
    attempt.tell(e="said", ids=receipt.event_ids, texts=texts)


def _settle(memory: Credenda, attempt: Attempt) -> None:
    del attempt
    memory.settle(5.0)


def _store(memory: Credenda, attempt: Attempt) -> None:
    held = memory.store(MemoryUnit(text="The chair1z0 is blue.", entity="chair1z0", attribute="colour", value="blue"))
    attempt.tell(e="did", op="store", id=held.id, text=held.text)


def _correct(memory: Credenda, attempt: Attempt) -> None:
    held, text = attempt.template.memory, "The lamp is of the colour green1z0."
    attempt.tell(e="will", op="correct", id=held)
    attempt.tell(e="did", op="correct", id=held, text=text, successor=memory.correct(held, text=text).id)


def _forget(memory: Credenda, attempt: Attempt) -> None:
    attempt.tell(e="will", op="forget", id=attempt.template.memory)
    memory.forget(attempt.template.memory)
    attempt.tell(e="did", op="forget", id=attempt.template.memory)


def _restore(memory: Credenda, attempt: Attempt) -> None:
    attempt.tell(e="will", op="restore", id=attempt.template.forgotten)
    memory.restore(attempt.template.forgotten)
    attempt.tell(e="did", op="restore", id=attempt.template.forgotten)


def _pin(memory: Credenda, attempt: Attempt) -> None:
    memory.manage.pin(attempt.template.memory)


def _delete_memory(memory: Credenda, attempt: Attempt) -> None:
    attempt.tell(e="will", op="delete", id=attempt.template.memory)
    memory.delete(attempt.template.memory)
    attempt.tell(e="did", op="delete", id=attempt.template.memory)


def _delete_event(memory: Credenda, attempt: Attempt) -> None:
    attempt.tell(e="will", op="delete", id=attempt.template.event)
    memory.delete(attempt.template.event)
    attempt.tell(e="did", op="delete", id=attempt.template.event)


def _undo(memory: Credenda, attempt: Attempt) -> None:
    held = attempt.template.forgotten
    change = memory.manage.status_history(held)[-1].change_id
    attempt.tell(e="will", op="restore", id=held)
    memory.manage.undo(change)
    attempt.tell(e="did", op="restore", id=held)


def _consolidate(memory: Credenda, attempt: Attempt) -> None:
    del attempt
    memory.manage.consolidate(force=True)


def _erase_guest(memory: Credenda, attempt: Attempt) -> None:
    with memory.for_user("guest", workers=False) as guest:
        guest.remember("Remember that I love guest1z0.")
        guest.erase(confirm="guest")
    attempt.tell(e="did", op="erase", id="guest")


def _copy_to_backup(memory: Credenda, attempt: Attempt) -> None:
    memory.data.backup(attempt.folder / "backup.db")


def _export(memory: Credenda, attempt: Attempt) -> None:
    memory.data.export(attempt.folder / "export.jsonl.gz")


def _sync(memory: Credenda, attempt: Attempt) -> None:
    memory.data.sync_files(attempt.folder / "files")


def _rebuild(memory: Credenda, attempt: Attempt) -> None:
    del attempt
    memory.data.rebuild()


def _search(memory: Credenda, attempt: Attempt) -> None:
    del attempt
    memory.search("Which tea do I like?")


def _repair(memory: Credenda, attempt: Attempt) -> None:
    del attempt
    memory.data.doctor(repair=True)


WRITE_PATHS: Final[Mapping[str, Callable[[Credenda, Attempt], None]]] = {
    "remember": _remember,
    "remember several": _remember_several,
    "settle": _settle,
    "store": _store,
    "correct": _correct,
    "forget": _forget,
    "restore": _restore,
    "pin": _pin,
    "delete memory": _delete_memory,
    "delete event": _delete_event,
    "undo": _undo,
    "consolidate": _consolidate,
    "erase": _erase_guest,
    "backup": _copy_to_backup,
    "export": _export,
    "files sync": _sync,
    "rebuild": _rebuild,
    "search": _search,
    "doctor --repair": _repair,
}
