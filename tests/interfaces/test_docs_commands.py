"""The commands that the pages show exist, with the options that the pages give them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from credenda.interfaces.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SHELL_BLOCK = re.compile(r"^ *```(?:sh|console)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(credenda [^`]+)`")
SEPARATOR = re.compile(r"\s*(?:;|&&|\|)\s+")


def shown_commands(page: Path) -> list[list[str]]:
    """Return the words after `credenda` of each command in the shell blocks and code spans of a page."""
    text = page.read_text("utf-8")
    blocks = [block.replace("\\\n", " ") for block in SHELL_BLOCK.findall(text)]
    lines = [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines()]
    lines += [" ".join(span.split()) for span in INLINE.findall(text)]
    words = [shlex.split(part, comments=True) for line in lines for part in SEPARATOR.split(line.partition(" #")[0])]
    return [found[1:] for found in words if found and found[0] == "credenda"]


def unknown_words(words: list[str]) -> list[str]:
    """Return the words of a command line that name no command and no option."""
    command: click.Command = cli
    context = click.Context(cli, info_name="credenda", **cli.context_settings)  # click keeps the first help option
    unknown: list[str] = []
    value_expected = False
    for word in words:
        options = {name: param for param in command.get_params(context) for name in param.opts + param.secondary_opts}
        if value_expected:
            value_expected = False
        elif word.startswith("-"):
            option = options.get(word.partition("=")[0])
            unknown += [] if option else [word]
            value_expected = isinstance(option, click.Option) and not (option.is_flag or option.count or "=" in word)
        elif isinstance(command, click.Group):
            found = command.get_command(context, word)
            if found is None:
                return [*unknown, word]
            command, context = found, click.Context(found, info_name=word, parent=context)
    return unknown


def test_pages_show_commands() -> None:
    assert sum(len(shown_commands(page)) for page in PAGES) > 100


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_each_command_of_a_page_exists_with_its_options(page: Path) -> None:
    assert [(words, unknown) for words in shown_commands(page) if (unknown := unknown_words(words))] == []


def test_an_unknown_command_or_option_is_found() -> None:
    assert unknown_words(["serch", "x"]) == ["serch"]
    assert unknown_words(["--user", "ana", "search", "x", "--explian"]) == ["--explian"]
