"""The SQLite backend: one file, shared by several processes."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.storage.sqlite import backup as backup
    from credenda.storage.sqlite import check as check
    from credenda.storage.sqlite import erase as erase

__getattr__ = load_on_use(__name__)
