"""What an endpoint may answer, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from credenda import limits
from credenda.config import Settings
from credenda.errors import Invalid, Unavailable
from credenda.providers.embed.factory import open_embedder
from credenda.providers.embed.openai_compatible import EmbeddingEndpoint, RemoteEmbedder

from .endpoint import Answer, EndpointServer

KEY = "sk-not-to-be-seen"
SECRET_TEXT = "the treasure lies under the oak"


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    server = EndpointServer()
    yield server
    server.close()


@pytest.fixture
def waited() -> list[float]:
    return []


@pytest.fixture
def remote(server: EndpointServer, waited: list[float]) -> RemoteEmbedder:
    return RemoteEmbedder(EmbeddingEndpoint(url=server.url, model="small", key=KEY), wait=waited.append)


def test_nothing_is_asked_before_the_first_text(remote: RemoteEmbedder, server: EndpointServer) -> None:
    assert remote.model_id.endswith("/v1/small")
    assert server.requests == []
    assert remote.dims == 64
    assert len(server.requests) == 1
    assert remote.dims == 64
    assert len(server.requests) == 1


def test_a_request_names_model_key_and_texts(remote: RemoteEmbedder, server: EndpointServer) -> None:
    remote.embed(["tea", "  "])
    ((path, headers, body),) = server.requests
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert body["model"] == "small"
    assert body["input"] == ["tea", "(blank)"]
    assert "dimensions" not in body


def test_without_a_key_none_is_sent(server: EndpointServer) -> None:
    RemoteEmbedder(EmbeddingEndpoint(url=server.url, model="small")).embed(["tea"])
    assert "Authorization" not in server.requests[0][1]


def test_equal_names_at_two_places_are_two_models() -> None:
    ids = {
        RemoteEmbedder(EmbeddingEndpoint(url=url, model=model, dims=dims)).model_id
        for url in ("https://a.example/v1", "https://b.example/v1", "https://a.example:8443/v1", "https://a.example/v2")
        for model in ("small", "large")
        for dims in (0, 256)
    }
    assert len(ids) == 16


def test_many_texts_go_in_bounded_requests_and_keep_their_order(remote: RemoteEmbedder, server: EndpointServer) -> None:
    texts = [f"note {number} " + "x" * (number * 40) for number in range(150)]
    found = remote.embed(texts)
    assert len(server.requests) >= 150 / limits.EMBED_REQUEST_TEXTS
    for _, _, body in server.requests:
        assert len(body["input"]) <= limits.EMBED_REQUEST_TEXTS
        assert sum(map(len, body["input"])) <= limits.EMBED_REQUEST_CHARACTERS
    for number in (0, 63, 64, 149):
        assert np.allclose(found[number], remote.embed([texts[number]])[0], atol=1e-6)


def test_a_busy_endpoint_is_asked_again_when_it_says(
    remote: RemoteEmbedder, server: EndpointServer, waited: list[float]
) -> None:
    server.answers = [Answer(429, {"Retry-After": "3"}), Answer(503)]
    assert remote.embed(["tea", "coffee"]).shape == (2, 64)
    assert waited == [3.0, limits.EMBED_WAIT_SECONDS * 2]


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_an_endpoint_that_stays_busy_is_left_after_a_few_attempts(
    remote: RemoteEmbedder, server: EndpointServer, waited: list[float], status: int
) -> None:
    server.answers = [Answer(status)] * 10
    with pytest.raises(Unavailable, match=str(status)):
        remote.embed(["tea", "coffee"])
    assert len(server.requests) == limits.EMBED_ATTEMPTS
    assert waited == [limits.EMBED_WAIT_SECONDS, limits.EMBED_WAIT_SECONDS * 2]


def test_whoever_searches_does_not_wait(remote: RemoteEmbedder, server: EndpointServer, waited: list[float]) -> None:
    server.answers = [Answer(503)]
    with pytest.raises(Unavailable):
        remote.embed(["a question"])
    assert (len(server.requests), waited) == (1, [])


@pytest.mark.parametrize(
    "answer",
    [Answer(429, {"Retry-After": "3600"}), Answer(400), Answer(401), Answer(404), Answer(302, {"Location": "/other"})],
)
def test_what_more_asking_does_not_mend_is_asked_once(
    remote: RemoteEmbedder, server: EndpointServer, waited: list[float], answer: Answer
) -> None:
    server.answers = [answer]
    with pytest.raises(Unavailable, match=str(answer.status)):
        remote.embed(["tea", "coffee"])
    assert (len(server.requests), waited) == (1, [])


def row(index: object, values: object) -> dict[str, object]:
    return {"index": index, "embedding": values}


@pytest.mark.parametrize(
    "body",
    [
        b"<html>gateway</html>",
        b"\xff\xfe",
        b"[" * 10,
        [],
        {"data": None},
        {"data": [row(0, [1.0, 0.0])]},
        {"data": [row(0, [1.0, 0.0]), row(0, [1.0, 0.0])]},
        {"data": [row(0, [1.0, 0.0]), row(2, [1.0, 0.0])]},
        {"data": [row(0, [1.0, 0.0]), row(1, [1.0, 0.0]), row(2, [1.0, 0.0])]},
        {"data": [row(0, [1.0, 0.0]), row("1", [1.0, 0.0])]},
        {"data": [row(0, [1.0, 0.0]), row(1.0, [1.0, 0.0])]},
        {"data": [row(0, [1.0, 0.0]), row([], [1.0, 0.0])]},
        {"data": [row(0, [1.0, 0.0]), row(1, [1.0])]},
        {"data": [row(0, [1.0, 0.0]), row(1, "AAAA")]},
        {"data": [row(0, [1.0, 0.0]), row(1, None)]},
        {"data": [row(0, []), row(1, [])]},
        {"data": [row(0, [1.0, 0.0]), row(1, [0.0, 0.0])]},
        {"data": [row(0, [1.0, 0.0]), row(1, [float("nan"), 1.0])]},
        {"data": [row(0, [1.0, 0.0]), row(1, [float("inf"), 1.0])]},
        {"data": [row(0, [[1.0]]), row(1, [[1.0]])]},
    ],
)
def test_an_answer_that_is_not_one_usable_vector_a_text_gives_none(
    remote: RemoteEmbedder, server: EndpointServer, body: object
) -> None:
    server.answers = [Answer(body=body)]
    with pytest.raises(Unavailable):
        remote.embed(["tea", "coffee"])


def test_a_model_that_changes_its_dimensions_is_refused(remote: RemoteEmbedder, server: EndpointServer) -> None:
    remote.embed(["tea"])
    server.answers = [Answer(body={"data": [row(0, [1.0, 0.0])]})]
    with pytest.raises(Unavailable, match="64"):
        remote.embed(["coffee"])


def test_dimensions_that_were_chosen_are_asked_for_and_checked(server: EndpointServer) -> None:
    chosen = RemoteEmbedder(EmbeddingEndpoint(url=server.url, model="small", dims=32))
    assert chosen.dims == 32
    with pytest.raises(Unavailable, match="32"):
        chosen.embed(["tea"])
    assert server.requests[0][2]["dimensions"] == 32


def test_neither_key_nor_text_shows_in_errors(remote: RemoteEmbedder, server: EndpointServer) -> None:
    echo = {"error": {"message": f"cannot embed {SECRET_TEXT!r} for {KEY}"}}
    server.answers = [Answer(400, body=echo), Answer(body=echo)]
    for _ in range(2):
        with pytest.raises(Unavailable) as caught:
            remote.embed([SECRET_TEXT, "coffee"])
        assert KEY not in repr(caught.value) + str(caught.value)
        assert "treasure" not in repr(caught.value) + str(caught.value)
    assert KEY not in repr(EmbeddingEndpoint(url=server.url, model="m", key=KEY)) + repr(Settings(embedder_key=KEY))


def test_an_endpoint_that_is_not_there_is_unavailable(waited: list[float]) -> None:
    gone = EndpointServer()
    gone.close()
    remote = RemoteEmbedder(EmbeddingEndpoint(url=gone.url, model="small"), wait=waited.append)
    with pytest.raises(Unavailable):
        remote.embed(["tea", "coffee"])
    assert len(waited) == limits.EMBED_ATTEMPTS - 1


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://example.com/v1", "unencrypted"),
        ("http://127.0.0.1.example.com/v1", "unencrypted"),
        ("http://localhost@example.com/v1", "more than an address"),
        ("https://user:pass@example.com/v1", "more than an address"),
        ("https://example.com/v1?key=1", "more than an address"),
        ("file:///etc/passwd", "not an address"),
        ("example.com/v1", "not an address"),
        ("https://[::1", "not an address"),
        ("https://example.com:99999/v1", "not an address"),
        ("", "not an address"),
    ],
)
def test_an_address_that_must_not_be_used_is_refused(url: str, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        RemoteEmbedder(EmbeddingEndpoint(url=url, model="small"))


def test_unencrypted_sending_can_be_allowed() -> None:
    allowed = Settings(embedder_url="http://gateway.internal/v1", embedder_plain_http="anywhere")
    opened = open_embedder("openai:small", allowed)
    assert opened is not None
    assert opened.model_id == "openai:gateway.internal/v1/small"
    with pytest.raises(Invalid, match="unencrypted"):
        open_embedder("openai:small", Settings(embedder_url="http://gateway.internal/v1"))


def test_a_name_without_a_model_is_refused() -> None:
    with pytest.raises(Invalid, match="no model"):
        open_embedder("openai:", Settings())
