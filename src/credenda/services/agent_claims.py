"""Store messages with the claims that a calling agent extracted from them.

The claims pass the checks of a model's claims and take the place of extraction by the reader or a model. Messages
and beliefs are filed in one commit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from credenda import limits
from credenda.errors import Invalid, LimitExceeded
from credenda.ids import parse_serial
from credenda.model.claim import Claim, Turn
from credenda.model.event import ClaimReceipt, Event, Receipt
from credenda.model.memory import Memory, Status
from credenda.private import cut_private, cut_private_fields
from credenda.runtime import Parts
from credenda.services.bursts import hold_back_burst
from credenda.services.lookup import get_current, resolve_id_in
from credenda.storage.job_kinds import EMBED, KEEP
from credenda.storage.plan import commit_decided
from credenda.storage.records import mark_complete
from credenda.storage.store import Job, Reader, Writer
from credenda.storage.turns import take_turn
from credenda.write.apply import Applied
from credenda.write.extract_job import load_context
from credenda.write.intake.validate import Accepted, Submission, accept, screen_label
from credenda.write.journal import compare_with_tombstones, file_events, find_earlier_receipt, make_job
from credenda.write.llm.guards import Refusal, Verdict, check
from credenda.write.llm.prompt import Effect, Proposal, parse_proposal
from credenda.write.reconcile.decide import claim_hash
from credenda.write.reconcile.slots import display_value
from credenda.write.reconcile_job import apply_claims

# Store messages together with their beliefs, in one commit and without a job that derives any.


Believe = Callable[[Writer, tuple[str, ...]], tuple[ClaimReceipt, ...]]
"""Applies the claims about filed events, named by their ids, and returns the results to show."""


def commit_with_beliefs(parts: Parts, accepted: Accepted, believe: Believe) -> Receipt:
    """File messages and the beliefs that `believe` makes; a call repeated with its key gets its first receipt.

    Where `believe` raises, nothing is stored.
    """

    def decide(writer: Writer) -> Receipt:
        earlier = find_earlier_receipt(writer, accepted)
        if earlier is not None:
            return earlier
        ids, refused = file_events(writer, compare_with_tombstones(writer, accepted, parts.extractor))
        results = believe(writer, ids)
        return Receipt(job_id=None, event_ids=ids, queued=False, refused=refused, claims=results)

    def finish(writer: Writer, receipt: Receipt) -> Receipt:
        if receipt.cached or not receipt.event_ids:
            return receipt
        job = mark_complete(make_job(writer, accepted, receipt.event_ids, KEEP))
        job_id = writer.put(job)
        if parts.embedder is not None:
            writer.put(Job(kind=EMBED, first=job.first, last=job.last))
        return replace(receipt, job_id=job_id)

    with parts.active_calls, take_turn(parts.store, parts.user_id):
        return commit_decided(parts.store, parts.user_id, decide, finish)


_FIELDS: Final = ("quote", "entity", "attribute", "value", "stance", "scope", "replaces")
_LABELS: Final = ("entity", "attribute", "value", "scope")
_AGENT: Final = "agent"
_STANDING: Final = frozenset({Status.ACTIVE, Status.SUPERSEDED, Status.MERGED})


def remember_claims(parts: Parts, submission: Submission, claims: object) -> Receipt:
    """Store messages and the claims about them; the receipt has the result of each claim.

    Raises `Invalid` for a malformed claim and `NotFound` for an unknown memory in `replaces`; then nothing was stored.
    """
    now_us, embeds = parts.clock.now_us(), parts.embedder is not None
    policy = parts.settings.secrets_policy
    accepted = _sign(accept(submission, policy=policy, zone=parts.settings.zone, now_us=now_us), claims)
    proposals = _parse_claims(claims, policy)
    accepted = hold_back_burst(parts, accepted)
    reader_name = f"{_AGENT} {submission.agent or ''}".strip()

    def believe(writer: Writer, ids: tuple[str, ...]) -> tuple[ClaimReceipt, ...]:
        known = _find_named(writer, proposals)
        turns = _list_turns(writer, writer.events(ids))
        verdicts = [_check(proposal, turns, known, reader_name) for proposal in proposals]
        found = [(turn.event, _list_claims(turn.event, verdicts)) for turn in turns]
        applied = apply_claims(writer, found, now_us, embeds=embeds)
        results = _Results(writer, ids, {claim_hash(claim): one for claim, one in applied})
        targets = [known.get(proposal.target) for proposal in proposals]
        return tuple(
            results.describe(number, verdict, target)
            for number, (verdict, target) in enumerate(zip(verdicts, targets, strict=True), 1)
        )

    return commit_with_beliefs(parts, accepted, believe)


def _sign(accepted: Accepted, claims: object) -> Accepted:
    """Let the hash of a call with an idempotency key cover its claims."""
    if accepted.idempotency_key is None:
        return accepted
    body = json.dumps(cut_private_fields(claims), default=str, sort_keys=True).encode()
    return replace(accepted, payload_hash=hashlib.blake2b(accepted.payload_hash + body, digest_size=16).digest())


def _parse_claims(claims: object, policy: str) -> list[Proposal]:
    fix = 'give [{"quote": …, "entity": …, "attribute": …, "value": …}]'
    if not isinstance(claims, Sequence) or isinstance(claims, str | bytes):
        raise Invalid("claims must be a list of tables", why=f"it is a {type(claims).__name__}", fix=fix)
    listed = cast("Sequence[object]", claims)
    if len(listed) > limits.CLAIMS_PER_CALL:
        what = f"{len(listed)} claims in one call"
        raise LimitExceeded(what, why=f"at most {limits.CLAIMS_PER_CALL} are taken", fix="split the messages")
    found: list[Proposal] = []
    for number, claim in enumerate(listed, 1):
        try:
            found.append(_parse_claim(claim, policy))
        except ValueError as error:
            what = f"claim {number} cannot be read"
            raise Invalid(what, why=str(error), fix=f"{fix}; also stance, scope and replaces") from None
    return found


def _parse_claim(claim: object, policy: str) -> Proposal:
    if not isinstance(claim, Mapping):
        raise ValueError("it is not a table")  # noqa: TRY004 - one kind of complaint about foreign input
    given = cast("Mapping[str, Any]", claim)
    if unknown := sorted(map(str, given.keys() - set(_FIELDS))):
        raise ValueError(f"it has no field {unknown[0][:64]!r}; its fields are {', '.join(_FIELDS)}")
    proposal = parse_proposal({name: value for name, value in given.items() if name != "replaces"})
    target = given.get("replaces") or ""
    if not isinstance(target, str):
        raise ValueError("replaces must be the id of a memory")  # noqa: TRY004 - as above
    target = target.strip()
    labels = {name: screen_label(getattr(proposal, name), policy) or None for name in _LABELS}
    quote = cut_private(proposal.quote)
    return replace(proposal, **labels, quote=quote, effect=Effect.REPLACES if target else None, target=target)


def _find_named(reader: Reader, proposals: Sequence[Proposal]) -> dict[str, Memory]:
    """Find the memories that claims replace, by the ids as they were given."""
    targets = dict.fromkeys(one.target for one in proposals if one.target)
    return {target: get_current(reader, resolve_id_in(reader, target)) for target in targets}


def _list_turns(reader: Reader, events: Sequence[Event]) -> list[Turn]:
    """Return the turns of a call, each with the earlier events of its session."""
    if not events:
        return []
    before = load_context(reader, events[0], parse_serial(events[0].id))
    return [Turn(event=event, before=(*before, *events[:at])) for at, event in enumerate(events)]


def _check(proposal: Proposal, turns: Sequence[Turn], known: Mapping[str, Memory], reader: str) -> Verdict:
    """Check a claim against the first message that holds its quote; none holds one that is private as a whole."""
    for turn in turns if proposal.quote else ():
        verdict = check(proposal, turn, known, reader=reader, by_agent=True)
        if verdict.why is not Refusal.QUOTE:
            return verdict
    return Verdict(None, Refusal.QUOTE)


def _list_claims(event: Event, verdicts: Sequence[Verdict]) -> tuple[Claim, ...]:
    return tuple(one.claim for one in verdicts if one.claim is not None and one.claim.span.event_id == event.id)


@dataclass(frozen=True, slots=True)
class _Results:
    """The decisions about the claims of a call, by the hashes of the claims."""

    writer: Writer
    event_ids: Sequence[str]
    applied: Mapping[bytes, Applied]

    def describe(self, number: int, verdict: Verdict, target: Memory | None) -> ClaimReceipt:
        """Describe the result of one claim, which was to replace `target`."""
        claim = verdict.claim
        if claim is None:
            return ClaimReceipt(number=number, outcome="refused", reason=verdict.why or "")
        digest = claim_hash(claim)
        links = self.writer.evidence(event_ids=self.event_ids)
        memory_id = next((one.memory_id for one in links if one.claim_hash == digest), None)
        done = self.applied.get(digest)
        if memory_id is None or done is None:
            reason = "nothing may follow from it: it was deleted or undone before, or it cannot have this value"
            return ClaimReceipt(number=number, outcome="refused", reason=verdict.why or reason)
        memory = self.writer.memories([memory_id])[0]
        mine = next((one for one in done.records if one.memory_id == memory_id), None)
        replaced = tuple(
            one.memory_id for one in done.records if one.memory_id and one.after.get("superseded_by") == memory_id
        )
        unusual = mine.reason if mine is not None and (memory.contested or memory.status not in _STANDING) else ""
        stays = "" if target is None or target.id in {memory_id, *replaced} else _describe_stay(target)
        return ClaimReceipt(
            number=number,
            outcome="kept" if memory_id in done.ids.values() else "confirmed",
            understood=_describe(memory),
            memory_id=memory_id,
            replaced=replaced,
            reason=verdict.why or unusual or stays,
        )


def _describe_stay(target: Memory) -> str:
    """Say why the memory named in `replaces` was not replaced."""
    if target.status is Status.ACTIVE:
        return "the memory named in replaces stays"
    return f"the memory named in replaces was {target.status.value} before"


def _describe(memory: Memory) -> str:
    if memory.entity is None or memory.attribute is None:
        return memory.text
    scope = f" ({memory.scope})" if memory.scope else ""
    return f"{memory.entity} {memory.attribute}{scope}: {display_value(memory)}"
