"""The verbs of `mem.inspect`. No logic lives here."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, Final

from credenda import bootstrap, portability, services
from credenda.errors import Invalid
from credenda.manage.belief_assertions import Assertion
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
from credenda.paths import check_path
from credenda.runtime import Parts
from credenda.services import belief_test, browse, costs, erase, extraction_preview, score_response
from credenda.services import browse as entities
from credenda.services import context as context_preview
from credenda.telemetry.spans import record_group

__all__ = ["Inspect"]

_SETTLE_SECONDS: Final = 3_600.0


@record_group("inspect")
class Inspect:
    """Previews, scores, costs and the audit: `mem.inspect`. Nothing here changes a belief."""

    def __init__(self, parts: Parts) -> None:
        """Belong to an open memory."""
        self._parts = parts

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
        return extraction_preview.try_extraction(
            self._parts, text, topic=topic, session=session, source=source, occurred_at=occurred_at
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
        return context_preview.explain_context(self._parts, query, token_budget, conditions, automatic=automatic)

    def entities(self) -> EntityMap:
        """Return the people and things of the newest 2,000 believed memories, and the relations between them."""
        return entities.list_entities(self._parts)

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
        return browse.browse_memories(
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

    def uses(self, id: str) -> MemoryUses:
        """Return the sessions that got a memory, the latest first, and the feedback on it."""
        return browse.list_uses(self._parts, id)

    def sessions(self, *, cursor: str | None = None) -> Page[SessionSummary]:
        """List sessions, the latest first, in pages: how many messages each has, and how many memories rest on them."""
        return browse.list_sessions(self._parts, cursor=cursor)

    def session(self, session: str) -> SessionDetails:
        """Return the messages of a session, oldest first, and the memories that rest on them."""
        return browse.show_session(self._parts, session)

    def test(self, path: str | Path, *, reextract: bool = False, data: str | Path | None = None) -> BeliefTestReport:
        """Test the beliefs against a file of assertions, such as `expect: employer(user) == Microsoft`.

        With `reextract` the journal is read again by the present rules, in a copy: `differences` are what that changes.
        With `data` the assertions are tested on an empty copy into which that file is imported. Raises `Invalid` for a
        line that is no assertion, and tests nothing then.
        """
        if reextract and data is not None:
            raise Invalid("reextract and data exclude each other", why="data is always read anew", fix="leave one out")
        place = check_path(path)
        assertions = belief_test.read_assertions(place)
        if data is not None:
            return self._test_data(place, assertions, check_path(data))
        if not reextract:
            return belief_test.check_beliefs(self._parts, place, assertions)
        with bootstrap.open_copy(self._parts) as copy:
            found = services.rebuild.rebuild(copy, reextract=True)
            return belief_test.check_beliefs(
                copy, place, assertions, tested="reextracted", differences=found.differences
            )

    def _test_data(self, path: Path, assertions: list[Assertion], data: Path) -> BeliefTestReport:
        with bootstrap.open_copy(self._parts, empty=True) as copy:
            report = portability.importing.import_file(copy, data)
            services.settle.settle(copy, _SETTLE_SECONDS)
            return belief_test.check_beliefs(copy, path, assertions, tested="data", problems=report.problems)

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
        return belief_test.replay_session(
            self._parts,
            lambda event: bootstrap.open_copy(self._parts, before=event),
            session,
            without=without,
            token_budget=token_budget,
            automatic=automatic,
            limit=limit,
        )

    def score(self, response: str, context: str, *, session: str | None = None) -> FaithfulnessScore:
        """Score how faithful a response is to the context that it was given, from 0 to 1, claim by claim.

        Each claim is supported, contradicted or not found, with the line that says so. The rules judge first; a
        configured model judges the claims that they find no line for, within the day's budget. The figures are stored,
        without a word of response or context, so that `scores` shows their trend.
        """
        return score_response.score_response(self._parts, response, context, session=session)

    def scores(self, *, session: str | None = None, limit: int = 20, cursor: str | None = None) -> Page[ScoreRecord]:
        """List stored scores, newest first, in pages."""
        return score_response.list_scores(self._parts, session=session, limit=limit, cursor=cursor)

    def costs(self, since: datetime | str | None = None, until: datetime | str | None = None) -> CostSummary:
        """Sum up what models cost on the days from `since` to `until`; by default the last thirty days."""
        return costs.sum_costs(self._parts, since, until)

    def verify_audit(self, anchor: str = "") -> AuditReport:
        """Verify the audit records of the database: that none was changed, moved or removed.

        `anchor` is the `head` of an earlier report, which the chain must lead through.
        """
        return erase.verify_audit(self._parts, anchor)

    def export_audit(self, path: str | Path) -> ComplianceReport:
        """Write the audit records of this user as JSON Lines; `.gz` is compressed."""
        return erase.export_audit(self._parts, check_path(path))

    def export_compliance(
        self, path: str | Path, *, since: datetime | str | None = None, until: datetime | str | None = None
    ) -> ComplianceReport:
        """Write a report as JSON Lines: audit records, changes, deletions, policies and holds of a span of time.

        It names rows by their ids and has no word of a memory. `.gz` is compressed.
        """
        return erase.export_compliance(self._parts, check_path(path), since=since, until=until)
