"""Turn a page and what it has loaded into HTML; everything is escaped unless a template of ours wrote it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, tzinfo
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from credenda import __version__
from credenda.clock import format_time
from credenda.interfaces.web.drawings.svg import shorten
from credenda.interfaces.web.engine_phrases import translate_phrase
from credenda.interfaces.web.languages import LANGUAGES, translate
from credenda.interfaces.web.notes import Note
from credenda.interfaces.web.outcomes import Outcome
from credenda.interfaces.web.page import Page
from credenda.interfaces.web.times import describe_age, describe_span, format_day, format_moment, to_microseconds
from credenda.interfaces.web.view import View
from credenda.text.documents import format_yearly_day

__all__ = ["ASSETS", "POLICY", "link_asset", "read_asset", "render_bare", "render_page"]

ASSETS: Final[Mapping[str, str]] = {
    "style.css": "text/css",
    "app.js": "text/javascript",
    "htmx.min.js": "text/javascript",
    "hx-sse.min.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
"""The files that pages load, with their types."""
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
"""The Content Security Policy: nothing inline, and nothing of another host."""
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_LINE_ID: Final = re.compile(r"^- \[[^\]]*\] ")
_PLACES: Final = re.compile(r"\{([a-z]+)\}")
_SAID: Final = 200
_CHARACTERS: Final = 600
"""After so many characters a text is cut, unless a template asks for more."""


@cache
def read_asset(name: str) -> bytes:
    """Return the bytes of a file of `static/`."""
    return (files("credenda.interfaces.web") / "static" / name).read_bytes()


@cache
def link_asset(name: str) -> str:
    """Return the address of a file of `static/`, which changes with its content, so that browsers may keep it."""
    return f"/static/{name}?v={sha256(read_asset(name)).hexdigest()[:12]}"


def render_page(page: Page, view: View, data: Mapping[str, object], *, menu: object, notes: tuple[Note, ...]) -> str:
    """Render a page with the data that it has loaded."""
    template = _make_environment().get_template(f"{page.name}.html")
    tools = _make_tools(view.language, view.memory.zone, view.now_us)
    return template.render(**tools, view=view, page=page, menu=menu, notes=notes, **data)


def render_bare(name: str, *, language: str, **values: object) -> str:
    """Render a page without a caller, such as that of an error."""
    words = {
        "t": partial(translate, language),
        "tell": partial(translate_phrase, language),
        "language": language,
        "languages": LANGUAGES,
    }
    return _make_environment().get_template(name).render(**words, **values)


@cache
def _make_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("credenda.interfaces.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    shared: dict[str, Any] = environment.globals  # pyright: ignore[reportUnknownMemberType,reportAssignmentType]
    shared.update(asset=link_asset, credenda_version=__version__)
    filters: dict[str, Any] = environment.filters  # pyright: ignore[reportUnknownMemberType,reportAssignmentType]
    filters.update(brief=shorten, one_line=_join_lines, shown=_show_text)
    filters.update(percent=_format_percent, number=_format_number, trim_id=_trim_id)
    return environment


def _make_tools(language: str, zone: tzinfo, now_us: int) -> dict[str, Any]:
    """Make the functions of a template that depend on the person."""

    def when(moment: int | datetime | None, *, exactly: bool = False) -> Markup:
        """Write a time: how long ago, and the moment."""
        if moment is None:
            return Markup('<span class="quiet">–</span>')
        at_us = to_microseconds(moment)
        age, absolute = describe_age(at_us, now_us, language, exactly=exactly), format_moment(at_us, zone)
        return Markup('<time datetime="{}">{} <span class="moment">{}</span></time>').format(
            format_time(at_us), age, absolute
        )

    def moment(at: int | datetime) -> Markup:
        """Write a time without its distance."""
        at_us = to_microseconds(at)
        return Markup('<time datetime="{}"><span class="moment">{}</span></time>').format(
            format_time(at_us), format_moment(at_us, zone)
        )

    def day(at: int | datetime) -> str:
        """Write the day of a time."""
        return format_day(to_microseconds(at), zone)

    def count(number: int, one: str, many: str) -> str:
        """Write a number with its noun: the two messages of one and of many, with `{n}`."""
        return translate(language, one if number == 1 else many, n=_format_number(number))

    def say(outcome: Outcome) -> Markup:
        """Write a sentence with its values, each a text of its own."""
        values = {name: escape(translate(language, word)) for name, word in outcome.words.items()}
        for name, value in outcome.values.items():
            values[name] = Markup('<bdi class="words">{}</bdi>').format(_show_text(value, _SAID))
        pieces = _PLACES.split(translate(language, outcome.message))
        return Markup("").join(escape(one) if not place % 2 else values[one] for place, one in enumerate(pieces))

    return {
        "t": partial(translate, language),
        "say": say,
        "when": when,
        "moment": moment,
        "day": day,
        "span": partial(describe_span, language=language),
        "count": count,
        "language": language,
        "languages": LANGUAGES,
    }


def _show_text(text: object, characters: int = _CHARACTERS) -> Markup:
    """Make a text of a user harmless: control characters become a sign, and beyond a number of characters it is cut."""
    whole = format_yearly_day(str(text))
    shown = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", whole[:characters])
    return escape(shown + ("…" if len(whole) > characters else ""))


def _trim_id(line: object) -> str:
    """Return a line of a context without the id at its beginning."""
    return _LINE_ID.sub("", str(line))


def _join_lines(text: str) -> str:
    """Write the beginning of a text as one line."""
    return " ".join(text[: _CHARACTERS * 2].split())


def _format_percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def _format_number(number: float) -> str:
    """Write a number with thin spaces between thousands.

    >>> _format_number(12345)
    '12\u202f345'
    """
    return f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
