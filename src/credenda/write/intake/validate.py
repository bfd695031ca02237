"""First step of a write: validate and screen the caller's input and turn it into messages. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from functools import cache
from string import digits
from typing import Any, Final, NamedTuple, TypeVar, cast

from credenda import limits
from credenda.errors import Invalid, LimitExceeded
from credenda.model.event import OWN_SOURCES, TRUST, NewEvent, Role, Source
from credenda.model.fast_dataclass import compile_fast_init
from credenda.model.memory import Draft, MemoryType
from credenda.private import cut_private, cut_private_fields, cut_tagged, is_off_record
from credenda.text.given_time import parse_start
from credenda.text.normalize import normalise_name
from credenda.text.sentences import is_about_user
from credenda.validation import check_member, check_metadata, check_name, encode_text, replace_zeros
from credenda.write.intake.secrets import (
    DENIED,
    LONG_WORD,
    NUMBER_DIGITS,
    ORDER_WORDS,
    QUARANTINED,
    SECRET_WORDS,
    Screened,
    check_identifier,
    collect_hint_words,
    detect_injection,
    is_instruction_like,
    is_protected_topic,
    keep_orders,
    may_hold_secret,
    screen_secrets,
)

# Screen the fields around a text: labels, metadata, and whole drafts of memories. Pure.


_OPTIONAL: Final = ("entity", "value", "scope", "topic")
L = TypeVar("L", bound="str | None")


def screen_label(label: L, policy: str) -> L:
    """Return a label without private parts and U+0000 and with its secrets masked; "" for one that is private.

    Raises `Invalid` under the policy reject.
    """
    return cast("L", screen_secrets(replace_zeros(str(label)), policy).text) if label else label


def require_label(label: L, what: str, policy: str) -> L:
    """Return a label as `screen_label` does; raises `Invalid` for one that is private as a whole."""
    screened = screen_label(label, policy)
    if (label or "").strip() and not (screened or "").strip():
        raise make_private_error(what)
    return screened


def make_private_error(what: str) -> Invalid:
    """Make the error for an input of which nothing may be written."""
    return Invalid(
        f"{what} is private as a whole",
        why="private text is never written, and nothing else is there",
        fix="put what may be kept outside of the private tags",
    )


def screen_labels(labels: tuple[str, ...], policy: str) -> tuple[str, ...]:
    """Return labels as `screen_label` does, each once, without those that are private."""
    return tuple(dict.fromkeys(shown for label in labels if (shown := screen_label(label, policy))))


def screen_metadata(metadata: Mapping[str, object], policy: str) -> Mapping[str, object]:
    """Return metadata without private parts and with the secrets of names and values masked, at any depth.

    A value is screened together with its name, which may be what announces it.

    >>> screen_metadata({"login": {"password": "hunter2"}, "pin": 4821, "page": 3}, "mask")
    {'login': {'password': '[password removed]'}, 'pin': '[PIN removed]', 'page': 3}
    """
    if not metadata:
        return metadata
    body = json.dumps(metadata, ensure_ascii=False)
    if "<" in body:
        metadata = cast("Mapping[str, object]", cut_private_fields(metadata))
    if policy == "keep" or not may_hold_secret(body):
        return metadata
    return {screen_secrets(name, policy).text: _screen_value(name, value, policy) for name, value in metadata.items()}


def _screen_value(name: str, value: object, policy: str) -> object:
    match value:
        case bool() | float() | None:
            return value
        case str() | int():
            text = str(value)
            screened = screen_secrets(text, policy)
            if screened.masked:
                return screened.text
            announced = f"{name}: "
            together = screen_secrets(announced + text, policy)
            hidden = bool(together.masked) and together.text.startswith(announced)
            return together.text.removeprefix(announced) if hidden else value
        case list():
            return [_screen_value(name, one, policy) for one in cast("list[object]", value)]
        case Mapping():
            return screen_metadata(cast("Mapping[str, object]", value), policy)
        case _:
            return value


def screen_draft(draft: Draft, policy: str) -> Draft:
    """Return a draft without private parts and with the secrets of its text, slot, tags and metadata masked.

    Raises `Invalid` for a draft whose text is private as a whole.
    """
    optional = {name: screen_label(getattr(draft, name), policy) or None for name in _OPTIONAL}
    return replace(
        draft,
        text=require_label(draft.text, "the memory", policy),
        speaker=screen_label(draft.speaker, policy),
        **optional,
        tags=screen_labels(tuple(draft.tags), policy),
        metadata=screen_metadata(draft.metadata, policy),
    )


_ROLES: Final = {
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "person": Role.PERSON,
    "system": Role.DOCUMENT,
    "developer": Role.DOCUMENT,
    "tool": Role.DOCUMENT,
    "function": Role.DOCUMENT,
    "document": Role.DOCUMENT,
}
_ROLE_TRUST: Final = {Role.ASSISTANT: TRUST[Source.AI], Role.DOCUMENT: TRUST[Source.INGEST]}
_REFUSALS: Final = {
    DENIED: "denied: it looks like a prompt injection; journaled, but never a memory and never found",
    QUARANTINED: "quarantined: it may be a prompt injection; a candidate until it is confirmed",
}
_ALL_PRIVATE: Final = "private as a whole: nothing of it was written"
_OFF_RECORD: Final = "asked not to be kept: nothing of it was written"
_ANSWERS_IT: Final = "answers a message that asked not to be kept: nothing of it was written"
_PARTLY_PRIVATE: Final = "private text left out"
AS_TYPE: Final = "as:"
"""Prefix of the event flag that names the memory type that the caller asked for."""
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Submission(NamedTuple):
    """The arguments of one `remember` call. Times may be datetimes or text."""

    content: object
    user_id: str
    topic: str | None = None
    session: str | None = None
    agent: str | None = None
    source: str = "human"
    occurred_at: datetime | str | None = None
    tags: Sequence[str] = ()
    metadata: Mapping[str, object] | None = None
    expires_at: datetime | str | None = None
    idempotency_key: str | None = None
    memory_type: str | None = None
    allow_deleted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """Events ready for the journal; `payload_hash` (16 bytes, with a key only) covers content, topic and time.

    There are no events where every message is private as a whole; `refused` says so.
    """

    events: tuple[NewEvent, ...]
    payload_hash: bytes
    refused: tuple[str, ...] = ()
    idempotency_key: str | None = None
    allow_deleted: bool = False
    extra: Mapping[str, object] = field(default_factory=dict[str, object])

    def get_event(self) -> NewEvent:
        """Return the event of a submission of one text; raises `Invalid` if it is private as a whole."""
        if not self.events:
            raise make_private_error("this text")
        return self.events[0]


_new_event: Final = compile_fast_init(NewEvent)
_new_accepted: Final = compile_fast_init(Accepted)


def accept(submission: Submission, *, policy: str, zone: tzinfo, now_us: int) -> Accepted:
    """Validate a whole submission and turn it into events; a message that is private as a whole becomes none.

    Raises `Invalid` or `LimitExceeded`; an invalid submission yields no event.
    """
    source = check_member(Source, submission.source, "source")
    if submission.allow_deleted and source is not Source.HUMAN:
        raise Invalid(
            "only the user may restate deleted text",
            why=f"the source is {source.value}",
            fix="leave out allow_deleted, or file it with source human",
        )
    messages = _parse_messages(submission.content)
    base_us = now_us if submission.occurred_at is None else parse_start(submission.occurred_at, zone, now_us)
    frame = _SubmissionFields(
        submission=submission, source=source, policy=policy, zone=zone, base_us=base_us, now_us=now_us
    )
    key = _check_identifier(submission.idempotency_key, "idempotency_key", policy)
    said: list[_Message] = []
    events: list[NewEvent] = []
    refused: list[str] = []
    silent = False
    for number, message in enumerate(messages, 1):
        given = _read_text(message.get("content"))
        one = _Message(message, cut_private(given))
        unsaid = _find_refusal(given, one.text)
        if silent and not unsaid and _is_answer(message):
            unsaid = _ANSWERS_IT
        silent = unsaid in {_OFF_RECORD, _ANSWERS_IT}
        if unsaid:
            refused.append(unsaid if len(messages) == 1 else f"message {number}: {unsaid}")
            continue
        event, masked = frame.event(one)
        said.append(one)
        events.append(event)
        refused += [_PARTLY_PRIVATE] if one.text != given else []
        refused += [f"{name} masked" for name in masked]
        refused += [_REFUSALS[flag] for flag in event.flags if flag in _REFUSALS]
    return _new_accepted(
        events=tuple(events),
        payload_hash=frame.payload_hash(said, events) if key else b"",
        refused=tuple(refused),
        idempotency_key=key,
        allow_deleted=submission.allow_deleted,
    )


def _find_refusal(given: str, kept: str) -> str:
    """Return why nothing of a message may be written, "" if some of it may."""
    if not given.strip() or kept.strip():
        return ""
    return _OFF_RECORD if is_off_record(cut_tagged(given)) else _ALL_PRIVATE


def _is_answer(message: Mapping[str, object]) -> bool:
    return _ROLES.get(str(message.get("role", "user")).casefold()) is Role.ASSISTANT


def _parse_messages(content: object) -> list[Mapping[str, object]]:
    if isinstance(content, str):
        return [{"role": "user", "content": content}]
    if isinstance(content, Mapping):
        content = [cast("object", content)]
    if not isinstance(content, Sequence) or isinstance(content, bytes | bytearray):
        what = f"cannot remember a {type(content).__name__}"
        raise Invalid(what, why="it is neither text nor messages", fix='give a string or [{"role", "content"}]')
    if not content:
        raise Invalid("cannot remember an empty list", why="it contains no message", fix="give at least one")
    count = len(cast("Sequence[object]", content))
    if count > limits.MESSAGES_PER_CALL:
        why = f"at most {limits.MESSAGES_PER_CALL} are taken"
        raise LimitExceeded(f"{count} messages in one call", why=why, fix="split them")
    for place, message in enumerate(cast("Sequence[object]", content)):
        if not isinstance(message, Mapping):
            raise Invalid(
                f"message {place} is a {type(message).__name__}, not a dict", fix='give {"role": …, "content": …}'
            )
    return list(cast("Sequence[Mapping[str, object]]", content))


def _read_text(content: object) -> str:
    """Read a message's content: text, or the text parts of a list as chat APIs send them."""
    if isinstance(content, str):
        return content
    kind = type(content).__name__
    if isinstance(content, Sequence) and not isinstance(content, bytes | bytearray):
        found = [
            cast("Mapping[str, object]", part).get("text") if isinstance(part, Mapping) else part
            for part in cast("Sequence[object]", content)
        ]
        parts = [text for text in found if isinstance(text, str)]
        if parts:
            return "\n".join(parts)
    raise Invalid("a message has no text", why=f"its content is a {kind}", fix="give the words as a string")


