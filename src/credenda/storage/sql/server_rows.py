"""The rows that a server keeps beside the memories: access and members, audit records, tasks of agents, and scores."""

from __future__ import annotations

import hmac
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any, Final, TypeVar

from credenda import limits
from credenda.clock import LONGEST_WAIT_US, Clock
from credenda.errors import Conflict, Invalid, LimitExceeded
from credenda.ids import draw_key, parse_id
from credenda.model.core import ANY_VERSION, Item, ItemFilter, ItemRemoval
from credenda.model.evaluation import ScoreRecord
from credenda.model.governance import LegalHold, PoliciesAndHolds, RetentionPolicy
from credenda.model.server import (
    AUDIT_HEAD,
    FINISHED,
    AccessToken,
    AgentTask,
    AuditDraft,
    AuditRecord,
    AuditReport,
    Member,
    MemberRole,
    SecretKind,
    ServerSecret,
    Skill,
    TaskAnswer,
    TaskFilter,
    TaskState,
)
from credenda.storage.rows import guard_row, list_cells, read_fields
from credenda.storage.sql.statements import Record, StatementRunner
from credenda.storage.store import Finding, Spend, StoredToken, Writer
from credenda.storage.transfer import ErasedTenant

# How the stores of a server's rows reach their tables: in a view, or in a transaction of their own.


T = TypeVar("T")


class ServerTables(ABC):
    """The part of a store that runs statements on the tables of a server. They name their user themselves."""

    @abstractmethod
    def _view_tables(self, user: str = "") -> AbstractContextManager[StatementRunner]:
        """Open a consistent view; `user` is the one whose rows are read where the table belongs to tenants."""

    @abstractmethod
    def _change_tables(self, work: Callable[[StatementRunner], T], user: str = "", *, alone: str = "") -> T:
        """Run a change in a transaction and return its result once it is durable; it may be run again.

        With `alone`, no other change of the same user and that name runs meanwhile, in any process.
        """


# Retention policies and legal holds of a tenant.


def read_retention_rules(run: StatementRunner) -> PoliciesAndHolds:
    """Read a tenant's retention policies and legal holds."""
    policies, holds = run("retention_policies"), run("legal_holds")
    return PoliciesAndHolds(
        policies=tuple(RetentionPolicy(topic=row[0] or None, days=row[1], set_us=row[2]) for row in policies),
        holds=tuple(LegalHold(reason=row[0], set_us=row[1], lifted_us=row[2], lifted_reason=row[3]) for row in holds),
    )


# Scores of responses, and costs of models.


class ReportStore(ServerTables):
    """The scores and costs of a database. Erasing a tenant deletes its rows in the same transaction."""

    def add_score(self, user_id: str, score: ScoreRecord) -> int:
        """Store a score under the next number of its tenant, and return that; `id` of the score is ignored."""

        def work(run: StatementRunner) -> int:
            number = int(run("next_score", user_id=user_id).fetchone()[0])
            run("insert_score", **list_cells(score, user_id=user_id, id=number))
            return number

        return self._change_tables(work, user_id, alone="scores")

    def list_scores(
        self, user_id: str, *, below: int | None = None, session: str | None = None, limit: int
    ) -> list[ScoreRecord]:
        """Return at most `limit` scores of a tenant with numbers below one, the newest first."""
        with self._view_tables(user_id) as run:
            found = run("list_scores", user_id=user_id, below=below, session=session, limit=limit)
            return [read_fields(ScoreRecord, row) for row in found]

    def list_spends(self, user_id: str, first_day: int, last_day: int) -> list[Spend]:
        """Return what models cost a tenant on these days (since 1970-01-01 UTC), oldest first, both included."""
        with self._view_tables(user_id) as run:
            found = run("spends_of_days", user_id=user_id, first_day=first_day, last_day=last_day)
            return [Spend(**row) for row in found]


# Audit records, and the chain that they form.


GENESIS: Final = sha256(b"\x00").digest()
"""The hash before the first record (R-203)."""
NO_HEAD: Final = (0, GENESIS)
"""The end of a chain without records."""
_ALIAS: Final = "p-"
_ALIAS_HEX: Final = 32
_SAFE: Final = frozenset(" ._:/@+-")
_FORMULA: Final = tuple("=+-@ ")
_TEXT_CHARACTERS: Final = 128


