"""Prices of models: a table that ships, and a setting that overrides it."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from credenda.errors import Invalid

__all__ = ["Price", "find_price", "parse_price"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens, read and written; `source` is the source and date of the price."""

    tokens_in: float
    tokens_out: float
    source: str = ""

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Return the cost of so many tokens, in US dollars.

        >>> Price(tokens_in=1, tokens_out=5).cost(1_000_000, 100_000)
        1.5
        """
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1_000_000


@cache
def _load_prices() -> dict[str, Price]:
    given = tomllib.loads((files("credenda.providers.llm") / "prices.toml").read_text("utf-8"))
    source = f"{given['source']}, {given['checked']}"
    return {
        f"{provider}:{name}": Price(tokens_in=pair[0], tokens_out=pair[1], source=source)
        for provider, models in given["models"].items()
        for name, pair in models.items()
    }


def find_price(model_id: str) -> Price | None:
    """Return the price of a model from the table; a longer name, such as a dated one, has the price of its prefix.

    None for a model that the table does not contain.
    """
    found = [name for name in _load_prices() if model_id == name or model_id.startswith(f"{name}-")]
    return _load_prices()[max(found, key=len)] if found else None


def parse_price(text: str) -> Price | None:
    """Parse the setting `llm_price`: dollars for a million tokens read and written, such as "1/5"; None for "".

    Raises `Invalid` for anything else.
    """
    if not text.strip():
        return None
    try:
        read, written = (float(part) for part in text.split("/"))
    except ValueError:
        read = written = math.nan
    if not (0 <= read < math.inf and 0 <= written < math.inf):
        raise Invalid(
            f"llm_price cannot be {text[:40]!r}",
            why="it needs two prices: US dollars for a million tokens read, and written",
            fix='write it like "1/5", or "0/0" for a model of your own',
        )
    return Price(tokens_in=read, tokens_out=written, source="the setting llm_price")