def _check_text(text: str) -> str:
    size = len(encode_text(text, "the text"))
    if size > limits.EVENT_TEXT_BYTES:
        what = f"a text of {size} bytes"
        raise LimitExceeded(what, why=f"an event holds at most {limits.EVENT_TEXT_BYTES}", fix="split the text")
    clean = text if text.isprintable() else _CONTROLS.sub("\ufffd", text)
    if not clean.strip():
        raise Invalid("cannot remember an empty text", why="it contains no word", fix="give some text")
    return clean


class _Message(NamedTuple):
    """A message as it was given, and its text without private parts."""

    given: Mapping[str, object]
    text: str


class _SubmissionFields(NamedTuple):
    """The fields that all messages of a submission share."""

    submission: Submission
    source: Source
    policy: str
    zone: tzinfo
    base_us: int
    now_us: int

    def event(self, said: _Message) -> tuple[NewEvent, tuple[str, ...]]:
        """Turn one message into an event; also return the kinds of secrets that were masked."""
        submission, message = self.submission, said.given
        role, speaker = self._speaker(message)
        text = _check_text(said.text)
        plain = is_surely_clean(text)
        screened = Screened(text=text) if plain else screen_secrets(text, self.policy)
        moment: Any = message.get("timestamp")
        # Rate the trust in a message; a note about the user is an agent's word, whatever the source.
        noted = TRUST[Source.AI] if role is Role.USER and is_about_user(text) else 1.0
        event = _new_event(
            text=screened.text,
            role=role,
            speaker=speaker,
            source=self.source,
            trust=min(TRUST[self.source], _ROLE_TRUST.get(role, 1.0), noted),
            topic=_check_label(submission.topic, "topic", self.policy),
            session=_check_identifier(submission.session, "session", self.policy) or "",
            agent=_check_identifier(submission.agent, "agent", self.policy) or "",
            external_id=_check_identifier(message.get("id"), "message id", self.policy),
            occurred_us=self.base_us if moment is None else parse_start(moment, self.zone, self.now_us),
            flags=_detect_flags(
                submission, None if plain else screened.text, own=role is Role.USER and self.source in OWN_SOURCES
            ),
            tags=_check_tags(submission.tags, self.policy),
            metadata=screen_metadata(check_metadata(submission.metadata), self.policy),
            expires_us=None
            if submission.expires_at is None
            else parse_start(submission.expires_at, self.zone, self.now_us),
        )
        return event, screened.masked

    def payload_hash(self, said: Sequence[_Message], events: Sequence[NewEvent]) -> bytes:
        """Hash roles, speakers, texts, topic and the stated times; 16 bytes."""
        rows = [
            (event.role, event.speaker, one.text, one.given.get("timestamp") and event.occurred_us)
            for one, event in zip(said, events, strict=True)
        ]
        moment = None if self.submission.occurred_at is None else self.base_us
        body = json.dumps([rows, events[0].topic if events else None, moment])
        return hashlib.blake2b(body.encode(), digest_size=16).digest()

    def _speaker(self, message: Mapping[str, object]) -> tuple[Role, str]:
        given = message.get("role", "user")
        role = _ROLES.get(given.casefold()) if isinstance(given, str) else None
        if role is None:
            known = "user, assistant, system, tool, document or person"
            raise Invalid(f"{given!r} is not a role", fix=f"use {known} (a person needs a name)")
        name = _check_label(message.get("name"), "name", self.policy)
        if role in (Role.ASSISTANT, Role.DOCUMENT):
            return role, name or str(given).casefold()
        if role is Role.PERSON and not name:
            raise Invalid("a message of a person has no name", fix='add "name" to it')
        if name and normalise_name(name) not in {"user", normalise_name(self.submission.user_id)}:
            return Role.PERSON, name
        return Role.USER, "user"


