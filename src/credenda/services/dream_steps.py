"""The steps of the dream: what each loads, asks a model, and writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from itertools import combinations
from typing import TYPE_CHECKING, Final, TypeVar

from credenda import index, limits
from credenda.clock import DAY_US, has_ended, to_datetime
from credenda.errors import Unavailable
from credenda.ids import IdKind, parse_id_number
from credenda.index.document_names import name_memory_document
from credenda.manage.dream_cards import (
    CardHistory,
    CardRules,
    CardText,
    EntityFacts,
    FactIndex,
    choose_card_facts,
    decide_card,
    end_unsupported_cards,
    is_current,
    is_profile_fact,
    write_fact_list,
)
from credenda.manage.dream_probe import (
    CARD_PROMPT,
    BridgeAnswer,
    BridgeRules,
    EntityPair,
    ProbeAnswer,
    ProbeCandidate,
    ProbeRules,
    ask_bridge,
    ask_card,
    ask_probe,
    challenge,
    decide_bridge,
    draw_probes,
    find_contradicted,
    get_bridge_ends,
    get_single_slot,
    hash_bridge,
    is_old_unconfirmed,
    is_unsupported,
    may_be_probed,
    nominate_pairs,
    parse_bridge,
    parse_card,
    parse_probe,
)
from credenda.model.change import Actor, Add, Change, ChangeKind, SetStatus, Supersede
from credenda.model.memory import BRIDGE, CARD, Layer, Memory, Slot, Status, is_dreamed
from credenda.model.report import DreamStep
from credenda.providers.embed.factory import Embedder
from credenda.providers.llm.protocol import ModelFailure, Question
from credenda.runtime import Parts
from credenda.services.code_scan import drift, read_opted_in_folders
from credenda.services.lifecycle import decay, rescore_retention
from credenda.storage.plan import commit_decided, return_decided
from credenda.storage.store import ChangeFilter, MemoryFilter, Reader, Vector, Watermark, Writer
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.text.recalled_block import count_noun
from credenda.workers.llm_jobs import OverBudgetError, ask_within_budget, to_day
from credenda.write.apply import Application, Applied, apply
from credenda.write.forget.tombstones import is_deleted
from credenda.write.indexing import MissingVector, embed
from credenda.write.intake.secrets import is_instruction_like, screen_secrets

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# The context of each step: its memory, whether it may write, and how it applies changes.


T = TypeVar("T")

HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})
NO_CODE: Final = frozenset(Layer) - {Layer.CODEBASE}
_BATCH: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """One run of the dream; `stay` renews its lease and raises `HeldError` if another run has taken it."""

    parts: Parts
    dry_run: bool
    stay: Callable[[], None]

    @property
    def now_us(self) -> int:
        """The current time."""
        return self.parts.clock.now_us()

    @property
    def today(self) -> int:
        """The day, in days since 1970-01-01 UTC; daily limits count by it."""
        return self.now_us // DAY_US

    def held(self, layers: frozenset[Layer] = NO_CODE) -> Iterator[list[Memory]]:
        """Yield the current memories, newest first, each batch in its own view, yielding to callers in between."""
        below: int | None = None
        while True:
            with self.parts.store.reader(self.parts.user_id) as reader:
                tag = reader.tenant.tag
                found = reader.find(MemoryFilter(statuses=HELD, layers=layers, below=below, limit=_BATCH))
            if not found:
                return
            yield found
            below = parse_id_number(found[-1].id, IdKind.MEMORY, tag)
            self.parts.active_calls.wait_idle(1.0)

    def see(self, look: Callable[[Reader], T]) -> T:
        """Run a function on a consistent view of the store."""
        with self.parts.store.reader(self.parts.user_id) as reader:
            return look(reader)

    def commit(
        self,
        changes: Sequence[Change],
        seen: Mapping[str, Memory],
        *,
        cause: str,
        then: Callable[[Writer, Applied], None] | None = None,
    ) -> bool:
        """Apply changes in one transaction if all memories they depend on are unchanged since `seen`.

        Return False if a memory has changed, or if a change would restore deleted content; the next run tries again.
        `then` runs in the same transaction.
        """

        def work(writer: Writer) -> bool:
            held = {one.id: one for one in writer.memories(sorted(seen))}
            if any(name not in held or held[name].version != memory.version for name, memory in seen.items()):
                return False
            if any(isinstance(one, Add) and is_deleted(writer, one.draft) for one in changes):
                return False
            application = Application(actor=Actor.DREAM, now_us=self.now_us, cause=f"dream:{cause}")
            applied = apply(writer, changes, application)
            if then is not None:
                then(writer, applied)
            return True

        self.stay()
        return commit_decided(self.parts.store, self.parts.user_id, work, return_decided)

    def forbids(self, changes: Sequence[Change]) -> bool:
        """Return whether the changes would restore deleted content."""
        drafts = [one.draft for one in changes if isinstance(one, Add)]
        return self.see(lambda reader: any(is_deleted(reader, draft) for draft in drafts))

    def asked_today(self, name: str) -> bool:
        """Return whether a daily task has run today."""
        return self.see(lambda reader: reader.duties.watermark(f"dream:{name}")) == self.today

    def mark(self, name: str) -> None:
        """Record that a daily task has run today."""
        mark = Watermark(name=f"dream:{name}", value=self.today, at_us=self.now_us)
        if not self.dry_run:
            self.parts.store.commit(self.parts.user_id, lambda writer: writer.put(mark))


# The text of a dream report: open findings first, then the completed work.


_TITLES: Final = {
    "forgetting": "Forgetting",
    "merge": "Merged",
    "cards": "Cards",
    "bridges": "Bridges",
    "probe": "To review",
    "drift": "Code drift",
    "prune": "Pruned",
}
_SHOWN: Final = 5
_UNSETTLED: Final = ("probe", "drift")
"""Steps with findings for the user; they come first."""


def write_report(steps: Sequence[DreamStep], now_us: int, zone: tzinfo, *, dry_run: bool) -> str:
    """Return the report text of a dream; findings that need a person come before completed work."""
    day = to_datetime(now_us).astimezone(zone)
    opening = "A dream now would do this:" if dry_run else f"Dream of {day:%A}, {day.day} {day:%B %Y}."
    lines = [opening]
    busy = [step for step in steps if step.told and not step.failed]
    for step in sorted(busy, key=lambda one: one.name not in _UNSETTLED):
        lines += ["", _TITLES.get(step.name, step.name), *(f"  - {one}" for one in step.told[:_SHOWN])]
        if len(step.told) > _SHOWN:
            lines.append(f"  - and {len(step.told) - _SHOWN:,} more.")
    if not busy:
        lines += ["", "Nothing changed."]
    quiet = [_TITLES.get(step.name, step.name).casefold() for step in steps if step.ran and not step.told]
    if quiet and busy:
        lines += ["", f"Nothing to do: {', '.join(quiet)}."]
    skipped = [step for step in steps if not step.ran]
    lines += (
        ["", *(f"Not done: {_TITLES.get(step.name, step.name).casefold()}; {step.reason}." for step in skipped)]
        if skipped
        else []
    )
    failed = [step for step in steps if step.failed]
    lines += ["", *(f"Failed and skipped: {step.name} ({step.reason})." for step in failed)] if failed else []
    return "\n".join(lines)


# Index derived memories: their vector, which no job of the write phase adds, and their first retention score.


def prepare_vectors(night: Night, changes: Sequence[Change]) -> Callable[[Writer, Applied], None] | None:
    """Embed the texts of new memories, outside any transaction, and return the function that stores the vectors.

    Without an embedder, or if it is unavailable, only words find these memories.
    """
    added = [one for one in changes if isinstance(one, Add)]
    if not added or night.dry_run:
        return None
    vectors = _embed_texts(night, [one.draft.text for one in added])

    def file(writer: Writer, applied: Applied) -> None:
        ids = [applied.ids[one.key] for one in added]
        for name, made in zip(ids, vectors, strict=False):
            for vector in made:
                writer.put(vector._replace(code=name_memory_document(name, writer.tenant.tag)))
        rescore_retention(night.parts, writer, ids)

    return file


def _embed_texts(night: Night, texts: Sequence[str]) -> list[tuple[Vector, ...]]:
    """Embed texts, in their order; [] if that is not possible."""
    embedder = night.parts.embedder
    if embedder is None:
        return []
    wanted = [MissingVector(place, text) for place, text in enumerate(texts)]
    try:
        return embed(embedder, wanted, night.parts.settings.vector_bits, tokens=night.parts.token_embedder)
    except Unavailable:
        return []


# LLM calls of the dream: within the daily budget, one at a time, never inside a transaction.


OPERATION: Final = "dream"
"""The operation that the tokens of a dream are booked under."""


def _mask_secrets(text: str) -> str:
    return screen_secrets(text, "mask").text


class Mind:
    """The LLM of a dream, if any; after a failure it is not called again in the same step."""

    def __init__(self, night: Night) -> None:
        self._night = night
        self._trouble = "this memory is open read-only" if night.parts.read_only else ""

    @property
    def trouble(self) -> str:
        """The reason why the LLM gave no answer, or ""."""
        return self._trouble

    @property
    def absent(self) -> str:
        """Return why the LLM cannot be called, or ""."""
        line = self._night.parts.llm
        if line is None:
            return "no language model is in use"
        if self._trouble or has_ended(line.rereads_after_us, self._night.now_us):
            return self._trouble
        return line.trouble or "over the day's budget"

    def card(self, name: str, facts: Sequence[Memory], rules: CardRules) -> CardText | None:
        """Ask for a card; None if there is no valid answer."""
        answer = self._ask(ask_card(name, facts, _mask_secrets))
        written = None if answer is None else parse_card(answer, name, facts, rules)
        line = self._night.parts.llm
        if line is None or written is None or is_instruction_like(written.text):
            return None
        return replace(written, maker=f"{CARD_PROMPT} {line.model.model_id}")

    def bridge(self, one: EntityFacts, other: EntityFacts) -> BridgeAnswer | None:
        """Ask for a bridge; None if the LLM confirms none."""
        answer = self._ask(ask_bridge(one, other, _mask_secrets))
        found = None if answer is None else parse_bridge(answer, one, other)
        return None if found is None or is_instruction_like(found.sentence) else found

    def doubt(self, memory: Memory, later: Sequence[Memory]) -> ProbeAnswer | None:
        """Ask whether a memory still holds; None if it does or there is no answer."""
        answer = self._ask(ask_probe(memory, later, self._night.now_us, _mask_secrets))
        return None if answer is None else parse_probe(answer, later)

    def _ask(self, question: Question) -> str | None:
        line = self._night.parts.llm
        if line is None or self.absent:
            return None
        self._night.stay()
        now_us = self._night.now_us
        try:
            reply = ask_within_budget(self._night.parts, line, question, OPERATION)
        except OverBudgetError:
            line.spent((to_day(now_us) + 1) * DAY_US)
            self._trouble = "over the day's budget"
            return None
        except ModelFailure as failure:
            line.failed(failure, now_us)
            self._trouble = str(failure) if failure.trouble.is_model_fault else ""
            return None
        line.answered()
        return reply.text


_MARK: Final = "bridges"
_KEPT: Final = frozenset(Status) - {Status.SUPERSEDED, Status.DELETED}


def run_bridges(night: Night, rules: BridgeRules | None = None) -> DreamStep:
    """Ask an LLM about the nearest pairs of unconnected entities, once a day and once for the same facts."""
    bounds = rules or BridgeRules()
    mind, embedder = Mind(night), night.parts.embedder
    if mind.absent:
        return DreamStep(name="bridges", ran=False, reason=f"{mind.absent}, and only a model confirms a bridge")
    if embedder is None:
        return DreamStep(name="bridges", ran=False, reason="there is no embedder to compare entities with")
    if night.asked_today(_MARK):
        return DreamStep(name="bridges", ran=False, reason="today's pairs were asked about")
    abouts = _read_entities(night, bounds)
    import numpy as np

    centroids = {
        key: found for key, about in abouts.items() if (found := _average_vectors(night, embedder, about)) is not None
    }
    pairs = nominate_pairs(
        [
            EntityPair(float(np.dot(centroids[one], centroids[other])), one, other)
            for one, other in combinations(sorted(centroids), 2)
        ],
        abouts,
        bounds,
    )
    bridged_pairs = night.see(lambda reader: reader.find(MemoryFilter(pair=(BRIDGE, BRIDGE), statuses=_KEPT)))
    bridged = {get_bridge_ends(one) for one in bridged_pairs if is_dreamed(one)}
    changes: list[Change] = []
    told: list[str] = []
    asked = 0
    for pair in pairs:
        one, other = abouts[pair.one], abouts[pair.other]
        digest = hash_bridge(one, other)
        if frozenset((pair.one, pair.other)) in bridged or _was_asked(night, digest):
            continue
        if asked == bounds.max_per_run or mind.absent:
            break
        asked += 1
        found = mind.bridge(one, other)
        if mind.trouble:
            break
        add = None if found is None else decide_bridge(one, other, found, bounds)
        if add is not None and not night.forbids([add]) and _write_bridge(night, add, (one, other)):
            changes.append(add)
            verb = "would be" if night.dry_run else "was"
            told.append(f"A bridge between {one.name} and {other.name} {verb} made (cosine {pair.cosine:.2f}).")
        _note(night, digest)
    if not mind.trouble:
        night.mark(_MARK)
    else:
        told.append(f"{mind.trouble[0].upper()}{mind.trouble[1:]}.")
    counts = {"near": len(pairs), "asked": asked, "made": len(changes)}
    return DreamStep(name="bridges", told=tuple(told), counts=counts, changes=tuple(changes))


def _read_entities(night: Night, rules: BridgeRules) -> dict[str, EntityFacts]:
    shelf = FactIndex(rules.facts_most)
    for batch in night.held():
        for memory in batch:
            shelf.put(memory)
    return dict(shelf.entities(rules.facts_least, rules.entities))


def _average_vectors(night: Night, embedder: Embedder, about: EntityFacts) -> NDArray[np.float32] | None:
    """Return the mean vector of an entity's facts, (d,) float32 of unit length; None if none has a vector."""
    import numpy as np

    with night.parts.store.reader(night.parts.user_id) as reader:
        tag = reader.tenant.tag
        codes = [name_memory_document(fact.id, tag) for fact in about.facts]
        found = reader.vector_data(codes, embedder.model_id)
    if not found:
        return None
    mean = np.mean([index.quantize.decode_rows([data], bits, embedder.dims)[0] for _, bits, data in found], axis=0)
    length = float(np.linalg.norm(mean))
    return (mean / length).astype(np.float32) if length else None


