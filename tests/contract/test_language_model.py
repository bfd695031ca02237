"""Models over the wire: both formats, through a server on this machine, and every way of not answering."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.providers.llm.protocol import LanguageModel, ModelFailure, Question, Trouble
from credenda.providers.llm.pydantic_ai import Gateway, ModelEndpoint
from credenda.testing import ManualClock, ScriptedModel

from .model_server import NOTHING, Answer, ModelServer

KEY = "sk-test-do-not-show"
QUESTION = Question(
    instructions="Say what is worth keeping.",
    prompt='{"message": {"text": "I live in Zorkville."}}',
    schema={
        "type": "object",
        "additionalProperties": False,
        "required": ["claims", "rejected"],
        "properties": {
            "claims": {"type": "array", "items": {"type": "string"}},
            "rejected": {"type": "array", "items": {"type": "string"}},
        },
    },
    tokens_max=256,
)
Opened = Callable[..., Gateway]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    served = ModelServer()
    yield served
    served.close()


@pytest.fixture(params=["openai", "anthropic"])
def open_gateway(request: pytest.FixtureRequest, server: ModelServer) -> Iterator[Opened]:
    opened: list[Gateway] = []
    path = "/v1" if request.param == "openai" else ""

    def build(seconds: float = 20.0) -> Gateway:
        place = ModelEndpoint(
            provider=request.param, model="stub-1", url=server.url + path, key=KEY, timeout_seconds=seconds, at_once=2
        )
        opened.append(Gateway(place))
        return opened[-1]

    yield build
    for one in opened:
        one.close()


def _failure(model: LanguageModel) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        model.ask(QUESTION)
    assert KEY not in str(caught.value)
    assert "Zorkville" not in str(caught.value)
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_question_is_one_request_and_its_answer_the_document(server: ModelServer, open_gateway: Opened) -> None:
    server.answers = [Answer({"claims": ["x"], "more": False})]
    model = open_gateway()
    assert isinstance(model, LanguageModel)
    reply = model.ask(QUESTION)
    assert reply.text.replace(" ", "") == '{"claims":["x"],"more":false}'
    assert (reply.tokens_in, reply.tokens_out) == (900, 40)
    ((path, headers, asked),) = server.requests
    assert path in {"/v1/chat/completions", "/v1/messages"}
    assert KEY in headers.get("authorization", "") + headers.get("x-api-key", "")
    assert "Zorkville" in str(asked["messages"])
    assert "worth keeping" in str(asked.get("system", "") or asked["messages"][0])
    assert "additionalProperties" in str(asked)


def test_what_was_wrong_is_told_in_the_same_talk(server: ModelServer, open_gateway: Opened) -> None:
    question = Question(
        instructions=QUESTION.instructions,
        prompt=QUESTION.prompt,
        schema=QUESTION.schema,
        tokens_max=256,
        earlier=(("half an answer", "that is not JSON"),),
    )
    open_gateway().ask(question)
    said = [one for one in server.requests[0][2]["messages"] if one["role"] != "system"]
    assert [one["role"] for one in said] == ["user", "assistant", "user"]
    assert "that is not JSON" in str(said[-1])


def test_two_models_may_be_asked_one_after_the_other(server: ModelServer, open_gateway: Opened) -> None:
    model = open_gateway()
    assert model.ask(QUESTION) == model.ask(QUESTION)
    assert len(server.requests) == 2
    model.close()
    assert _failure(model).trouble is Trouble.AWAY
    model.close()


@pytest.mark.parametrize("wait", ["17", "2.5", "", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_a_busy_model_is_not_asked_again_at_once(server: ModelServer, open_gateway: Opened, wait: str) -> None:
    server.answers = [Answer(status=429, text=KEY, headers={"Retry-After": wait} if wait else {})]
    failure = _failure(open_gateway())
    assert failure.trouble is Trouble.BUSY
    assert failure.wait_seconds == {"17": 17.0, "2.5": 2.5}.get(wait)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "trouble"),
    [(500, Trouble.BUSY), (503, Trouble.BUSY), (529, Trouble.BUSY), (401, Trouble.DENIED), (404, Trouble.DENIED)],
)
def test_an_error_of_the_server_is_told_by_its_number(
    server: ModelServer, open_gateway: Opened, status: int, trouble: Trouble
) -> None:
    server.answers = [Answer(status=status, text="I live in Zorkville")]
    failure = _failure(open_gateway())
    assert (failure.trouble, str(status) in str(failure)) == (trouble, True)
    assert len(server.requests) == 1


def test_an_answer_that_was_cut_off_is_a_failure_even_when_it_looks_whole(
    server: ModelServer, open_gateway: Opened
) -> None:
    server.answers = [Answer(NOTHING, ended="length")]
    failure = _failure(open_gateway())
    assert (failure.trouble, failure.tokens_in, failure.tokens_out) == (Trouble.CUT, 900, 40)


def test_a_refusal_is_a_failure(server: ModelServer, open_gateway: Opened) -> None:
    server.answers = [Answer(refusal="I cannot help with that.")]
    failure = _failure(open_gateway())
    assert (failure.trouble, failure.tokens_out) == (Trouble.REFUSED, 40)


def test_text_that_is_no_json_is_handed_on_as_it_is(server: ModelServer, open_gateway: Opened) -> None:
    server.answers = [Answer(text="I would rather chat.")]
    assert open_gateway().ask(QUESTION).text == "I would rather chat."


@pytest.mark.parametrize("body", [b"<html>gateway</html>", b"[]", b"{", b""])
def test_an_answer_in_another_format_is_a_failure(server: ModelServer, open_gateway: Opened, body: bytes) -> None:
    server.answers = [Answer(body=body)]
    assert _failure(open_gateway()).trouble in {Trouble.UNREADABLE, Trouble.AWAY, Trouble.BUSY}


def test_a_silent_model_is_given_up_in_time(server: ModelServer, open_gateway: Opened) -> None:
    server.answers = [Answer(hold=True)]
    model = open_gateway(0.3)
    assert _failure(model).trouble is Trouble.AWAY
    assert server.asked.is_set()


def test_a_server_that_is_not_there_is_away() -> None:
    gone = ModelServer()
    gone.close()
    model = Gateway(ModelEndpoint(provider="openai", model="x", url=f"{gone.url}/v1", key=KEY, timeout_seconds=5))
    try:
        assert _failure(model).trouble is Trouble.AWAY
    finally:
        model.close()


def test_no_redirection_is_followed(server: ModelServer, open_gateway: Opened) -> None:
    other = ModelServer()
    try:
        server.answers = [Answer(status=307, headers={"Location": f"{other.url}/v1/chat/completions"})]
        _failure(open_gateway())
        assert other.requests == []
    finally:
        other.close()


def test_nothing_is_logged_of_question_answer_or_key(
    server: ModelServer, open_gateway: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    server.answers = [Answer({"claims": ["Zorkville"], "more": False}), Answer(status=500, text="Zorkville")]
    model = open_gateway()
    with caplog.at_level(logging.INFO):
        model.ask(QUESTION)
        _failure(model)
    assert KEY not in caplog.text
    assert "Zorkville" not in caplog.text


def test_a_scripted_model_keeps_the_same_contract() -> None:
    model = ScriptedModel([{"claims": []}, ModelFailure(Trouble.BUSY, "it answered 429", wait_seconds=3)])
    assert isinstance(model, LanguageModel)
    assert json.loads(model.ask(QUESTION).text) == {"claims": [], "more": False}
    assert _failure(model).wait_seconds == 3
    assert model.asked == [QUESTION, QUESTION]


CLAIM = {
    "turn": "t1",
    "quote": "I counted forty",
    "entity": "user",
    "attribute": "hives",
    "value": "forty",
    "scope": None,
    "stance": "asserted",
    "effect": None,
}


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_from_the_wire_to_what_is_held_and_back_after_a_pause(
    server: ModelServer, tmp_path: Path, provider: str, capfd: pytest.CaptureFixture[str]
) -> None:
    url = server.url + ("/v1" if provider == "openai" else "")
    server.answers = [
        Answer(status=429, headers={"Retry-After": "120"}),
        Answer({"claim": CLAIM}),
        Answer({"claims": [CLAIM], "more": False}),
    ]
    clock = ManualClock("2026-03-01T09:00:00Z")
    with Credenda.open(
        tmp_path / "memory.db",
        user="ana",
        clock=clock,
        llm=f"{provider}:stub-1",
        embedder="none",
        settings={"llm_url": url, "llm_key": KEY, "llm_price": "1/5"},
        workers=False,
    ) as mem:
        mem.remember("They are so full, the hives behind our shed, I counted forty.")
        mem.settle()
        assert [one.provisional for one in mem.list().items] == [True]
        clock.advance(timedelta(seconds=119))
        mem.settle()
        assert len(server.requests) == 1
        clock.advance(timedelta(seconds=1))
        mem.settle()
        assert [(one.attribute, one.value) for one in mem.list().items] == [("hives", "forty")]
        use = mem.stats().model
        assert use is not None
        assert (use.calls, use.tokens, use.waiting) == (3, 2 * 940, {})
        assert use.cost_usd == pytest.approx(2 * (900 + 5 * 40) / 1e6)
    assert len(server.requests) == 3
    assert "This is not the requested JSON document." in str(server.requests[2][2]["messages"])
    assert KEY.encode() not in (tmp_path / "memory.db").read_bytes()
    assert KEY not in "".join(capfd.readouterr())
