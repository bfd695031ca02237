"""Beliefs from real conversations with any reader as the model: `credenda bench live`.

Each question to the model is a file, and so is each answer. A person or a program reads the questions and writes the
answers; a run without all the answers says how many questions wait, and the next run goes on with the answers that are
there. The same conversations and answers give the same questions, so nothing else is kept between runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from benchmarks.locomo import Conversation
from benchmarks.talk import Note, count_memories, load_pairs, make_document, open_store
from benchmarks.talk_figures import Tally
from credenda import Credenda, limits
from credenda.providers.llm.client import estimate_question_tokens, estimate_text_tokens
from credenda.providers.llm.command import find_object, write_prompt
from credenda.providers.llm.protocol import ModelFailure, Question, Reply, Trouble

_MODEL: Final = "live:reader"
_SETTLE_SECONDS: Final = 3_600
_NAME_BYTES: Final = 6


class FileModel:
    """A model whose questions and answers are files `questions/NAME.md` and `answers/NAME.json` of a folder.

    A question has the text that a program of `command:PROGRAM` gets. Tokens are estimates.
    """

    def __init__(self, folder: Path) -> None:
        """Make the folder; questions of earlier runs that nobody has answered are deleted."""
        self._questions, self._answers = folder / "questions", folder / "answers"
        for part in (self._questions, self._answers):
            part.mkdir(parents=True, exist_ok=True)
        for path in self._questions.glob("*.md"):
            if not self._find_answer(path.stem).is_file():
                path.unlink()
        self.waiting: list[Path] = []
        """The questions without an answer."""
        self.tokens = 0
        self.messages = 0

    @property
    def model_id(self) -> str:
        """Return "live:reader"."""
        return _MODEL

    @property
    def at_once(self) -> int:
        """One question at a time, so that each depends on all answers before it."""
        return 1

    def ask(self, question: Question) -> Reply:
        """Return the answer of the question's file; raises `ModelFailure` while there is none."""
        text = write_prompt(question)
        name = hashlib.blake2b(text.encode(), digest_size=_NAME_BYTES).hexdigest()
        path, answer = self._questions / f"{name}.md", self._find_answer(name)
        path.write_text(text, "utf-8")
        found = None
        with suppress(OSError):
            found = find_object(answer.read_text("utf-8"))
        if found is None:
            self.waiting.append(path)
            raise ModelFailure(Trouble.AWAY, "the question has no answer with a JSON document yet")
        tokens_in, tokens_out = estimate_question_tokens(question), estimate_text_tokens(found)
        self.tokens += tokens_in + tokens_out
        return Reply(text=found, tokens_in=tokens_in, tokens_out=tokens_out)

    def close(self) -> None:
        """Do nothing."""

    def _find_answer(self, name: str) -> Path:
        return self._answers / f"{name}.json"


def run_live(
    data: Path, gold: Path, folder: Path, *, names: Sequence[str] = (), embedder: str = "none", note: Note
) -> dict[str, object]:
    """Store the conversations that have gold, and count those of which every question is answered.

    Returns the document of `bench talk --json`, with the paths of the `waiting` questions, at most one a conversation,
    and the estimated `tokens_a_turn`. Raises `Invalid` if no conversation has gold.
    """
    pairs = load_pairs(data, gold, names)
    tallies: dict[str, Tally] = {}
    model = FileModel(folder)
    for conversation, wanted in pairs:
        with open_store(conversation, embedder, model) as memory:
            answered = _store_until_unanswered(memory, conversation, model)
            note(f"{conversation.name}: {answered} of {len(conversation.sessions)} sessions answered")
            if answered == len(conversation.sessions):
                tallies[conversation.name] = count_memories(memory, conversation, wanted)
    document = make_document(pairs, tallies, embedder=embedder, llm=_MODEL)
    tokens = model.tokens / model.messages if model.messages else 0.0
    return {**document, "waiting": list(map(str, model.waiting)), "tokens_a_turn": tokens}


def _store_until_unanswered(memory: Credenda, conversation: Conversation, model: FileModel) -> int:
    """Store sessions one after the other until a question has no answer; return how many are answered."""
    before = len(model.waiting)
    for at, (session, messages) in enumerate(conversation.sessions):
        for first in range(0, len(messages), limits.MESSAGES_PER_CALL):
            memory.remember(messages[first : first + limits.MESSAGES_PER_CALL], session=session)
        memory.settle(_SETTLE_SECONDS)
        if len(model.waiting) > before:
            return at
    use = memory.stats().model
    model.messages += 0 if use is None else use.messages
    return len(conversation.sessions)