@dataclass(frozen=True, slots=True)
class NamedAlias:
    """A pseudonym and the name behind it, as they are stored; `key` is that of the user."""

    alias: object
    name: object
    key: object


def make_harmless(text: str) -> str:
    """Make a text harmless wherever records are shown: no control character, markup or formula, and no length.

    >>> make_harmless("=cmd|' /C calc'!A0"), make_harmless("<b>laptop</b>"), make_harmless("a" * 500) == "a" * 128
    ('_cmd__ /C calc__A0', '_b_laptop_/b_', True)
    """
    shown = "".join(sign if sign.isalnum() or sign in _SAFE else "_" for sign in text[:_TEXT_CHARACTERS])
    return f"_{shown[1:]}" if shown.startswith(_FORMULA) else shown


def compute_alias(key: bytes, name: str) -> str:
    """Compute the pseudonym of a name: without the key of its user nobody can find or prove the name."""
    return _ALIAS + hmac.digest(key, b"alias\x00" + name.encode("utf-8", "replace"), "sha256").hex()[:_ALIAS_HEX]


def write_record(draft: AuditDraft, *, seq: int, pseudonym: str, input_key: bytes, name: Callable[[str], str]) -> str:
    """Write a record as canonical JSON; of the inputs it has a keyed hash, which tells nothing without the key.

    `name` returns the pseudonym of a name. Every other text is neutralised.
    """
    record = {
        "seq": seq,
        "at_us": draft.at_us,
        "request_id": make_harmless(draft.request_id),
        "user": pseudonym,
        "principal": make_harmless(f"{draft.issuer}:{name(draft.subject)}") if draft.issuer else "",
        "credential": make_harmless(draft.credential),
        "member": make_harmless(draft.member),
        "client": make_harmless(draft.client),
        "actor": name(draft.actor) if draft.actor else "",
        "door": make_harmless(draft.door),
        "operation": make_harmless(draft.operation),
        "scope": make_harmless(draft.scope),
        "ids": [make_harmless(one) for one in draft.ids],
        "more_ids": draft.more_ids,
        "outcome": draft.outcome,
        "status": draft.status,
        "code": make_harmless(draft.code),
        "duration_ms": draft.duration_ms,
        "tokens_in": draft.tokens_in,
        "tokens_out": draft.tokens_out,
        "cost_usd": round(draft.cost_usd, 6),
        "count": draft.count,
        "inputs_hash": hmac.digest(input_key, draft.inputs.encode(), "sha256").hex(),
    }
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)


def compute_hash(before: bytes, record: bytes) -> bytes:
    """Compute the hash of a record: over the hash before it, which has a fixed length, and all of its fields."""
    return sha256(before + record).digest()


def verify_chain(
    rows: Iterable[tuple[int, bytes | None, bytes | None]], head: tuple[int, bytes | None], anchors: Sequence[str] = ()
) -> AuditReport:
    """Verify (number, record, hash) of all records against the end of the chain, and earlier heads kept elsewhere.

    It finds an edit, a gap, another order and a missing end. A record or hash of another type than ours is None.
    """
    before, count = GENESIS, 0
    missing = dict.fromkeys(anchors)
    missing.pop(f"0:{GENESIS.hex()}", None)
    for seq, record, stored in rows:
        count += 1
        expected = compute_hash(before, record or b"")
        if seq != count or record is None or expected != stored or not _has_number(record, seq):
            return _fail(count - 1, before, f"record {count} was changed, moved, or is missing")
        before = expected
        missing.pop(f"{seq}:{before.hex()}", None)
    if (count, before) != head:
        return _fail(count, before, f"the records after {count} are missing, or the end of the chain was changed")
    if missing:
        return _fail(count, before, f"the chain does not lead through the anchor {make_harmless(next(iter(missing)))}")
    return AuditReport(ok=True, records=count, head=f"{count}:{before.hex()}")


def find_changed_name(names: Iterable[NamedAlias]) -> str:
    """Return the first pseudonym that does not belong to the name behind it; "" where all do.

    Pseudonyms of databases before schema version 18 were drawn, and are not looked at.
    """
    for one in names:
        alias, name, key = one.alias, one.name, one.key
        if isinstance(alias, str) and not alias.startswith(_ALIAS):
            continue
        if not (isinstance(name, str) and isinstance(key, bytes) and compute_alias(key, name) == alias):
            return make_harmless(str(alias))
    return ""


