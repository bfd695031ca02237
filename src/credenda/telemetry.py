"""Spans and metrics of OpenTelemetry, by its conventions for memory and for calls of models.

Nothing is imported here: a program that has configured OpenTelemetry has loaded it, and in any other a call costs one
look. Spans hold ids, counts and codes; words only with `content`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from inspect import isfunction
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from credenda.clock import seconds
from credenda.private import cut_private

MEMORY_OPERATIONS: Final[Mapping[str, str]] = {
    "remember": "upsert_memory",
    "store": "upsert_memory",
    "search": "search_memory",
    "context": "search_memory",
    "correct": "update_memory",
    "forget": "update_memory",
    "restore": "update_memory",
    "feedback": "update_memory",
    "delete": "delete_memory",
    "delete_where": "delete_memory",
    "erase": "delete_memory_store",
}
"""Methods whose spans have a name of the conventions; others are called credenda.METHOD."""
OTHERS: Final = ("settle", "get", "event", "list", "history", "diff", "why", "stats")
_PROVIDER: Final = "credenda"
_UNSET: Final = frozenset({"ProxyTracerProvider", "NoOpTracerProvider", "_ProxyMeterProvider", "NoOpMeterProvider"})
_DURATION: Final = "gen_ai.client.operation.duration"
_TOKENS: Final = "gen_ai.client.token.usage"
_RECORDS_MAX: Final = 50

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound=type)
Attributes = dict[str, Any]


class _Parts(Protocol):
    @property
    def telemetry_store(self) -> tuple[str, bool]: ...


class Recorded(Protocol):
    """An object whose methods are recorded, with the parts of its memory."""

    _parts: _Parts


@dataclass(slots=True)
class _Call:
    """A span under way, and the attributes that its metrics share."""

    span: Any
    common: Attributes

    def set(self, **found: Any) -> None:  # noqa: ANN401 - values of attributes
        """Set attributes of the span, whose names have underscores for dots here."""
        if self.span is not None:
            self.span.set_attributes({name.replace("__", "."): value for name, value in found.items()})


def _find(signal: str) -> Any:  # noqa: ANN401 - a tracer or meter, of a library that may be missing
    """Return the tracer or meter of a configured OpenTelemetry; None in other programs."""
    module: Any = sys.modules.get(f"opentelemetry.{signal}")
    if module is None:
        return None
    provider = module.get_tracer_provider() if signal == "trace" else module.get_meter_provider()
    if type(provider).__name__ in _UNSET:
        return None
    return provider.get_tracer(_PROVIDER) if signal == "trace" else provider.get_meter(_PROVIDER)


def _is_on() -> bool:
    return "opentelemetry.trace" in sys.modules and (_find("trace") is not None or _find("metrics") is not None)


@contextmanager
def _record(
    name: str, kind: str, attributes: Attributes, *, metric: str = _DURATION, parent: object = None
) -> Generator[_Call]:
    """Record a span, and its duration in a histogram; an error is recorded by its code and never by its words."""
    tracer, begun = _find("trace"), seconds()
    call = _Call(None, dict(attributes))
    if tracer is not None:
        kinds: Any = sys.modules["opentelemetry.trace"].SpanKind
        call.span = tracer.start_span(name, context=parent, kind=kinds[kind], attributes=attributes)
    try:
        if call.span is None:
            yield call
        else:
            with sys.modules["opentelemetry.trace"].use_span(
                call.span, record_exception=False, set_status_on_exception=False
            ):
                yield call
    except BaseException as error:
        call.common["error.type"] = str(getattr(error, "code", "") or type(error).__name__)
        raise
    finally:
        duration_seconds = seconds() - begun
        if call.span is not None:
            failed = call.common.get("error.type")
            if failed:
                call.span.set_attribute("error.type", failed)
                call.span.set_status(sys.modules["opentelemetry.trace"].StatusCode.ERROR)
            call.span.end()
        meter = _find("metrics")
        if meter is not None:
            meter.create_histogram(metric, unit="s").record(duration_seconds, call.common)


# Calls of a memory


def record_methods(recorded: C) -> C:
    """Record the calls of a memory's public methods; for a class that is `Recorded`."""
    for name in (*MEMORY_OPERATIONS, *OTHERS):
        setattr(recorded, name, _wrap(name, vars(recorded)[name]))
    return recorded


