"""Schemathesis: requests made from the OpenAPI document, right and wrong ones, alone and in chains, find nothing.

`SCHEMA_EXAMPLES=100` sends so many requests to each route, and as many chains; the default takes half a minute.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
import schemathesis as untyped
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import FlakyStrategyDefinition
from schemathesis import checks as untyped_checks
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from credenda import Credenda, limits
from credenda.bootstrap import build_parts
from credenda.interfaces.authorization import SCOPES
from credenda.interfaces.json_schema import build_openapi
from credenda.interfaces.server.address import Address
from credenda.interfaces.server.memories import Memories
from credenda.interfaces.server.process import Plan, make_application
from credenda.services.access import issue_token
from credenda.testing import ManualClock

schemathesis: Any = untyped
checks: Any = untyped_checks
START = "2026-03-01T09:00:00Z"
EXAMPLES = int(os.environ.get("SCHEMA_EXAMPLES", "4"))
LABELS = [
    f"{method.upper()} {path}" for path, methods in build_openapi(version="1")["paths"].items() for method in methods
]
checks.load_all_checks()
NOT_CHECKED = [checks.CHECKS.get_one("positive_data_acceptance")]
"""A schema cannot say everything that an input must be: a text with a word in it, a time in words, an id that exists.
Such requests are answered with 422, which every route declares."""
ERASES = "DELETE /v1/me"
"""It would take the token away; the test of the erasure sends it."""
pytestmark = pytest.mark.filterwarnings("ignore")
"""Schemathesis and Hypothesis warn about strategies, not about the server."""


class WithoutLifespan:
    """The application for a client that starts and stops it for each request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return
        message: Message = {"type": ""}
        while message["type"] != "lifespan.shutdown":
            message = await receive()
            await send({"type": f"{message['type']}.complete"})


@pytest.fixture(scope="module")
def headers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    return_to = limits.HTTP_FAILED_TOKENS
    limits.HTTP_FAILED_TOKENS = 10**9  # type: ignore[misc] - wrong tokens are part of this test
    db = tmp_path_factory.mktemp("schema") / "memory.db"
    fill(db)
    parts = build_parts(db, user="ana", clock=ManualClock(START))
    view = parts.for_user("ana")
    token = issue_token(view, "test", scopes=list(SCOPES), allowed=SCOPES, expires="never").token
    view.release()
    with ExitStack() as held:  # the connections that its threads will use
        for _ in range(4):
            held.enter_context(parts.store.reader("ana"))
    memories = Memories(parts, work=False)
    OPEN["app"] = WithoutLifespan(make_application(parts, Plan(address=Address(tokens=True), rate=0.0), memories))
    yield {"Authorization": f"Bearer {token}", "Host": "127.0.0.1:8765"}
    memories.close()
    limits.HTTP_FAILED_TOKENS = return_to  # type: ignore[misc]


OPEN: dict[str, ASGIApp] = {}


def fill(db: Path) -> None:
    with Credenda.open(db, user="ana", clock=ManualClock(START), workers=False) as memory:
        for text in ("I live in Linz.", "I moved to Graz.", "I like tea."):
            memory.remember(text, session="s", topic="home")
        memory.settle()
        memory.jobs.start("consolidate", {"dry_run": True})


@pytest.fixture(scope="module")
def schema(headers: dict[str, str]) -> Any:  # noqa: ANN401 - a library without types
    return schemathesis.openapi.from_asgi("/openapi.json", OPEN["app"], headers={"Host": headers["Host"]})


def bounds(count: int) -> settings:
    phases = [Phase.explicit, Phase.generate]
    every: list[Any] = list(HealthCheck)
    return settings(
        max_examples=count, deadline=None, database=None, suppress_health_check=every, phases=phases, derandomize=True
    )


@pytest.mark.parametrize("label", [label for label in LABELS if label != ERASES])
def test_no_request_that_the_document_makes_breaks_a_route(
    label: str,
    schema: Any,  # noqa: ANN401 - as above
    headers: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "HTTP_STREAM_SECONDS", 0.0)
    method, path = label.split()
    operation = schema[path][method]
    cases = operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)
    cases |= operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)

    @bounds(EXAMPLES)
    @given(case=cases)
    def send(case: Any) -> None:  # noqa: ANN401 - as above
        case.call_and_validate(headers=headers, excluded_checks=NOT_CHECKED)

    send()


def test_no_chain_of_requests_breaks_the_server(
    schema: Any,  # noqa: ANN401 - as above
    headers: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "HTTP_STREAM_SECONDS", 0.0)

    made: Any = schema.exclude(path="/v1/me").as_state_machine()
    without = [*NOT_CHECKED, checks.CHECKS.get_one("ignored_auth")]  # the test above sends requests without a token

    class Chain(made):
        def get_call_kwargs(self, _: Any) -> dict[str, object]:  # noqa: ANN401 - as above
            return {"headers": headers}

        def validate_response(self, response: Any, case: Any, **_: Any) -> None:  # noqa: ANN401 - as above
            case.validate_response(response, headers=headers, excluded_checks=without)

    for number in range(EXAMPLES):  # one run after another: a repeated chain meets what others left on the server
        machine: Any = seed(number)(Chain)
        once = settings(bounds(2), derandomize=False, stateful_step_count=8)
        with suppress(FlakyStrategyDefinition):
            machine.run(settings=once)
