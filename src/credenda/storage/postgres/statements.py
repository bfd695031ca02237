"""The named SQL statements of Postgres: the common ones, translated when they are compiled, and its own.

The translation knows three forms, and nothing else differs in the common statements:

* a parameter gets its type (`:topic` → `%(topic)s::text`), without which `:topic IS NULL` has none;
* `IN (SELECT value FROM json_each(:ids))`, a list in JSON, becomes `= ANY (ARRAY(…))`;
* `INDEXED BY …` is left out.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from credenda.storage.sql.statements import Dialect, load_dialect

__all__ = ["DIALECT", "get_positional_statement", "load_statements"]

_TEXTS: Final = [
    "user_id",
    "tag",
    "role",
    "speaker",
    "source",
    "topic",
    "text",
    "session",
    "agent",
    "external_id",
    "flags",
    "tags",
    "metadata",
    "name",
    "reason",
    "kind",
    "kinds",
    "other_kinds",
    "besides",
    "actor",
    "cause",
    "causes",
    "delta",
    "memories",
    "events",
    "changes",
    "ids",
    "codes",
    "model_id",
    "model",
    "status",
    "statuses",
    "state",
    "lease_owner",
    "error",
    "idempotency_key",
    "key",
    "sealed",
    "payload",
    "outcome",
    "entity",
    "attribute",
    "entity_key",
    "attribute_key",
    "scope",
    "scopes",
    "cardinality",
    "stance",
    "layer",
    "layers",
    "type",
    "types",
    "memory_type",
    "relation",
    "source_session",
    "type_class",
    "vals",
    "question",
    "resolution",
    "public_id",
    "phrase",
    "before",
    "reader",
    "operation",
    "result",
    "owner",
    "over",
    "lifted_reason",
    "member",
    "term",
    "scores",
    "user",
    "alias",
    "record",
    "pseudonym",
    "token_id",
    "subject",
    "client",
    "resource",
    "issuer",
    "context_id",
    "message_id",
    "skill",
    "finished",
    "states",
    "answers",
    "judge",
    "answer",
    "contests",
    "last_id",
    "id_text",
    "data_text",
    "after_user",
]
_BYTES: Final = [
    "content_hmac",
    "chain_hash",
    "hmac_key",
    "file_key",
    "payload_hash",
    "digest",
    "claim_hash",
    "new_hash",
    "data",
    "hash",
    "input_key",
    "ledger_key",
]
_FLOATS: Final = [
    "trust",
    "confidence",
    "importance",
    "base_importance",
    "surprise",
    "emotional_valence",
    "decay_score",
    "score",
    "scale",
    "cost_usd",
]
_TYPES: Final = {
    **dict.fromkeys(_TEXTS, "::text"),
    **dict.fromkeys(_BYTES, "::bytea"),
    **dict.fromkeys(_FLOATS, "::double precision"),
    **dict.fromkeys(("redacted", "worded"), "::boolean"),
    "value": "",  # that of the column
    "term_list": "::text[]",
    "code_list": "::bigint[]",
}
_WHOLE_NUMBER: Final = "::bigint"
_NUMBER_LISTS: Final = frozenset({"ids", "memories", "events", "changes"})
_LIST: Final = re.compile(r"(NOT )?IN \(SELECT value FROM json_each\(:(\w+)\)\)")
_INDEX: Final = re.compile(r" INDEXED BY \w+")
_TOKEN: Final = re.compile(r"'[^']*'|::|%|:(\w+)")
_PARAMETER: Final = re.compile(r"%\(\w+\)s")


def _translate(statement: str) -> str:
    statement = _LIST.sub(_write_list, _INDEX.sub("", statement))
    return _TOKEN.sub(_write_token, statement)


def _write_list(found: re.Match[str]) -> str:
    kind = "bigint" if found[2] in _NUMBER_LISTS else "text"
    array = f"ARRAY(SELECT CAST(one.value AS {kind}) FROM json_array_elements_text(CAST(:{found[2]} AS json)) AS one)"
    return f"<> ALL ({array})" if found[1] else f"= ANY ({array})"


def _write_token(found: re.Match[str]) -> str:
    name = found[1]
    if name is None:
        return found[0].replace("%", "%%")
    return f"%({name})s{_TYPES.get(name, _WHOLE_NUMBER)}"


DIALECT: Final = Dialect("credenda.storage.postgres", _translate)


@cache
def load_statements() -> dict[str, str]:
    """Load the named SQL of this backend: name → statement in the form of psycopg."""
    return load_dialect(DIALECT)


@cache
def get_positional_statement(name: str) -> str:
    """Return a statement with positional parameters, in the order in which their names occur in it."""
    return _PARAMETER.sub("%s", load_statements()[name])
