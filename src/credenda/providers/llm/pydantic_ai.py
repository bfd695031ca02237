"""Models over HTTP, through pydantic-ai: Anthropic, OpenAI, and any server compatible with OpenAI's chat completions.

One question is one request: this module does not retry, follow redirections, or log. pydantic-ai is loaded with the
first question. Requests run on an event loop in a thread of their own, so that each has a total time limit.
"""

from __future__ import annotations

import asyncio
import json
from asyncio import AbstractEventLoop
from collections.abc import Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final

from credenda import limits
from credenda.errors import Unavailable, format_install
from credenda.providers.llm.protocol import ModelFailure, Question, Reply, Trouble

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

_TOOL: Final = "keep"
_SLACK_SECONDS: Final = 1.0
_DENIED: Final = frozenset({400, 401, 402, 403, 404, 405, 413, 415, 422})
_ENDED_WELL: Final = frozenset({None, "stop", "tool_call"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEndpoint:
    """The model and its endpoint. `url` is "" for the provider's own."""

    provider: str
    model: str
    url: str = ""
    key: str = field(default="", repr=False)
    timeout_seconds: float = 30.0
    at_once: int = 4


@dataclass(slots=True, kw_only=True)
class _OpenClient:
    """The objects created at the first question."""

    loop: AbstractEventLoop
    thread: Thread
    client: AsyncClient
    model: Model


class Gateway:
    """A model at an endpoint. May be used from several threads."""

    def __init__(self, place: ModelEndpoint) -> None:
        """Take an endpoint without a request; raises `Unavailable` if pydantic-ai is not installed."""
        from importlib.util import find_spec

        if find_spec("pydantic_ai") is None:
            raise Unavailable(
                "language models are not installed",
                why="they need pydantic-ai",
                fix=f"{format_install('llm')}; or leave llm out",
            )
        self._place = place
        self._lock = Lock()
        self._open: _OpenClient | None = None
        self._closed = False

    @property
    def model_id(self) -> str:
        """Provider and name of the model, as in the user's choice."""
        return f"{self._place.provider}:{self._place.model}"

    @property
    def at_once(self) -> int:
        """How many questions it may answer at a time."""
        return self._place.at_once

    def ask(self, question: Question) -> Reply:
        """Send one request; raises `ModelFailure`, whose reason contains neither texts nor key."""
        with self._lock:
            if self._closed:
                raise ModelFailure(Trouble.AWAY, "the memory is closed")
            if self._open is None:
                self._open = _start_client(self._place)
            opened = self._open
        future = asyncio.run_coroutine_threadsafe(self._request(opened.model, question), opened.loop)
        try:
            return future.result(self._place.timeout_seconds + _SLACK_SECONDS)
        except TimeoutError:
            future.cancel()
            raise ModelFailure(Trouble.AWAY, f"no answer within {self._place.timeout_seconds:g} s") from None
        except CancelledError:
            raise ModelFailure(Trouble.AWAY, "the memory was closed meanwhile") from None

    def close(self) -> None:
        """Cancel running requests, and release the connections."""
        with self._lock:
            opened, self._open, self._closed = self._open, None, True
        if opened is not None:
            asyncio.run_coroutine_threadsafe(_close_client(opened.client), opened.loop).add_done_callback(
                lambda _: opened.loop.call_soon_threadsafe(opened.loop.stop)
            )
            opened.thread.join(_SLACK_SECONDS)

    async def _request(self, model: Model, question: Question) -> Reply:
        from pydantic_ai.direct import model_request
        from pydantic_ai.exceptions import UserError

        try:
            async with asyncio.timeout(self._place.timeout_seconds):
                settings: ModelSettings = {"max_tokens": question.tokens_max, "timeout": self._place.timeout_seconds}
                if self._place.url:
                    settings["temperature"] = 0.0  # some models of the providers refuse it
                response = await model_request(
                    model,
                    _build_messages(question),
                    model_settings=settings,
                    model_request_parameters=_build_parameters(self._place, question),
                    instrument=False,
                )
        except TimeoutError:
            raise ModelFailure(Trouble.AWAY, f"no answer within {self._place.timeout_seconds:g} s") from None
        except (UserError, ImportError) as error:
            raise ModelFailure(Trouble.DENIED, f"it rejects this kind of request ({type(error).__name__})") from None
        except Exception as error:  # noqa: BLE001 - three libraries raise what they like: each is one way of not answering
            raise _to_failure(error) from None
        # A truncated or refused response is a failure, whatever it contains.
        used = {"tokens_in": response.usage.input_tokens, "tokens_out": response.usage.output_tokens}
        if response.finish_reason == "length":
            raise ModelFailure(Trouble.CUT, "its answer was cut off at the bound of tokens", **used)
        if response.finish_reason == "content_filter":
            raise ModelFailure(Trouble.REFUSED, "it refused to answer", **used)
        if response.finish_reason not in _ENDED_WELL:
            raise ModelFailure(Trouble.UNREADABLE, "its answer ended irregularly", **used)
        text = _extract_json(response)
        if len(text) > limits.LLM_ANSWER_CHARACTERS:
            raise ModelFailure(Trouble.UNREADABLE, "its answer is longer than any claims need", **used)
        return Reply(text=text, **used)


def _start_client(place: ModelEndpoint) -> _OpenClient:
    """Load the libraries and start the loop. A read timeout of the client ends silent connections."""
    import httpx2

    loop = asyncio.new_event_loop()

    def run() -> None:
        try:
            loop.run_forever()
        finally:
            for task in asyncio.all_tasks(loop):
                task.cancel()
            with suppress(Exception):  # cancelled requests have already got their error
                loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    client = httpx2.AsyncClient(follow_redirects=False, timeout=place.timeout_seconds)
    model = _build_model(place, client)
    thread = Thread(target=run, name="credenda-gateway", daemon=True)
    thread.start()
    return _OpenClient(loop=loop, thread=thread, client=client, model=model)


async def _close_client(client: AsyncClient) -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await client.aclose()


def _build_model(place: ModelEndpoint, client: AsyncClient) -> Model:
    if place.provider == "anthropic":
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        base = place.url or "https://api.anthropic.com"
        sdk = AsyncAnthropic(
            api_key=place.key or "none", base_url=base, http_client=client, max_retries=0, timeout=place.timeout_seconds
        )
        return AnthropicModel(place.model, provider=AnthropicProvider(anthropic_client=sdk))
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider

    openai = AsyncOpenAI(
        api_key=place.key or "none",
        base_url=place.url or "https://api.openai.com/v1",
        http_client=client,
        max_retries=0,
        timeout=place.timeout_seconds,
    )
    provider = OpenAIProvider(openai_client=openai)
    if not place.url:
        return OpenAIChatModel(place.model, provider=provider)
    # Self-hosted servers know the older name of the token limit.
    profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False, supports_json_schema_output=True)
    return OpenAIChatModel(place.model, provider=provider, profile=profile)


def _build_parameters(place: ModelEndpoint, question: Question) -> ModelRequestParameters:
    """Request the schema by the means of each API: a required tool call, or a response format."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    schema = dict(question.schema)
    if place.provider == "anthropic":
        tool = ToolDefinition(name=_TOOL, parameters_json_schema=schema, description="Hand in what is worth keeping.")
        return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)
    wanted = OutputObjectDefinition(json_schema=schema, name=_TOOL, strict=True)
    return ModelRequestParameters(output_mode="native", output_object=wanted)


def _build_messages(question: Question) -> list[ModelMessage]:
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

    said: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart(question.prompt)], instructions=question.instructions)
    ]
    for answer, complaint in question.earlier:
        said.append(ModelResponse(parts=[TextPart(answer or "(nothing)")]))
        said.append(ModelRequest(parts=[UserPromptPart(complaint)], instructions=question.instructions))
    return said


def _extract_json(response: ModelResponse) -> str:
    from pydantic_ai.messages import TextPart, ToolCallPart

    for part in response.parts:
        if isinstance(part, ToolCallPart):
            return part.args if isinstance(part.args, str) else json.dumps(part.args or {}, ensure_ascii=False)
    return "".join(part.content for part in response.parts if isinstance(part, TextPart)).strip()


def _to_failure(error: Exception) -> ModelFailure:
    """Convert an exception of pydantic-ai or a library below it to a failure with its kind, never its message."""
    from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior

    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        wait = _parse_retry_after(getattr(error, "headers", None))
        if status in _DENIED:
            return ModelFailure(Trouble.DENIED, f"it answered {status}", wait_seconds=wait)
        return ModelFailure(Trouble.BUSY, f"it answered {status}", wait_seconds=wait)
    if isinstance(error, UnexpectedModelBehavior):
        return ModelFailure(Trouble.UNREADABLE, "its answer does not have the required format")
    if isinstance(error, ModelAPIError):
        return ModelFailure(Trouble.AWAY, f"it cannot be reached ({type(error).__name__})")
    return ModelFailure(Trouble.AWAY, f"the call failed ({type(error).__name__})")


def _parse_retry_after(headers: Mapping[str, Any] | None) -> float | None:
    """Parse `Retry-After` as seconds; a date is ignored, and our own wait applies."""
    text = str((headers or {}).get("retry-after", "")).strip()
    try:
        return float(text) if text else None
    except ValueError:
        return None
