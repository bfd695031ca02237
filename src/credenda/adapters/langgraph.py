"""LangGraph's long-term store over a memory: `CredendaStore`.

Items are exact values under a namespace and a key. The words of an item are a memory too, so that every other interface
finds them, and a memory that a person deletes takes its item along.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from typing import Any, Final, cast

from credenda import limits
from credenda.adapters.messages import require_framework
from credenda.client import Credenda
from credenda.clock import SECOND_US, to_datetime
from credenda.errors import CredendaError
from credenda.model.core import Item as Row
from credenda.model.core import ItemFilter
from credenda.services.items import Words

with require_framework("LangGraph", "langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        tokenize_path,
    )


_log = logging.getLogger(__name__)
_SPACE: Final = "langgraph\x1f"
_TAG: Final = "langgraph"
_WHOLE: Final = "$"
_MINUTE_US: Final = 60 * SECOND_US
_LIFE: Final = "\x1fttl_us"
_VALUE: Final = "\x1fvalue"
"""Names under which an item with a time to live keeps that and its value, so that a read can renew it."""
_SWEEP_MINUTES: Final = 5.0


class CredendaStore(BaseStore):
    """A `BaseStore` in a memory. All methods may be called from any thread; the asynchronous ones use threads."""

    supports_ttl = True

    def __init__(self, memory: Credenda, *, fields: Sequence[str] = (_WHOLE,), ttl: TTLConfig | None = None) -> None:
        """Bind an open memory. `fields` are the paths whose text is searched, "$" the whole value."""
        self._memory = memory
        self._fields = tuple(fields)
        self.ttl_config = ttl
        self._sweeper: Future[None] | None = None
        self._is_over = threading.Event()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: reads see the state before the writes of the batch; the last write of a key counts."""
        given = list(ops)
        results: list[Result] = [self._read(op) for op in given]
        for op in {(op.namespace, op.key): op for op in given if isinstance(op, PutOp)}.values():
            self._put(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                row = self._memory.items.get(_to_space(op.namespace), op.key)
                if row is not None and op.refresh_ttl:
                    self._renew([row])
                return None if row is None else Item(**_to_fields(row))
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                found = {_to_namespace(row.space) for row in self._list_rows(())}
                kept = {
                    one for one in found if all(_is_match(condition, one) for condition in op.match_conditions or ())
                }
                return sorted({one[: op.max_depth] for one in kept})[op.offset : op.offset + op.limit]
            case PutOp():
                return None
            case _:
                raise ValueError(f"Unknown operation type: {type(op)}")

    def _put(self, op: PutOp) -> None:
        space = _to_space(op.namespace)
        if op.value is None:
            self._memory.items.remove(space, op.key)
            return
        value = dict(op.value)
        text = "" if op.index is False else _compose_text(value, op.index or self._fields)
        ttl_us = None if op.ttl is None else round(op.ttl * _MINUTE_US)
        words = Words(text, f"store {'/'.join(op.namespace)}", (_TAG,), stay=True) if text else None
        held = value if ttl_us is None else {_LIFE: ttl_us, _VALUE: value}
        self._memory.items.put(space, op.key, held, words=words, ttl_us=ttl_us)

    def sweep_ttl(self) -> int:
        """Delete expired items with their words, and return how many there were."""
        return self._memory.items.sweep(_SPACE)

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        """Sweep in a thread, every so many minutes, until `stop_ttl_sweeper`; the future ends with the thread.

        Background workers of a memory sweep too. Without a `ttl` of the store there is nothing to do.
        """
        if self._sweeper is not None and not self._sweeper.done():
            return self._sweeper
        future: Future[None] = Future()
        if not self.ttl_config:
            future.set_result(None)
            return future
        minutes = sweep_interval_minutes or self.ttl_config.get("sweep_interval_minutes") or _SWEEP_MINUTES
        self._is_over.clear()
        self._sweeper = future
        threading.Thread(target=self._sweep, args=(future, minutes * 60), name="credenda-ttl", daemon=True).start()
        return future

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """End the thread, and return whether it has ended within `timeout` seconds."""
        self._is_over.set()
        if self._sweeper is None:
            return True
        return not wait([self._sweeper], timeout).not_done

    def _sweep(self, future: Future[None], seconds: float) -> None:
        while not self._is_over.wait(seconds):
            try:
                self.sweep_ttl()
            except CredendaError as error:  # the next one may succeed
                _log.warning("cannot sweep", extra={"error": type(error).__name__})
        future.set_result(None)

    def _renew(self, rows: Sequence[Row]) -> None:
        """Let items live as long again as when they were put, as far as they have a time to live."""
        lives = [(row, life) for row in rows if row.expires_us is not None and (life := _find_life(row)) is not None]
        if lives:
            self._memory.items.renew(lives)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        """Return the items that a filter leaves, and with a question the best first: it ranks, and leaves none out."""
        scores: Mapping[str, float] = {}
        if op.query:
            found = self._memory.search(op.query, kinds=("memory",), tags=(_TAG,), limit=limits.SEARCH_LIMIT)
            scores = {hit.id: hit.score for hit in found.hits or found.nearest}
        rows = self._list_rows(op.namespace_prefix)
        rows.sort(key=lambda row: (-scores.get(row.source or "", 0.0), -row.updated_us))
        chosen = [row for row in rows if _is_met(_load(row), op.filter or {})]
        chosen = chosen[op.offset : op.offset + op.limit]
        if op.refresh_ttl:
            self._renew(chosen)
        return [SearchItem(**_to_fields(row), score=scores.get(row.source or "")) for row in chosen]

    def _list_rows(self, namespace: Sequence[str]) -> list[Row]:
        return list(self._memory.items.find(ItemFilter(space=_to_space(namespace), below=True)))


def _to_space(namespace: Sequence[str]) -> str:
    """Name the space of a namespace: each label ends with a separator, so that no label is the beginning of another."""
    return _SPACE + "".join(f"{label.replace('%', '%25').replace(chr(31), '%1f')}\x1f" for label in namespace)


def _to_namespace(space: str) -> tuple[str, ...]:
    labels = space.removeprefix(_SPACE).split("\x1f")[:-1]
    return tuple(label.replace("%1f", "\x1f").replace("%25", "%") for label in labels)


def _load(row: Row) -> dict[str, Any]:
    value = cast("dict[str, Any]", json.loads(row.value))
    return value[_VALUE] if _is_wrapped(value) else value


def _find_life(row: Row) -> int | None:
    value = cast("dict[str, Any]", json.loads(row.value))
    return value[_LIFE] if _is_wrapped(value) else None


def _is_wrapped(value: Mapping[str, Any]) -> bool:
    return value.keys() == {_LIFE, _VALUE}


def _to_fields(row: Row) -> dict[str, Any]:
    return {
        "namespace": _to_namespace(row.space),
        "key": row.key,
        "value": _load(row),
        "created_at": to_datetime(row.created_us),
        "updated_at": to_datetime(row.updated_us),
    }


def _compose_text(value: Mapping[str, object], fields: Sequence[str]) -> str:
    """Compose the text to search: a single text as it is, several values with their names."""
    if _WHOLE not in fields:
        return "\n".join(text for field in fields for text in get_text_at_path(value, tokenize_path(field)))
    leaves = list(_list_leaves(value))
    if len(leaves) == 1 and isinstance(leaves[0][1], str):
        return leaves[0][1]
    return "; ".join(f"{name}: {leaf}" for name, leaf in leaves)


def _list_leaves(value: object, name: str = "") -> Iterable[tuple[str, object]]:
    if isinstance(value, Mapping):
        for key, one in cast("Mapping[str, object]", value).items():
            yield from _list_leaves(one, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple):
        for one in cast("Sequence[object]", value):
            yield from _list_leaves(one, name)
    elif value is not None and value != "":
        yield name, value


def _is_match(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))


