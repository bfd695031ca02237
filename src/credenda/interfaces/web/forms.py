"""The content of a form: fields, and for some actions a file."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import Request

from credenda import limits
from credenda.errors import Invalid
from credenda.interfaces.dispatch import ServerFile
from credenda.interfaces.server.inputs import read_body, read_upload

__all__ = ["Sent", "make_folder", "read_form"]

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
