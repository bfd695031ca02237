"""Entities and their relations as a graph, in columns by their distance from one of them. Pure.

Names stand in columns, one below the other, so that they never overlap; a force layout would need a large screen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from credenda.interfaces.web.drawings.svg import Canvas, Drawing, Row, Stretched, Words, make_row, share, shorten

__all__ = ["NODES_MAX", "Edge", "Node", "draw_graph"]

NODES_MAX: Final = 60
_LINE: Final = 24
_COLUMNS: Final = 3
_LABEL: Final = 16
_DOT: Final = 0.012
_RELATION: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An entity: its key, the name that is shown, and its weight, such as the number of its memories."""

    key: str
    name: str
    weight: int = 1
    link: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A relation between two entities, by their keys."""

    source: str
    target: str
    label: str


def draw_graph(
    nodes: Sequence[Node], edges: Sequence[Edge], *, focus: str = "", words: Words = str, title: str = ""
) -> Drawing:
    """Draw the 60 entities of the most weight around `focus`, or around the one with the most relations.

    The first column is the focus, the second what it is related to, the third the rest. The table has every relation
    between the entities that are drawn.
    """
    name = title or words("Entities and their relations")
    known = {node.key: node for node in nodes}
    degrees = _count_degrees(known, edges)
    middle = focus if focus in known else max(known, key=lambda key: (degrees[key], known[key].weight), default="")
    ordered = sorted(known.values(), key=lambda one: (one.key != middle, -one.weight, one.name))
    shown = {one.key: one for one in ordered[:NODES_MAX]}
    joined = [edge for edge in edges if edge.source in shown and edge.target in shown and edge.source != edge.target]
    columns = _arrange(shown, joined, middle)
    height = _LINE * max([len(column) for column in columns] + [1]) + 8
    canvas = Canvas(
        name, words("Names in columns by their distance; lines are relations."), height=height, name="graph"
    )
    places = _place(columns, height)
    field = canvas.stretch("field", y=0, height=height)
    for edge in joined:
        _draw_edge(field, edge, places, shown)
    for key, (x, y) in places.items():
        node = shown[key]
        kind = "node focus" if key == middle else "node"
        told = f"{shorten(node.name, _RELATION)}: {node.weight}"
        canvas.add("circle", kind, title=told, cx=share(x), cy=f"{y:.1f}", r=5)
        canvas.add("text", "label", x=share(x + 2 * _DOT), y=f"{y + 4:.1f}", text=shorten(node.name, _LABEL))
    return Drawing(
        title=name,
        svg=canvas.write(),
        head=(words("From"), words("Relation"), words("Leads to")),
        rows=tuple(_make_row(edge, shown) for edge in joined),
        left_out=len(known) - len(shown),
    )


def _make_row(edge: Edge, shown: Mapping[str, Node]) -> Row:
    source, target = shown[edge.source], shown[edge.target]
    return make_row(source.name, edge.label, target.name, link=source.link)


def _count_degrees(known: Mapping[str, Node], edges: Sequence[Edge]) -> dict[str, int]:
    degrees = dict.fromkeys(known, 0)
    for edge in edges:
        for key in {edge.source, edge.target} & degrees.keys():
            degrees[key] += 1
    return degrees


def _arrange(shown: Mapping[str, Node], joined: Sequence[Edge], middle: str) -> list[list[str]]:
    """Return the columns from left to right; inside a column, those with common neighbours stand together."""
    near = {other for edge in joined for one, other in _list_ends(edge) if one == middle}
    second = [key for key in shown if key in near]
    rest = [key for key in shown if key not in near and key != middle]
    row = {key: number for number, key in enumerate(second)}
    meets = {key: _find_mean_row(key, joined, row) for key in rest}
    rest.sort(key=lambda key: meets[key])
    return [column for column in ([middle] if middle else [], second, rest) if column]


def _list_ends(edge: Edge) -> tuple[tuple[str, str], tuple[str, str]]:
    return (edge.source, edge.target), (edge.target, edge.source)


def _find_mean_row(key: str, joined: Sequence[Edge], row: Mapping[str, int]) -> float:
    rows = [row[other] for edge in joined for one, other in _list_ends(edge) if one == key and other in row]
    return sum(rows) / len(rows) if rows else float(len(row))


def _place(columns: Sequence[Sequence[str]], height: float) -> dict[str, tuple[float, float]]:
    """Return the share of the width and the pixels from the top at which each entity stands."""
    places: dict[str, tuple[float, float]] = {}
    for number, column in enumerate(columns):
        step = height / len(column)
        for line, key in enumerate(column):
            places[key] = (_DOT + number / _COLUMNS, step * (line + 1 / 2))
    return places


def _draw_edge(
    field: Stretched, edge: Edge, places: Mapping[str, tuple[float, float]], shown: Mapping[str, Node]
) -> None:
    (x1, y1), (x2, y2) = places[edge.source], places[edge.target]
    bend = (x1 + x2) / 2 if x1 != x2 else x1 + 1 / _COLUMNS / 2
    path = f"M{x1 * 100:.2f} {y1:.1f}C{bend * 100:.2f} {y1:.1f} {bend * 100:.2f} {y2:.1f} {x2 * 100:.2f} {y2:.1f}"
    source, target = shown[edge.source].name, shown[edge.target].name
    told = f"{shorten(source, _LABEL)} · {shorten(edge.label, _RELATION)} · {shorten(target, _LABEL)}"
    field.add("path", "edge", title=told, d=path)
