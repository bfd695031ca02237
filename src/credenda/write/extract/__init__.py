"""What a message is beside its facts: whose words, which speech acts, which days. Pure."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.write.extract import (
        wall as wall,
    )

__getattr__ = load_on_use(__name__)
