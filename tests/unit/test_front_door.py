"""Whoever annotates a call of the client finds the types of its results, and the errors, in the package itself."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest

import credenda
from credenda import client_data, client_directory, client_inspect, client_manage, errors

_NAME = re.compile(r"[A-Z]\w+")
_GROUPS = (
    *(credenda.Credenda, client_data.Data, client_data.Jobs, client_directory.Directory, client_directory.Items),
    *(client_inspect.Inspect, client_manage.Manage),
)
_METHODS = [
    (group, name)
    for group in _GROUPS
    for name, found in inspect.getmembers(group, inspect.isfunction)
    if not name.startswith("_") and found.__module__ == group.__module__
]


@pytest.mark.parametrize(("group", "name"), _METHODS)
def test_the_result_of_a_method_has_its_type_in_the_package(group: type, name: str) -> None:
    results = set(_NAME.findall(str(inspect.signature(getattr(group, name)).return_annotation)))
    assert results - {"Sequence", "Mapping", "None", "Worker", "Credenda", "Self", "Path"} <= set(credenda.__all__)


def test_every_error_is_in_the_package() -> None:
    assert set(errors.__all__) <= set(credenda.__all__)


def test_every_name_of_the_package_is_there_and_loaded_on_use() -> None:
    assert [one for one in credenda.__all__ if getattr(credenda, one, None) is None] == []
    asked = "import credenda, sys; print('credenda.model.query' in sys.modules, 'credenda.client' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False", "False"]
