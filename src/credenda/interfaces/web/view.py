"""One request of a page: who asks, for what, and the operations that answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, Literal, cast
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request

from credenda import limits
from credenda.client import Credenda
from credenda.clock import format_time
from credenda.errors import CredendaError, Invalid
from credenda.interfaces.authorization import Principal, ServerFile, invoke
from credenda.interfaces.serialize import to_jsonable
from credenda.interfaces.server.credentials import find_local_path
from credenda.interfaces.server.memories import Memories
from credenda.interfaces.server.rest import read_body, read_upload, start_in_background
from credenda.interfaces.web.languages import translate, translate_phrase, translate_word
from credenda.model.change import Actor, ChangeKind, ChangeRecord
from credenda.model.memory import DREAMER, HELD, Memory, Relation, Status
from credenda.model.query import Explanation, Hit, SlotVersion
from credenda.model.report import UndoneMemory
from credenda.model.statement import ENGLISH, Stated, find_before, name_attribute, name_owner, write_statement
from credenda.operations import OPERATIONS
from credenda.services.browse import expect
from credenda.text.fence import name_author
from credenda.text.given_time import parse_moment
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name
from credenda.text.sentences import show_gaps

# The parts of a page: its loading, its actions, and the place where a person goes afterwards.


Group = Literal["memory", "upkeep", "server", ""]
"""The part of the menu that names a page; "" for a page that another one leads to."""


@dataclass(frozen=True, slots=True)
class ChangeMark:
    """A logged change of a memory, as the address of a page names it."""

    memory: str
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The end of an action: the path to go to, and what to say there.

    `changes` are shown with a button that undoes them. `note` is a message of `notes.py`, for what is no logged change.
    """

    to: str
    changes: Sequence[ChangeMark] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The end of an action whose result no address can hold: the page is shown at once, with more data."""

    data: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """The end of an action that made a file in `View.folder`, to be saved under a name of ours."""

    path: Path
    name: str


Load = Callable[["View"], Mapping[str, object]]
"""Loads what a page shows, by name; it may raise any error of an operation."""
Draw = Callable[["View", Mapping[str, Any]], Mapping[str, object]]
"""Makes drawings of what a page has loaded, by name."""
Action = Callable[["View"], Done | Shown | Download]
"""Changes something, by operations, and says where to go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page: its template is `NAME.html`, and its twin in JSON is at its path with `.json`."""

    name: str
    path: str
    title: str
    operation: str
    """The operation whose scope a person needs to see the page."""
    load: Load
    actions: Mapping[str, Action] = field(default_factory=dict[str, Action])
    """What can be done, by the word that follows the path."""
    with_files: frozenset[str] = frozenset()
    """The actions that take a file of the person or make one; they may take long."""
    slow: frozenset[str] = frozenset()
    """Other actions that may take long."""
    draw: Draw | None = None
    """Adds what only the HTML page has, such as drawings, to what `load` returned."""
    group: Group = "memory"

    @property
    def twin_path(self) -> str:
        """Where the page is as JSON."""
        return "/overview.json" if self.path == "/" else f"{self.path}.json"


# What changed around a memory: the latest changes of mind, its neighbours in its slot, and what an undo brings.


_SHOWN: Final = frozenset(ChangeKind) - {
    ChangeKind.ADD,
    ChangeKind.CONFIRM,
    ChangeKind.LINK,
    ChangeKind.RETAG,
    ChangeKind.REVISE,
    ChangeKind.REBUILD,
}
"""Changes of mind; the others add, or move what nobody reads."""
_LASTING: Final = frozenset({ChangeKind.DELETE, ChangeKind.REBUILD})
_JOINED: Final = frozenset({Relation.MERGED, Relation.DUPLICATE})
"""Relations by which a memory goes on in another one."""
_AT_NIGHT: Final = frozenset({Actor.DREAM, Actor.SCHEDULE})


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestChange:
    """A change, the memory that it is about, and the one that took its place."""

    change: ChangeRecord
    memory: Memory | None
    successor: Memory | None
    undo: ChangeMark | None
    """The change that brings the state before back; None where nothing does."""


def name_change(change: ChangeRecord) -> str:
    """Return the message that names the kind of a change."""
    return "change:merge" if _is_joined(change) else f"change:{change.kind.value}"


def list_latest_changes(view: View, most: int) -> Sequence[LatestChange]:
    """Return the latest changes of mind, the latest first."""
    found: Sequence[ChangeRecord] = view.call("changes", limit=limits.LATEST_CHANGES)
    undone = {one.cause for one in found if one.kind is ChangeKind.UNDO}
    added = {one.memory_id: one for one in found if one.kind is ChangeKind.ADD}
    loaded = (_load(view, one, added, undone) for one in found if _is_of_interest(one))
    return [*islice((one for one in loaded if not (_is_same(one) or _is_upkeep(one))), most)]


def _is_upkeep(latest: LatestChange) -> bool:
    """Return whether a change that no person made is about a card or bridge, which repeats other memories."""
    return latest.memory is not None and latest.memory.speaker == DREAMER and latest.change.actor is not Actor.USER


def _is_same(latest: LatestChange) -> bool:
    """Return whether what took the place of a memory says the same of the same case."""
    one, other = latest.memory, latest.successor
    if one is None or other is None:
        return False
    return is_same_value(one.value, other.value) and (one.scope, one.stance) == (other.scope, other.stance)


def _is_of_interest(change: ChangeRecord) -> bool:
    """Return whether a person would want to know: upkeep matters only where a person has chosen it.

    The changes of every night, by the schedule and the dreams, have their own page: they would hide all others.
    """
    if change.kind is ChangeKind.DELETE and change.memory_id is None:
        return False  # the words of a message go with a memory
    upkeep = change.kind is ChangeKind.SET_LAYER or _is_joined(change) or change.actor in _AT_NIGHT
    return change.kind in _SHOWN and (change.actor is Actor.USER or not upkeep)


def _is_joined(change: ChangeRecord) -> bool:
    return change.kind is ChangeKind.SUPERSEDE and str(change.after.get("relation")) in _JOINED


def _load(
    view: View, change: ChangeRecord, added: Mapping[str | None, ChangeRecord], undone: set[str | None]
) -> LatestChange:
    """Load a change; a replacement is undone with the value that came by it, which else would stay in doubt."""
    memory = view.find_memory(change.memory_id)
    successor = view.find_memory(change.after.get("superseded_by"))
    undo: ChangeMark | None = None
    if memory is not None and change.kind not in _LASTING and view.may("undo"):
        came = added.get(successor.id) if successor is not None else None
        first = came if came is not None and came.at_us == change.at_us else change
        name = first.memory_id or memory.id
        undo = ChangeMark(name, first.id) if not {change.id, first.id} & undone else None
    return LatestChange(change=change, memory=memory, successor=successor, undo=undo)


# What came before and after a memory in its slot: other values, apart from other wordings of the same value.


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """The values that a memory replaced and the wordings that it took in, each the newest first; and its successor.

    `is_same` says whether the successor has the same value in other words.
    """

    replaced: tuple[SlotVersion, ...] = ()
    merged: tuple[SlotVersion, ...] = ()
    successor: SlotVersion | None = None
    is_same: bool = False


def find_neighbours(memory_id: str, slot: Sequence[SlotVersion]) -> Neighbours:
    """Find in the versions of a slot, oldest first, what a memory replaced and what took its place.

    Merged memories stand between two values only as words: the search goes on through them.
    """
    known = {one.memory_id: one for one in slot}
    own = known.get(memory_id)
    if own is None:
        return Neighbours()
    replaced: list[SlotVersion] = []
    merged: list[SlotVersion] = []
    seen = {memory_id}
    waiting = [memory_id]
    while waiting:
        name = waiting.pop()
        for one in reversed(slot):
            if one.superseded_by != name or one.memory_id in seen:
                continue
            seen.add(one.memory_id)
            is_joined = _has_gone_on(one, known)
            (merged if is_joined else replaced).append(one)
            waiting += [one.memory_id] if is_joined else []
    found = known.get(own.superseded_by or "")
    passed: set[str] = set()
    while found is not None and found.memory_id not in passed and _has_gone_on(found, known):
        passed.add(found.memory_id)
        found = known.get(found.superseded_by or "")
    return Neighbours(
        replaced=tuple(replaced),
        merged=tuple(merged),
        successor=found,
        is_same=_has_gone_on(own, known),
    )


def _has_gone_on(one: SlotVersion, known: Mapping[str, SlotVersion]) -> bool:
    """Return whether a memory ended only because another one says the same."""
    after = known.get(one.superseded_by or "")
    if after is None:
        return False
    is_equal = one.value is not None and one.value.casefold() == (after.value or "").casefold()
    return one.relation in _JOINED or (is_equal and one.denied == after.denied and one.scope == after.scope)


# What an undo would bring about, as sentences of the catalogue with their values; the fields are left to a table.


_BELIEVED: Final = frozenset(one.value for one in HELD)
_ACTIVE: Final = Status.ACTIVE.value
_DOUBTED: Final = frozenset({Status.CHALLENGED.value})
_ENDING: Final = frozenset({"status", "valid_until", "relation", "superseded_by"})
"""Fields that a return or an ending sets, so that they need no sentence of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One sentence: a message of the catalogue, its values, and the memory that stands afterwards."""

    message: str
    memory: Memory
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    """Values that are words of the catalogue themselves."""


def describe_undo(undone: Sequence[UndoneMemory], memories: Mapping[str, Memory]) -> Sequence[Outcome]:
    """Say for each memory that an undo changes what would stand then; `memories` are the present ones, by id."""
    known = [one for one in undone if one.id in memories]
    returning = [one for one in known if _is_believed(one.after) and not _is_believed(one.before)]
    leaving = {one.id: one for one in known if _is_believed(one.before) and not _is_believed(one.after)}
    doubted = [one.id for one in known if _read_status(one.before) == _ACTIVE and _read_status(one.after) in _DOUBTED]
    outcomes: list[Outcome] = []
    for one in returning:
        back = memories[one.id]
        pair = _find_pair(back)
        beside = [
            memories[name] for name in (*leaving, *doubted) if pair is not None and _find_pair(memories[name]) == pair
        ]
        if beside and beside[0].id in doubted:
            doubted.remove(beside[0].id)
            other = beside[0]
            values = {"slot": f"{back.entity} · {back.attribute}", "then": back.value or "", "now": other.value or ""}
            outcomes.append(Outcome(message="{slot}: {then} again, and {now} in doubt", memory=back, values=values))
            continue
        instead = beside[0] if beside else None
        if instead is not None:
            del leaving[instead.id]
        outcomes.append(_describe_return(back, instead, _read_status(one.after)))
    outcomes += [Outcome(message="It would be in doubt", memory=memories[name]) for name in doubted]
    ended = "It would not be believed any more; status: {status}"
    outcomes += [
        Outcome(message=ended, memory=memories[name], words={"status": _read_status(one.after)})
        for name, one in leaving.items()
    ]
    return [*outcomes, *(outcome for one in known for outcome in _describe_fields(memories[one.id], one))]


def _read_status(fields: Mapping[str, object]) -> str:
    return str(fields.get("status", ""))


def _is_believed(fields: Mapping[str, object]) -> bool:
    return _read_status(fields) in _BELIEVED


def _find_pair(memory: Memory) -> tuple[str, str] | None:
    if not memory.entity or not memory.attribute or memory.value is None:
        return None
    return normalise_name(memory.entity), normalise_attribute(memory.attribute)


def _describe_return(back: Memory, instead: Memory | None, status: str) -> Outcome:
    if instead is None or instead.value is None or back.value is None:
        message = "It would be believed again" if status == _ACTIVE else "It would be in doubt again"
        return Outcome(message=message, memory=back)
    slot = {"slot": f"{back.entity} · {back.attribute}", "now": instead.value, "then": back.value}
    if instead.value.casefold() == back.value.casefold():
        return Outcome(message="{slot}: {then} as before, in its earlier words", memory=back, values=slot)
    return Outcome(message="{slot}: {now} → {then} again", memory=back, values=slot)


def _describe_fields(memory: Memory, undone: UndoneMemory) -> list[Outcome]:
    """Say what becomes of the other fields; those without a sentence of their own are named together."""
    before, after = undone.before, undone.after
    names = [name for name in after if name not in _ENDING]
    outcomes: list[Outcome] = []
    if "status" in after and not _is_believed(after) and not _is_believed(before):
        outcomes.append(Outcome(message="Its status: {status}", memory=memory, words={"status": str(after["status"])}))
    for name in list(names):
        outcome = _describe_field(memory, name, after[name])
        if outcome is not None:
            names.remove(name)
            outcomes.append(outcome)
    if names:
        listed = ", ".join(name.replace("_", " ") for name in names)
        outcomes.append(Outcome(message="As before: {fields}", memory=memory, words={"fields": listed}))
    return outcomes


def _describe_field(memory: Memory, name: str, then: object) -> Outcome | None:
    match name:
        case "pinned":
            return Outcome(message="It would be pinned again" if then else "It would not be pinned", memory=memory)
        case "contested":
            message = "It would be contested again" if then else "It would not be contested any more"
            return Outcome(message=message, memory=memory)
        case "layer":
            return Outcome(message="It would be in the layer {layer} again", memory=memory, words={"layer": str(then)})
        case "confirmations" if isinstance(then, int):
            message = "It would count as said {n} times" if then else "It would count as said once"
            return Outcome(message=message, memory=memory, values={"n": str(then + 1)} if then else {})
        case "text" if then:
            return Outcome(message="It would read again: {text}", memory=memory, values={"text": str(then)})
        case _:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One request. Everything that it reads or changes goes through `call`, as at any other door."""

    page: Page
    memory: Credenda
    memories: Memories
    principal: Principal
    language: str
    now_us: int
    csrf: str
    place: str
    """The path of the request."""
    path: Mapping[str, str]
    """The parameters of the path."""
    query: tuple[tuple[str, str], ...]
    form: tuple[tuple[str, str], ...] = ()
    """The fields of a form that was sent; none where the page is only read."""
    folder: Path | None = None
    """A folder for the files of an action that has some; it is removed once the answer is sent."""
    upload: ServerFile | None = None
    """The file that the person sent."""
    base: str = ""
    """The address of this server, without a slash at its end."""
    logout_key: str = ""
    """The key of the form that logs out; "" for who has not logged in."""
    memory_names: list[str] = field(default_factory=list[str])
    """The users whose memories the person may use."""
    local_zone: tzinfo | None = None
    """The time zone of the browser, once it has told it."""

    @property
    def zone(self) -> tzinfo:
        """The time zone of every time on a page: that of the browser, else that of the memory."""
        return self.local_zone or self.memory.zone

    def call(self, name: str, /, **given: object) -> Any:  # noqa: ANN401 - any result
        """Call an operation with the rights of the person; inputs that are None are left out.

        Raises what the operation raises, and `Forbidden` without its scope.
        """
        inputs = {key: value for key, value in given.items() if value is not None}
        return invoke(self.memory, OPERATIONS[name], inputs, door="rest")

    def change(self, name: str, /, **given: object) -> Any:  # noqa: ANN401 - any result
        """Call an operation that changes a row, only if the row has the version that the form shows.

        The field `version` of the form names it (`name_version`); raises `Conflict` for another one, which becomes a
        page with both. A form without the field changes any version.
        """
        version = self.get("version")
        if not version:
            return self.call(name, **given)
        with expect(frozenset({version})):
            return self.call(name, **given)

    def find_memory(self, memory_id: object) -> Memory | None:
        """Return the memory that an id names; None for no id, and where its words were deleted."""
        if not isinstance(memory_id, str):
            return None
        try:
            return self.call("get", id=memory_id)
        except CredendaError:
            return None

    def start(self, name: str, /, **given: object) -> str:
        """Start a long operation in the background, and return the id of its job."""
        inputs = {key: value for key, value in given.items() if value is not None}
        answer = start_in_background(self.memories, OPERATIONS[name], inputs)
        return answer.headers["Location"].rpartition("/")[2]

    def may(self, name: str) -> bool:
        """Return whether the person may call an operation."""
        return OPERATIONS[name].scope in self.principal.scopes

    def get(self, name: str, default: str = "") -> str:
        """Return a parameter of the path, or a field of the form or query; of several the last."""
        if name in self.path:
            return self.path[name]
        return next((value for key, value in reversed((*self.query, *self.form)) if key == name), default)

    def get_list(self, name: str) -> list[str]:
        """Return every value of a field, without empty ones and repetitions."""
        return list(dict.fromkeys(value for key, value in (*self.query, *self.form) if key == name and value))

    def get_int(self, name: str, default: int, *, low: int, high: int) -> int:
        """Return a field as a number within bounds; raises `Invalid` for one that is none."""
        text = self.get(name).strip()
        if not text:
            return default
        try:
            return min(high, max(low, int(text)))
        except ValueError:
            raise Invalid(f"{name} is not a number", fix=f"write a number from {low} to {high}") from None

    def get_moment(self, name: str) -> str | None:
        """Return a day or moment of a field as an operation reads it; a day ends where the person is."""
        text = self.get(name).strip()
        if not text or self.local_zone is None:
            return text or None
        return format_time(parse_moment(text, self.zone, self.now_us))

    def make_path(self, name: str) -> Path:
        """Return a path in the folder of this action; raises `Invalid` for an action that has none."""
        if self.folder is None:
            raise Invalid("this action has no files")
        return self.folder / name

    def t(self, message: str, **values: object) -> str:
        """Return a text in the person's language."""
        return translate(self.language, message, **values)

    def word(self, kind: str, word: str) -> str:
        """Return a word of the engine, of a kind such as `curve`, as a person reads it."""
        return translate_word(self.language, kind, word)

    def name_slot(self, attribute: str | None) -> str:
        """Return an attribute as a person reads it: in words, not as the key that it is stored by."""
        return name_attribute(attribute or "", self.language)

    def name_entity(self, entity: str) -> str:
        """Return an entity as a person reads it; that of the memory is the user."""
        return self.t("you") if entity == "user" else name_owner(entity, self.language)

    def state(self, memory: Stated, told_us: Sequence[int] = ()) -> str:
        """Return the statement of a memory in the person's language; `told_us` are the times of its messages."""
        if memory.speaker == DREAMER:  # it quotes others by their ids, and nobody says it
            return _IDS.sub("", memory.text)
        statement = write_statement(memory, self.zone, told_us=told_us, language=self.language)
        return self._name_author(memory, statement)

    def tell_hit(self, hit: Hit) -> str:
        """Return the line of a hit in the person's language."""
        if hit.memory is None:
            return show_gaps(hit.text)
        if self.language == ENGLISH and self.zone == self.memory.zone:
            return self._name_author(hit.memory, hit.text)
        told_us, before = [event.occurred_us for event in hit.evidence], find_before(hit.text)
        zone, language = self.zone, self.language
        text = write_statement(hit.memory, zone, told_us=told_us, before=before, language=language)
        return self._name_author(hit.memory, text)

    def _name_author(self, memory: Stated, statement: str) -> str:
        """Leave out who says a statement where that is the reader and it names its slot; else call the reader so."""
        if name_author(memory.speaker, memory.text) != "user":
            return statement
        _, _, said = statement.partition(": ")
        return said if memory.attribute and memory.value else f"{self.t('you')}: {said}"

    def tell(self, text: str) -> str:
        """Return a sentence of the engine, such as a reason, in the person's language."""
        return translate_phrase(self.language, _CONTEST.sub("", text))

    def name_change(self, change: ChangeRecord) -> str:
        """Return the kind of a change in the person's language."""
        return self.t(name_change(change))

    def link(self, **changed: object) -> str:
        """Return the query of this page with other values, beginning with `?`; None or "" leaves a field out."""
        kept = [(key, value) for key, value in self.query if key not in changed and key not in _PASSING and value]
        added: list[tuple[str, str]] = []
        for key, value in changed.items():
            values = cast("Sequence[object]", value) if isinstance(value, list | tuple) else (value,)
            added += [(key, str(one)) for one in values if one not in {None, ""}]
        return f"?{urlencode([*kept, *added])}" if kept or added else "?"

    @property
    def address(self) -> str:
        """The path and query of this page, without what just happened."""
        query = self.link()
        return self.place + (query if query != "?" else "")

    @property
    def twin(self) -> str:
        """The address of this page as JSON."""
        query = self.link()
        base = "/overview" if self.place == "/" else self.place
        return f"{base}.json{query if query != '?' else ''}"

    @property
    def zone_name(self) -> str:
        """The time zone in which the server writes times."""
        return str(self.zone)

    def find_way_back(self) -> str:
        """Return the path to go back to, which the field `back` of a form names; the first page for any other."""
        return find_local_path(self.get("back"))

    def mark_last_change(self, memory_id: str) -> tuple[ChangeMark, ...]:
        """Return the last logged change of a memory: that of an operation just called on it."""
        changes = [one for one in self.call("why", id=memory_id).changes if one.memory_id == memory_id]
        return (ChangeMark(memory_id, changes[-1].id),) if changes else ()

    def to_json(self, value: object) -> Any:  # noqa: ANN401 - JSON
        """Convert a result to what JSON can hold, as REST shows it."""
        return to_jsonable(value, remote=True)


