"""Spans and metrics of OpenTelemetry: their names, what they hold, and that they hold no words unless asked."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from credenda import Credenda, NotFound
from credenda.current_call import add_model_use, measure_model_use
from credenda.telemetry import record_model_call, record_request

WORD = "Zanzibar"


class Watched:
    """What OpenTelemetry got."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.reader = InMemoryMetricReader()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.meters = MeterProvider([self.reader])

    def spans(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self.exporter.get_finished_spans()}

    def points(self, name: str) -> list[Any]:
        found: Any = self.reader.get_metrics_data()
        every = [one for part in found.resource_metrics for scope in part.scope_metrics for one in scope.metrics]
        return [point for one in every if one.name == name for point in one.data.data_points]


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    found = Watched()
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: found.tracers)
    monkeypatch.setattr(metrics, "get_meter_provider", lambda: found.meters)
    yield found
    found.tracers.shutdown()
    found.meters.shutdown()


def use(path: Path, *, content: bool) -> None:
    settings = {"telemetry_content": content, "embedder": "none"}
    with Credenda.open(path, user="ana", workers=False, settings=settings) as memory:
        memory.remember(f"I live in {WORD}.")
        memory.settle()
        memory.search(f"Who is in {WORD}?")
        with pytest.raises(NotFound):
            memory.delete("m9-000000")


def test_calls_have_the_names_and_attributes_of_the_conventions(tmp_path: Path, watched: Watched) -> None:
    use(tmp_path / "memory.db", content=False)
    spans = watched.spans()
    assert {"upsert_memory", "search_memory", "delete_memory", "credenda.settle", "credenda.job extract"} <= set(spans)
    found = dict(spans["search_memory"].attributes or {})
    assert found["gen_ai.operation.name"] == "search_memory"
    assert found["gen_ai.provider.name"] == "credenda"
    assert found["gen_ai.memory.record.count"] == 1
    assert len(str(found["gen_ai.memory.store.id"])) == 6
    assert spans["search_memory"].kind is trace.SpanKind.CLIENT
    failed = spans["delete_memory"]
    assert (failed.status.status_code, (failed.attributes or {})["error.type"]) == (trace.StatusCode.ERROR, "not_found")
    everything = "".join(span.to_json() for span in watched.exporter.get_finished_spans())
    assert WORD not in everything
    assert '"ana"' not in everything
    durations = watched.points("gen_ai.client.operation.duration")
    assert {point.attributes["gen_ai.operation.name"] for point in durations} >= {"upsert_memory", "search_memory"}


def test_words_are_recorded_only_where_they_are_asked_for(tmp_path: Path, watched: Watched) -> None:
    use(tmp_path / "memory.db", content=True)
    found = watched.spans()["search_memory"].attributes or {}
    assert found["gen_ai.memory.query.text"] == f"Who is in {WORD}?"
    assert WORD in str(found["gen_ai.memory.records"])
    assert WORD in str((watched.spans()["upsert_memory"].attributes or {})["gen_ai.memory.records"])


def test_calls_of_models_have_their_tokens(watched: Watched) -> None:
    with record_model_call("openai:gpt-9", 64) as report:
        report(70, 7)
    with pytest.raises(ValueError, match="x"), record_model_call("openai:gpt-9", 64):
        raise ValueError("x")
    good, bad = watched.exporter.get_finished_spans()
    assert good.name == "chat gpt-9"
    assert (good.attributes or {})["gen_ai.usage.input_tokens"] == 70
    assert (bad.attributes or {})["error.type"] == "ValueError"
    assert not bad.events
    tokens = {point.attributes["gen_ai.token.type"]: point.sum for point in watched.points("gen_ai.client.token.usage")}
    assert tokens == {"input": 70, "output": 7}


def test_a_request_is_part_of_the_trace_of_its_caller(watched: Watched) -> None:
    parent = "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"
    with record_request("GET", {"traceparent": parent}) as report:
        report("/v1/stats", 503)
    (span,) = watched.exporter.get_finished_spans()
    assert (span.name, (span.attributes or {})["error.type"]) == ("GET /v1/stats", "503")
    assert span.parent is not None
    assert format(span.parent.trace_id, "032x") == "ab" * 16


def test_tokens_count_for_the_call_that_measures_them() -> None:
    add_model_use(1, 1, 1.0)
    with measure_model_use() as outer:
        add_model_use(2, 3, 0.5)
        with measure_model_use() as inner:
            add_model_use(5, 5, 0.25)
    assert (outer.tokens_in, outer.tokens_out, outer.cost_usd) == (2, 3, 0.5)
    assert (inner.tokens_in, inner.cost_usd) == (5, 0.25)


def test_nothing_of_it_is_loaded_where_nobody_has_configured_it(tmp_path: Path) -> None:
    script = (
        "import sys; from credenda import Credenda;"
        f"m = Credenda.open({str(tmp_path / 'm.db')!r}, user='ana', workers=False); m.remember('Hi there.'); m.close();"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_calls_of_groups_have_spans_of_their_own(tmp_path: Path, watched: Watched) -> None:
    settings = {"telemetry_content": True, "embedder": "none"}
    with Credenda.open(tmp_path / "memory.db", user="ana", workers=False, settings=settings) as memory:
        memory.data.export(str(tmp_path / "memory.jsonl"))
        memory.manage.contests()
        with pytest.raises(NotFound):
            memory.manage.pin("m9-000000")
    spans = watched.spans()
    assert {"credenda.data.export", "credenda.manage.contests", "credenda.manage.pin"} <= set(spans)
    assert (spans["credenda.manage.pin"].attributes or {})["error.type"] == "not_found"
    assert str(tmp_path) not in "".join(span.to_json() for span in watched.exporter.get_finished_spans())
