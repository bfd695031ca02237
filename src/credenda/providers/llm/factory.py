"""Construction of a model client from the user's choice."""

from __future__ import annotations

from typing import Final, cast
from urllib.parse import urlsplit

from credenda.config import Settings, find_provider_key
from credenda.errors import Invalid
from credenda.providers import llm
from credenda.providers.llm.client import ModelClient, find_price, parse_price
from credenda.providers.llm.protocol import LanguageModel

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
