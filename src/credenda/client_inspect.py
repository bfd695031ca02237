"""The verbs of `mem.inspect`. No logic lives here."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from credenda import services
from credenda.errors import Invalid, LimitExceeded, NotFound, Unavailable
from credenda.lazy import import_on_use
from credenda.model.event import Source
from credenda.model.memory import Layer, MemoryType, Stance, Status
from credenda.operation import (
    BROWSED,
    CONTEXT_INPUTS,
    CURSOR,
    ID,
    ITEMS,
    LOCAL,
    NOT_A_SKILL,
    PERSONS,
    SESSION,
    SPOKEN_AT,
    SPOKEN_SOURCE,
    TIMES,
    TOPIC,
    Operation,
    Param,
    Rest,
)
from credenda.paths import check_path
from credenda.telemetry import record_group

if TYPE_CHECKING:
    from credenda import bootstrap, portability
    from credenda.model.browse import Browse, EntityMap, MemoryUses, SessionDetails, SessionSummary
    from credenda.model.evaluation import (
        BeliefTestReport,
        ContextPreview,
        ExtractionPreview,
        FaithfulnessScore,
        ReplayReport,
        ScoreRecord,
    )
    from credenda.model.governance import ComplianceReport, CostSummary
    from credenda.model.query import Page
    from credenda.model.server import AuditReport
    from credenda.runtime import Parts
else:
    bootstrap, portability = import_on_use("credenda.bootstrap"), import_on_use("credenda.portability")


_SETTLE_SECONDS: Final = 3_600.0


@record_group("inspect")
class Inspect:
    """Previews, scores, costs and the audit: `mem.inspect`. Nothing here changes a belief."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @Operation(
        "Say what would become of a text: stored, replaced, contested or refused, and why. Nothing is stored.",
        "memory:read",
        Rest("POST", "/v1/previews/extraction"),
        name="preview-extraction",
        inputs={
            "text": "The message, in the speaker's own words.",
            "topic": TOPIC,
            "session": SESSION,
            "source": SPOKEN_SOURCE,
            "occurred_at": SPOKEN_AT,
        },
        errors=(Invalid, LimitExceeded),
    )
    def extraction(
        self,
        text: str,
        *,
        topic: str | None = None,
        session: str | None = None,
        source: str = "human",
        occurred_at: datetime | str | None = None,
    ) -> ExtractionPreview:
        """Say what `remember` would make of a text: what would be stored, replaced, contested or refused, and why.

        The rules read it; a configured model is not asked. Nothing is stored.
        """
        return services.llm_extraction.try_extraction(
            self._parts, text, topic=topic, session=session, source=source, occurred_at=occurred_at
        )

    @Operation(
        "Show what an agent would get for a prompt: each line and its reason, and what is left out and why.",
        "memory:read",
        Rest("POST", "/v1/previews/context"),
        name="preview-context",
        inputs=CONTEXT_INPUTS,
        errors=(Invalid, LimitExceeded),
    )
    def context(
        self,
        query: str | None = None,
        *,
        token_budget: int | None = None,
        automatic: bool = False,
        **conditions: Any,  # noqa: ANN401 - those of `search`
    ) -> ContextPreview:
        """Say what an agent would get from `context`: each line and its reason, and what was left out and why.

        Takes what `context` takes. No recall is recorded.
        """
        return services.search.explain_context(self._parts, query, token_budget, conditions, automatic=automatic)

    @Operation(
        "List the people and things that memories are about, and how they are related.",
        "memory:read",
        Rest("GET", "/v1/entities"),
        closed=BROWSED,
    )
    def entities(self) -> EntityMap:
        """Return the people and things of the newest 2,000 believed memories, and the relations between them."""
        return services.browse.list_entities(self._parts)

    @Operation(
        "List memories that match all conditions, newest first, and count the values of their fields.",
        "memory:read",
        Rest("GET", "/v1/browse"),
        inputs={
            "status": Param("Only this status. [default: all]", Status),
            "type": Param("Only this type.", MemoryType),
            "layer": Param("Only this layer.", Layer),
            "stance": Param("Only this stance of the speaker.", Stance),
            "topic": TOPIC,
            "entity": "Only this entity.",
            "attribute": "Only this attribute.",
            "session": "Only memories that this session brought.",
            "source": Param("Only memories that rest on a message from this source.", Source),
            "limit": ITEMS,
            "offset": "How many to skip.",
            **TIMES,
        },
        errors=(Invalid,),
        closed=BROWSED,
    )
    def browse(
        self,
        *,
        status: str | None = None,
        type: str | None = None,
        layer: str | None = None,
        stance: str | None = None,
        topic: str | None = None,
        entity: str | None = None,
        attribute: str | None = None,
        session: str | None = None,
        source: str | None = None,
        limit: int = 20,
        offset: int = 0,
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
    ) -> Browse:
        """Return memories that match all conditions, newest first, with counts of their fields.

        The newest 2,000 memories that match are counted.
        """
        return services.browse.browse_memories(
            self._parts,
            status=status,
            type=type,
            layer=layer,
            stance=stance,
            topic=topic,
            entity=entity,
            attribute=attribute,
            session=session,
            source=source,
            limit=limit,
            offset=offset,
            as_of=as_of,
            known_at=known_at,
        )

    @Operation(
        "Show which sessions got a memory, and the feedback on it.",
        "memory:read",
        Rest("GET", "/v1/memories/{id}/uses"),
        inputs={"id": ID},
        errors=(NotFound,),
        closed=BROWSED,
    )
    def uses(self, id: str) -> MemoryUses:
        """Return the sessions that got a memory, the latest first, and the feedback on it."""
        return services.browse.list_uses(self._parts, id)

    @Operation(
        "List sessions, the latest first: their messages, and how many memories rest on them.",
        "memory:read",
        Rest("GET", "/v1/sessions"),
        inputs={"cursor": CURSOR},
        errors=(Invalid, NotFound),
        closed=BROWSED,
    )
    def sessions(self, *, cursor: str | None = None) -> Page[SessionSummary]:
        """List sessions, the latest first, in pages: how many messages each has, and how many memories rest on them."""
        return services.browse.list_sessions(self._parts, cursor=cursor)

    @Operation(
        "Show the messages of a session, and the memories that rest on them.",
        "memory:read",
        Rest("GET", "/v1/session"),
        inputs={"session": "The name of a session; empty for messages without one."},
        errors=(Invalid, NotFound),
        closed=BROWSED,
    )
    def session(self, session: str) -> SessionDetails:
        """Return the messages of a session, oldest first, and the memories that rest on them."""
        return services.browse.show_session(self._parts, session)

    @Operation(
        "Test the beliefs against a file of assertions; nothing is changed.",
        "memory:read",
        inputs={
            "path": "File of assertions, such as beliefs.test.",
            "reextract": "Read the journal again with the present rules, in a copy, and show what that changes.",
            "data": "Test on an empty copy into which this file is imported.",
        },
        errors=(Invalid, NotFound, Unavailable),
        closed=LOCAL,
    )
    def test(self, path: str | Path, *, reextract: bool = False, data: str | Path | None = None) -> BeliefTestReport:
        """Test the beliefs against a file of assertions, such as `expect: employer(user) == Microsoft`.

        With `reextract` the journal is read again by the present rules, in a copy: `differences` are what that changes.
        With `data` the assertions are tested on an empty copy into which that file is imported. Raises `Invalid` for a
        line that is no assertion, and tests nothing then.
        """
        if reextract and data is not None:
            raise Invalid("reextract and data exclude each other", why="data is always read anew", fix="leave one out")
        place = check_path(path)
        assertions = services.score_response.read_assertions(place)
        if data is not None:
            file = check_path(data)
            with bootstrap.open_copy(self._parts, empty=True) as copy:
                report = portability.importing.import_file(copy, file)
                services.settle.settle(copy, _SETTLE_SECONDS)
                return services.score_response.check_beliefs(
                    copy, place, assertions, tested="data", problems=report.problems
                )
        if not reextract:
            return services.score_response.check_beliefs(self._parts, place, assertions)
        with bootstrap.open_copy(self._parts) as copy:
            found = services.rebuild.rebuild(copy, reextract=True)
            return services.score_response.check_beliefs(
                copy, place, assertions, tested="reextracted", differences=found.differences
            )

    @Operation(
        "Rebuild the contexts that the prompts of a session would have got, with and without a memory.",
        "memory:read",
        inputs={
            "session": "The session.",
            "without": "Id of the memory to leave out.",
            "token_budget": "Tokens of each context. [default: the setting]",
            "automatic": "Rebuild the block that a program adds to each turn.",
            "limit": "Maximum number of prompts, the last ones, 1 to 50.",
        },
        errors=(Invalid, NotFound, Unavailable),
        closed={**PERSONS, "rest": "it copies the whole memory for each prompt"},
    )
    def replay(
        self,
        session: str,
        *,
        without: str | None = None,
        token_budget: int | None = None,
        automatic: bool = False,
        limit: int = 20,
    ) -> ReplayReport:
        """Rebuild the contexts that the prompts of a session would have got, with and without a memory.

        Each is built as `context(prompt)` would have built it just before the prompt was recorded, byte for byte, on a
        copy that is rebuilt from journal and change log. `automatic` is the block that a program adds by itself;
        `limit` takes the last prompts. Leaving a memory out means deleting it in the copy.
        """
        return services.score_response.replay_session(
            self._parts,
            lambda event: bootstrap.open_copy(self._parts, before=event),
            session,
            without=without,
            token_budget=token_budget,
            automatic=automatic,
            limit=limit,
        )

    @Operation(
        "Score how faithful a response is to its context, claim by claim; the figures are stored.",
        "memory:write",
        Rest("POST", "/v1/scores"),
        inputs={
            "response": "The response of the agent.",
            "context": "The context that it was given.",
            "session": "Conversation of the response.",
        },
        errors=(Invalid, LimitExceeded, Unavailable),
        writes=True,
        idempotent=False,
    )
    def score(self, response: str, context: str, *, session: str | None = None) -> FaithfulnessScore:
        """Score how faithful a response is to the context that it was given, from 0 to 1, claim by claim.

        Each claim is supported, contradicted or not found, with the line that says so. The rules judge first; a
        configured model judges the claims that they find no line for, within the day's budget. The figures are stored,
        without a word of response or context, so that `scores` shows their trend.
        """
        return services.score_response.score_response(self._parts, response, context, session=session)

    @Operation(
        "List stored scores, the newest first.",
        "memory:read",
        Rest("GET", "/v1/scores"),
        inputs={
            "session": "Only scores of this conversation.",
            "limit": ITEMS,
            "cursor": CURSOR,
        },
        errors=(Invalid, NotFound),
        closed={**PERSONS, "mcp": "an operator watches trends, not a model"},
    )
    def scores(self, *, session: str | None = None, limit: int = 20, cursor: str | None = None) -> Page[ScoreRecord]:
        """List stored scores, newest first, in pages."""
        return services.score_response.list_scores(self._parts, session=session, limit=limit, cursor=cursor)

    @Operation(
        "Sum up what models cost, by day, operation and model; without times, over the last thirty days.",
        "memory:read",
        Rest("GET", "/v1/costs"),
        inputs={"since": "Start; a date is its whole day.", "until": "End; a date is its whole day. [default: now]"},
        errors=(Invalid,),
    )
    def costs(self, since: datetime | str | None = None, until: datetime | str | None = None) -> CostSummary:
        """Sum up what models cost on the days from `since` to `until`; by default the last thirty days."""
        return services.stats.sum_costs(self._parts, since, until)

    @Operation(
        "Verify the audit records of the server: that none was changed, moved or removed.",
        "memory:admin",
        Rest("GET", "/v1/audit/verification"),
        inputs={"anchor": "The head of an earlier report, which the chain must lead through."},
        errors=(Invalid,),
        closed={**NOT_A_SKILL, "cli": "it is `audit verify` there"},
    )
    def verify_audit(self, anchor: str = "") -> AuditReport:
        """Verify the audit records of the database: that none was changed, moved or removed.

        `anchor` is the `head` of an earlier report, which the chain must lead through.
        """
        return services.delete.verify_audit(self._parts, anchor)

    @Operation(
        "Export the audit records of this user as JSON Lines.",
        "memory:admin",
        Rest("POST", "/v1/audit/export"),
        inputs={"path": Param("File to write; .gz is compressed.", remote="download")},
        errors=(Invalid, Unavailable),
        idempotent=False,
        closed={**PERSONS, "mcp": LOCAL["mcp"], "cli": "it is `audit export` there"},
    )
    def export_audit(self, path: str | Path) -> ComplianceReport:
        """Write the audit records of this user as JSON Lines; `.gz` is compressed."""
        return services.delete.export_audit(self._parts, check_path(path))

    @Operation(
        "Export who called what, what changed and what was deleted in a span of time, as JSON Lines.",
        "memory:admin",
        Rest("POST", "/v1/compliance"),
        name="compliance",
        inputs={
            "path": Param("File to write; .gz is compressed.", remote="download"),
            "since": "Start; a date is its whole day.",
            "until": "End; a date is its whole day. [default: now]",
        },
        errors=(Invalid, Unavailable),
        idempotent=False,
        closed={**PERSONS, "mcp": LOCAL["mcp"]},
    )
    def export_compliance(
        self, path: str | Path, *, since: datetime | str | None = None, until: datetime | str | None = None
    ) -> ComplianceReport:
        """Write a report as JSON Lines: audit records, changes, deletions, policies and holds of a span of time.

        It names rows by their ids and has no word of a memory. `.gz` is compressed.
        """
        return services.delete.export_compliance(self._parts, check_path(path), since=since, until=until)
