"""Which model is meant, and which cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from credenda import Credenda, Invalid


@pytest.mark.parametrize(
    ("llm", "settings", "why"),
    [
        ("gpt-5", {}, "no language model called"),
        ("mistral:x", {}, "no language model called"),
        ("openai:", {}, "no language model called"),
        ("openai:x", {}, "needs a key"),
        ("openai:x", {"llm_url": "ftp://x"}, "llm_url is not an address"),
        ("openai:x", {"llm_url": "http://example.org/v1"}, "unencrypted"),
        ("openai:x", {"llm_url": "https://me:pw@example.org"}, "more than an address"),
        (object(), {}, "cannot be used"),
        (3, {}, "cannot be used"),
        (None, {"llm_price": "cheap"}, ""),
        ("openai:x", {"llm_price": "cheap", "llm_key": "k"}, "llm_price"),
        (None, {"llm_calls": 0}, "llm_calls"),
        (None, {"llm": "openai:x"}, "needs a key"),
    ],
)
def test_a_model_that_cannot_be_meant_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch, *, llm: object, settings: dict[str, object], why: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    if not why:
        Credenda.open(path, user="ana", llm=llm, settings=settings, workers=False).close()
        return
    with pytest.raises(Invalid, match=why) as caught:
        Credenda.open(path, user="ana", llm=llm, settings=settings, workers=False)
    assert "\n" not in str(caught.value)
    assert not path.exists()


def test_none_by_name_overrules_the_setting(path: Path) -> None:
    with Credenda.open(path, user="ana", llm="none", settings={"llm": "openai:x"}, workers=False) as mem:
        assert mem.stats().model is None
