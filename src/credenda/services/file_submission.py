"""The submission of a new statement in a synchronised folder."""

from __future__ import annotations

from typing import Final

from credenda import limits
from credenda.model.event import Source
from credenda.portability.files.three_way_diff import Added
from credenda.portability.files.types import Tier
from credenda.portability.importers.format import make_stable_key
from credenda.portability.importers.mcp_memory import word_observation
from credenda.text.normalize import normalise_name
from credenda.write.intake.validate import Submission

__all__ = ["make_submission"]

_OWN_WORDS: Final = ("i ", "i'", "i’", "my ", "we ", "our ", "me ")


def make_submission(news: Added, user_id: str, number: int, *, by_agent: bool = False) -> Submission:
    """Build the submission of a statement, with an idempotency key for this round."""
    about = news.about if normalise_name(news.about) not in ("", "user", "notes") else ""
    own = news.text.casefold().startswith(_OWN_WORDS)
    text = word_observation(about, news.text) if about and not own and news.tier is Tier.PAGES else news.text
    short = len(text) <= limits.MEMORY_TEXT_CHARACTERS
    place = news.name or f"{news.spot.path}:{news.spot.block}"
    return Submission(
        content=text,
        user_id=user_id,
        source=(Source.AI if by_agent else Source.FILE).value,
        metadata={"file": news.spot.path},
        occurred_at=news.said or None,
        memory_type="fact" if short and news.tier is not Tier.ARCHIVE else None,
        idempotency_key=make_stable_key("file", str(number), place, text, *filter(None, [news.said])),
    )