def _fail(count: int, last: bytes, problem: str) -> AuditReport:
    return AuditReport(ok=False, records=count, head=f"{count}:{last.hex()}", problem=problem)


def _has_number(record: bytes, seq: int) -> bool:
    try:
        return json.loads(record)["seq"] == seq
    except (ValueError, KeyError, TypeError):
        return False


# Items that programs keep, and tasks of other agents.


_LAST: Final = "\U0010ffff"
_ALL: Final = 1 << 62


class ItemStore(ServerTables):
    """The items of a database; each belongs to one tenant. A writer files them (`Item`, `ItemRemoval`)."""

    def find_items(self, user_id: str, wanted: ItemFilter) -> list[Item]:
        """Return the items of a tenant that match a filter."""
        name = "find_newest_items" if wanted.newest else "find_items"
        name = "find_expired_items" if wanted.expired else name
        given = {
            "user_id": user_id,
            "space": wanted.space,
            "is_below": int(wanted.below),
            "last_space": wanted.space + _LAST,
            "key": wanted.key,
            "key_begins": wanted.key_begins,
            "sources": json.dumps(wanted.sources),
            "now_us": wanted.now_us,
            "limit": wanted.limit if wanted.limit >= 0 else _ALL,
        }
        with self._view_tables(user_id) as run:
            return [_to_item(row) for row in run(name, **given)]


@guard_row("items")
def _to_item(row: Record) -> Item:
    return read_fields(Item, row)


def write_item(run: StatementRunner, row: Item | ItemRemoval, tag: str, now_us: int) -> str:
    """Store or delete an item in the present transaction, and return its key; raise `Conflict` for another version.

    Raises `NotFound` for a source of another tenant.
    """
    if isinstance(row, Item) and row.source is not None:
        parse_id(row.source, tag)
    key = row.key
    if key == "":
        last = run("numbered_keys", space=row.space).fetchone()
        number = str(last[0]) if last else "0"
        key = f"{int(number) + 1 if number.isdecimal() else 1:012}"
    if row.version != ANY_VERSION:
        found = run("item_version", space=row.space, key=key, now_us=now_us).fetchone()
        if (found[0] if found else 0) != row.version:
            raise Conflict(
                "this item has another version by now",
                why="someone else has written it, or it is gone",
                fix="read it again, and repeat the change",
            )
    if isinstance(row, ItemRemoval):
        run("delete_items", space=row.space, key=key)
        return ""
    run("put_item", **list_cells(row, key=key))
    return key or ""


# Tasks of other agents.


_FINISHED: Final = json.dumps(sorted(FINISHED))


class AgentTaskStore(ServerTables):
    """The tasks of a database; each belongs to one tenant. Erasing a tenant deletes its tasks in the same transaction.

    Tasks are not part of an export: they name ids of this database, and an agent that waits for one waits here.
    """

    def add_task(self, user: str, task: AgentTask) -> AgentTask:
        """Store a new task, durable on return; or return the one that the same message began.

        That one has the same message id, skill, events and contests. Without events it is unfinished and has the same
        context.
        A tenant has a bounded number of tasks: the oldest finished one makes room. Raises `LimitExceeded` where none
        is finished.
        """

        def add(run: StatementRunner) -> AgentTask:
            row = _to_row(user, task)
            found = run("same_task", **row, finished=_FINISHED).fetchone()
            if found is not None:
                return _to_task(found)
            full = run("count_all_tasks", user_id=user).fetchone()[0] >= limits.AGENT_TASKS
            if full and not run("prune_task", user_id=user, finished=_FINISHED).rowcount:
                raise LimitExceeded(
                    f"{limits.AGENT_TASKS:,} tasks wait for an answer",
                    why="more are not kept for one user",
                    fix="answer or cancel some of them",
                )
            run("insert_task", **row)
            return task

        return self._change_tables(add, user, alone="tasks")

    def find_task(self, user: str, task_id: str) -> AgentTask | None:
        """Return a task of a tenant; None for an unknown id, and for one of another tenant."""
        with self._view_tables(user) as run:
            row = run("task_by_id", user_id=user, id_text=task_id).fetchone()
        return None if row is None else _to_task(row)

    def update_task(self, user: str, task: AgentTask) -> bool:
        """Store a changed task with the next version; return False, and change nothing, for an outdated version."""
        return self._change_tables(lambda run: run("update_task", **_to_row(user, task)).rowcount == 1, user)

    def list_tasks(self, user: str, wanted: TaskFilter) -> list[AgentTask]:
        """Return tasks of a tenant, the latest update first."""
        at_us, last = wanted.before or (None, None)
        given = {**_to_conditions(user, wanted), "at_us": at_us, "last_id": last, "limit": wanted.limit}
        with self._view_tables(user) as run:
            return [_to_task(row) for row in run("list_tasks", **given)]

    def count_tasks(self, user: str, wanted: TaskFilter) -> int:
        """Return the number of tasks that meet a filter, on all pages."""
        with self._view_tables(user) as run:
            return run("count_tasks", **_to_conditions(user, wanted)).fetchone()[0]


