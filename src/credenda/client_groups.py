"""The groups of verbs of an open memory, each loaded when it is first used."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from credenda.lazy import import_on_use

if TYPE_CHECKING:
    from credenda import client_data, client_directory, client_inspect, client_jobs, client_manage
    from credenda.client_data import Data
    from credenda.client_directory import Directory, Items
    from credenda.client_inspect import Inspect
    from credenda.client_jobs import Jobs
    from credenda.client_manage import Manage
    from credenda.runtime import Parts
else:
    client_data, client_manage = import_on_use("credenda.client_data"), import_on_use("credenda.client_manage")
    client_inspect, client_jobs = import_on_use("credenda.client_inspect"), import_on_use("credenda.client_jobs")
    client_directory = import_on_use("credenda.client_directory")


class Groups:
    """What `Credenda` has beside its own verbs."""

    _parts: Parts

    @cached_property
    def manage(self) -> Manage:
        """Operations on existing beliefs."""
        return client_manage.Manage(self._parts)

    @cached_property
    def data(self) -> Data:
        """Operations on a whole memory."""
        return client_data.Data(self._parts)

    @cached_property
    def inspect(self) -> Inspect:
        """Previews, scores, costs and the audit."""
        return client_inspect.Inspect(self._parts)

    @cached_property
    def jobs(self) -> Jobs:
        """Work in the background."""
        return client_jobs.Jobs(self._parts)

    @cached_property
    def directory(self) -> Directory:
        """The memory as a directory of pages."""
        return client_directory.Directory(self._parts)

    @cached_property
    def items(self) -> Items:
        """Values of programs beside the beliefs."""
        return client_directory.Items(self._parts)
