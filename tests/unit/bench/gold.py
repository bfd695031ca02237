"""Claims of a careful reader about a user who moves, as a file of gold has them."""

from __future__ import annotations

from typing import Final

CLAIM: Final[dict[str, object]] = {
    "turn": "1",
    "by": "user",
    "subject": "user",
    "attribute": "residence",
    "value": "Graz",
    "statement": "The user lives in Graz.",
    "type": "fact",
    "stance": "asserted",
    "weight": 2,
    "clause": "I live in Graz",
}
MOVE: Final[dict[str, object]] = CLAIM | {
    "turn": "2",
    "value": "Linz",
    "statement": "The user lives in Linz.",
    "clause": "I moved to Linz.",
    "replaces": [{"turn": "1", "attribute": "residence", "value": "Graz"}],
    "relation": "changed",
}
