"""The step of the night that looks at code: only where the settings say so, and nothing is given up unasked."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from credenda import Credenda, Invalid
from credenda.model.report import DreamStep
from credenda.testing import ManualClock

TRUE = "The settings are read in src/shop/config.py."
DEAD = "Orders are placed by shop.orders.place_order."


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    package = tmp_path / "shop" / "src" / "shop"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "config.py").write_text("LIMIT = 3\n")
    (package / "orders.py").write_text("def send_order(): ...\n")
    return tmp_path / "shop"


@contextmanager
def opened(path: Path, clock: ManualClock, **settings: object) -> Generator[Credenda]:
    with Credenda.open(path, user="ana", clock=clock, workers=False, settings=settings) as mem:
        mem.remember(f"{TRUE} {DEAD}", memory_type="fact")
        mem.settle()
        yield mem


def look(mem: Credenda, *, dry_run: bool = False) -> DreamStep:
    return mem.manage.dream(["drift"], dry_run=dry_run).steps[0]


@pytest.mark.requirement("D-030")
def test_without_a_folder_nothing_is_looked_at(path: Path, clock: ManualClock) -> None:
    with opened(path, clock) as mem:
        step = look(mem)
        assert (step.ran, step.reason) == (False, "no folder is opted in (drift_roots)")


@pytest.mark.requirement("E-071", "D-030")
def test_what_is_gone_is_told_and_nothing_is_given_up(path: Path, clock: ManualClock, shop: Path) -> None:
    with opened(path, clock, drift_roots=str(shop)) as mem:
        step = look(mem)
        assert step.drift is not None
        assert [finding.what for finding in step.drift.findings] == ["shop.orders.place_order"]
        assert step.counts["score"] == 90
        assert {one.status.value for one in mem.list().items} == {"active"}
        assert "shop.orders.place_order (name-dead)" in " ".join(step.told)


@pytest.mark.requirement("E-071")
def test_where_the_settings_say_so_it_is_given_up_and_can_be_taken_back(
    path: Path, clock: ManualClock, shop: Path
) -> None:
    roots = os.pathsep.join([str(shop), str(shop)])
    with opened(path, clock, drift_roots=roots, drift_action="fix") as mem:
        assert look(mem, dry_run=True).drift.invalidated == ()  # type: ignore[union-attr]
        (gone,) = look(mem).drift.invalidated  # type: ignore[union-attr]
        assert mem.get(gone).status == "invalidated"
        last = mem.why(gone).changes[-1]
        assert (last.actor, last.cause) == ("dream", "drift")
        assert mem.manage.dream(["drift"]).changed == 0
        mem.manage.undo(last.id)
        assert mem.get(gone).status == "active"


def test_a_folder_that_is_not_there_fails_this_step_alone(path: Path, clock: ManualClock, shop: Path) -> None:
    with opened(path, clock, drift_roots=str(shop / "nowhere")) as mem:
        report = mem.manage.dream()
        assert [step.name for step in report.steps if step.failed] == ["drift"]
    with pytest.raises(Invalid, match="drift_action"), opened(path, clock, drift_action="ask"):
        pass
