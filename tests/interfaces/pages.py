"""A person at the pages of a server in this process: reads them, and sends their forms."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from httpx2 import Response

from credenda import Credenda
from credenda.clock import Clock
from credenda.interfaces.call_worker import run_calls

from .oauth import Browser
from .served import Site, closing_parts, serving

HTML = "text/html,application/xhtml+xml;q=0.9"


@dataclass
class Form:
    """A form of a page: where it goes, and what it sends as it stands."""

    action: str
    method: str
    fields: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    labels: list[str] = field(default_factory=list[str])


class Parser(HTMLParser):
    """Collects forms, links, ids, and the text that a reader sees."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.links: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append((tag, given))
        if tag == "a":
            self.links.append(given.get("href", ""))
        if tag == "form":
            self.forms.append(Form(given.get("action", ""), given.get("method", "get")))
        if tag == "input" and self.forms and given.get("name"):
            kind = given.get("type", "text")
            if kind not in {"radio", "checkbox"} or "checked" in given:
                self.forms[-1].fields.append((given["name"], given.get("value", "")))

    def handle_data(self, data: str) -> None:
        self.text += data


def parse(response: Response) -> Parser:
    parser = Parser()
    parser.feed(response.text)
    return parser


class Person:
    """Someone with a browser, logged in where the server wants that."""

    def __init__(self, site: Site, name: str = "ana", *, log_in: bool = True) -> None:
        self.site = site
        self.browser = Browser(site)
        self.name = name
        if log_in:
            self.log_in()

    def log_in(self) -> None:
        """Log in, also after the time of a session is over."""
        assert self.browser.log_in(self.name).status_code == 303

    def get(self, path: str, **headers: str) -> Response:
        return self.browser.get(path, **{"Accept": HTML, **headers})

    def read(self, path: str, **headers: str) -> Parser:
        response = self.get(path, **headers)
        assert response.status_code == 200, response.text
        return parse(response)

    def json(self, path: str) -> Any:  # noqa: ANN401 - JSON
        response = self.browser.get(path)
        assert response.status_code == 200, response.text
        return response.json()

    def send(self, form: Form, **fields: str) -> Response:
        """Send a form with other values where they are given."""
        known = [(name, value) for name, value in form.fields if name not in fields]
        sent: dict[str, Any] = {}
        for name, value in [*known, *fields.items()]:
            sent.setdefault(name, []).append(value)
        return self.browser.post(form.action, sent, Accept=HTML)

    def do(self, page: str, action: str, **fields: str) -> Parser:
        """Send the form of a page whose action ends so, and follow where it leads."""
        forms = [one for one in self.read(page).forms if one.action.endswith(action)]
        for form in forms:
            if all((name, value) in form.fields for name, value in fields.items() if name in {"id", "useful"}):
                response = self.send(form, **fields)
                assert response.status_code == 303, response.text
                return self.read(response.headers["Location"])
        raise AssertionError(f"{page} has no form for {action}: {[one.action for one in forms]}")


@contextmanager
def memory_of(site: Site, user: str = "ana") -> Generator[Credenda]:
    with Credenda(site.parts.for_user(user), workers=False) as memory:
        yield memory


def tell(site: Site, *texts: str, session: str = "", user: str = "ana", **given: Any) -> list[str]:  # noqa: ANN401 - of `remember`
    """Say something, and return the ids of all memories, the newest first."""
    with memory_of(site, user) as memory:
        for text in texts:
            memory.remember(text, session=session, **given)
            memory.settle()
        return [one.id for one in memory.list(status=None, limit=50).items]


@contextmanager
def serving_pages(tmp_path: Path, clock: Clock, **given: Any) -> Generator[Site]:  # noqa: ANN401 - of `serving`
    given.setdefault("tokens", True)
    with serving(tmp_path / "memory.db", clock, **given) as site:
        yield site


def run_in_background(site: Site, operation: str, user: str = "ana", **inputs: object) -> str:
    """Queue a call of an operation, run it as a worker does, and return the id of its job."""
    with memory_of(site, user) as memory:
        job_id = memory.jobs.start(operation, {"force": True, **inputs} if operation == "consolidate" else inputs).id
    with closing_parts(site, user) as parts:
        assert run_calls(parts, None)
    return job_id
