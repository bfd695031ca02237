"""Counting tokens: the estimate adds up, a real tokenizer does not, and no text is ever over its budget."""

import hashlib
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from credenda.text.fence import ESTIMATE, TokenBudget, TokenCounter, estimate_tokens, fit_to_budget

LINES = st.lists(st.text(max_size=40), max_size=12)


def whims(text: str) -> int:
    """Count what has nothing to do with the text's parts."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=1).digest())


COUNTERS: list[Callable[[str], int]] = [
    estimate_tokens,
    len,
    whims,
    lambda text: len(text) ** 2,
    lambda text: 0 if len(text) < 30 else 10**9,
    lambda text: -(-len(text) // 7) - text.count("\n"),
    lambda _: 0,
    lambda _: 10**30,
]


@given(LINES, st.sampled_from(COUNTERS), st.integers(0, 300))
def test_what_is_kept_fits_by_the_count_of_the_whole(lines: list[str], count: Callable[[str], int], most: int) -> None:
    left, text, tokens = fit_to_budget(lines, "\n".join, TokenBudget(most, TokenCounter("mine", count)))
    assert left == lines[: len(left)]
    if left:
        assert text == "\n".join(left)
        assert tokens == count(text) <= most
    else:
        assert (text, tokens) == ("", 0)


@given(st.text(), st.text())
def test_the_estimate_says_exactly_what_a_line_adds(one: str, other: str) -> None:
    assert ESTIMATE.count(f"{one}\n{other}") == ESTIMATE.count(one) + ESTIMATE.added_by(other)


def test_a_mark_before_each_text_does_not_count_for_each_line() -> None:
    def count(text: str) -> int:
        return 1 + len(text.split())

    llama = TokenCounter("with a mark", count)
    assert llama.added_by("three more words") == 3
