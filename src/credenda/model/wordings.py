"""The words of statements in other languages than English. Pure: it reads its own table."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any


@cache
def load_wordings() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Load the words of statements by language, for languages other than English; cached."""
    return tomllib.loads(resources.files("credenda.model").joinpath("wordings.toml").read_text("utf-8"))