def _to_conditions(user: str, wanted: TaskFilter) -> dict[str, Any]:
    states = json.dumps(sorted(wanted.states))
    return {"user_id": user, "since_us": wanted.since_us, "context_id": wanted.context_id, "states": states}


def _to_row(user: str, task: AgentTask) -> dict[str, Any]:
    return list_cells(
        task,
        user_id=user,
        id_text=task.id,
        skill=task.skill.value,
        state=task.state.value,
        events=json.dumps(task.events),
        contests=json.dumps(task.contests),
        answers=json.dumps([asdict(one) for one in task.answers]),
    )


@guard_row("agent_tasks")
def _to_task(row: Record) -> AgentTask:
    return read_fields(
        AgentTask,
        row,
        skill=Skill(row["skill"]),
        state=TaskState(row["state"]),
        events=tuple(json.loads(row["events"])),
        contests=tuple(json.loads(row["contests"])),
        answers=tuple(TaskAnswer(**one) for one in json.loads(row["answers"])),
    )


# Audit records.


_PAGE: Final = 500


class AuditStore(ServerTables):
    """The audit records of a database."""

    def append_audit(self, drafts: Sequence[AuditDraft]) -> str:
        """Record calls at the end of the chain, in one transaction; durable on return. Returns the head, `SEQ:HASH`."""
        return self._change_tables(lambda run: _append(run, drafts), alone="audit")

    def read_audit(self, after: int = 0) -> Iterator[AuditRecord]:
        """Yield the records after a number, in order."""
        while True:
            with self._view_tables() as run:
                rows = run("audit_after", seq=after, limit=_PAGE).fetchall()
            yield from map(_to_record, rows)
            if len(rows) < _PAGE:
                return
            after = rows[-1]["seq"]

    def read_audit_of(self, user: str, after: int, limit: int) -> list[AuditRecord]:
        """Return at most `limit` records of one user after a number, in order."""
        with self._view_tables() as run:
            known = run("audit_subject", user_id=user).fetchone()
            if known is None:
                return []
            found = run("audit_of_user", pseudonym=known["pseudonym"], seq=after, limit=limit)
            return [_to_record(row) for row in found]

    def verify_audit(self, anchors: Sequence[str] = ()) -> AuditReport:
        """Verify the whole chain and the names behind its pseudonyms; `anchors` are heads of earlier times.

        Raises `Invalid` for an anchor that no chain can lead through, such as a mistyped one.
        """
        for anchor in anchors:
            if not AUDIT_HEAD.fullmatch(anchor):
                raise Invalid(
                    f"{make_harmless(anchor)} is no anchor",
                    why="an anchor is SEQ:HASH, a number and 64 hexadecimal digits",
                    fix="copy the whole head that an earlier verification printed",
                )
        with self._view_tables() as run:
            head = run("audit_head").fetchone()
            rows = ((row[0], row[1], row[2]) for row in run("audit_chain"))
            report = verify_chain(rows, NO_HEAD if head is None else (head["seq"], head["hash"]), anchors)
            changed = find_changed_name(NamedAlias(*row) for row in run("keyed_audit_names"))
        if report.ok and changed:
            return replace(report, ok=False, problem=f"the name behind {changed} was changed")
        return report

    def read_audit_names(self) -> dict[str, str]:
        """Return users and other names by their pseudonyms; without those of users that were erased."""
        with self._view_tables() as run:
            return {row[0]: row[1] for row in run("audit_names")}


