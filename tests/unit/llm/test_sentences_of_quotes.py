"""The sentences that a quotation touches."""

from __future__ import annotations

import time

from credenda.model.claim import Span
from credenda.text.sentences import split_sentences
from credenda.write.llm.prompt import widen_to_sentences


def test_many_quotations_of_one_long_text_split_it_once() -> None:
    text = "We fed the geese at noon. " * 4_000
    started = time.process_time()
    wanted = [(one.start, one.stop) for one in split_sentences(text)][:100]
    once = time.process_time() - started
    started = time.process_time()
    found = [widen_to_sentences(text, Span("e", start + 3, start + 5)) for start, _ in wanted]
    assert [(one.start, one.stop) for one in found] == wanted
    assert time.process_time() - started < 30 * once
