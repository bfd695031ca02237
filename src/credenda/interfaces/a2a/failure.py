"""Errors for which the protocol has no word, such as a missing permission: the endpoint answers them over HTTP."""

from __future__ import annotations

from typing import Final

__all__ = ["FAILURE"]

FAILURE: Final = "a2a_failure"
"""The key of such an error in the state of a request, and of the function that keeps it in the context of the SDK."""