def _to_record(row: Record) -> AuditRecord:
    return AuditRecord(seq=row["seq"], fields=json.loads(row["record"]), hash=bytes(row["hash"]).hex())


def _append(run: StatementRunner, drafts: Sequence[AuditDraft]) -> str:
    """Append records; the end of the chain is read and moved in the same transaction, so that it never forks."""
    head = run("audit_head").fetchone()
    seq, last = NO_HEAD if head is None else (head["seq"], bytes(head["hash"]))
    for draft in drafts:
        # Find a user's pseudonym and key; a user without them gets a random key. It is stored for a user of this
        # database alone: the name of one who was erased must not come back.
        user = draft.user
        if not user:
            subject = _Subject(run, "", "", b"\x00", is_known=False)
        else:
            known = run("audit_subject", user_id=user).fetchone()
            if known is not None:
                subject = _Subject(run, user, known["pseudonym"], bytes(known["input_key"]), is_known=True)
            else:
                key = draw_key()
                pseudonym = compute_alias(key, user)
                is_known = run("is_user", user_id=user).fetchone() is not None
                if is_known:
                    run("insert_subject", user_id=user, pseudonym=pseudonym, input_key=key)
                subject = _Subject(run, user, pseudonym, key, is_known)
        seq += 1
        record = write_record(
            draft, seq=seq, pseudonym=subject.pseudonym, input_key=subject.key, name=subject.name_person
        )
        last = compute_hash(last, record.encode())
        run("append_audit", seq=seq, record=record, hash=last)
    run("move_audit_head", seq=seq, hash=last)
    return f"{seq}:{last.hex()}"


@dataclass(frozen=True, slots=True)
class _Subject:
    """A user of the records, with the key of the user's pseudonyms and inputs."""

    run: StatementRunner
    user: str
    pseudonym: str
    key: bytes
    is_known: bool

    def name_person(self, name: str) -> str:
        """Return the pseudonym of a name in this user's records, and store the name of a known user."""
        if not self.user:
            return ""
        alias = compute_alias(self.key, name)
        if self.is_known:
            self.run("insert_audit_name", user_id=self.user, alias=alias, name=name)
        return alias


# Members of shared memories.


class MemberStore(ServerTables):
    """The members of shared memories. Erasing a user deletes the members, and the memberships of that user."""

    def add_member(self, member: Member) -> None:
        """Store a new member; durable on return. Raises `Conflict` for a present member of the same name."""
        if self._change("insert_member", member) != 1:
            raise Conflict(f"{member.subject[:64]} is a member already", fix="remove the member first")

    def find_member(self, user: str, issuer: str, subject: str) -> Member | None:
        """Return the present member of a user's memory; None for others."""
        with self._view_tables() as run:
            row = run("find_member", user_id=user, issuer=issuer, subject=subject).fetchone()
        return None if row is None else _to_member(row)

    def list_members(self, user: str | None = None) -> list[Member]:
        """Return the members of a user's memory, or of all memories, present and removed, the oldest first."""
        with self._view_tables() as run:
            return [_to_member(row) for row in run("list_members", user_id=user)]

    def list_memberships(self, issuer: str, subject: str) -> list[Member]:
        """Return the present memberships of a person, ordered by memory."""
        with self._view_tables() as run:
            return [_to_member(row) for row in run("list_memberships", issuer=issuer, subject=subject)]

    def set_member_role(self, member: Member) -> None:
        """Store the role of a member."""
        self._change("set_member_role", member)

    def remove_member(self, member: Member, now_us: int) -> None:
        """Remove a member; repeating it keeps the first time."""
        self._change("remove_member", member, now_us=now_us)

    def _change(self, name: str, member: Member, **values: object) -> int:
        """Run a statement about a member, durably, and return the number of rows that it changed."""
        cells = list_cells(member, user_id=member.user, id_text=member.id, **values)
        return self._change_tables(lambda run: run(name, **cells).rowcount)


