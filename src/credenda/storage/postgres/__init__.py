"""The Postgres backend: one database, shared by many processes on many machines; the database walls tenants off."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.storage.postgres import erase as erase
    from credenda.storage.postgres import health as health
    from credenda.storage.postgres import statements as statements
    from credenda.storage.postgres import store as store

__getattr__ = load_on_use(__name__)
