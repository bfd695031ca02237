"""The chain of the journal covers an event in one fixed form, whatever its words."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from credenda.storage.rows import to_canonical_json
from credenda.storage.sql.writer import compute_chain_link

_FIELDS = ("id", "role", "speaker", "source", "session", "agent", "occurred_us", "recorded_us")
_WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(st.tuples(_WORDS, _WORDS, _WORDS), st.integers(min_value=1), st.integers())
def test_a_link_covers_the_canonical_json_of_its_event(names: tuple[str, str, str], number: int, moment: int) -> None:
    speaker, session, agent = names
    event: dict[str, object] = {
        "id": number,
        "role": "person",
        "speaker": speaker,
        "source": "human",
        "session": session,
        "agent": agent,
        "occurred_us": moment,
        "recorded_us": moment + 1,
        "content_hmac": b"h" * 16,
    }
    body = to_canonical_json([event[name] for name in _FIELDS]).encode()
    wanted = hashlib.blake2b(b"p" * 32 + b"h" * 16 + body, digest_size=32).digest()
    assert compute_chain_link(b"p" * 32, event) == wanted
