"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# The same examples in every run: a failure is the change's, never the dice's. To search further than that:
# scripts/test --hypothesis-profile default
settings.register_profile("credenda", derandomize=True, deadline=None)
settings.load_profile("credenda")
