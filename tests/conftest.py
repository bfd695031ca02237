"""What holds for all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# What is tested must not depend on what is installed, nor load a model where none is asked for.
os.environ["CREDENDA_EMBEDDER"] = "none"

# The same examples in every run: a failure is the change's, never the dice's. To search further than that:
# scripts/test --hypothesis-profile default
settings.register_profile("credenda", derandomize=True, deadline=None)
settings.register_profile("deep", deadline=None)
settings.register_profile("deeper", deadline=None)
settings.load_profile("credenda")
