"""Every listed kind of secret is masked, and none of the listed look-alikes is."""

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from credenda.errors import Invalid
from credenda.write.intake.secrets import (
    LONG_WORD,
    NUMBER_DIGITS,
    SECRET_WORDS,
    check_identifier,
    find_secrets,
    screen_secrets,
)
from credenda.write.intake.validate import is_surely_clean

DATA = Path(__file__).parents[2] / "data" / "secrets"


def _lines(name: str) -> Iterator[str]:
    for line in (DATA / name).read_text("utf-8").splitlines():
        if not line.startswith("#"):
            yield line.replace("\\n", "\n")


def _kinds() -> Iterator[tuple[str, str]]:
    """Yield the text with the secret between « and », and the kind."""
    for line in _lines("kinds.tsv"):
        kind, _, text = line.partition("\t")
        yield text.replace("·", ""), kind


KINDS = list(_kinds())
LOOKALIKES = list(_lines("lookalikes.txt"))


def test_the_lists_are_long_enough() -> None:
    assert len({kind for _, kind in KINDS}) >= 72
    assert len(set(LOOKALIKES)) >= 150


@pytest.mark.parametrize(("marked", "kind"), KINDS, ids=[kind for _, kind in KINDS])
def test_nothing_of_a_listed_secret_is_left(marked: str, kind: str) -> None:
    secret = marked[marked.index("«") + 1 : marked.index("»")]
    text = marked.replace("«", "").replace("»", "")
    screened = screen_secrets(text, "mask")
    assert screened.masked, kind
    assert not [piece for piece in secret.replace(",", " ").split() if len(piece) > 2 and piece in screened.text]
    assert screen_secrets(screened.text, "mask").text == screened.text
    assert not is_surely_clean(text)
    assert screen_secrets(text, "keep").text == text
    with pytest.raises(Invalid) as caught:
        screen_secrets(text, "reject")
    assert secret not in str(caught.value)


@pytest.mark.parametrize("text", LOOKALIKES)
def test_a_look_alike_passes(text: str) -> None:
    assert find_secrets(text) == []


def test_no_detector_needs_less_than_the_first_look_at_a_text_finds() -> None:
    source = (files("credenda.write") / "data" / "secrets.toml").read_text("utf-8")
    for row in tomllib.loads(source)["secret"]:
        words = row.get("hint", [])
        hinted = bool(words) and all(any(known in word for known in SECRET_WORDS) for word in words)
        counted = max(row.get("digits", 0), row.get("run", 0)) >= NUMBER_DIGITS
        assert hinted or counted or row.get("long", 0) >= LONG_WORD, row["pattern"]


@pytest.mark.parametrize("name", ["4111111111111111", "2026-03-01", "550e8400-e29b-41d4-a716-446655440000", "ana"])
def test_a_number_or_name_is_an_identifier(name: str) -> None:
    assert check_identifier(name, "session", "mask") == name


def test_an_identifier_with_a_secret_is_refused_unless_secrets_are_kept() -> None:
    for policy in ("mask", "reject"):
        with pytest.raises(Invalid, match="the session contains a secret") as caught:
            check_identifier("token=abcd1234efgh", "session", policy)
        assert "abcd1234" not in str(caught.value)
    assert check_identifier("token=abcd1234efgh", "session", "keep") == "token=abcd1234efgh"