def _write_bridge(night: Night, add: Change, both: Sequence[EntityFacts]) -> bool:
    seen = {fact.id: fact for about in both for fact in about.facts}
    return night.dry_run or night.commit([add], seen, cause=_MARK, then=prepare_vectors(night, [add]))


def _was_asked(night: Night, digest: str) -> bool:
    return night.see(lambda reader: reader.duties.watermark(f"dream:bridge:{digest}")) is not None


def _note(night: Night, digest: str) -> None:
    """Record, by their hash alone, that these facts were asked about."""
    mark = Watermark(name=f"dream:bridge:{digest}", value=night.today, at_us=night.now_us)
    if not night.dry_run:
        night.parts.store.commit(night.parts.user_id, lambda writer: writer.put(mark))


# Step 3: write a card for each entity with many facts, replacing the earlier card.


_CAUSE = "cards"


def run_cards(night: Night, rules: CardRules | None = None) -> DreamStep:
    """Write the cards whose facts have changed and end those with too few facts; each in its own commit."""
    bounds = rules or CardRules()
    shelf = FactIndex(bounds.facts_most, keep=is_profile_fact, by_slot=True)
    for batch in night.held():
        for memory in batch:
            shelf.put(memory)
    found = night.see(lambda reader: reader.find(MemoryFilter(attribute=normalise_attribute(CARD))))
    decks: dict[str, list[Memory]] = {}
    for held in filter(is_dreamed, found):
        decks.setdefault(normalise_name(held.entity or ""), []).append(held)
    desk = _Desk(night, Mind(night), bounds)
    kept: set[str] = set()
    for key, about in shelf.entities(bounds.facts_least, bounds.entities):
        kept.add(key)
        desk.write(about, CardHistory.of(decks.get(key, ())))
    desk.end([card for deck in decks.values() for card in deck], kept)
    if desk.mind.trouble:
        desk.told.append(f"{desk.mind.trouble[0].upper()}{desk.mind.trouble[1:]}; rules wrote the remaining cards.")
    return DreamStep(name=_CAUSE, told=tuple(desk.told), counts=dict(desk.counts), changes=tuple(desk.changes))