_CONTEST: Final = re.compile(r" \(k[0-9]{1,18}-[0-9a-f]{6}\)$")
"""The id of a contest after its reason."""
_IDS: Final = re.compile(r" ?\[m[0-9]{1,18}-[0-9a-f]{6}(?:, ?m[0-9]{1,18}-[0-9a-f]{6})*\]")
_PASSING = frozenset({"changed", "note", "lang"})
"""Fields of an address that say what just happened; no link repeats them."""


# The content of a form: fields, and for some actions a file.


_FIELDS: Final = 400
_UPLOAD_FIELDS: Final = 10


@dataclass(frozen=True, slots=True)
class Sent:
    """The fields of a form in their order, and its file."""

    fields: tuple[tuple[str, str], ...] = ()
    file: ServerFile | None = None


async def read_form(request: Request, folder: Path | None) -> Sent:
    """Read a form; one with a file is read only where the action has a `folder` for it.

    Raises `Invalid` for a body that is no form.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
    if kind == "multipart/form-data" and folder is not None:
        fields, path = await read_upload(request, folder, fields_max=_UPLOAD_FIELDS)
        return Sent(_normalise(fields), None if path is None else ServerFile(path))
    if kind != "application/x-www-form-urlencoded":
        raise Invalid("the body is not a form", fix="send application/x-www-form-urlencoded")
    body = await read_body(request, limits.HTTP_BODY_BYTES)
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_FIELDS, errors="strict")
    except ValueError:
        raise Invalid("the form cannot be read", fix=f"send at most {_FIELDS} fields in UTF-8") from None
    return Sent(_normalise(pairs))


def _normalise(pairs: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value.replace("\r\n", "\n")) for name, value in pairs)


# The line that says what just happened, with its undo: it is read from the change log, never from the address.


NOTES: Final = {
    "feedback": "Your feedback is recorded.",
    "undone": "Undone.",
    "deleted": "Deleted, with its words. It cannot return.",
    "gone": "Nothing is left to undo: it was undone before.",
    "started": "Started. It goes on in the background.",
    "saved": "Saved.",
    "nothing": "Nothing was changed.",
}
"""What an action may say that is no change in the log, by the word in the address."""
_MARK: Final = re.compile(r"(m[0-9]{1,18}-[0-9a-f]{6})\.(c[0-9]{1,18}-[0-9a-f]{6})")
_MARKS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One line: a message, the memory that it is about, and the changes that a button undoes."""

    message: str
    text: str = ""
    memory: str = ""
    undo: tuple[ChangeMark, ...] = ()