def _detect_flags(submission: Submission, text: str | None, *, own: bool) -> tuple[str, ...]:
    """Flag prompt injection and protected topics, and record the memory type that the caller asked for.

    `text` is None for a text that no screen can match. Plain statements in the user's own words give no orders.
    """
    if submission.topic is not None and is_protected_topic(submission.topic, submission.user_id):
        judged: tuple[str, ...] = (DENIED,)
    else:
        judged = () if text is None else detect_injection(keep_orders(text) if own else text).flags
    orders = ("instruction_like", *judged) if judged or (text and is_instruction_like(text)) else ()
    if submission.memory_type is None:
        return orders
    kind = check_member(MemoryType, submission.memory_type, "type")
    return (*orders, f"{AS_TYPE}{kind.value}")


def _check_identifier(name: object, what: str, policy: str) -> str | None:
    found = check_name(name, what)
    return None if found is None else check_identifier(found, what, policy)


def _check_label(name: object, what: str, policy: str) -> str | None:
    return screen_label(check_name(name, what), policy) or None


def _check_tags(tags: Sequence[str], policy: str) -> tuple[str, ...]:
    if tags == ():
        return ()
    if isinstance(tags, str | bytes) or not isinstance(tags, Collection):  # pyright: ignore[reportUnnecessaryIsInstance]
        kind = type(tags).__name__
        raise Invalid("tags must be a list of words", why=f"it is a {kind}", fix='give ["work", …]')
    if len(tags) > limits.TAGS:
        raise LimitExceeded(f"{len(tags)} tags", why=f"at most {limits.TAGS} are allowed", fix="use metadata too")
    return screen_labels(tuple(name for tag in tags if (name := check_name(tag, "tag"))), policy)