@dataclass(slots=True)
class _Desk:
    """Writes the cards of one run and counts the results."""

    night: Night
    mind: Mind
    rules: CardRules
    changes: list[Change] = field(default_factory=list[Change])
    told: list[str] = field(default_factory=list[str])
    counts: Counter[str] = field(default_factory=Counter[str])

    def write(self, about: EntityFacts, deck: CardHistory) -> None:
        """Write the card of an entity, unless it is up to date or the user removed it."""
        facts = choose_card_facts(about, self.rules)
        model = not self.mind.absent
        if deck.refused or is_current(deck, facts, model=model):
            self.counts["refused" if deck.refused else "unchanged"] += 1
            return
        asked = self.mind.card(about.name, facts, self.rules) if model else None
        if asked is None and is_current(deck, facts, model=False):
            self.counts["unchanged"] += 1
            return
        changes = decide_card(asked or write_fact_list(about.name, facts), deck, self.rules, self.night.now_us)
        seen = {one.id: one for one in (*facts, *((deck.standing,) if deck.standing else ()))}
        if self.night.forbids(changes) or not self._file(changes, seen):
            self.counts["left"] += 1
            return
        what = "written" if deck.standing is None else "rewritten"
        self.counts[what] += 1
        self.told.append(f"The card of {about.name} {self._done(what)}, from {count_noun(len(facts), 'memory')}.")

    def end(self, held: Sequence[Memory], kept: set[str]) -> None:
        """End the cards of entities that no longer qualify."""
        by_id = {card.id: card for card in held}
        ended = end_unsupported_cards(held, kept, self.night.now_us)
        names = [change.memory_id for change in ended if isinstance(change, Supersede)]
        if names and self._file(ended, {one: by_id[one] for one in names}):
            self.counts["ended"] += len(names)
            done = self._done("taken away")
            self.told += [f"The card of {by_id[one].entity} {done}: too few memories are left." for one in names]

    def _file(self, changes: Sequence[Change], seen: dict[str, Memory]) -> bool:
        """Apply changes, or only count them in a dry run; return False if a memory has changed meanwhile."""
        then = prepare_vectors(self.night, changes)
        done = self.night.dry_run or self.night.commit(changes, seen, cause=_CAUSE, then=then)
        self.changes += changes if done else ()
        return done

    def _done(self, what: str) -> str:
        return f"would be {what}" if self.night.dry_run else f"was {what}"


