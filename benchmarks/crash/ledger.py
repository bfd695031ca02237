"""The acknowledgements that processes of the crash benchmark received: the reference for the check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

_OUTCOMES: Final = {
    "store": "active",
    "forget": "forgotten",
    "restore": "active",
    "correct": "superseded",
    "delete": "deleted",
}
"""The status of the memory after each call; `pin` does not change it."""


@dataclass(slots=True)
class Ledger:
    """All acknowledgements about one file, over all rounds and processes."""

    path: str
    user: str
    embedder: str
    said: dict[str, str] = field(default_factory=dict[str, str])
    """Event id → its text."""
    keys: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Idempotency key → the ids of its first receipt."""
    memories: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Memory id → its possible statuses: several if a call was interrupted."""
    texts: dict[str, str] = field(default_factory=dict[str, str])
    """Memory id → its text."""
    deleted: list[str] = field(default_factory=list[str])
    """Ids whose deletion was acknowledged."""
    doubtful: list[str] = field(default_factory=list[str])
    """Ids of events whose deletion was begun."""
    together: list[list[str]] = field(default_factory=list[list[str]])
    """Texts of one call: the journal has all of them or none."""
    guests: list[str] = field(default_factory=list[str])
    """Other users of the file whose erasure was acknowledged."""
    prefixes: list[str] = field(default_factory=list[str])
    """What the words of this user's texts begin with; empty if the file has one user."""
    acknowledged: int = 0

    def take(self, fact: Mapping[str, Any]) -> list[str]:
        """Record a fact; return a contradiction, such as a second receipt that differs from the first."""
        match fact["e"]:
            case "said":
                return self._said(fact)
            case "sends":
                self.together.append([str(text) for text in fact["texts"]])
            case "did" if fact["op"] == "erase":
                self.acknowledged += 1
                self.guests.append(str(fact["id"]))
            case "will":
                self._will(str(fact["id"]), str(fact["op"]))
            case "did":
                self._did(fact)
            case "wrong":
                return [str(fact["what"])]
            case _:
                pass
        return []

    def as_document(self) -> dict[str, Any]:
        """Return the acknowledgements as a JSON document."""
        return asdict(self)

    def _said(self, fact: Mapping[str, Any]) -> list[str]:
        ids = [str(one) for one in fact["ids"]]
        texts = [str(text) for text in fact["texts"]]
        self.acknowledged += len(ids)
        if len(ids) != len(texts):
            return [f"{len(texts)} messages were acknowledged as {len(ids)} events"]
        problems: list[str] = []
        for name, text in zip(ids, texts, strict=True):
            if self.said.setdefault(name, text) != text:
                problems.append(f"{name} was acknowledged for two different texts")
        if fact.get("key") is not None and self.keys.setdefault(str(fact["key"]), ids) != ids:
            problems.append(f"key {fact['key']} was acknowledged as {self.keys[str(fact['key'])]} and as {ids}")
        return problems

    def _will(self, name: str, op: str) -> None:
        if name in self.said:
            self.doubtful.append(name)
        elif op in _OUTCOMES:
            self.memories.setdefault(name, []).append(_OUTCOMES[op])

    def _did(self, fact: Mapping[str, Any]) -> None:
        name, op = str(fact["id"]), str(fact["op"])
        self.acknowledged += 1
        if op == "delete":
            self.deleted.append(name)
        if name in self.said:
            return
        if op == "store":
            self.texts[name] = str(fact["text"])
        if op in _OUTCOMES:
            self.memories[name] = [_OUTCOMES[op]]
        if op == "correct":
            successor = str(fact["successor"])
            self.texts[successor] = str(fact["text"])
            self.memories[successor] = ["active"]
