"""One request of a page: who asks, for what, and the operations that answer."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, cast
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request

from credenda import limits
from credenda.client import Credenda
from credenda.errors import Invalid
from credenda.interfaces.authorization import Principal
from credenda.interfaces.dispatch import ServerFile, invoke
from credenda.interfaces.serialize import to_jsonable
from credenda.interfaces.server.background_calls import start_in_background
from credenda.interfaces.server.inputs import read_body, read_upload
from credenda.interfaces.server.last_calls import find_local_path
from credenda.interfaces.server.memories import Memories
from credenda.interfaces.web.changes import name_change
from credenda.interfaces.web.languages import translate, translate_phrase, translate_word
from credenda.interfaces.web.page import ChangeMark, Page
from credenda.model.change import ChangeRecord
from credenda.model.query import Hit
from credenda.model.statement import ENGLISH, Stated, find_before, name_attribute, name_owner, write_statement
from credenda.operations.table import OPERATIONS
from credenda.services.expectation import expect


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

    def state(self, memory: Stated) -> str:
        """Return the statement of a memory in the person's language."""
        return write_statement(memory, self.memory.zone, language=self.language)

    def tell_hit(self, hit: Hit) -> str:
        """Return the line of a hit in the person's language."""
        if hit.memory is None or self.language == ENGLISH:
            return hit.text
        told_us, before = [event.occurred_us for event in hit.evidence], find_before(hit.text)
        return write_statement(hit.memory, self.memory.zone, told_us=told_us, before=before, language=self.language)

    def tell(self, text: str) -> str:
        """Return a sentence of the engine, such as a reason, in the person's language."""
        return translate_phrase(self.language, text)

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
        return str(self.memory.zone)

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


@contextmanager
def make_folder(*, wanted: bool) -> Generator[Path | None]:
    """Make a folder for the files of an action, which few have; it is removed at the end of the block."""
    if not wanted:
        yield None
        return
    with TemporaryDirectory(prefix="credenda-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


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
