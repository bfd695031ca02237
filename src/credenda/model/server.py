"""The rows that a server keeps: tokens, members, secrets, tasks of other agents, and records of calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """A token as it is stored: everything but its secret."""

    id: str
    name: str
    user: str
    scopes: tuple[str, ...]
    created_us: int
    expires_us: int | None = None
    last_used_us: int | None = None
    """The last use, recorded at most once a minute."""
    revoked_us: int | None = None
    subject: str = ""
    """The member of the memory who has the token; "" for the user whose memory it is."""
    client: str = ""
    """The id of the OAuth client that was connected; "" for a token of `credenda token create`."""
    resource: str = ""
    """The address that it is for; "" for every address of the server."""

    @property
    def person(self) -> str:
        """The person who has it."""
        return self.subject or self.user

    def is_valid_at(self, now_us: int) -> bool:
        """Return whether it is neither revoked nor expired."""
        return self.revoked_us is None and (self.expires_us is None or now_us < self.expires_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedToken:
    """A new token with its text, which is shown once and stored nowhere."""

    token: str
    id: str
    name: str
    user: str
    scopes: tuple[str, ...]
    created_us: int
    expires_us: int | None
    subject: str


# Records of the calls to a server.


_REFUSED: Final = 400
_STATUSES: Final[Mapping[int, str]] = {401: "denied", 403: "denied", 421: "denied", 429: "limited", 504: "timeout"}
_CODES: Final[Mapping[str, str]] = {"unauthenticated": "denied", "forbidden": "denied", "TOOL_TIMEOUT": "timeout"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditDraft:
    """A call that ended, before it is recorded. Names of people are replaced by pseudonyms when it is."""

    at_us: int
    request_id: str
    user: str = ""
    """The user whose memory it reached; "" for a caller who was not found out."""
    issuer: str = ""
    """The issuer of the caller's identity; "" for a caller who was not found out."""
    subject: str = ""
    """The caller's name at the issuer."""
    credential: str = ""
    """The credential of the caller, without its secret."""
    member: str = ""
    """The id of the member who called; "" for the user whose memory it is."""
    client: str = ""
    """The program that called, by its own word or that of the authorization server."""
    actor: str = ""
    """The agent for which it called, as it said."""
    door: str = ""
    operation: str = ""
    scope: str = ""
    ids: tuple[str, ...] = ()
    """The ids that the call named and that its answer showed."""
    more_ids: int = 0
    """How many further ids the answer showed."""
    status: int
    """The HTTP status; 0 where no answer began."""
    code: str = ""
    """The code of the error; "" where it went well."""
    duration_ms: float
    tokens_in: int = 0
    """Tokens that language models read for the call."""
    tokens_out: int = 0
    cost_usd: float = 0.0
    count: int = 1
    """How many calls of this kind the record stands for: more than one only where no more could be queued."""
    inputs: str = field(default="", repr=False)
    """The SHA-256 of the inputs, which is never stored."""

    @property
    def outcome(self) -> str:
        """The outcome in one word: ok, denied, limited, timeout or failed."""
        found = _STATUSES.get(self.status) or _CODES.get(self.code)
        if found is not None:
            return found
        return "failed" if self.code or not 0 < self.status < _REFUSED else "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """A recorded call: its place in the chain, its fields, and the hash over them and all records before."""

    seq: int
    fields: Mapping[str, object]
    hash: str


AUDIT_HEAD: Final = re.compile(r"[0-9]{1,18}:[0-9a-f]{64}")
"""The head of the chain, which later serves as an anchor: the number and the hash of a record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """The result of verifying the chain."""

    ok: bool
    records: int
    head: str
    """Number and hash of the last record, `SEQ:HASH`; keep it elsewhere to notice later that records are missing."""
    problem: str = ""
    """The first contradiction."""


# Members of a memory that several people share.