# Step 1: the forgetting curve, with the trust of each memory in its half-life (E-066).


def run_decay(night: Night) -> DreamStep:
    """Recompute the retention of each memory; no belief changes."""
    report = decay(night.parts, dry_run=night.dry_run)
    verb = "would move" if night.dry_run else "moved"
    told = f"{report.updated:,} of {report.examined:,} retention scores {verb}; no belief changed."
    return DreamStep(
        name="forgetting",
        told=(told,) if report.updated else (),
        counts={"examined": report.examined, "moved": report.updated},
        moves=report.moves,
    )


# Step 6: check memories about code against the folders in the settings; no other folder is read.


def run_drift(night: Night) -> DreamStep:
    """Check memories against the folders in `drift_roots` (E-071); invalidate them only if the settings say so."""
    settings = night.parts.settings
    roots = read_opted_in_folders(settings)
    if not roots:
        return DreamStep(name="drift", ran=False, reason="no folder is opted in (drift_roots)")
    report = drift(night.parts, roots, fix=settings.drift_action == "fix" and not night.dry_run, actor=Actor.DREAM)
    levels = Counter(finding.level for finding in report.findings)
    told = [
        f"Agreement of code and memories: {report.score} of 100; {sum(report.checked.values()):,} claims were checked."
    ]
    told += [f"{one.memory_id}: {one.what} ({one.code})." for one in report.findings[:_SHOWN]]
    if len(report.findings) > _SHOWN:
        told.append(f"{len(report.findings) - _SHOWN:,} more findings.")
    if report.invalidated:
        told.append(
            f"{count_noun(len(report.invalidated), 'memory', 'was')} invalidated; `credenda undo` reverses this."
        )
    counts = {"score": report.score, "claims": sum(report.checked.values()), **levels}
    counts["invalidated"] = len(report.invalidated)
    return DreamStep(
        name="drift",
        ran=report.ran,
        reason=report.reason,
        told=tuple(told) if report.findings else (),
        counts=counts,
        drift=report,
    )


