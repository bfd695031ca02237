"""Text on a terminal: widths, wrapping, and nothing that a stored text could make the terminal do."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from credenda.interfaces.cli.output import Screen, count_cells, escape_controls, format_day, truncate
from credenda.interfaces.cli.render import render
from credenda.interfaces.serialize import to_jsonable
from credenda.model.governance import LegalHold
from credenda.model.report import DecayReport, ScoreMove


def test_wide_letters_take_two_cells_and_marks_none() -> None:
    assert (count_cells("Linz"), count_cells("東京"), count_cells("e\u0301")) == (4, 4, 1)


@given(st.text(), st.integers(1, 40))
def test_a_clipped_text_fits(text: str, width: int) -> None:
    assert count_cells(truncate(text, width)) <= width


@given(st.text())
def test_a_cleaned_text_is_one_harmless_line(text: str) -> None:
    shown = escape_controls(text)
    assert len(shown.splitlines()) <= 1
    assert not any(letter in shown for letter in "\x1b\x07\r\u202e\u2066")


def test_what_is_short_is_not_clipped() -> None:
    assert (truncate("Linz", 4), truncate("Linz an der Donau", 6)) == ("Linz", "Linz…")


def test_a_table_is_aligned_and_cut_only_where_somebody_looks() -> None:
    rows = [("m1", "東京", "a" * 50), ("m22", "b", "c")]
    free = Screen().table(("ID", "X", "TEXT"), rows).splitlines()
    assert free[1] == f"m1   東京  {'a' * 50}"
    assert free[2] == "m22  b     c"
    assert all(count_cells(line) <= 20 for line in Screen(width=20).table(("ID", "X", "TEXT"), rows).splitlines())


def test_pairs_leave_out_what_is_empty() -> None:
    assert Screen().pairs([("a", "1"), ("long", ""), ("bc", "2")]) == "  a   1\n  bc  2"
    assert Screen().pairs([]) == ""


def test_a_report_is_shown_by_its_fields_and_its_lists_as_tables() -> None:
    report = DecayReport(
        examined=1_200,
        updated=0,
        profile="layered",
        dry_run=True,
        moves=(ScoreMove(memory_id="m1", before=None, after=0.5),),
    )
    assert render(Screen(), "decay", report).splitlines() == [
        "Nothing was changed: this is what would be done.",
        "  profile   layered",
        "  examined  1,200",
        "Moves",
        "MEMORY ID  AFTER",
        "m1         0.5",
    ]


def test_a_list_is_shown_as_a_table_without_empty_columns() -> None:
    holds = [LegalHold(reason="a claim\x1b", set_us=0)]
    assert render(Screen(), "holds", holds).splitlines() == [
        "SET                   REASON",
        "1970-01-01T00:00:00Z  a claim",
    ]
    assert render(Screen(), "holds", []) == "There are no legal holds, current or past."


def test_colour_only_where_it_is_wanted() -> None:
    assert Screen().bold("x") == "x"
    assert Screen(colour=True).bold("x") != "x"


def test_times_for_people() -> None:
    time = datetime(2026, 3, 1, 9, 30, 1, 5, tzinfo=UTC)
    assert (format_day(time), Screen().moment(time), format_day(None), Screen().moment(None)) == (
        "2026-03-01",
        "2026-03-01T09:30:01Z",
        "",
        "",
    )


def test_microseconds_have_their_public_names() -> None:
    shown = to_jsonable({"valid_until_us": 0, "expires_us": None, "n": 1, "flags": frozenset({"b", "a"})})
    assert shown == {"valid_until": "1970-01-01T00:00:00Z", "expires_at": None, "n": 1, "flags": ["a", "b"]}