class MemberRole(StrEnum):
    """The permissions of a member, the fewest first."""

    READER = "reader"
    WRITER = "writer"
    REVIEWER = "reviewer"
    OWNER = "owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A person who may use a memory: issuer and subject name the person."""

    id: str
    """The author of what this member writes; "" for the user whose memory it is."""
    user: str
    """The user whose memory it is."""
    issuer: str
    """The external issuer that names the person; "" for this server."""
    subject: str
    role: MemberRole
    added_us: int
    removed_us: int | None = None


# Short-lived secrets of a server: login links, sessions, authorization codes, access tokens and refresh tokens.


class SecretKind(StrEnum):
    """The purpose of a secret; it stands in the text of the secret, so that none serves another purpose."""

    LINK = "link"
    SESSION = "session"
    CODE = "code"
    ACCESS = "access"
    REFRESH = "refresh"
    PASSWORD = "password"  # noqa: S105 - the name of a kind
    """The hash of a password, found by the name of its person; it is no text that anyone sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSecret:
    """A secret as it is stored: its SHA-256, never its text."""

    digest: bytes
    kind: SecretKind
    user: str
    """The user whose erasure deletes it: of a link or session the person, else the memory."""
    token_id: str = ""
    """The token that it belongs to."""
    created_us: int
    expires_us: int
    used_us: int | None = None
    data: Mapping[str, str] = field(default_factory=dict[str, str])

    def is_valid_at(self, now_us: int) -> bool:
        """Return whether it is neither used nor expired."""
        return self.used_us is None and now_us < self.expires_us


# Tasks that other agents hand over: what is stored of each.


class Skill(StrEnum):
    """The work that another agent may ask for."""

    CONSOLIDATE = "consolidate_memories"
    RESOLVE = "resolve_conflicts"


class TaskState(StrEnum):
    """The state of a task."""

    SUBMITTED = "submitted"
    WORKING = "working"
    INPUT_REQUIRED = "input-required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"


FINISHED: Final = frozenset({TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED})
"""States that a task does not leave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAnswer:
    """One answer to a question of a task, and the message that gave it.

    `question` is the id of a contest or of a memory that contradicts earlier ones, `contest` that of its contest.
    """

    question: str
    contest: str
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTask:
    """A task as it is stored. It holds no words: `events` and `contests` are ids.

    `message_id` is the first message's, as its sender named it. `contests` are those that a task of the skill
    `resolve_conflicts` asks about. `version` counts the updates.
    """

    id: str
    context_id: str
    message_id: str
    skill: Skill
    state: TaskState
    events: tuple[str, ...] = ()
    contests: tuple[str, ...] = ()
    answers: tuple[TaskAnswer, ...] = ()
    created_us: int
    updated_us: int
    version: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """A filter of tasks, the latest update first; `before` is the update time and id of the last one of a page."""

    context_id: str | None = None
    states: frozenset[TaskState] = field(default_factory=lambda: frozenset(TaskState))
    since_us: int = 0
    before: tuple[int, str] | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmovedUser:
    """A user whose memory was not moved, or whose copy is not equal to it, and why."""

    user: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationReport:
    """The rows that a migration moved and verified."""

    ok: bool
    """Whether every user is in the target with equal rows and equal results of searches."""
    moved: int
    """Users whose memories were moved by this run."""
    present: int
    """Users whose memories an earlier run had moved; they were verified again."""
    rows: Mapping[str, int] = field(default_factory=dict[str, int])
    """Verified rows of each table, of all users."""
    searches: int = 0
    """Searches that were run in both databases, with the same hits in the same order and with the same scores."""
    tokens: int = 0
    members: int = 0
    erasures: int = 0
    """Tokens, members and entries of the ledger of erasures that this run added to the target."""
    unmoved: tuple[UnmovedUser, ...] = ()
    left: tuple[str, ...] = ()
    """What stays behind by design."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCheck:
    """The result of one check: `ok` is None where it could not be made."""

    check: str
    ok: bool | None
    detail: str
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReport:
    """The results of all checks; `ok` if none failed."""

    oldest_unread_seconds: float | None
    """For how long the oldest message has waited to be read; None where the token may not see it."""
    ok: bool
    url: str
    checks: tuple[ServerCheck, ...]
