"""Extraction of claims from text: by rules (offline), by a language model, or verbatim. Pure."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.write.extract import (
        lexicon as lexicon,
    )
    from credenda.write.extract import (
        rules as rules,
    )
    from credenda.write.extract import (
        wall as wall,
    )

__getattr__ = load_on_use(__name__)