def _to_member(row: Record) -> Member:
    return read_fields(Member, row, user=row["user_id"], role=MemberRole(row["role"]))


# Access tokens.


class TokenStore(ServerTables):
    """The tokens of a database. Erasing a tenant deletes its tokens in the same transaction."""

    def add_token(self, stored: StoredToken, *, now_us: int | None = None) -> None:
        """Store a token; durable on return. Raises `Conflict` if a token of its name and user is valid at `now_us`."""
        user = stored.token.user

        def add(run: StatementRunner) -> None:
            if now_us is not None:
                # Raise `Conflict` if a valid token has a name; a connected client has no name of its own.
                held = map(_to_token, run("list_tokens", user_id=user))
                name = stored.token.name
                same = next(
                    (one for one in held if one.name == name and not one.client and one.is_valid_at(now_us)), None
                )
                if same is not None:
                    raise Conflict(
                        f"{same.user[:64]} has a valid token {name[:64]!r} already",
                        why=f"the name revokes one token, and {same.id} has it",
                        fix="give another name, or revoke that token first",
                    )
            insert_token(run, stored)

        self._change_tables(add, user, alone="token")

    def find_token(self, token_id: str) -> StoredToken | None:
        """Return the token with an id, valid or not; None for an unknown id."""
        with self._view_tables() as run:
            row = run("token_by_id", id_text=token_id).fetchone()
        return None if row is None else StoredToken(_to_token(row), bytes(row["digest"]))

    def list_tokens(self, user: str | None = None) -> list[AccessToken]:
        """Return the tokens of a user, or of all users, the oldest first."""
        with self._view_tables() as run:
            return [_to_token(row) for row in run("list_tokens", user_id=user)]

    def revoke_token(self, token_id: str, now_us: int) -> None:
        """Revoke a token; one that is revoked already keeps its time."""
        self._change_tables(lambda run: run("revoke_token", id_text=token_id, now_us=now_us).rowcount)

    def record_token_use(self, token_id: str, now_us: int) -> None:
        """Record when a token was last used."""
        self._change_tables(lambda run: run("use_token", id_text=token_id, now_us=now_us).rowcount)


def insert_token(run: StatementRunner, stored: StoredToken) -> None:
    """Store a token in the present transaction."""
    token = stored.token
    own = {"id_text": token.id, "user_id": token.user, "scopes": " ".join(token.scopes), "digest": stored.digest}
    run("insert_token", **list_cells(token, **own))


def _to_token(row: Record) -> AccessToken:
    return read_fields(AccessToken, row, user=row["user_id"], scopes=tuple(row["scopes"].split()))


# Short-lived secrets of a server.


class SecretStore(ServerTables):
    """The short-lived secrets of a server. Erasing a user deletes them in the same transaction."""

    def add_secret(self, secret: ServerSecret) -> None:
        """Store a secret, and delete those that have expired; durable on return."""
        self._change_tables(lambda run: _add(run, [secret]))

    def find_secret(self, digest: bytes) -> ServerSecret | None:
        """Return the secret with a digest, valid or not; None for an unknown digest."""
        with self._view_tables() as run:
            row = run("secret_by_digest", digest=digest).fetchone()
        if row is None:
            return None
        own = {"digest": bytes(row["digest"]), "kind": SecretKind(row["kind"]), "user": row["user_id"]}
        return read_fields(ServerSecret, row, data=json.loads(row["data"]), **own)

    def spend_secret(
        self, digest: bytes, now_us: int, *, successors: Sequence[ServerSecret] = (), token: StoredToken | None = None
    ) -> bool:
        """Mark a secret as used and store what it was exchanged for, in one transaction.

        Returns False, and stores nothing, if it was used before or is unknown.
        """

        def spend(run: StatementRunner) -> bool:
            if run("spend_secret", now_us=now_us, digest=digest).rowcount != 1:
                return False
            if token is not None:
                insert_token(run, token)
            _add(run, successors)
            return True

        return self._change_tables(spend)


def _add(run: StatementRunner, secrets: Sequence[ServerSecret]) -> None:
    for one in secrets:
        run("drop_expired_secrets", before_us=one.created_us)
        data = json.dumps(dict(one.data), sort_keys=True)
        run("insert_secret", **list_cells(one, user_id=one.user, data_text=data))


