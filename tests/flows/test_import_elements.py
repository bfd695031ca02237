"""Lists larger than memory: items come whole, one at a time, wherever the chunks end and whatever strings hold."""

from __future__ import annotations

import io
import json
import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda import limits
from credenda.portability.sources import Element, Lines, Meter, read_sections

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='[]{}"\\,: aé🙂\n'),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet='"\\[}a', max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
TABLES = st.lists(st.dictionaries(st.text(max_size=4), VALUES, max_size=4), max_size=6)


class Dripping(io.BytesIO):
    """A file that gives a few bytes at a time, whatever is asked for."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self._step = step

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self._step if size is None or size < 0 else min(size, self._step))


def scanned(data: bytes, *keys: str, step: int = 1 << 16) -> list[Element]:
    file: Any = Dripping(data, step)
    return [element for _, element in read_sections(Lines(file, "list", meter=Meter()), *keys)]


@given(items=TABLES, step=st.integers(1, 40), indent=st.sampled_from([None, 1]), wrapped=st.booleans())
def test_every_item_comes_whole_whatever_the_chunks(
    items: list[dict[str, Any]], step: int, indent: int | None, *, wrapped: bool
) -> None:
    table = {"other": [{"x": [1]}], "results": items, "more": []} if wrapped else items
    text = json.dumps(table, ensure_ascii=False, indent=indent)
    found = scanned(text.encode(), "results", step=step)
    assert [json.loads(element.data) for element in found] == items
    assert [element.number for element in found] == list(range(1, len(items) + 1))


@given(
    data=st.binary(max_size=60) | st.text(alphabet='[]{}"\\, 1:', max_size=60).map(str.encode), step=st.integers(1, 9)
)
def test_no_bytes_make_it_fail_or_stand_still(data: bytes, step: int) -> None:
    found = scanned(data, "results", step=step)
    assert len(found) <= len(data) + 2


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (b"", "no list"),
        (b"{}", "no list"),
        (b'{"a": {"b": {"results": [1]}}}', "no list"),
        (b'{"results": [1]', "after its lists"),
        (b"words", "no list"),
        (b'[{"a": "b', "inside it:"),
        (b"[{}", "inside its list"),
    ],
)
def test_what_is_no_list_or_cut_off_says_so(data: bytes, wrong: str) -> None:
    assert wrong in scanned(data, "results")[-1].wrong


def test_an_item_that_is_too_large_is_passed_over_without_being_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "IMPORT_ITEM_BYTES", 1 << 18)
    large = b'{"a": "' + b'\\" [' * (1 << 19) + b'", "b": [' + b"[1], " * (1 << 17) + b"[1]]}"
    data = b'[{"n": 1}, ' + large + b', {"n": 2}]'
    tracemalloc.start()
    found = scanned(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [element.data for element in found] == [b'{"n": 1}', b"", b'{"n": 2}']
    assert "larger than" in found[1].wrong
    assert peak < len(data) + (2 << 20)


def test_a_long_string_is_not_looked_at_again_and_again() -> None:
    data = b'[{"a": "' + b"x\\n" * (5 << 20) + b'"}]'
    started = time.process_time()
    assert len(scanned(data)[0].data) == len(data) - 2
    assert time.process_time() - started < 3
