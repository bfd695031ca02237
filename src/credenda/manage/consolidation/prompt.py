"""Build the prompt that asks a language model about a group of memories. Pure.

The instructions are a versioned file. User text goes into one JSON document, where no text can end its own string; the
caller passes the function that masks secrets.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Any, Final, cast

from credenda import limits
from credenda.clock import to_datetime
from credenda.manage.consolidation.guards import (
    Member,
    find_difference,
    find_unsupported,
    is_distinct,
    may_replace,
    resolve_relative_dates,
)
from credenda.manage.consolidation.judge import Remove, Replace, Verdict
from credenda.model.memory import Relation
from credenda.providers.llm.protocol import Question
from credenda.text.tokens import tokenize

PROMPT_VERSION: Final = "consolidate-1"
"""Version of the instructions and of the schema; it changes with either of them."""


@cache
def _load_instructions() -> tuple[str, Mapping[str, object]]:
    folder = files("credenda.manage.consolidation") / "prompts"
    schema: dict[str, object] = json.loads((folder / f"{PROMPT_VERSION}.schema.json").read_text("utf-8"))
    return (folder / f"{PROMPT_VERSION}.md").read_text("utf-8"), schema


def format_entry_id(at: int) -> str:
    """Return the id of an entry in the prompt."""
    return f"e{at + 1}"


def build_question(members: Sequence[Member], clean: Callable[[str], str]) -> Question:
    """Ask which of some memories have the same meaning; relative dates are made absolute."""
    instructions, schema = _load_instructions()
    document = {"entries": [_describe_entry(at, one, clean) for at, one in enumerate(members)]}
    return Question(
        instructions=instructions,
        prompt=json.dumps(document, ensure_ascii=False, indent=0),
        schema=schema,
        tokens_max=limits.LLM_JUDGEMENT_TOKENS,
    )


def _describe_entry(at: int, member: Member, clean: Callable[[str], str]) -> dict[str, object]:
    memory = member.memory
    shown: dict[str, object | None] = {
        "id": format_entry_id(at),
        "text": clean(resolve_relative_dates(memory.text, member.said_us))[: limits.LLM_CONTEXT_CHARACTERS],
        "since": f"{to_datetime(member.said_us):%F}",
        "new": member.fresh,
        "type": memory.type.value,
        "entity": memory.entity,
        "attribute": memory.attribute,
        "value": None if memory.value is None else clean(memory.value)[: limits.LLM_CONTEXT_CHARACTERS],
        "scope": memory.scope,
    }
    return {name: value for name, value in shown.items() if value is not None}


# Parse the language model's answer about a group and check it against the guards. Pure.


_FIELDS: Final = frozenset({"op", "target", "with", "kind", "text"})
_KINDS: Final = {"same": Relation.MERGED, "change": Relation.CHANGED, "correction": Relation.CORRECTED}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedAnswer:
    """The accepted operations of an answer; `refused` gives a reason for each of the others."""

    verdicts: tuple[Verdict, ...] = ()
    refused: tuple[str, ...] = ()


def parse_answer(text: str, members: Sequence[Member]) -> ParsedAnswer:
    """Parse an answer; raises `ValueError` if it is not the requested document.

    Each entry is changed once: a second operation on it is refused. Entries without an operation stay unchanged
    (S-043).
    """
    try:
        document: Any = json.loads(text)
    except RecursionError as error:
        raise ValueError("the answer is nested too deeply") from error
    listed: Any = cast("dict[str, Any]", document).get("operations") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError('the answer is not an object with a list "operations"')  # noqa: TRY004 - foreign JSON
    operations = cast("list[Any]", listed)
    entries = {format_entry_id(at): one for at, one in enumerate(members)}
    verdicts: list[Verdict] = []
    refused: list[str] = []
    touched: set[str] = set()
    for given in operations[: limits.LLM_JUDGEMENT_OPERATIONS]:
        verdict = _parse_operation(given, entries, touched)
        if isinstance(verdict, str):
            refused.append(verdict)
        elif verdict is not None:
            verdicts.append(verdict)
    return ParsedAnswer(verdicts=tuple(verdicts), refused=tuple(refused))


def _parse_operation(given: Any, entries: Mapping[str, Member], touched: set[str]) -> Verdict | str | None:  # noqa: ANN401 - foreign JSON
    """Parse one operation: return a verdict, None for no change, or the reason for its refusal."""
    if not isinstance(given, dict) or cast("dict[str, Any]", given).keys() != _FIELDS:
        raise ValueError("an operation has other fields than those asked for")
    fields = cast("dict[str, Any]", given)
    names: Any = fields["with"]
    if not isinstance(names, list) or not all(isinstance(one, str) for one in cast("list[object]", names)):
        raise ValueError('"with" is not a list of ids')
    ids = [fields["target"], *cast("list[str]", names)]
    if fields["op"] == "add":
        return None
    if len(set(ids)) != len(ids) or len(ids) < 2 or not all(one in entries for one in ids):  # noqa: PLR2004 - a pair
        return "entries"
    if touched.intersection(ids):
        return "touched twice"
    members = [entries[one] for one in ids]
    match fields["op"], fields["kind"]:
        case "remove", _:
            found = _check_removal(members)
        case "replace", "same":
            found = _check_merge(members, fields["text"])
        case "replace", "change" | "correction":
            found = _check_replacement(members, fields["text"], _KINDS[fields["kind"]])
        case _:
            raise ValueError("there is no such operation")
    if not isinstance(found, str):
        touched.update(ids)
    return found


def _check_removal(members: Sequence[Member]) -> Verdict | str:
    """Accept a removal only for true duplicates: no difference, and no word that the kept memory lacks."""
    target, kept, *more = members
    apart = find_difference(target, kept)
    if more or apart is not None:
        return apart or "entries"
    if is_distinct(target, kept) and not set(tokenize(target.memory.text)) <= set(tokenize(kept.memory.text)):
        return "words"
    return Remove(target=target.id, same_as=kept.id, reason="the model found nothing new in it")


def _check_merge(members: Sequence[Member], text: object) -> Verdict | str:
    for one, other in combinations(members, 2):
        apart = find_difference(one, other)
        if apart is not None:
            return apart
    written = _check_text(text, members)
    if written is None:
        return "text"
    wrong = find_unsupported(written, members[0].said_us, members)
    if wrong is not None:
        return wrong
    return Replace(
        target=members[0].id,
        sources=tuple(one.id for one in members[1:]),
        text=written,
        relation=Relation.MERGED,
        reason="the model found that they say the same",
    )


def _check_replacement(members: Sequence[Member], text: object, relation: Relation) -> Verdict | str:
    """Accept a replacement only if the newer memory states a change, or both have the same slot."""
    target, newer, *more = members
    if more or not may_replace(newer, target, correction=relation is Relation.CORRECTED):
        return "change"
    written = newer.memory.text if relation is Relation.CORRECTED else _check_text(text, members)
    if written is None:
        return "text"
    if (
        relation is Relation.CHANGED
        and (wrong := find_unsupported(written, newer.said_us, members, both=True)) is not None
    ):
        return wrong
    return Replace(
        target=target.id,
        sources=(newer.id,),
        text=written,
        relation=relation,
        reason=f"the model found that it {'changed' if relation is Relation.CHANGED else 'was wrong'}",
    )


def _check_text(text: object, members: Sequence[Member]) -> str | None:
    """Check a text by the model; relative dates in it refer to the newest memory."""
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        return None
    written = resolve_relative_dates(" ".join(text.split()), max(one.said_us for one in members))
    return written if len(written) <= limits.MEMORY_TEXT_CHARACTERS else None
