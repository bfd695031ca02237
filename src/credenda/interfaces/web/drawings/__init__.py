"""Drawings of the web interface: SVG made on the server, each with the same data as a table. Pure.

A drawing is as wide as its place: positions along the width are shares of it and heights are pixels, so that text keeps
its size on a small screen. Colours come from CSS classes alone, for a strict Content-Security-Policy.
"""

from credenda.interfaces.web.drawings.charts import (
    Curve,
    CurvePoint,
    Edge,
    Node,
    Version,
    draw_columns,
    draw_curves,
    draw_graph,
    draw_lanes,
    draw_terms,
)
from credenda.interfaces.web.drawings.svg import Drawing, Row, Words, shorten

__all__ = [
    "Curve",
    "CurvePoint",
    "Drawing",
    "Edge",
    "Node",
    "Row",
    "Version",
    "Words",
    "draw_columns",
    "draw_curves",
    "draw_graph",
    "draw_lanes",
    "draw_terms",
    "shorten",
]
