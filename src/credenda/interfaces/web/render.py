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
from credenda.clock import DAY_US, HOUR_US, SECOND_US, format_time, from_datetime, to_datetime
from credenda.interfaces.web.drawings import shorten
from credenda.interfaces.web.languages import LANGUAGES, translate, translate_phrase
from credenda.interfaces.web.view import Note, Outcome, Page, View
from credenda.limits import WAITING_MESSAGES_COUNTED
from credenda.model.event import find_quoted
from credenda.text.passages import format_yearly_day
from credenda.text.sentences import show_gaps

# Times as a person reads them: how long ago, and the moment itself beside it.


_MINUTE_US: Final = 60 * SECOND_US
_UNITS: Final = (
    (365 * DAY_US, "{n} year", "{n} years"),
    (30 * DAY_US, "{n} month", "{n} months"),
    (7 * DAY_US, "{n} week", "{n} weeks"),
    (DAY_US, "{n} day", "{n} days"),
    (HOUR_US, "{n} hour", "{n} hours"),
    (_MINUTE_US, "{n} minute", "{n} minutes"),
)
_SECONDS: Final = (SECOND_US, "{n} second", "{n} seconds")
_AGO: Final = {one: f"{one} ago" for _, *words in (*_UNITS, _SECONDS) for one in words}
_AHEAD: Final = {one: f"in {one}" for _, *words in (*_UNITS, _SECONDS) for one in words}


def to_microseconds(moment: int | datetime) -> int:
    """Return a time in microseconds, given as such or as a datetime."""
    return from_datetime(moment) if isinstance(moment, datetime) else moment


def describe_age(moment_us: int, now_us: int, language: str, *, exactly: bool = False) -> str:
    """Say how long ago or ahead a moment is, in the largest unit that fits; `exactly` counts seconds too.

    >>> describe_age(0, 3 * 3_600_000_000, "en")
    '3 hours ago'
    """
    span_us = now_us - moment_us
    for unit_us, one, many in (*_UNITS, _SECONDS) if exactly else _UNITS:
        count = abs(span_us) // unit_us
        if count:
            words = (_AGO if span_us > 0 else _AHEAD)[one if count == 1 else many]
            return translate(language, words, n=count)
    return translate(language, "just now" if span_us >= 0 else "in a moment")


def describe_span(duration_seconds: float, language: str) -> str:
    """Say how long something took or has waited.

    >>> describe_span(0.0042, "en"), describe_span(7_300, "en")
    ('4 ms', '2 hours')
    """
    if duration_seconds < 1:
        return f"{duration_seconds * 1_000:.0f} ms"
    span_us = int(duration_seconds * SECOND_US)
    for unit_us, one, many in _UNITS:
        count = span_us // unit_us
        if count:
            return translate(language, one if count == 1 else many, n=count)
    return f"{duration_seconds:.0f} s"


def format_moment(moment_us: int, zone: tzinfo) -> str:
    """Write a moment in a time zone, the same in every language.

    >>> from datetime import UTC
    >>> format_moment(0, UTC)
    '1970-01-01 00:00 UTC'
    """
    local = to_datetime(moment_us).astimezone(zone)
    offset = local.strftime("%z")
    named = "UTC" if offset in {"+0000", ""} else f"UTC{offset[:3]}:{offset[3:]}"
    return f"{local:%Y-%m-%d %H:%M} {named}"


def format_day(moment_us: int, zone: tzinfo) -> str:
    """Write the day of a moment in a time zone."""
    return f"{to_datetime(moment_us).astimezone(zone):%Y-%m-%d}"


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
    return template.render(**_make_tools(view), view=view, page=page, menu=menu, notes=notes, **data)


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
    shared.update(
        asset=link_asset, find_quoted=find_quoted, credenda_version=__version__, counted_max=WAITING_MESSAGES_COUNTED
    )
    filters: dict[str, Any] = environment.filters  # pyright: ignore[reportUnknownMemberType,reportAssignmentType]
    filters.update(brief=shorten, one_line=_join_lines, shown=_show_text, left=show_gaps, begun=_begin)
    filters.update(percent=_format_percent, number=_format_number, trim_id=_trim_id)
    return environment


def _make_tools(view: View) -> dict[str, Any]:
    """Make the functions of a template that depend on the person."""
    language, zone, now_us = view.language, view.zone, view.now_us

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

    def decimal(form: str, number: float) -> str:
        """Write a number by a form such as "%.3f", with the decimal sign of the language."""
        return (form % number).replace(".", translate(language, "."))

    def say(outcome: Outcome) -> Markup:
        """Write a sentence with its values, each a text of its own."""
        values = {name: escape(translate(language, word)) for name, word in outcome.words.items()}
        slot = f"{view.name_entity(outcome.memory.entity or '')} · {view.name_slot(outcome.memory.attribute)}"
        for name, value in {**outcome.values, **({"slot": slot} if "slot" in outcome.values else {})}.items():
            values[name] = Markup('<bdi class="words">{}</bdi>').format(_show_text(value, _SAID))
        pieces = _PLACES.split(translate(language, outcome.message))
        return Markup("").join(escape(one) if not place % 2 else values[one] for place, one in enumerate(pieces))

    return {
        "t": view.t,
        "say": say,
        "show_field": partial(_show_field, view),
        "when": when,
        "moment": moment,
        "day": day,
        "span": partial(describe_span, language=language),
        "count": count,
        "decimal": decimal,
        "language": language,
        "languages": LANGUAGES,
    }


_WORDED: Final = frozenset({"status", "relation", "layer", "stance", "type"})
"""Fields whose values are words of the model."""


def _show_field(view: View, name: str, value: object) -> str:
    """Write a field of a memory as a person reads it."""
    match value:
        case None | "":
            return "–"
        case datetime():
            return format_moment(to_microseconds(value), view.zone)
        case bool():
            return view.t("yes") if value else view.t("no")
        case str() if name in _WORDED:
            return translate(view.language, value)
        case _:
            other = view.find_memory(value) if name == "superseded_by" else None
            return str(value) if other is None else view.state(other)


def _show_text(text: object, characters: int = _CHARACTERS) -> Markup:
    """Make a text of a user harmless: control characters become a sign, and beyond a number of characters it is cut."""
    whole = format_yearly_day(str(text))
    shown = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", whole[:characters])
    return escape(shown + ("…" if len(whole) > characters else ""))


def _trim_id(line: object) -> str:
    """Return a line of a context without the id at its beginning."""
    return _LINE_ID.sub("", str(line))


def _begin(text: str) -> str:
    """Write a sentence of the engine with a capital at its beginning, as where it stands alone."""
    return text[:1].upper() + text[1:]


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
