"""Whoever annotates a call of the client finds the types of its results, and the errors, in the package itself."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest

import credenda
from credenda import client, errors

_NAME = re.compile(r"[A-Z]\w+")
_METHODS = [
    name
    for name, found in inspect.getmembers(credenda.Credenda, inspect.isfunction)
    if not name.startswith("_") and found.__module__ == client.__name__
]


@pytest.mark.parametrize("name", _METHODS)
def test_the_result_of_a_method_has_its_type_in_the_package(name: str) -> None:
    results = set(_NAME.findall(str(inspect.signature(getattr(credenda.Credenda, name)).return_annotation)))
    assert results - {"Sequence", "Mapping", "None", "Worker", "Credenda", "Self"} <= set(credenda.__all__)


def test_every_error_is_in_the_package() -> None:
    assert set(errors.__all__) <= set(credenda.__all__)


def test_every_name_of_the_package_is_there_and_loaded_on_use() -> None:
    assert [one for one in credenda.__all__ if getattr(credenda, one, None) is None] == []
    asked = "import credenda, sys; print('credenda.model.query' in sys.modules, 'credenda.client' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False", "False"]