# Step 5: flag doubtful beliefs as challenged and lower their scores; none is invalidated.


_PROBED: Final = "probe"
_TOGETHER: Final = 100
_SET_STATUS: Final = frozenset({ChangeKind.SET_STATUS})


@dataclass(slots=True)
class _Doubts:
    """The doubts so far: each memory once, with the first reason found."""

    night: Night
    changes: dict[str, SetStatus] = field(default_factory=dict[str, SetStatus])
    seen: dict[str, Memory] = field(default_factory=dict[str, Memory])
    told: list[str] = field(default_factory=list[str])

    def add(self, memory: Memory, ground: str) -> bool:
        """Add a doubt, unless the user has cleared the same doubt before."""
        if memory.id in self.changes:
            return False
        change = self.night.see(
            lambda reader: challenge(
                memory,
                ground,
                [
                    change.reason
                    for change in reader.changes(ChangeFilter(memory_ids=(memory.id,), kinds=_SET_STATUS))
                    if change.cause == f"dream:{_PROBED}"
                ],
            )
        )
        if change is None:
            return False
        self.changes[memory.id] = change
        self.seen[memory.id] = memory
        verb = "would be" if self.night.dry_run else "is"
        self.told.append(f"{memory.id} {verb} doubted: {ground}.")
        return True


