"""The client of a model, with its price and a circuit breaker."""

from __future__ import annotations

import json
import math
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import Final, cast
from urllib.parse import urlsplit

from credenda import limits
from credenda.clock import SECOND_US
from credenda.config import Settings, find_provider_key
from credenda.errors import Invalid
from credenda.providers import llm
from credenda.providers.llm.protocol import LanguageModel, ModelFailure, Question, Trouble

# Prices of models: a table that ships, and a setting that overrides it.


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


class ModelClient:
    """A model, its price, and the time until which it is not called. May be used from several threads."""

    def __init__(self, model: LanguageModel, price: Price | None = None, *, owned: bool = False) -> None:
        """Start with an available model; an `owned` model is closed with the memory."""
        self.model = model
        self.price = price
        self._owned = owned
        self._lock = Lock()
        self._failures = 0
        self._quiet_until_us = 0
        self._spent_until_us = 0
        self._trouble = ""

    @property
    def open_until_us(self) -> int:
        """The time until which it must not be called, in microseconds UTC."""
        with self._lock:
            return self._quiet_until_us

    @property
    def rereads_after_us(self) -> int:
        """The time of the next second attempts: not while the circuit is open, nor on a day whose budget is spent."""
        with self._lock:
            return max(self._quiet_until_us, self._spent_until_us)

    @property
    def trouble(self) -> str:
        """The reason of the last failure, "" after an answer."""
        with self._lock:
            return self._trouble

    def answered(self) -> None:
        """Record an answer."""
        with self._lock:
            self._failures, self._quiet_until_us, self._trouble = 0, 0, ""

    def spent(self, until_us: int) -> None:
        """Record that the day's budget is spent, so that each of a thousand waiting messages need not find out."""
        with self._lock:
            self._spent_until_us = until_us

    def failed(self, failure: ModelFailure, now_us: int) -> int:
        """Record a failure and return the next attempt's time; a failure of the model itself delays all questions."""
        with self._lock:
            if not failure.trouble.is_model_fault:
                return now_us + limits.LLM_WAIT_SECONDS_MAX * SECOND_US
            self._trouble = str(failure)
            until_us = now_us + int(self._wait_seconds(failure) * SECOND_US)
            self._failures += 1
            self._quiet_until_us = max(self._quiet_until_us, until_us)
            return self._quiet_until_us

    def _wait_seconds(self, failure: ModelFailure) -> float:
        if failure.wait_seconds is not None:
            return min(max(failure.wait_seconds, 0.0), limits.LLM_ASKED_WAIT_SECONDS_MAX)
        if failure.trouble is Trouble.DENIED:
            return limits.LLM_DENIED_WAIT_SECONDS
        return min(limits.LLM_WAIT_SECONDS * 2 ** min(self._failures, 16), limits.LLM_WAIT_SECONDS_MAX)

    def close(self) -> None:
        """Release the model, if it was created for this memory."""
        if self._owned:
            self.model.close()


# Estimates of the tokens of a question before the call; every model has its own vocabulary.


_PIECE: Final = re.compile(r"[^\W_]+|[^\w\s]|_|\n")
_LETTERS: Final = 5
"""Most English words of up to six letters are one token, longer ones two."""
_FRAME_TOKENS: Final = 40
"""Tokens that the wire formats add around a question."""


def estimate_text_tokens(text: str) -> int:
    """Estimate how many tokens a model reads in a text, erring on the high side.

    >>> estimate_text_tokens("I live in Linz.")
    5
    """
    return sum(-(-len(piece) // _LETTERS) for piece in _PIECE.findall(text))


def estimate_question_tokens(question: Question) -> int:
    """Estimate the input tokens of a question: instructions, prompt, earlier answers and the schema."""
    texts = [question.instructions, question.prompt, json.dumps(question.schema)]
    texts += [text for pair in question.earlier for text in pair]
    return sum(map(estimate_text_tokens, texts)) + _FRAME_TOKENS


# Construction of a model client from the user's choice.


_PROVIDERS: Final = ("anthropic", "openai")
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_NAMES: Final = (
    'it is "none", "anthropic:MODEL", "openai:MODEL", where openai is any server that speaks its format, or '
    '"command:PROGRAM"'
)


def open_model(choice: object, settings: Settings) -> ModelClient | None:
    """Return a client of the model in `choice` or in the setting `llm`; None for "none": the reader alone.

    An object is used unchanged, and never closed. Raises `Invalid` for an invalid name, address or object, and
    `Unavailable` if the requirements of a named model are not installed.
    """
    wanted = settings.llm if choice is None else choice
    price = parse_price(settings.llm_price)
    if isinstance(wanted, str):
        if wanted.strip() in {"", "none"}:
            return None
        model = _open_named(wanted.strip(), settings)
        table = None if settings.llm_url else find_price(model.model_id)
        return ModelClient(model, price or table, owned=True)
    if not isinstance(wanted, LanguageModel) or not _is_language_model(wanted):
        raise Invalid(
            "the given language model cannot be used",
            why="it must have model_id, at_once, ask(question) and close()",
            fix='give such an object, credenda.testing.ScriptedModel, or a name like "anthropic:claude-haiku-4-5"',
        )
    return ModelClient(wanted, price or find_price(wanted.model_id))


def _is_language_model(model: LanguageModel) -> bool:
    name, at_once = cast("object", model.model_id), cast("object", model.at_once)
    return isinstance(name, str) and bool(name.strip()) and isinstance(at_once, int) and at_once >= 1


def _open_named(name: str, settings: Settings) -> LanguageModel:
    provider, _, model = name.partition(":")
    if provider == "command":
        return llm.command.Command(model, timeout_seconds=settings.llm_timeout_seconds, at_once=settings.llm_calls)
    if provider not in _PROVIDERS or not model.strip():
        raise Invalid(f"there is no language model called {name[:64]!r}", why=_NAMES, fix="name one of them")
    if settings.llm_url:
        _check_address(settings)
    key = settings.llm_key or ("" if settings.llm_url else find_provider_key(provider))
    if not key and not settings.llm_url:
        raise Invalid(
            f"{provider} needs a key",
            why=f"neither CREDENDA_LLM_KEY nor {provider.upper()}_API_KEY is set",
            fix="set one of them in the environment, or llm_url to a server of your own",
        )

    return llm.pydantic_ai.Gateway(
        llm.pydantic_ai.ModelEndpoint(
            provider=provider,
            model=model.strip(),
            url=settings.llm_url.rstrip("/"),
            key=key,
            timeout_seconds=settings.llm_timeout_seconds,
            at_once=settings.llm_calls,
        )
    )


def _check_address(settings: Settings) -> None:
    """Raise `Invalid` for an address that texts must not be sent to."""
    fix = "give llm_url like http://localhost:11434/v1"
    try:
        place = urlsplit(settings.llm_url)
        host = place.hostname
        _ = place.port
    except ValueError:
        raise Invalid("llm_url is not an address", fix=fix) from None
    if place.scheme not in {"http", "https"} or not host:
        raise Invalid("llm_url is not an address", why="it needs http or https and a host", fix=fix)
    if place.username is not None or place.password is not None or place.query or place.fragment:
        raise Invalid("llm_url holds more than an address", fix="give the key as CREDENDA_LLM_KEY")
    if place.scheme == "http" and host not in _LOOPBACK and settings.llm_plain_http != "anywhere":
        raise Invalid(
            f"texts would go to {host} unencrypted",
            why="llm_url begins with http://",
            fix='use https, or allow it with llm_plain_http = "anywhere"',
        )
