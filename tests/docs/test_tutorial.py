"""The tutorial is run, line by line, and shows the real output."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import date
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

import docs_tutorial

PAGE = docs_tutorial.PAGE.read_text(encoding="utf-8")


def list_modules_of_extras() -> list[str]:
    """List the packages that only an extra installs."""
    given = (one for one in requires("credenda") or () if "extra ==" in one and "'dev'" not in one.replace('"', "'"))
    wanted = {re.split(r"[^\w-]", one, maxsplit=1)[0].lower() for one in given} - {"credenda"}
    return [name for name, found in packages_distributions().items() if {one.lower() for one in found} & wanted]


@pytest.fixture(scope="module", params=["base", "all"])
def fresh(request: pytest.FixtureRequest) -> Iterator[str]:
    """The page as an install without extras runs it, and as one with all of them does."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list_modules_of_extras() if request.param == "base" else ():
            patch.setitem(sys.modules, name, None)
        yield docs_tutorial.render(PAGE)


def outputs(page: str, command: str) -> Iterator[str]:
    """Yield what each run of a command printed."""
    for block in docs_tutorial.BLOCK.finditer(page):
        for run in block["body"].split(docs_tutorial.PROMPT):
            line, _, output = run.partition("\n")
            if line.startswith(f"credenda {command}"):
                yield output


def test_every_output_of_the_tutorial_is_the_real_one(fresh: str) -> None:
    assert docs_tutorial.compare(PAGE, fresh) == [], "run scripts/docs_tutorial.py"


def test_the_tutorial_goes_from_the_install_to_a_resolved_contest(fresh: str) -> None:
    assert f"```sh\n{docs_tutorial.INSTALL}\n```" in fresh
    before, after = outputs(fresh, "contests"), outputs(fresh, "resolve")
    assert "open" in next(before)
    assert re.search(r"resolved\n.*\n  afternoon meetings +default\n  morning meetings +consulting", next(after))


def test_each_step_of_the_tutorial_does_as_its_text_says(fresh: str) -> None:
    searches = [output.splitlines()[0] for output in outputs(fresh, "search")]
    works = ["employer: Google, told", "employer: Microsoft, told", "employer: Google, told"]
    assert [work in line for line, work in zip(searches[:1] + searches[2:4], works, strict=True)] == [True] * 3
    unknown = list(outputs(fresh, "search"))[1].splitlines()
    assert unknown[0] == "Nothing relevant is known."
    assert unknown[-1].startswith("0 hits")
    assert "cashews" in next(outputs(fresh, "list --attribute allergy"))
    assert "peanuts" not in next(outputs(fresh, "list --attribute allergy"))
    assert "refused" in list(outputs(fresh, "remember"))[4]
    assert "Microsoft" in list(outputs(fresh, "search"))[-1]


def test_a_wrong_output_is_found() -> None:
    wrong = PAGE.replace("employer: now Microsoft", "employer: now Amazon")
    different = docs_tutorial.compare(wrong, PAGE)
    assert len(different) == 1
    assert "Amazon" in different[0][0]


def test_ids_times_and_scores_of_another_run_are_no_difference() -> None:
    other = re.sub(r"-[0-9a-f]{6}\b", "-abcdef", PAGE)
    other = re.sub(r"\d+\.\d ms", "999.9 ms", other.replace(" 1.00 ", " 0.98 "))
    day = docs_tutorial.RUN_ON.search(PAGE)
    assert day
    other = re.sub(rf"{day[1]}T[\d:]+Z", "2027-04-01T10:11:12Z", other).replace(day[1], "2027-04-01")
    ran = date.fromisoformat(day[1])
    other = other.replace(f"{ran.day} {ran:%b %Y}", "1 Apr 2027")
    assert other != PAGE
    assert docs_tutorial.compare(other, PAGE) == []


@pytest.mark.parametrize("line", ["rm -rf ~", "ls", "credendo list"])
def test_a_line_that_is_no_command_of_ours_is_an_error(line: str) -> None:
    with pytest.raises(RuntimeError):
        docs_tutorial.run_command(line)
    with pytest.raises(RuntimeError):
        docs_tutorial.run_settings(line)


def test_a_command_that_fails_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREDENDA_DB", str(tmp_path / "memory.db"))
    with pytest.raises(RuntimeError, match="exit code 3"):
        docs_tutorial.run_command("credenda why m1-abcdef")
