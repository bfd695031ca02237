"""Generate clients/typescript/src/generated.ts from the OpenAPI document: the types, and the table of operations."""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from credenda import __version__
from credenda.interfaces.json_schema import build_openapi
from generated_page import write_or_check

FILE = Path(__file__).parents[1] / "clients" / "typescript" / "src" / "generated.ts"
_HEAD = """\
// Generated from the OpenAPI document by scripts/generate_typescript.py; do not edit.
// Field names and times are those of the HTTP interface: snake_case, and RFC 3339 in UTC.

/** A value of JSON. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
"""
_BYTES = "application/octet-stream"
_FORM = "multipart/form-data"
_PLAIN = {"integer": "number", "number": "number", "boolean": "boolean", "null": "null"}

Schema = Mapping[str, Any]


def write_type(schema: Schema, depth: int = 0) -> str:
    """Write the type of a schema."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " | ".join(dict.fromkeys(write_type(one, depth) for one in schema[union]))
    kinds: Any = schema.get("type", "json")
    if isinstance(kinds, list):
        return " | ".join(write_type({**schema, "type": kind}, depth) for kind in cast("list[str]", kinds))
    return _write_kind(kinds, schema, depth)


def _write_kind(kind: str, schema: Schema, depth: int) -> str:
    if kind == "string":
        return "Blob" if schema.get("contentMediaType") == _BYTES else "string"
    if kind == "array":
        inner = write_type(schema.get("items", {}), depth)
        return f"Array<{inner}>" if " " in inner else f"{inner}[]"
    if kind == "object":
        return _write_object(schema, depth)
    return _PLAIN.get(kind, "Json")


def _write_object(schema: Schema, depth: int) -> str:
    fields = schema.get("properties")
    if not fields:
        more: Any = schema.get("additionalProperties")
        inner = write_type(cast("Schema", more), depth) if isinstance(more, dict) and more else "Json"
        return f"Record<string, {inner}>"
    return "{\n" + "".join(_write_fields(schema, depth + 1)) + "  " * depth + "}"


def _write_fields(schema: Schema, depth: int) -> Iterator[str]:
    required = set(schema.get("required", ()))
    for name, inner in schema["properties"].items():
        shown = name if re.fullmatch(r"[A-Za-z_]\w*", name) else json.dumps(name)
        mark = "" if name in required else "?"
        yield from _write_comment(inner.get("description", ""), depth)
        yield f"{'  ' * depth}{shown}{mark}: {write_type(inner, depth)};\n"


def _write_comment(text: str, depth: int) -> Iterator[str]:
    words = " ".join(text.replace("*/", "* /").split())
    if words:
        yield f"{'  ' * depth}/** {words} */\n"


def write_schemas(document: Schema) -> Iterator[str]:
    """Write each schema as an interface, or as the union of its values."""
    for name, schema in document["components"]["schemas"].items():
        yield "\n"
        yield from _write_comment(schema.get("description", ""), 0)
        if schema.get("type") == "object" and schema.get("properties"):
            yield f"export interface {name} {write_type(schema)}\n"
        else:
            yield f"export type {name} = {write_type(schema)};\n"


def list_operations(document: Schema) -> Iterator[tuple[str, str, str, Schema]]:
    """Yield each operation: its name, method, path and description."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if "operationId" in operation:
                yield operation["operationId"], method.upper(), path, operation


def _write_input(operation: Schema) -> tuple[str, bool]:
    """Write the type of an operation's input, and tell whether it may be left out."""
    fields: dict[str, Any] = {}
    required: list[str] = []
    for parameter in operation.get("parameters", ()):
        if parameter.get("in") in {"path", "query"}:
            fields[parameter["name"]] = {**parameter["schema"], "description": parameter.get("description", "")}
            required += [parameter["name"]] if parameter.get("required") else []
    for content in operation.get("requestBody", {}).get("content", {}).values():
        fields |= content["schema"].get("properties", {})
        required += content["schema"].get("required", [])
    if not fields:
        return "Record<string, never>", True
    return write_type({"type": "object", "properties": fields, "required": required}, 2), not required


def _write_output(operation: Schema) -> str:
    """Write the type of the answers that went well; a body of bytes is a stream."""
    kinds: list[str] = []
    for status, answer in operation["responses"].items():
        if not status.startswith("2"):
            continue
        for media, content in answer.get("content", {}).items():
            kinds.append(
                "ReadableStream<Uint8Array>"
                if media in {_BYTES, "text/event-stream"}
                else write_type(content.get("schema", {}), 2)
            )
        if not answer.get("content"):
            kinds.append("null")
    return " | ".join(dict.fromkeys(kinds)) or "null"


def _describe_route(method: str, path: str, operation: Schema) -> str:
    """Write an entry of the table: where each input goes, and what comes back."""
    names = [one["name"] for one in operation.get("parameters", ()) if one.get("in") == "query"]
    bodies = operation.get("requestBody", {}).get("content", {})
    done = [one for status, one in operation["responses"].items() if status.startswith("2")]
    answers = {media for one in done for media in one.get("content", ())}
    body = "form" if _FORM in bodies else "json" if bodies else "none"
    answer = "stream" if {_BYTES, "text/event-stream"} & answers else "json"
    keyed = any(str(one.get("$ref", "")).endswith("IdempotencyKey") for one in operation.get("parameters", ()))
    return (
        f'{{ method: "{method}", path: "{path}", query: {json.dumps(names)}, body: "{body}", answer: "{answer}", '
        f"keyed: {json.dumps(keyed)} }}"
    )


def render(document: Schema) -> str:
    """Return the module."""
    lines = [_HEAD, *write_schemas(document), "\n/** The input and the answer of each operation. */\n"]
    table = ["\n/** Where each operation is found, and where its inputs go. */\nexport const ROUTES = {\n"]
    lines.append("export interface Operations {\n")
    for name, method, path, operation in list_operations(document):
        given, optional = _write_input(operation)
        lines += _write_comment(operation.get("summary", ""), 1)
        lines.append(f"  {json.dumps(name)}: {{\n")
        lines.append(f"    input: {given};\n    optional: {json.dumps(optional)};\n")
        lines.append(f"    output: {_write_output(operation)};\n  }};\n")
        table.append(f"  {json.dumps(name)}: {_describe_route(method, path, operation)},\n")
    lines.append("}\n")
    table.append("} as const;\n")
    return "".join([*lines, *table])


if __name__ == "__main__":
    sys.exit(write_or_check(FILE, render(build_openapi(version=__version__)), "generate_typescript.py"))
