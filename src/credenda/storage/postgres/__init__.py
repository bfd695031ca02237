"""The Postgres backend: one database, shared by many processes on many machines; the database walls tenants off."""

from credenda.lazy import load_on_use

__getattr__ = load_on_use(__name__)
