"""Assertions about beliefs in a file: against the memory, against its journal read again, and against data."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda, Invalid, NotFound
from credenda.interfaces.cli.junit import format_junit
from credenda.manage.belief_assertions import parse_assertions
from credenda.model.claim import Claim, Turn
from credenda.providers.tagger import TaggingReader
from credenda.testing import ManualClock
from credenda.write.facts.extractor import ReadingExtractor

Say = object


@pytest.fixture
def known(mem: Credenda, clock: ManualClock) -> Credenda:
    for sentence in ("I work at Acme.", "I like tea.", "I work at Microsoft now.", "I am allergic to penicillin."):
        mem.remember(sentence)
        mem.settle()
        clock.advance(timedelta(days=30))
    return mem


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "beliefs.test"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "assertion",
    [
        "expect: employer(user) == Microsoft",
        "expect: employer(user) == microsoft as of 2026-06-01",
        "expect: employer(user) == Acme as of 2026-03-15",
        "expect: employer(user) == Acme known at 2026-04-01",
        "expect: employer(user) == nothing as of 2026-01-01",
        "expect: employer(user) != Acme",
        "expect: employer(user) includes Microsoft",
        'expect: allergy(user) == "penicillin"',
        "expect: passport(user) == unknown",
        "settled: employer(user)",
        "never recalled: password",
        'recalled: penicillin for "What am I allergic to?"',
    ],
)
def test_what_holds_passes(known: Credenda, tmp_path: Path, assertion: str) -> None:
    report = known.inspect.test(write(tmp_path, f"# beliefs\n\n{assertion}  # why\n"))
    assert (report.ok, report.passed, report.failed) == (True, 1, 0)
    assert [(check.line, check.assertion) for check in report.checks] == [(3, assertion)]


@pytest.mark.parametrize(
    ("assertion", "sides"),
    [
        ("expect: employer(user) == Acme", ("Acme", "Microsoft [")),
        ("expect: employer(user) == nothing", ("(no value)", "Microsoft [")),
        ("expect: employer(user) != Microsoft", ("anything but Microsoft", "Microsoft [")),
        ("expect: city(user) == Linz", ("Linz", "(no value)")),
        ("contested: employer(user)", ("an open contest", "no open contest")),
        ("never recalled: penicillin", ("no text with “penicillin”", "[")),
        ("recalled: quinine", ("a text with “quinine”", "")),
        ('abstains: "What am I allergic to?"', ("no answer", "answered with probability")),
    ],
)
def test_what_does_not_hold_shows_both_sides(
    known: Credenda, tmp_path: Path, assertion: str, sides: tuple[str, str]
) -> None:
    expected, found = sides
    report = known.inspect.test(write(tmp_path, assertion))
    (check,) = report.checks
    assert (report.ok, check.passed, check.expected) == (False, False, (expected,))
    assert check.found[0].startswith(found)


def test_a_test_changes_nothing_and_records_no_recall(known: Credenda, tmp_path: Path) -> None:
    path = write(tmp_path, "never recalled: tea; expect: drink(user) includes tea\n")
    known.data.export(tmp_path / "before.jsonl")
    known.inspect.test(path)
    known.inspect.test(path, reextract=True)
    known.data.export(tmp_path / "after.jsonl")
    assert (tmp_path / "before.jsonl").read_bytes() == (tmp_path / "after.jsonl").read_bytes()


@pytest.mark.parametrize(
    "text",
    ["", "# only this\n", "expect employer", "expect: employer == x", "expect: employer(user) = x", "never: x"],
)
def test_a_file_that_cannot_be_meant_is_refused_with_its_line(mem: Credenda, tmp_path: Path, text: str) -> None:
    with pytest.raises(Invalid) as refused:
        mem.inspect.test(write(tmp_path, f"recalled: x\n{text}" if text.startswith(("e", "n")) else text))
    assert "line 2" in refused.value.what or "no assertion" in refused.value.what
    with pytest.raises(NotFound):
        mem.inspect.test(tmp_path / "none.test")
    (tmp_path / "wide").write_bytes("recalled: x".encode("utf-16"))
    with pytest.raises(Invalid, match="UTF-8"):
        mem.inspect.test(tmp_path / "wide")


def test_a_wrong_time_is_refused_before_anything_is_tested(mem: Credenda, tmp_path: Path) -> None:
    with pytest.raises(Invalid):
        mem.inspect.test(write(tmp_path, "expect: employer(user) == x as of someday"))


def test_quotes_hide_semicolons_and_hashes() -> None:
    found = parse_assertions('never recalled: "a; b # c"; recalled: tea for "what; is # it"', "x")
    assert [(one.kind, one.value, one.query) for one in found] == [
        ("never recalled", "a; b # c", ""),
        ("recalled", "tea", "what; is # it"),
    ]


class _Blind(ReadingExtractor):
    """A reader that reads no allergies."""

    def __init__(self) -> None:
        super().__init__(TaggingReader())

    def extract(self, turn: Turn) -> list[Claim]:
        return [claim for claim in super().extract(turn) if claim.attribute != "allergy"]


def test_the_journal_read_again_shows_the_belief_diff_of_an_upgrade(
    tmp_path: Path, path: Path, clock: ManualClock
) -> None:
    with Credenda.open(path, user="ana", clock=clock, workers=False, extractor=_Blind()) as mem:
        mem.remember("I am allergic to penicillin.")
        mem.settle()
    test = write(tmp_path, "expect: allergy(user) == penicillin\n")
    with Credenda.open(path, user="ana", clock=clock, workers=False) as mem:
        now, again = mem.inspect.test(test), mem.inspect.test(test, reextract=True)
        assert (now.ok, now.differences) == (False, ())
        assert (again.ok, again.tested) == (True, "reextracted")
        assert [one.after for one in again.differences] == ["I am allergic to penicillin."]
        assert not mem.list(attribute="allergy").items


def test_data_in_the_repository_is_tested_without_a_memory(mem: Credenda, tmp_path: Path) -> None:
    talk = tmp_path / "talk.json"
    said = {"role": "user", "content": "I live in Linz.", "timestamp": "2026-01-05T08:00:00Z"}
    talk.write_text(json.dumps([said, {"role": "x"}]), encoding="utf-8")
    mem.remember("I live in Graz.")
    mem.settle()
    report = mem.inspect.test(write(tmp_path, "expect: residence(user) == Linz"), data=talk)
    assert (report.ok, report.tested, len(report.problems)) == (True, "data", 1)
    assert [memory.value for memory in mem.list(attribute="residence").items] == ["Graz"]
    with pytest.raises(Invalid, match="exclude"):
        mem.inspect.test(write(tmp_path, "recalled: x"), data=talk, reextract=True)


def test_junit_has_a_case_an_assertion_and_survives_control_characters(known: Credenda, tmp_path: Path) -> None:
    report = known.inspect.test(write(tmp_path, 'never recalled: penicillin; never recalled: "a <\x01&>"'))
    text = format_junit(report).decode()
    assert 'tests="2" failures="1"' in text
    assert "&lt;\ufffd&amp;&gt;" in text
    assert text.count("<testcase") == 2
