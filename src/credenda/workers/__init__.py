"""Durable jobs: lease, run, complete."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.workers import handlers as handlers
    from credenda.workers import llm_jobs as llm_jobs
    from credenda.workers import tenants as tenants

__getattr__ = load_on_use(__name__)
