"""One tenant's search index in memory: words, sign bits and session order of every document, by row.

Exact per-tenant statistics at about 150 bytes a document. It nominates and scores by words; truth stays in the store,
from which it can be rebuilt at any time. An index that others may be searching is never altered: `fork` it, `fold`
into the fork, and hand that out. Versions share almost all their memory.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from credenda.storage.store import Delta, Document, DocumentState, Heads, Vector, pack_code
from credenda.text.tokens import tokenize
from credenda.vectors.columns import Column, Names
from credenda.vectors.hamming import distances, lowest
from credenda.vectors.postings import Postings, Statistics, term_weights
from credenda.vectors.quantize import decode, sign_words
from credenda.vectors.turns import Turns

__all__ = ["STATE_CURRENT", "STATE_GONE", "STATE_HIDDEN", "STATE_PAST", "ResidentIndex"]

STATE_CURRENT: Final = 0
STATE_PAST: Final = 1
STATE_HIDDEN: Final = 2
STATE_GONE: Final = 3
_STATES: Final = {
    DocumentState.CURRENT: STATE_CURRENT,
    DocumentState.PAST: STATE_PAST,
    DocumentState.HIDDEN: STATE_HIDDEN,
    DocumentState.GONE: STATE_GONE,
}
_FIRST_MEMORY: Final = pack_code(0, memory=True)
_LENGTH_MAX: Final = 65_535


class ResidentIndex:
    """Documents of one tenant by row. A row keeps its number for good; arrays have `len(index)` entries.

    Do not write into the arrays. A search may hold on to an index as long as it likes, without a lock.
    """

    def __init__(self, *, model_id: str | None = None) -> None:
        self.model_id = model_id
        self.heads = Heads()
        self.folded = 0
        """Documents, states and vectors taken in since the index began: how far it has moved."""
        self._rows = 0
        self._codes = Column(np.zeros(0, np.int64))
        self._state = Column(np.zeros(0, np.uint8))
        self._session = Column(np.zeros(0, np.int32))
        self._speaker = Column(np.zeros(0, np.int32))
        self._occurred_us = Column(np.zeros(0, np.int64))
        self._length = Column(np.zeros(0, np.uint16))
        self._has_vector = Column(np.zeros(0, np.bool_))
        self._bits = Column(np.zeros((0, 0), np.uint64))
        self._dims = 0
        self._by_code = np.zeros(0, np.int32)
        self._sessions = Names()
        self._speakers = Names()
        self._postings = Postings.empty()
        self._waiting: dict[int, Vector] = {}
        self._refresh()

    def __len__(self) -> int:
        """Return the number of rows, GONE ones included."""
        return self._rows

    @property
    def dims(self) -> int:
        """Dimensions of the vectors; 0 before the first one."""
        return self._dims

    @property
    def codes(self) -> NDArray[np.int64]:
        """Packed code of each row (`storage.store.pack_code`)."""
        return self._codes.view(self._rows)

    @property
    def state(self) -> NDArray[np.uint8]:
        """STATE_CURRENT, STATE_PAST, STATE_HIDDEN or STATE_GONE; GONE rows match nothing, the rest is up to you."""
        return self._state.view(self._rows)

    @property
    def is_memory(self) -> NDArray[np.bool_]:
        """Whether the row is a memory; otherwise it is a passage of an event. Computed at each look."""
        return self.codes >= _FIRST_MEMORY

    @property
    def session(self) -> NDArray[np.int32]:
        """Index into `session_names`; -1 for memories and for events outside any session."""
        return self._session.view(self._rows)

    @property
    def session_names(self) -> tuple[str, ...]:
        """Names of the sessions."""
        return self._sessions.names

    @property
    def speaker(self) -> NDArray[np.int32]:
        """Index into `speaker_names`."""
        return self._speaker.view(self._rows)

    @property
    def speaker_names(self) -> tuple[str, ...]:
        """Names of the speakers."""
        return self._speakers.names

    @property
    def occurred_us(self) -> NDArray[np.int64]:
        """When it was said, or since when the memory is valid."""
        return self._occurred_us.view(self._rows)

    @property
    def length(self) -> NDArray[np.uint16]:
        """Terms of the row's text, stop words out, at most 65,535; 0 for GONE rows."""
        return self._length.view(self._rows)

    @property
    def has_vector(self) -> NDArray[np.bool_]:
        """Whether a vector of this model was taken in; False for GONE rows."""
        return self._has_vector.view(self._rows)

    @property
    def nbytes(self) -> int:
        """Bytes held, slack of growing arrays included; what versions share is counted in each."""
        parts = (*self._columns(), self._by_code, self._sessions, self._speakers, self._postings, self._turns)
        return sum(part.nbytes for part in parts)

    def _columns(self) -> tuple[Column[np.int64] | Column[np.uint8], ...]:
        raise NotImplementedError

    # ---- to be continued
