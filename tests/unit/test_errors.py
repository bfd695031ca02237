"""One tree of errors, each with its code; a message is one line that says what, why and what to do."""

import copy
import inspect
import pickle
import re

import pytest

import credenda
from credenda import errors
from credenda.errors import (
    Conflict,
    Corrupt,
    CredendaError,
    Forbidden,
    Invalid,
    LimitExceeded,
    NotFound,
    Unauthenticated,
    Unavailable,
)

FAMILIES = [Invalid, Unauthenticated, Forbidden, NotFound, Conflict, LimitExceeded, Unavailable, Corrupt]


@pytest.mark.parametrize(
    ("family", "code", "exit_code", "status"),
    [
        (CredendaError, "internal", 1, 500),
        (Invalid, "invalid", 2, 422),
        (Unauthenticated, "unauthenticated", 1, 401),
        (Forbidden, "forbidden", 1, 403),
        (NotFound, "not_found", 3, 404),
        (Conflict, "conflict", 4, 409),
        (Unavailable, "unavailable", 5, 503),
        (LimitExceeded, "limit_exceeded", 6, 413),
        (Corrupt, "corrupt", 7, 500),
    ],
)
def test_each_family_has_the_codes_of_the_contract(
    family: type[CredendaError], *, code: str, exit_code: int, status: int
) -> None:
    assert (family.code, family.exit_code, family.http_status) == (code, exit_code, status)
    assert family.retryable is (family is Unavailable)
    assert getattr(credenda, family.__name__) is family


def test_the_tree_is_one_level_deep_and_drawn_as_it_is() -> None:
    found = {value for _, value in inspect.getmembers(errors, inspect.isclass) if value.__module__ == errors.__name__}
    assert found == {CredendaError, *FAMILIES}
    assert all(family.__bases__ == (CredendaError,) for family in FAMILIES)
    assert set(errors.__all__) == {family.__name__ for family in found}
    drawing = inspect.getdoc(errors) or ""
    for family in FAMILIES:
        again = "yes" if family.retryable else "no"
        line = rf"── {family.__name__} +{family.code} +{again} +{family.exit_code} +{family.http_status}"
        assert re.search(line, drawing), line


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (Invalid("no text"), "no text"),
        (Invalid("no text", why="it is empty"), "no text: it is empty"),
        (Invalid("no text", fix="say something"), "no text; say something"),
        (Invalid("no text", why="it is empty", fix="say something"), "no text: it is empty; say something"),
    ],
)
def test_the_parts_join_in_one_line(error: CredendaError, line: str) -> None:
    assert str(error) == line
    assert error.args[0] == "no text"


@pytest.mark.parametrize("family", [CredendaError, *FAMILIES])
def test_an_error_travels_whole_between_processes(family: type[CredendaError]) -> None:
    error = family("what", why="why", fix="fix", memory_id="m1-3fa9c2")
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301 - our own bytes
        assert type(other) is family
        assert (other.what, other.why, other.fix, other.ids) == ("what", "why", "fix", {"memory_id": "m1-3fa9c2"})
        assert str(other) == str(error)


def test_all_can_be_caught_as_one() -> None:
    for family in FAMILIES:
        with pytest.raises(CredendaError):
            raise family("what")
