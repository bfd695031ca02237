"""The page about the command line says what the commands say."""

import re

import click

import docs_cli
from credenda.interfaces.cli.main import cli


def test_every_command_is_documented() -> None:
    documented = set(re.findall(r"^## (\S+)$", docs_cli.PAGE.read_text("utf-8"), re.MULTILINE))
    assert documented == set(cli.list_commands(click.Context(cli, **cli.context_settings)))


def test_the_page_is_up_to_date() -> None:
    assert docs_cli.PAGE.read_text("utf-8") == docs_cli.page(), "run scripts/docs_cli.py"


def test_the_page_names_every_exit_code() -> None:
    assert set(re.findall(r"^\| (\d+) \|", docs_cli.INTRODUCTION, re.MULTILINE)) >= {str(code) for code in range(8)}
