"""`credenda doctor --server`: check a server from outside, as its clients see it."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Final, cast
from urllib.parse import urlsplit

from credenda import __version__
from credenda.clock import SECOND_US, Clock, SystemClock, from_datetime, seconds
from credenda.config import read_token
from credenda.errors import Invalid
from credenda.interfaces.cli.output import escape_controls, format_wait
from credenda.model.server_report import ServerCheck, ServerReport

_TIMEOUT_SECONDS: Final = 10.0
_ANSWER_BYTES: Final = 8 << 20
_CLOCK_SECONDS: Final = 60.0
"""Tokens expire and leases end by the clock: a minute of difference is a fault."""
_UNREAD_SECONDS: Final = 300.0
"""A message that waits longer than this is a sign that nobody reads."""
_GAUGE: Final = re.compile(r"^(credenda_[a-z_]+) ([0-9.e+-]+)$", re.MULTILINE)
_ADMIN: Final = "use a token with the scope memory:admin"


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    date: str = ""
    body: bytes = b""
    problem: str = ""

    def parse(self) -> Mapping[str, Any]:
        """Return the JSON object of the body; empty where it is none."""
        try:
            found: object = json.loads(self.body)
        except ValueError:
            return {}
        return cast("Mapping[str, Any]", found) if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class _Site:
    """A server and the token for it; follows no redirection, which could lead the token elsewhere."""

    url: str
    token: str = field(repr=False)

    def get(self, path: str) -> _Answer:
        """Read a page; a server that does not answer has status 0."""
        parts = urlsplit(self.url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(str(parts.hostname), parts.port, timeout=_TIMEOUT_SECONDS)
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            connection.request("GET", f"{parts.path.rstrip('/')}{path}", headers=headers)
            answer = connection.getresponse()
            return _Answer(answer.status, answer.headers.get("date", ""), answer.read(_ANSWER_BYTES))
        except (OSError, HTTPException) as error:
            return _Answer(0, problem=_describe_failure(error))
        finally:
            connection.close()


def check_server(url: str, clock: Clock | None = None) -> ServerReport:
    """Check whether a server lives, can be used and reads what it is told; the token comes from `CREDENDA_TOKEN`."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username is not None:
        raise Invalid(f"{url!r} is not the address of a server", fix="give one such as http://127.0.0.1:8765")
    site = _Site(url, read_token())
    life = site.get("/livez")
    checks = [_check_page("livez", life)]
    unread: float | None = None
    if life.status:
        stats, metrics = site.get("/v1/stats"), site.get("/metrics")
        gauges = dict(_read_gauges(metrics))
        told = gauges.get("credenda_oldest_unread_seconds", stats.parse().get("oldest_unread_seconds"))
        unread = float(told) if isinstance(told, int | float) else None
        checks += [
            _check_unread(unread),
            _check_page("readyz", site.get("/readyz")),
            _check_version(site.get("/openapi.json")),
            _check_token(stats, has_token=bool(site.token)),
            _check_clock(life, clock or SystemClock()),
            _check_probe(metrics, gauges),
        ]
    return ServerReport(
        oldest_unread_seconds=unread,
        ok=all(one.ok is not False for one in checks),
        url=url,
        checks=tuple(checks),
    )


def _describe_failure(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return f"TLS: {error.reason}"
    return str(getattr(error, "strerror", None) or type(error).__name__)


def _read_gauges(answer: _Answer) -> Iterator[tuple[str, float]]:
    for name, value in _GAUGE.findall(answer.body.decode("utf-8", "replace")):
        yield name, float(value)


def _check_page(name: str, answer: _Answer) -> ServerCheck:
    if answer.status == 200:  # noqa: PLR2004 - the status
        return ServerCheck(check=name, ok=True, detail="it answers")
    told = answer.problem or f"it answers with {answer.status}"
    return ServerCheck(check=name, ok=False, detail=told, fix="look at the log of the server")


def _check_unread(unread: float | None) -> ServerCheck:
    if unread is None:
        return ServerCheck(check="oldest unread message", ok=None, detail="not shown", fix="give a valid token")
    fix = "" if unread <= _UNREAD_SECONDS else "is a worker running? see `credenda worker --all-users`"
    return ServerCheck(check="oldest unread message", ok=not fix, detail=format_wait(unread), fix=fix)


def _check_version(answer: _Answer) -> ServerCheck:
    found = str(answer.parse().get("info", {}).get("version", ""))
    same = found == __version__
    detail = escape_controls(found[:40]) or "not told"
    return ServerCheck(check="version", ok=same, detail=detail, fix="" if same else f"this program has {__version__}")


def _check_token(answer: _Answer, *, has_token: bool) -> ServerCheck:
    match answer.status:
        case 200:
            return ServerCheck(check="token", ok=True, detail="it is valid" if has_token else "none is needed")
        case 401:
            told = "it is unknown, expired or revoked" if has_token else "the server needs one"
            return ServerCheck(check="token", ok=False, detail=told, fix="give a valid one in CREDENDA_TOKEN")
        case 403:
            return ServerCheck(check="token", ok=False, detail="it may not read", fix="use one with memory:read")
        case status:
            return ServerCheck(check="token", ok=False, detail=answer.problem or f"the answer was {status}")


def _check_clock(answer: _Answer, clock: Clock) -> ServerCheck:
    begun = seconds()
    try:
        theirs_us = from_datetime(parsedate_to_datetime(answer.date))
    except ValueError:
        return ServerCheck(check="clock", ok=None, detail="the server does not tell its time")
    apart = abs(clock.now_us() - theirs_us) / SECOND_US - (seconds() - begun)
    ok = apart <= _CLOCK_SECONDS
    return ServerCheck(
        check="clock", ok=ok, detail=f"{apart:.0f} s apart", fix="" if ok else "set both clocks by a time server"
    )


def _check_probe(answer: _Answer, gauges: Mapping[str, float]) -> ServerCheck:
    if answer.status == 403:  # noqa: PLR2004 - the status
        return ServerCheck(check="probe", ok=None, detail="not shown", fix=_ADMIN)
    if "credenda_probe_success" not in gauges:
        fix = "set probe_seconds for the server" if answer.status == 200 else ""  # noqa: PLR2004 - the status
        return ServerCheck(check="probe", ok=None, detail="there was none yet", fix=fix)
    age, took = gauges.get("credenda_probe_age_seconds", 0.0), gauges.get("credenda_probe_total_seconds", 0.0)
    when = f"{age:.0f} s ago"
    if not gauges["credenda_probe_success"]:
        return ServerCheck(check="probe", ok=False, detail=f"it failed {when}", fix="look at the log of the server")
    return ServerCheck(check="probe", ok=True, detail=f"written, read and found in {took:.2f} s, {when}")