def record_group(group: str) -> Callable[[C], C]:
    """Record the calls of all public methods of a class that is `Recorded`, under credenda.GROUP.METHOD."""

    def record(recorded: C) -> C:
        for name, method in list(vars(recorded).items()):
            if isfunction(method) and not name.startswith("_"):
                setattr(recorded, name, _wrap(f"{group}.{name}", method))
        return recorded

    return record


def _wrap(name: str, method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    @wraps(method)
    def call(self: Recorded, *args: P.args, **given: P.kwargs) -> T:
        if not _is_on():
            return method(self, *args, **given)
        return _call_recorded(name, method, self, args=args, given=given)

    return call


def _call_recorded(
    name: str, method: Callable[..., T], memory: Recorded, *, args: Sequence[Any], given: Mapping[str, Any]
) -> T:
    operation = MEMORY_OPERATIONS.get(name, f"{_PROVIDER}.{name}")
    common: Attributes = {"gen_ai.operation.name": operation, "gen_ai.provider.name": _PROVIDER}
    with _record(operation, "CLIENT" if name in MEMORY_OPERATIONS else "INTERNAL", common) as call:
        store, content = memory._parts.telemetry_store  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - of the classes recorded
        call.set(gen_ai__memory__store__id=store)
        value = method(memory, *args, **given)
        words = args[0] if args else given.get("query", given.get("content"))
        _describe(call, operation, value, words if content else None)
        return value


def _describe(call: _Call, operation: str, value: object, words: object) -> None:
    """Describe a result by ids and counts, and by the words of the call, where they may be recorded."""
    hits: Any = getattr(value, "hits", None)
    ids: Any = getattr(value, "event_ids", None)
    if hits is not None:
        call.set(gen_ai__memory__record__count=len(hits))
    elif ids is not None:
        call.set(gen_ai__memory__record__count=len(ids))
    elif isinstance(found := getattr(value, "id", None), str):
        call.set(gen_ai__memory__record__id=found)
    if not isinstance(words, str):
        return
    words = cut_private(words)
    if operation == "search_memory":
        shown = [{"id": one.id, "content": one.text, "score": one.score} for one in list(hits or ())[:_RECORDS_MAX]]
        call.set(gen_ai__memory__query__text=words, gen_ai__memory__records=json.dumps(shown, ensure_ascii=False))
    elif operation == "upsert_memory":
        call.set(gen_ai__memory__records=json.dumps([{"content": words}], ensure_ascii=False))


# Models, jobs, and requests


@contextmanager
def record_model_call(model_id: str, tokens_max: int) -> Generator[Callable[[int, int], None]]:
    """Record a call of a model, named PROVIDER:MODEL; the block reports the tokens that it read and wrote."""
    if not _is_on():
        yield lambda _read, _written: None
        return
    provider, _, model = model_id.partition(":")
    common: Attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model or provider,
    }
    with _record(f"chat {model or provider}", "CLIENT", common) as call:
        call.set(gen_ai__request__max_tokens=tokens_max)

        def report(read: int, written: int) -> None:
            call.set(gen_ai__usage__input_tokens=read, gen_ai__usage__output_tokens=written)
            meter = _find("metrics")
            if meter is not None:
                counted = meter.create_histogram(_TOKENS, unit="{token}")
                counted.record(read, {**common, "gen_ai.token.type": "input"})
                counted.record(written, {**common, "gen_ai.token.type": "output"})

        yield report


@contextmanager
def record_job(kind: str, count: int) -> Generator[None]:
    """Record jobs of one kind that a worker runs together."""
    if not _is_on():
        yield
        return
    common: Attributes = {"credenda.job.kind": kind}
    with _record(f"credenda.job {kind}", "INTERNAL", common, metric="credenda.job.duration") as call:
        call.set(credenda__job__count=count)
        yield


@contextmanager
def record_request(method: str, headers: Mapping[str, str]) -> Generator[Callable[[str, int], None]]:
    """Record a request to a server, as a part of the caller's trace; the block reports its route and status."""
    if not _is_on():
        yield lambda _route, _status: None
        return
    propagate: Any = import_module("opentelemetry.propagate")
    parent = propagate.extract(headers)
    common: Attributes = {"http.request.method": method, "url.scheme": "http"}
    with _record(method, "SERVER", common, metric="http.server.request.duration", parent=parent) as call:

        def report(route: str, status: int) -> None:
            call.common |= {"http.route": route, "http.response.status_code": status}
            call.set(http__route=route, http__response__status_code=status)
            if call.span is not None:
                call.span.update_name(f"{method} {route}")
                if status >= 500:  # noqa: PLR2004 - the server's own failures
                    call.common["error.type"] = str(status)

        yield report
