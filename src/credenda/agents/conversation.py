"""What one conversation has said and was shown: `Conversation`, and `Conversations` of a program with several."""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Final

from credenda.agents.denial import challenge_denied
from credenda.agents.messages import UserMessage
from credenda.agents.recall import Recalled, cut_deleted, find_core, find_for_prompt
from credenda.errors import CredendaError
from credenda.ids import draw_request_id
from credenda.text.recalled_block import cut_recalled, extract_spoken

if TYPE_CHECKING:
    from credenda.client import Credenda

_log: Final = logging.getLogger(__name__)
_CONVERSATIONS: Final = 256


class Conversation:
    """The texts of one session: the text added to each message stays the same, so that a provider can cache it.

    A failure of the memory is logged, and gives no text. It may be used by several threads.
    """

    def __init__(self, memory: Credenda, *, session: str, project: str | None = None, agent: str | None = None) -> None:
        self._memory = memory
        self._session = session
        self._project = project
        self._agent = agent
        self._core: Recalled | None = None
        self._shown: dict[str, Recalled] = {}
        self._tells_core = True
        self.turns_told = 0
        """Turns that began since the core was told, that one included."""
        self._last: tuple[str, ...] = ()
        self._answered = ""
        self._lock = Lock()

    def recall(self, said: Sequence[UserMessage]) -> tuple[str, dict[int, str]]:
        """Store the messages of a call that have no answer yet; return the core, and the text for each by its place.

        What an earlier message of the call was given is not told again, and nothing that was deleted since.
        """
        with self._lock:
            names = [f"{_hash_text(one.text)}-{one.repeats}" for one in said]
            try:
                self._withdraw()
                failed = None
                for one, name in zip(said, names, strict=True):
                    if not one.answered or one is said[-1]:
                        try:
                            self._take(one.text, name, names)
                        except CredendaError as error:  # the others are stored all the same
                            failed = error
                if failed is not None:
                    raise failed
                core = self._load_core().text
            except CredendaError as error:
                _log.warning("the memory failed before a call: %s", error.code)
                return (self._core or Recalled()).text, {}
            texts = {one.place: self._shown.get(name, Recalled()).text for one, name in zip(said, names, strict=True)}
            return core, {place: text for place, text in texts.items() if text}

    def begin_turn(self, text: str, *, turn: str | None = None) -> str:
        """Store what the user says now, and return what is told with it: the core at first, and what is recalled.

        `turn` identifies the message, so that repeating it is harmless; without it each call is another message.
        """
        with self._lock:
            words = extract_spoken(text)
            name = _hash_text(turn or draw_request_id())
            try:
                core = self._load_core().text if self._tells_core else ""
                self._take(words, name, list(self._shown))
            except CredendaError as error:
                _log.warning("the memory failed before a call: %s", error.code)
                return ""
            self.turns_told = 1 if self._tells_core else self.turns_told + 1
            self._tells_core = False
            return "\n\n".join(filter(None, (core, self._shown[name].text)))

    def cut_deleted(self, text: str) -> str:
        """Return a text of the history without what was told in it and deleted since; all of it if the memory fails."""
        try:
            return cut_deleted(self._memory, text)
        except CredendaError as error:
            _log.warning("the memory failed before a call: %s", error.code)
            return cut_recalled(text)

    def forget_shown(self) -> None:
        """Take what was told as gone, as after a compaction: it may be told again."""
        with self._lock:
            self._shown.clear()
            self._core = None
            self._tells_core = True

    def keep_reply(self, text: str) -> None:
        """Store the words of the answer, as the assistant's; the same answer to the same words once."""
        words = extract_spoken(text)
        if not words:
            return
        try:
            with self._lock:
                self._remember("assistant", words, "ai", f"{self._answered}-reply-{_hash_text(words)}")
        except CredendaError as error:
            _log.warning("the memory failed after a call: %s", error.code)

    def _withdraw(self) -> None:
        """Take back what was told and was deleted since."""
        for name, told in self._shown.items():
            self._shown[name] = replace(told, text=cut_deleted(self._memory, told.text))
        if self._core is not None:
            self._core = replace(self._core, text=cut_deleted(self._memory, self._core.text))

    def _load_core(self) -> Recalled:
        if self._core is None:
            self._core = find_core(self._memory, project=self._project)
        return self._core

    def _take(self, words: str, name: str, visible: Sequence[str]) -> None:
        """Store the latest words of the user, and recall for them; a repeated call does neither again."""
        if name in self._shown:
            return
        self._answered = name
        self._shown[name] = Recalled()
        if not words:
            return
        try:
            self._remember("user", words, "human", name)
        except CredendaError:
            del self._shown[name]  # the next call stores them
            raise
        challenge_denied(self._memory, words, self._last)
        earlier = [self._core or Recalled(), *(self._shown[one] for one in visible if one in self._shown)]
        seen = frozenset(name for one in earlier for name in (*one.ids, *one.sources))
        found = find_for_prompt(self._memory, words, project=self._project, session=self._session, seen=seen)
        self._shown[name] = found
        self._last = found.ids

    def _remember(self, role: str, words: str, source: str, name: str) -> None:
        self._memory.remember(
            [{"role": role, "content": words}],
            session=self._session,
            agent=self._agent,
            source=source,
            metadata={"project": self._project} if self._project else None,
            idempotency_key=f"agent-{_hash_text(self._session)}-{name}",
        )


class Conversations:
    """The conversations of a program by their session; those not used for longest are dropped, and begin anew."""

    def __init__(
        self, memory: Credenda, *, session: str | None = None, project: str | None = None, agent: str | None = None
    ) -> None:
        """Bind an open memory; `session` is that of a call that names none, by default one of its own."""
        self._memory = memory
        self._session = session or f"chat-{draw_request_id()}"
        self._project = project
        self._agent = agent
        self._held: OrderedDict[str, Conversation] = OrderedDict()
        self._lock = Lock()

    def get(self, session: str | None = None) -> Conversation:
        """Return the conversation of a session."""
        name = session or self._session
        with self._lock:
            if name not in self._held:
                self._held[name] = Conversation(self._memory, session=name, project=self._project, agent=self._agent)
            self._held.move_to_end(name)
            while len(self._held) > _CONVERSATIONS:
                self._held.popitem(last=False)
            return self._held[name]


def _hash_text(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
