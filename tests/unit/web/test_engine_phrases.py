"""Sentences of the engine in German: each reason in the code has one, and words of a person stay as they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from credenda.interfaces.web.languages import load_phrases, translate_phrase
from credenda.model.change import ChangeKind

SOURCE = Path(str(files("credenda")))
PACKAGES = ("agents", "manage", "services", "write")
NOT_SHOWN = {"X: X", "no line says so", "the model compared them"}
"""Reasons that no page shows, and one whose parts are translated apart."""


def list_reasons() -> Iterator[tuple[str, str]]:
    """Yield each text that is given as the `reason` of a change or report, with X for what varies."""
    for package in PACKAGES:
        for path in sorted((SOURCE / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                given = (
                    [one.value for one in node.keywords if one.arg == "reason"] if isinstance(node, ast.Call) else []
                )
                if isinstance(node, ast.Assign) and any(_is_reason(one) for one in node.targets):
                    given = [node.value]
                if isinstance(node, ast.AnnAssign) and _is_reason(node.target) and node.value is not None:
                    given = [node.value]
                for one in given:
                    yield from ((text, path.name) for text in write_out(one))


def _is_reason(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id.strip("_").casefold() == "reason"


def write_out(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return [*write_out(node.body), *write_out(node.orelse)]
    if isinstance(node, ast.JoinedStr):
        return ["".join(_write_part(one) for one in node.values)]
    return []


def _write_part(part: ast.expr) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    if isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.IfExp):
        return write_out(part.value)[0]
    is_quoted = isinstance(part, ast.FormattedValue) and "quote" in ast.unparse(part.value).partition("(")[0]
    return "“X”" if is_quoted else "X"


def test_every_reason_that_the_engine_writes_is_translated() -> None:
    found = {text: place for text, place in list_reasons() if " " in text and text not in NOT_SHOWN}
    assert len(found) > 50
    left = {text: place for text, place in found.items() if translate_phrase("de", text) == text}
    assert left == {}


def test_the_kind_of_an_undone_change_is_translated() -> None:
    for kind in set(ChangeKind) - {ChangeKind.DELETE, ChangeKind.REBUILD}:
        word = kind.value.replace("_", " ")
        assert word not in translate_phrase("de", f"undone by the user: {word}").partition(": ")[2]


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("“teal” replaces “amber”, which was true until then", "„teal“ ersetzt „amber“, was bis dahin stimmte"),
        ("“not tea” corrects “tea”, which was wrong", "„nicht tea“ berichtigt „tea“, was falsch war"),
        ("contradicts “tea”, but its source is less trusted", "widerspricht „tea“, aber die Quelle ist weniger"),
        ("recalled on 1 day in 2 sessions", "abgerufen an 1 Tag in 2 Sitzungen"),
    ],
)
def test_values_stay_and_nested_sentences_are_translated(english: str, german: str) -> None:
    assert translate_phrase("de", english).startswith(german)


@pytest.mark.parametrize("text", ["", "because I say so", "I left “first statement” there", "x" * 5_000, "“" * 999])
def test_what_the_engine_did_not_write_stays_as_it_is(text: str) -> None:
    assert translate_phrase("de", text) == text


def test_english_is_said_otherwise_only_where_it_has_keys_or_commands() -> None:
    assert translate_phrase("en", "first statement") == "first statement"
    assert translate_phrase("en", "undone by the user: supersede") == "undone by the user: that it was replaced"
    for english, shown in load_phrases("en").items():
        assert not re.search(r"[`_]|: [a-z]+$", shown), english


def test_an_undone_change_is_told_in_words_in_english() -> None:
    for kind in set(ChangeKind) - {ChangeKind.DELETE, ChangeKind.REBUILD}:
        reason = f"undone by the user: {kind.value.replace('_', ' ')}"
        assert translate_phrase("en", reason) != reason


def test_a_translation_has_the_places_of_its_sentence() -> None:
    for english, german in load_phrases("de").items():
        assert set(_list_places(english)) == set(_list_places(german)), english


def _list_places(text: str) -> list[str]:
    return [one.partition("}")[0] for one in text.split("{")[1:]]
