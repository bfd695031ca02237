"""Export, import, and synchronised folders."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.portability import archive as archive
    from credenda.portability import importing as importing

__getattr__ = load_on_use(__name__)