_DIGITS: Final = digits.encode()
_ALL_DIGITS: Final = re.compile(r"\d")


def is_surely_clean(text: str) -> bool:
    """Return whether neither `screen`, `looks_like_instruction` nor `judge` can match a text.

    False may be wrong; True never is.

    >>> is_surely_clean("The kettle is on."), is_surely_clean("My password is hunter2.")
    (True, False)
    """
    lower = text.lower()
    if _compile_hints().search(lower) or _has_long_word(text):
        return False
    if text.isascii():
        return len(text) - len(text.encode().translate(None, _DIGITS)) < NUMBER_DIGITS
    folded = text.casefold()  # one screen compares case-folded text, the others lower-case text
    if folded != lower and (_compile_hints().search(folded) or _has_long_word(folded)):
        return False
    return len(_ALL_DIGITS.findall(text)) < NUMBER_DIGITS


def _has_long_word(text: str) -> bool:
    return max(map(len, text.split()), default=0) >= LONG_WORD


@cache
def _compile_hints() -> re.Pattern[str]:
    words = frozenset([*SECRET_WORDS, *ORDER_WORDS, *collect_hint_words()])
    return re.compile(
        _build_trie_pattern([word for word in words if not any(other in word for other in words - {word})])
    )


def _build_trie_pattern(words: Iterable[str]) -> str:
    """Build a pattern that matches any of some words and shares their common prefixes.

    Each branch begins with a literal letter, so that the regex engine skips places where no branch can begin.
    """
    rest: defaultdict[str, list[str]] = defaultdict(list)
    for word in sorted(words):
        if not word:
            return ""
        rest[word[0]].append(word[1:])
    branches = [re.escape(letter) + _build_trie_pattern(endings) for letter, endings in rest.items()]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