@dataclass(slots=True)
class _Slots:
    """Memory ids by slot, for slots with a single value."""

    held: dict[Slot, list[str]] = field(default_factory=dict[Slot, list[str]])

    def put(self, memory: Memory) -> None:
        slot = get_single_slot(memory)
        if slot is not None:
            self.held.setdefault(slot, []).append(memory.id)


def run_probe(night: Night, rules: ProbeRules | None = None) -> DreamStep:
    """Challenge memories that are contradicted or have lost their evidence, and a sample of old ones (E-070).

    The sample is drawn once a day, so that a second run on the same day challenges nothing more.
    """
    bounds = rules or ProbeRules()
    doubts, mind, slots = _Doubts(night), Mind(night), _Slots()
    redacted = bool(night.see(lambda reader: reader.counts().redacted_events))
    drawn: list[ProbeCandidate] = []
    examined = 0
    for batch in night.held():
        plain = [one for one in batch if not is_dreamed(one)]
        examined += len(plain)
        for memory in plain:
            slots.put(memory)
        if redacted:
            _doubt_without_evidence(doubts, plain)
        drawn = _keep_drawn(night, mind, [*drawn, *(_describe_memory(night, one) for one in plain)], bounds)
    crowded = [names for names in slots.held.values() if len(names) > 1]
    for names in crowded:
        members = doubts.night.see(lambda reader, names=names: reader.memories(sorted(names)))
        for contradicted, later in find_contradicted(members):
            doubts.add(contradicted, f"contradicted by {later.id}")
    fresh = not night.asked_today(_PROBED)
    if fresh:
        _draw(doubts, mind, drawn)
    changes = _apply_doubts(night, doubts)
    if fresh and (drawn or changes):
        night.mark(_PROBED)
    told = [*doubts.told, *([f"{mind.trouble[0].upper()}{mind.trouble[1:]}."] if mind.trouble else [])]
    counts = {"examined": examined, "drawn": len(drawn) if fresh else 0, "challenged": len(changes)}
    return DreamStep(name="probe", told=tuple(told), counts=counts, changes=tuple(changes))


