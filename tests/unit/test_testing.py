"""The clock that ships for users' own tests."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from credenda.errors import Invalid
from credenda.testing import ManualClock


def test_it_stands_still_until_it_is_told() -> None:
    clock = ManualClock("2026-03-01T09:00:00Z")
    assert clock.now() == clock.now() == datetime(2026, 3, 1, 9, tzinfo=UTC)
    clock.advance(timedelta(days=1, microseconds=1))
    assert clock.now() == datetime(2026, 3, 2, 9, 0, 0, 1, tzinfo=UTC)
    assert clock.now_us() == 1_772_442_000_000_001


def test_it_takes_a_datetime_or_text_and_nothing_else() -> None:
    assert ManualClock(datetime(2026, 3, 1, tzinfo=UTC)).now_us() == ManualClock("2026-03-01").now_us()
    with pytest.raises(Invalid):
        ManualClock("soon")


def test_it_never_goes_back() -> None:
    clock = ManualClock("2026-03-01")
    clock.advance(timedelta(0))
    with pytest.raises(ValueError, match="forward"):
        clock.advance(timedelta(microseconds=-1))
    assert clock.now() == datetime(2026, 3, 1, tzinfo=UTC)


def test_no_step_is_lost_among_threads() -> None:
    clock = ManualClock("2026-03-01")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(clock.advance, [timedelta(seconds=1)] * 800))
    assert clock.now() == datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=800)
