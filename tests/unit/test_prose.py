"""The prose checker counts sentences built on free relatives, and leaves code, quotations and questions alone."""

import re
from pathlib import Path

import pytest

import prose


def counted(text: str) -> list[str]:
    return [sentence.text for sentence in prose.page_sentences("a.md", text) if sentence.counts]


def sentences(text: str) -> list[tuple[int, str]]:
    return [(sentence.line, sentence.text) for sentence in prose.page_sentences("a.md", text)]


@pytest.mark.parametrize(
    "text",
    [
        "What is dreamed is derived.",
        "Who only asks does without them.",
        "Whoever asks pays for it.",
        "It keeps what was said.",
        "It drops whatever is left.",
        "Whose turn it is decides the order.",
    ],
)
def test_a_sentence_built_on_a_free_relative_counts(text: str) -> None:
    assert counted(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Derived memories end with their sources.",
        "The people who ask pay for it.",
        "What is a slot?",
        "(Who may read a contest?)",
        "Run `what is due` first.",
        "The flag `what\nis due` spans two lines.",
        'Search for "what is due" first.',
        "Search for “what is\ndue” first.",
        "See [the list](what is due.md) first.",
        "Write <what is due> first.",
    ],
)
def test_plain_sentences_questions_code_quotations_and_links_do_not_count(text: str) -> None:
    assert counted(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Run this:\n\n```sh\nWhat is this. Who knows it.\n```\n",
        "1. Run this:\n\n   ~~~\n   What is this.\n   ~~~\n",
        "<!-- What is hidden is a comment. -->\n",
        "Compute it:\n\n>>> what = 1\nWhat is printed\n",
    ],
)
def test_code_blocks_comments_and_doctests_do_not_count(text: str) -> None:
    assert counted(text) == []


def test_the_text_after_a_code_block_keeps_its_line() -> None:
    assert sentences("```\nfirst\n```\n\nWhat is left counts.")[-1] == (5, "What is left counts.")


def test_list_items_headings_and_table_cells_are_sentences() -> None:
    text = "# The first heading\n\n* one item\n* What is second counts\n\n| a cell | What is here counts |\n"
    assert [line for _, line in sentences(text)] == [
        "The first heading",
        "one item",
        "What is second counts",
        "a cell",
        "What is here counts",
    ]
    assert len(counted(text)) == 2


def test_a_sentence_may_begin_with_code_or_a_quotation() -> None:
    assert len(sentences("The first ends here. `Store.open` begins the second. “A quotation” begins the third.")) == 3


def test_the_docstrings_of_modules_classes_and_functions_are_read() -> None:
    source = '"""What is in a module."""\n\n\nclass A:\n    """What is in A."""\n\n    def b(self):\n        "Do it."\n'
    found = list(prose.docstring_sentences("a.py", source))
    assert [(sentence.line, sentence.counts) for sentence in found] == [(1, True), (5, True), (8, False)]


def test_strings_and_comments_of_code_are_not_read() -> None:
    assert (
        list(prose.docstring_sentences("a.py", 'TEXT = "What is this is no docstring."\n# What is this is neither.'))
        == []
    )


def test_the_tree_holds_pages_docs_and_docstrings_but_no_tests(tmp_path: Path) -> None:
    for path in ("README.md", "docs/how-to/a.md", "src/a.py", "tests/b.py", "tests/c.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(
            '"""One sentence."""' if path.endswith("py") else "One sentence.", encoding="utf-8"
        )
    assert [sentence.path for sentence in prose.tree_sentences(tmp_path)] == [
        "README.md",
        "docs/how-to/a.md",
        "src/a.py",
    ]


def test_the_style_guide_shows_eight_pairs_and_obeys_its_own_rule() -> None:
    text = (Path(prose.__file__).parents[1] / "docs" / "style.md").read_text(encoding="utf-8")
    pairs = re.findall(r"^\| \d+ \| [^|]+ \| “[^|]+” \| [^|]+ \|$", text, re.MULTILINE)
    assert len(pairs) == 8
    assert counted(text) == []
