"""The benchmark of changed values: what it asks, and that it counts."""

from __future__ import annotations

import json

from click.testing import CliRunner

from benchmarks.__main__ import benchmarks
from benchmarks.newest import make_facts


def test_every_second_fact_changes_and_names_are_told_once_for_each_frame() -> None:
    facts = make_facts(20, seed=3)
    assert [bool(fact.new) for fact in facts] == [False, True] * 10
    assert all(fact.new != fact.old for fact in facts)
    assert len({(fact.who, fact.frame.asked) for fact in facts}) == 20


def test_the_newest_of_two_plain_values_comes_first() -> None:
    done = CliRunner().invoke(benchmarks, ["newest", "--n", "40", "--json"])
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)["sizes"]
    assert (row["facts"], row["changed"]) == (40, 20)
    assert row["newest_first"] >= 19
    assert "newest first" in CliRunner().invoke(benchmarks, ["newest", "--n", "10"]).output
