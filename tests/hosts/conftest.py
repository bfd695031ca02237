"""Real hosts run only where they can: on a system that has them, and in their long form where it is asked for."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True, scope="session")
def _a_system_with_hosts() -> None:
    if sys.platform == "win32":
        pytest.skip("the hosts are driven on systems with a POSIX shell")
