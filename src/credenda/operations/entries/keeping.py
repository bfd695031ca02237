"""Changing what is held by hand."""

from __future__ import annotations

from typing import Final

from credenda.errors import Conflict, Invalid, NotFound, Unavailable
from credenda.operations.entries.shape import ID, REASON, WITH_FILES, Operation, Param, text

__all__ = ["ENTRIES"]

ENTRIES: Final = (
    Operation(
        name="correct",
        call="correct",
        summary="Put a memory right: the old one was wrong.",
        params=(ID, text("text", "What it should say."), text("value", "What its value should be."), REASON),
        output="Memory",
        errors=(Invalid, NotFound, Conflict),
        writes=True,
    ),
    Operation(
        name="forget",
        call="forget",
        summary="Take a memory out of use; `restore` brings it back.",
        params=(ID, REASON),
        output="Memory",
        errors=(NotFound, Conflict),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="restore",
        call="restore",
        summary="Bring back a forgotten memory.",
        params=(ID,),
        output="Memory",
        errors=(NotFound, Conflict),
        writes=True,
    ),
    Operation(
        name="delete",
        call="delete",
        summary="Delete a memory or an event for good, with the words it rests on; it never comes back by itself.",
        params=(ID,),
        output="None",
        errors=(NotFound,),
        writes=True,
        destructive=True,
        idempotent=True,
    ),
    Operation(
        name="erase",
        call="erase",
        summary="Erase everything of this user for good, and prove on the raw bytes that it is gone.",
        params=(
            text("confirm", "The name of the user, exactly."),
            Param(name="export", kind="path", help="Write everything to this file first."),
        ),
        output="EraseReceipt",
        errors=(Invalid, Conflict, Unavailable),
        writes=True,
        destructive=True,
        idempotent=True,
        doors=WITH_FILES,
    ),
    Operation(
        name="feedback",
        call="feedback",
        summary="Say whether a hit was of use.",
        params=(ID, Param(name="useful", kind="flag", help="Whether it was of use.", option="useful/useless")),
        output="None",
        errors=(NotFound,),
        writes=True,
    ),
    Operation(
        name="pin",
        call="manage.pin",
        summary="Keep a memory in every context.",
        params=(ID,),
        output="Memory",
        errors=(NotFound, Conflict),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="unpin",
        call="manage.unpin",
        summary="Take a memory's pin away.",
        params=(ID,),
        output="Memory",
        errors=(NotFound,),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="contests",
        call="manage.contests",
        summary="List slots whose value cannot be decided, with their questions; open ones first.",
        output="ContestCase",
        idempotent=True,
    ),
    Operation(
        name="resolve",
        call="manage.resolve",
        summary="Answer a contest: keep one value, or give each its scope.",
        params=(
            Param(name="id", help="The id of a contest.", positional=True),
            text("keep", "The value that holds, by its words."),
            Param(
                name="scopes",
                kind="table",
                help="A value for each scope; the scope `default` means none.",
                option="scope",
            ),
        ),
        output="Resolution",
        errors=(Invalid, NotFound, Conflict),
        writes=True,
    ),
)
