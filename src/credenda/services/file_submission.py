"""The submission of a new statement in a synchronised folder, and the part of its results that its page shows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from credenda import limits
from credenda.errors import Invalid, LimitExceeded
from credenda.model.event import DENIED, QUARANTINED, Receipt, Source
from credenda.portability.files.types import Added, Tier
from credenda.portability.importers.format import make_stable_key
from credenda.portability.importers.mcp_memory import word_observation
from credenda.runtime import Parts
from credenda.text.normalize import normalise_name, normalise_text
from credenda.write.intake.validate import Submission, accept

__all__ = ["is_kept", "list_results", "make_submission", "may_replace"]

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


def may_replace(parts: Parts, text: str) -> bool:
    """Return whether a text can replace a memory: not too long, no prompt injection, and not private as a whole."""
    try:
        event = accept(
            Submission(content=text, user_id=parts.user_id, source=Source.FILE.value),
            policy=parts.settings.secrets_policy,
            zone=parts.settings.zone,
            now_us=parts.clock.now_us(),
        ).get_event()
    except (Invalid, LimitExceeded):
        return False
    return len(text) <= limits.MEMORY_TEXT_CHARACTERS and not {DENIED, QUARANTINED} & set(event.flags)


def is_kept(news: Added, receipt: Receipt, texts: Sequence[str]) -> bool:
    """Return whether a line stays in its page as it is: it is a message of a day, or its memories say less than it."""
    shown = normalise_text(" ".join(texts))
    stays = news.tier is Tier.ARCHIVE or not shown.endswith(normalise_text(news.text))
    return stays and news.line and not receipt.refused


def list_results(news: Added, receipt: Receipt, memory_ids: Sequence[str], standing: Collection[str]) -> list[str]:
    """Return the new ids of a statement that have no place yet: events in the archive, memories on a page."""
    if news.tier is Tier.ARCHIVE:
        return list(receipt.event_ids) if news.name else []
    made = dict.fromkeys(one for one in memory_ids if one not in standing)
    return list(made) if news.tier is Tier.PAGES else []
