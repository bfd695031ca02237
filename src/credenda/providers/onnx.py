"""The runtime of the models that ship, loaded on first use and without its telemetry."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any


def load_runtime() -> Any:  # noqa: ANN401 - onnxruntime has no types
    """Load onnxruntime; unless it is told not to, it keeps a session file for telemetry in the temporary folder."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # noqa: TID251 - the runtime reads it when it is loaded
    return import_module("onnxruntime")
