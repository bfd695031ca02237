"""The command line names who said a thing: what a model stored by its tool is not shown as the user's words."""

from __future__ import annotations

from pathlib import Path

from credenda import Credenda

from .terminal import Terminal


def test_what_a_model_stored_is_not_shown_as_what_you_said(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    with Credenda.open(terminal.db, user="ana", workers=False, embedder=None) as memory:
        memory.remember("My cat is called Miso.", source="ai")
        memory.remember("I live in Wels.", source="ai", agent="robin")
        memory.remember("My boat is called Ilse.")
        memory.settle()
        ids = {word: one.id for one in memory.list().items for word in ("Miso", "Wels", "Ilse") if word in one.text}
    told = {word: terminal.text("why", name) for word, name in ids.items()}
    assert "assistant: “My cat is called Miso." in told["Miso"]
    assert "robin: “I live in Wels." in told["Wels"]
    assert "you: “My boat is called Ilse." in told["Ilse"]