def _describe_memory(night: Night, memory: Memory) -> ProbeCandidate:
    since = memory.created_us if memory.last_accessed_us is None else memory.last_accessed_us
    now_us = night.now_us
    return ProbeCandidate(
        memory=memory, age_days=(now_us - memory.created_us) / DAY_US, idle_days=(now_us - since) / DAY_US
    )


def _keep_drawn(night: Night, mind: Mind, found: Iterable[ProbeCandidate], rules: ProbeRules) -> list[ProbeCandidate]:
    """Return the memories found so far that are in today's sample."""
    if not mind.absent:
        return draw_probes(found, rules, night.today)
    old = [one for one in found if is_old_unconfirmed(one, rules)]
    return sorted(old, key=lambda one: (-one.age_days, one.memory.id))[: rules.max_per_run]


def _doubt_without_evidence(doubts: _Doubts, memories: Sequence[Memory]) -> None:
    """Add doubts about memories whose evidence has no words left."""
    by_id = {one.id: one for one in memories if may_be_probed(one)}

    def look(reader: Reader) -> dict[str, list[str]]:
        links = reader.evidence(memory_ids=sorted(by_id))
        events = {one.id: one for one in reader.events(sorted({link.span.event_id for link in links}))}
        words: dict[str, list[str]] = {}
        for link in links:
            words.setdefault(link.memory_id, []).append(
                events[link.span.event_id].text[link.span.start : link.span.stop]
                if link.span.event_id in events
                else ""
            )
        return words

    for name, words in (doubts.night.see(look) if by_id else {}).items():
        if is_unsupported(by_id[name], words):
            doubts.add(by_id[name], "its source is gone")


def _draw(doubts: _Doubts, mind: Mind, drawn: Sequence[ProbeCandidate]) -> None:
    """Add doubts about the sample: by age or, if available, by the answers of an LLM."""
    if mind.absent:
        for one in drawn:
            doubts.add(one.memory, f"old and never confirmed ({one.age_days:.0f} days)")
        return
    for one in drawn:
        doubt = mind.doubt(one.memory, _find_later_memories(doubts.night, one.memory))
        if doubt is not None:
            against = f" by {doubt.because}" if doubt.because else ""
            doubts.add(one.memory, f"a model holds it {doubt.reason}{against}")
        if mind.trouble:
            return


def _find_later_memories(night: Night, memory: Memory) -> list[Memory]:
    """Return later memories about the same entity, newest first."""
    if not memory.entity:
        return []
    wanted = MemoryFilter(entity=normalise_name(memory.entity), statuses=HELD)
    found = night.see(lambda reader: reader.find(wanted))
    later = [one for one in found if one.created_us > memory.created_us and not is_dreamed(one)]
    return later[: limits.LLM_PROBED_MEMORIES]


def _apply_doubts(night: Night, doubts: _Doubts) -> list[Change]:
    """Apply the doubts and the resulting scores; a memory that has changed meanwhile is left for the next run."""
    names = list(doubts.changes)
    if night.dry_run:
        return [doubts.changes[name] for name in names]
    done: list[Change] = []
    for start in range(0, len(names), _TOGETHER):
        group = names[start : start + _TOGETHER]
        changes = [doubts.changes[name] for name in group]
        seen = {name: doubts.seen[name] for name in group}
        if night.commit(
            changes,
            seen,
            cause=_PROBED,
            then=lambda writer, _, ids=group: rescore_retention(night.parts, writer, ids),
        ):
            done += changes
    return done
