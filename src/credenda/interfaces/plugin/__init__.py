"""The plugin for coding agents: one folder of hooks, tools and skills, and its installation in each host."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.interfaces.plugin import manage as manage

__getattr__ = load_on_use(__name__)