class ServerRows(TokenStore, SecretStore, MemberStore, AuditStore, ReportStore, AgentTaskStore, ItemStore):
    """The part of a store that belongs to a server."""

    @property
    def tokens(self) -> TokenStore:
        """The access tokens of callers."""
        return self

    @property
    def secrets(self) -> SecretStore:
        """The short-lived secrets of logins and OAuth."""
        return self

    @property
    def members(self) -> MemberStore:
        """The members of shared memories."""
        return self

    @property
    def audit(self) -> AuditStore:
        """The records of calls."""
        return self

    @property
    def reports(self) -> ReportStore:
        """The costs of models, and the scores of responses."""
        return self

    @property
    def items(self) -> ItemStore:
        """The values that programs keep beside the beliefs."""
        return self

    @property
    def agent_tasks(self) -> AgentTaskStore:
        """The tasks of other agents."""
        return self


# Questions about all tenants of a database.


_JOBS_A_TENANT: Final = 8
"""Due jobs that are read for each tenant that is asked for; where tenants have more, fewer tenants are found."""


class TenantQueries(ServerTables):
    """The part of a store that looks at every tenant, at those that were erased, and at the rules of one."""

    _clock: Clock

    def now_us(self) -> int:
        """Return the time of this store's clock."""
        return self._clock.now_us()

    def rules(self, user_id: str) -> PoliciesAndHolds:
        """Return the retention policies and legal holds of a tenant."""
        with self._view_tables(user_id) as run:
            return read_retention_rules(partial(run, user_id=user_id))

    def erased(self, tags: Collection[str]) -> set[str]:
        """Return those of the tags whose tenants were erased here."""
        return {one.tag for one in self.erasures()} & set(tags)

    def erasures(self) -> list[ErasedTenant]:
        """Return the ledger of erased tenants."""
        with self._view_tables() as run:
            return [
                ErasedTenant(bytes(row["digest"]), row["tag"], bytes(row["ledger_key"]), row["erased_at"])
                for row in run("list_erasures")
            ]

    def take_over(self, entries: Iterable[ErasedTenant]) -> None:
        """Add tenants that were erased elsewhere to the ledger."""
        rows = [{"digest": one.digest, "tag": one.tag, "hmac_key": one.key, "at_us": one.erased_us} for one in entries]
        self._change_tables(lambda run: [run("enter_erasure", **row) for row in rows])

    def check_server(self, users: tuple[str, str], fill: Callable[[Writer], object]) -> list[Finding]:
        """Find nothing, because a file has no server, and no walls beside the conditions of statements."""
        del users, fill
        return []

    def user_of(self, tag: str) -> str | None:
        """Return the name of the tenant whose ids end with this tag."""
        with self._view_tables() as run:
            row = run("user_of_tag", tag=tag).fetchone()
        return None if row is None else str(row[0])

    def users(self, *, after: str = "", limit: int) -> list[str]:
        """Return the names of tenants, in order of name, from `after` on."""
        with self._view_tables() as run:
            return [str(row["user_id"]) for row in run("users", after_user=after, limit=limit)]

    def find_oldest_waiting(self, kinds: Collection[str]) -> int | None:
        """Return when the oldest job of these kinds was filed that is not done and not given up; None without one."""
        with self._view_tables() as run:
            return run("oldest_waiting", kinds=json.dumps(sorted(kinds))).fetchone()["created_at"]

    def users_with_due_jobs(
        self,
        now_us: int,
        *,
        limit: int,
        after: str = "",
        kinds: Collection[str] = (),
        other_kinds: Collection[str] = (),
    ) -> list[str]:
        """Return the names of tenants with a due job, in order of name, from `after` on."""
        lists = {"kinds": kinds, "other_kinds": other_kinds}
        given: dict[str, object] = {name: json.dumps(sorted(words)) for name, words in lists.items()}
        given |= {"now_us": now_us, "far_us": now_us + LONGEST_WAIT_US, "after_user": after}
        with self._view_tables() as run:
            found = run("users_with_due_jobs", limit=limit, window=limit * _JOBS_A_TENANT, **given)
            return [str(row["user_id"]) for row in found]