def write_mark(mark: ChangeMark) -> str:
    """Write a change for an address."""
    return f"{mark.memory}.{mark.change}"


def read_marks(texts: list[str]) -> list[ChangeMark]:
    """Read changes from an address or form; what names none is left out."""
    found = [_MARK.fullmatch(text) for text in texts[:_MARKS]]
    return [ChangeMark(one[1], one[2]) for one in found if one is not None]


def list_notes(view: View) -> tuple[Note, ...]:
    """Say what the address of a page names: changes as the log has them, and one message."""
    notes: list[Note] = []
    named = view.get("note")
    if named in NOTES:
        notes.append(Note(message=NOTES[named]))
    marks = read_marks(view.get_list("changed"))
    known = [one for one in (_find_note(view, mark) for mark in marks) if one is not None]
    if len(known) > 1:
        undo = tuple(mark for one in known for mark in one.undo)
        messages = {one.message for one in known}
        message = known[0].message if len(messages) == 1 else "Changed"
        return (*notes, Note(message=message, text=view.t("{n} memories", n=len(known)), undo=undo))
    return (*notes, *known)


def find_change(view: View, mark: ChangeMark) -> ChangeRecord | None:
    """Return the logged change that a mark names; None for one that the log does not have."""
    found = _find_change(view, mark)
    return None if found is None else found[0]


def _find_change(view: View, mark: ChangeMark) -> tuple[ChangeRecord, Memory] | None:
    try:
        explanation: Explanation = view.call("why", id=mark.memory)
    except CredendaError:
        return None
    causes = dict.fromkeys(one.cause for one in explanation.changes if one.cause and one.cause.startswith("e"))
    beside = (change for cause in causes for change in view.call("changes", cause=cause))
    for change in chain(explanation.changes, beside):  # an answer to a contest is logged beside its memories
        if change.id == mark.change:
            return change, explanation.memory
    return None


def _find_note(view: View, mark: ChangeMark) -> Note | None:
    found = _find_change(view, mark)
    if found is None:
        return None
    change, memory = found
    undo = (mark,) if change.kind not in _LASTING and view.may("undo") else ()
    corrected = change.kind is ChangeKind.ADD and change.actor is Actor.USER
    message = "Corrected" if corrected else name_change(change)
    return Note(message=message, text=view.state(memory), memory=mark.memory, undo=undo)