def _is_met(value: object, wanted: object) -> bool:
    """Return whether a value meets a filter: operators, nested tables, lists element by element, or equality."""
    if isinstance(wanted, Mapping):
        conditions = cast("Mapping[str, object]", wanted)
        if any(name.startswith("$") for name in conditions):
            return all(_compare(value, name, than) for name, than in conditions.items())
        if not isinstance(value, Mapping):
            return False
        table = cast("Mapping[str, object]", value)
        return all(_is_met(table.get(name), one) for name, one in conditions.items())
    if isinstance(wanted, list | tuple):
        items, many = cast("Sequence[object]", wanted), cast("Sequence[object]", value)
        return isinstance(value, list) and len(many) == len(items) and all(map(_is_met, many, items))
    return (type(value) is type(wanted) and value == wanted) or (_are_numbers(value, wanted) and value == wanted)


def _are_numbers(*values: object) -> bool:
    return all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)


def _compare(value: Any, operator: str, than: Any) -> bool:  # noqa: ANN401 - any JSON
    if operator == "$eq":
        return _is_met(value, than)
    if operator == "$ne":
        return not _is_met(value, than)
    if operator not in {"$gt", "$gte", "$lt", "$lte"}:
        raise ValueError(f"Unsupported operator: {operator}")
    if not (_are_numbers(value, than) or (isinstance(value, str) and isinstance(than, str))):
        return False
    return {"$gt": value > than, "$gte": value >= than, "$lt": value < than, "$lte": value <= than}[operator]
