"""The tools offered to a model, generated from the operations table: names, schemas, hints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from credenda.ids import IdKind
from credenda.interfaces.input_schema import describe_input
from credenda.interfaces.mcp.answers import build_output_schema
from credenda.interfaces.serialize import encode
from credenda.operations.mcp_tools import Tool, Toolset, list_tools
from credenda.operations.table import OPERATIONS, Operation, Param

__all__ = ["Input", "Route", "ToolSpec", "build_tools", "estimate_tokens"]

_PIECES: Final = re.compile(r"[A-Za-z]+|\d|[^\sA-Za-z\d]+")
_PIECE: Final = {True: 6, False: 3}
"""Characters per estimated token."""
_CHARACTERS_A_TOKEN: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One input of a tool: its public name and its parameter."""

    name: str
    param: Param

    @property
    def required(self) -> bool:
        """Return whether a call needs this input."""
        return self.param.required


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One operation behind a tool."""

    operation: Operation
    inputs: tuple[Input, ...]
    advice: str = ""
    always: Mapping[str, object] = field(default_factory=dict[str, object])
    """Inputs with a fixed value, by their names in the table."""
    kind: IdKind | None = None
    """The kind of the required id, where it tells operations apart."""

    @property
    def required(self) -> tuple[str, ...]:
        """Return the names of the required inputs."""
        return tuple(one.name for one in self.inputs if one.required)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """One tool: a name, and its operations, the one with the fewest required inputs first."""

    name: str
    routes: tuple[Route, ...]

    @property
    def inputs(self) -> dict[str, Input]:
        """Return all inputs by their public names."""
        return {one.name: one for route in reversed(self.routes) for one in route.inputs}

    @property
    def writes(self) -> bool:
        """Return whether a call may change stored data."""
        return any(route.operation.writes for route in self.routes)

    @property
    def lasting(self) -> bool:
        """Return whether a call may take long: maintenance."""
        return any(route.operation.scope == "memory:admin" for route in self.routes)

    def description(self) -> str:
        """Return the description: what the tool does, and how to use it well."""
        first, *others = self.routes
        parts = [first.operation.summary, first.advice]
        for route in others:
            if route.kind is None:
                summary = route.operation.summary
                parts.append(f"With {' and '.join(route.required)}: {summary[0].lower()}{summary[1:]}")
            parts.append(route.advice)
        return " ".join(filter(None, parts))

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the inputs, which forbids other inputs."""
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: describe_input(one.param) for name, one in self.inputs.items()},
        }
        if required := self.routes[0].required:
            schema["required"] = list(required)
        return schema | {"additionalProperties": False}

    def output_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the structured result: the result of an operation, or an error."""
        return build_output_schema([route.operation for route in self.routes])

    def hints(self) -> dict[str, bool]:
        """Return the annotations that differ from the defaults of the protocol."""
        if not self.writes:
            return {"readOnlyHint": True, "openWorldHint": False}
        changing = [route.operation for route in self.routes if route.operation.writes]
        return {
            "destructiveHint": any(operation.destructive for operation in changing),
            "idempotentHint": all(operation.idempotent for operation in changing),
            "openWorldHint": False,
        }

    def listed(self) -> dict[str, Any]:
        """Return the tool as `tools/list` shows it."""
        return {
            "name": self.name,
            "description": self.description(),
            "inputSchema": self.input_schema(),
            "outputSchema": self.output_schema(),
            "annotations": self.hints(),
        }


def build_tools(
    operations: Iterable[Operation] = OPERATIONS.values(), *, toolset: Toolset = "default", read_only: bool = False
) -> dict[str, ToolSpec]:
    """Make the tools of a toolset, by name; leave out operations that write if the server is read-only."""
    routes: dict[str, list[Route]] = {}
    for operation in operations:
        if not (read_only and operation.writes):
            for tool in list_tools(operation, toolset):
                routes.setdefault(tool.name, []).append(_make_route(operation, tool, toolset))
    return {
        name: ToolSpec(
            name=name, routes=tuple(sorted(found, key=lambda route: (len(route.required), route.kind is not None)))
        )
        for name, found in routes.items()
    }


def estimate_tokens(tools: Iterable[ToolSpec]) -> int:
    """Estimate how many tokens these tools take in a model's prompt, rounding up.

    The estimate is the greater of a quarter of the characters of their compact JSON and a count of pieces: up to six
    letters of a word, one digit, or up to three other signs in a row are one piece. The tokenizer o200k of a current
    model needs about 15 % less.
    """
    body = encode([offer.listed() for offer in tools], indent=None).replace('": ', '":').replace(", ", ",")
    pieces = sum(-(-len(piece) // _PIECE[piece[0].isalpha()]) for piece in _PIECES.findall(body))
    return max(pieces, -(-len(body) // _CHARACTERS_A_TOKEN))


def _make_route(operation: Operation, tool: Tool, toolset: Toolset) -> Route:
    known = {param.name: param for param in operation.params_at("mcp")}
    chosen = [known[name] for name in tool.params if name in known]
    if toolset == "full" or tool.toolset == "full":
        chosen += [param for name, param in known.items() if name not in {*tool.params, *tool.always}]
    inputs = tuple(Input(name=tool.outside.get(param.name, param.name), param=param) for param in chosen)
    return Route(operation=operation, inputs=inputs, advice=tool.advice, always=tool.always, kind=tool.kind)
