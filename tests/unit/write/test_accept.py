"""What a caller gives is taken whole or not at all, and what is wrong with it is said plainly."""

from datetime import UTC, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda import limits
from credenda.clock import parse_time
from credenda.errors import CredendaError, Invalid, LimitExceeded
from credenda.model.event import Role
from credenda.write.intake.validate import Accepted, Submission, accept

VIENNA = ZoneInfo("Europe/Vienna")
NOW = parse_time("2026-03-01T09:00:00Z")
WORD = "zorkmid"
"""A word that stands in the text only, so that an error which quotes the text is seen."""


def taken(content: object, zone: tzinfo = UTC, /, **fields: object) -> Accepted:
    """Accept a call of Ana's, made now."""
    parts: dict[str, Any] = {"content": content, "user_id": "ana", **fields}
    return accept(Submission(**parts), policy="mask", zone=zone, now_us=NOW)


def said(role: object = "user", content: object = "Hello", **fields: object) -> dict[str, object]:
    return {"role": role, "content": content, **fields}


def test_a_plain_text_is_the_users_own_word() -> None:
    (event,) = taken("I live in Linz.").events
    assert (event.text, event.role, event.speaker, event.source) == ("I live in Linz.", Role.USER, "user", "human")
    assert (event.occurred_us, event.session, event.agent, event.topic) == (NOW, "", "", None)


@pytest.mark.parametrize("text", ["", " ", "\n\t \r\n", "\u00a0\u2003\u3000"])
def test_a_text_without_a_word_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="empty"):
        taken(text)


@pytest.mark.parametrize(
    "text",
    [
        "a" * limits.EVENT_TEXT_BYTES,
        "ü" * (limits.EVENT_TEXT_BYTES // 2),
        "\U0001f9e0" * (limits.EVENT_TEXT_BYTES // 4),
    ],
    ids=["one byte", "two bytes", "four bytes"],
)
def test_a_text_of_exactly_the_limit_is_kept_and_a_byte_more_is_not(text: str) -> None:
    assert taken(text).events[0].text == text
    with pytest.raises(LimitExceeded, match=str(limits.EVENT_TEXT_BYTES)):
        taken(text + "a")


@pytest.mark.parametrize("text", ["half \ud83d a pair", "\udc00", "ok then \udfff"])
def test_half_a_surrogate_pair_is_refused_with_its_place(text: str) -> None:
    place = next(at for at, sign in enumerate(text) if "\ud800" <= sign <= "\udfff")
    with pytest.raises(Invalid, match=f"character {place}"):
        taken(text)


def test_control_characters_become_visible_and_move_nothing() -> None:
    text = "".join(chr(code) for code in range(32)) + "\x7f word"
    kept = taken(text).events[0].text
    assert len(kept) == len(text)
    assert [sign for sign in kept if sign.isprintable() is False] == ["\t", "\n", "\r"]
    assert kept.endswith("\ufffd word")


@pytest.mark.parametrize(
    "text",
    [
        "👩‍👩‍👧‍👦 family 🇦🇹",
        "אני גר בלינץ",
        "أعيش في لينز\u200f",
        "我住在林茨",
        "e\u0301 and é differ",
        "line\nbreak\tand tab",
        "  edges stay  ",
    ],
)
def test_every_script_is_kept_to_the_character(text: str) -> None:
    assert taken(text).events[0].text == text


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=200))
def test_whatever_holds_a_word_is_kept_as_it_is(text: str) -> None:
    if text.strip():
        assert taken(text).events[0].text == text


@pytest.mark.parametrize(
    "content",
    [
        [
            {"type": "text", "text": "One"},
            {"type": "image_url", "image_url": {"url": "…"}},
            {"type": "text", "text": "two"},
        ],
        ({"text": "One"}, "two"),
        ["One", "two"],
    ],
)
def test_content_parts_of_chat_apis_are_joined_and_images_passed_over(content: object) -> None:
    assert taken([said(content=content)]).events[0].text == "One\ntwo"


@pytest.mark.parametrize(
    "content",
    [None, 5, b"bytes", [], [{"type": "image_url"}], [b"x"], {"text": "a table"}, [{"text": 5}]],
)
def test_a_message_without_words_is_refused(content: object) -> None:
    with pytest.raises(Invalid, match="no text"):
        taken([said(content=content)])


@pytest.mark.parametrize("content", [None, 5, 1.5, b"bytes", bytearray(b"x"), [], (), [5], ["text"], object(), {1, 2}])
def test_what_is_neither_text_nor_messages_is_refused(content: object) -> None:
    with pytest.raises(Invalid):
        taken(content)


def test_one_message_may_come_without_its_list() -> None:
    assert taken(said("assistant")).events == taken([said("assistant")]).events


def test_as_many_messages_as_the_limit_and_no_more() -> None:
    messages = [said(content=f"Word {number}") for number in range(limits.MESSAGES_PER_CALL)]
    assert len(taken(messages).events) == limits.MESSAGES_PER_CALL
    with pytest.raises(LimitExceeded, match="split"):
        taken([*messages, said()])


@pytest.mark.parametrize(
    ("message", "role", "speaker", "trust"),
    [
        ({"content": "x"}, Role.USER, "user", 1.0),
        (said("human"), Role.USER, "user", 1.0),
        (said("User"), Role.USER, "user", 1.0),
        (said("assistant"), Role.ASSISTANT, "assistant", 0.7),
        (said("AI", name="helper"), Role.ASSISTANT, "helper", 0.7),
        (said("system"), Role.DOCUMENT, "system", 0.5),
        (said("tool", name="grep"), Role.DOCUMENT, "grep", 0.5),
        (said("person", name="Bob"), Role.PERSON, "Bob", 1.0),
        (said("user", name="Bob"), Role.PERSON, "Bob", 1.0),
        (said("user", name="Ana"), Role.USER, "user", 1.0),
        (said("user", name=" ANA "), Role.USER, "user", 1.0),
        (said("person", name="ana"), Role.USER, "user", 1.0),
        (said("user", name="User"), Role.USER, "user", 1.0),
        (said("user", name=""), Role.USER, "user", 1.0),
        (said("user", name="  "), Role.USER, "user", 1.0),
    ],
)
@pytest.mark.requirement("E-030")
def test_who_speaks_is_read_from_role_and_name(
    message: dict[str, object], role: Role, speaker: str, trust: float
) -> None:
    (event,) = taken([message]).events
    assert (event.role, event.speaker, event.trust) == (role, speaker, trust)


@pytest.mark.parametrize("role", ["robot", "", None, 5, ["user"]])
def test_an_unknown_role_is_refused_and_the_known_ones_named(role: object) -> None:
    with pytest.raises(Invalid, match="assistant"):
        taken([said(role)])


def test_a_person_needs_a_name() -> None:
    for name in (None, "", "   "):
        with pytest.raises(Invalid, match="name"):
            taken([said("person", name=name)])


@pytest.mark.parametrize(
    ("source", "trust"),
    [("human", 1.0), ("ai", 0.7), ("interaction", 0.6), ("ingest", 0.5), ("code_scan", 0.5), ("dream", 0.4)],
)
@pytest.mark.requirement("E-030", "E-039")
def test_trust_follows_the_source(source: str, trust: float) -> None:
    assert taken("x", source=source).events[0].trust == trust
    with pytest.raises(Invalid):
        taken("x", source=f"{source} of another kind")


def test_trust_is_the_lower_of_source_and_role() -> None:
    assert taken([said("assistant")], source="dream").events[0].trust == 0.4
    assert taken([said("assistant")], source="human").events[0].trust == 0.7


def test_an_unknown_source_or_type_is_refused_and_the_known_ones_named() -> None:
    with pytest.raises(Invalid, match="human"):
        taken("x", source="gossip")
    with pytest.raises(Invalid, match="procedure"):
        taken("x", memory_type="rumour")


@pytest.mark.requirement("E-012")
def test_a_type_that_was_asked_for_travels_with_the_event() -> None:
    assert taken("x", memory_type="procedure").events[0].flags == ("as:procedure",)


@pytest.mark.parametrize(
    ("given_time", "moment"),
    [
        ("2026-07-01T12:00:00Z", "2026-07-01T12:00:00Z"),
        ("2026-07-01T12:00:00+05:30", "2026-07-01T06:30:00Z"),
        ("2026-07-01T12:00:00", "2026-07-01T10:00:00Z"),
        ("2026-01-01T12:00:00", "2026-01-01T11:00:00Z"),
        ("2026-07-01", "2026-06-30T22:00:00Z"),
        (datetime(2026, 7, 1, 12), "2026-07-01T10:00:00Z"),  # noqa: DTZ001 - one without a zone is the point
        (datetime(2026, 7, 1, 12, tzinfo=UTC), "2026-07-01T12:00:00Z"),
    ],
)
def test_a_time_without_a_zone_is_read_in_the_zone_of_the_settings(given_time: object, moment: str) -> None:
    assert taken("x", VIENNA, occurred_at=given_time).events[0].occurred_us == parse_time(moment)
    assert taken([said(timestamp=given_time)], VIENNA).events[0].occurred_us == parse_time(moment)
    assert taken("x", VIENNA, expires_at=given_time).events[0].expires_us == parse_time(moment)


def test_a_messages_own_time_goes_before_that_of_the_call() -> None:
    first, second = taken([said(timestamp="2026-01-01T00:00:00Z"), said()], occurred_at="2026-02-01T00:00:00Z").events
    assert first.occurred_us == parse_time("2026-01-01T00:00:00Z")
    assert second.occurred_us == parse_time("2026-02-01T00:00:00Z")


@pytest.mark.parametrize(
    "moment",
    ["", "2026-13-01", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", 1_767_225_600, 1.5, True],
)
def test_what_is_no_time_is_refused(moment: object) -> None:
    for attempt in ({"occurred_at": moment}, {"expires_at": moment}):
        with pytest.raises(Invalid, match="as a time"):
            taken("x", **attempt)
    with pytest.raises(Invalid, match="as a time"):
        taken([said(timestamp=moment)])


@pytest.mark.parametrize("name", ["topic", "session", "agent", "idempotency_key"])
def test_names_have_a_length_and_a_type(name: str) -> None:
    longest = "ñ" * limits.NAME_CHARACTERS
    accepted = taken("x", **{name: longest})
    kept = accepted.idempotency_key if name == "idempotency_key" else getattr(accepted.events[0], name)
    assert kept == longest
    with pytest.raises(LimitExceeded, match=name):
        taken("x", **{name: longest + "n"})
    for wrong in (5, b"x", ["a"]):
        with pytest.raises(Invalid, match=f"{name} must be text"):
            taken("x", **{name: wrong})
    with pytest.raises(Invalid, match=name):
        taken("x", **{name: "\ud800"})
    for blank in (None, "", "  \n"):
        assert taken("x", **{name: blank}) == taken("x")


def test_tags_are_kept_once_each_and_in_order() -> None:
    assert taken("x", tags=["work", "", "home", "work"]).events[0].tags == ("work", "home")
    assert len(taken("x", tags=[str(number) for number in range(limits.TAGS)]).events[0].tags) == limits.TAGS


@pytest.mark.parametrize("tags", ["work", b"work", 5, None, [5], ["a" * 257], [str(number) for number in range(33)]])
def test_other_tags_are_refused(tags: object) -> None:
    with pytest.raises((Invalid, LimitExceeded), match="tag"):
        taken("x", tags=tags)


def test_metadata_is_plain_json_and_kept_as_it_is() -> None:
    table = {"a": 1, "b": [True, None, 2.5], "c": {"d": "é"}}
    assert taken("x", metadata=table).events[0].metadata == table
    room = limits.METADATA_BYTES - len('{"a": ""}')
    assert taken("x", metadata={"a": "b" * room}).events[0].metadata
    with pytest.raises(LimitExceeded, match="metadata"):
        taken("x", metadata={"a": "b" * (room + 1)})


def _nested(depth: int) -> list[object]:
    inner: list[object] = []
    for _ in range(depth):
        inner = [inner]
    return inner


@pytest.mark.parametrize(
    "table",
    [
        {"a": object()},
        {"a": {1, 2}},
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": "\ud800"},
        {(1, 2): "x"},
        {"a": _nested(100_000)},
        ["a"],
        "text",
        5,
    ],
    ids=["object", "set", "nan", "inf", "surrogate", "key", "deep", "list", "text", "number"],
)
def test_other_metadata_is_refused(table: object) -> None:
    with pytest.raises(Invalid, match="metadata"):
        taken("x", metadata=table)


@pytest.mark.parametrize(
    "wrong",
    [
        said("robot", f"{WORD} one"),
        said("user", [WORD], timestamp="never"),
        said("user", f"{WORD} \ud800"),
        said("user", WORD * limits.EVENT_TEXT_BYTES),
        said("user", WORD, id="i" * 300),
        "no table",
    ],
    ids=["role", "time", "surrogate", "size", "id", "table"],
)
def test_one_bad_message_refuses_all_and_is_never_quoted(wrong: object) -> None:
    with pytest.raises(CredendaError) as caught:
        taken([said(content=f"{WORD} is fine"), wrong])
    message = str(caught.value)
    assert WORD not in message
    assert "\n" not in message
    assert caught.value.what
    assert caught.value.why or caught.value.fix


def _hash(content: object = "I live in Linz.", **fields: object) -> bytes:
    return taken(content, **{"idempotency_key": "k", "topic": "home", **fields}).payload_hash


@pytest.mark.requirement("R-066")
def test_the_payload_is_content_topic_and_time_however_they_are_written() -> None:
    assert len(_hash()) == 16
    same = [
        _hash([said(content="I live in Linz.")]),
        _hash([said("human", content=["I live in Linz."])]),
        _hash(session="another", agent="another", tags=["t"], metadata={"a": 1}),
    ]
    assert set(same) == {_hash()}
    at = _hash(occurred_at="2026-03-01T10:00:00Z")
    assert at == _hash(occurred_at=datetime(2026, 3, 1, 10, tzinfo=UTC)) == _hash(occurred_at="2026-03-01T11:00+01:00")
    other = [
        at,
        _hash("I live in Graz."),
        _hash(topic="work"),
        _hash(topic=None),
        _hash([said("assistant", "I live in Linz.")]),
        _hash([said("person", "I live in Linz.", name="Bob")]),
        _hash([said(content="I live in Linz.", timestamp="2026-03-01T10:00:00Z")]),
        _hash([said(content="I live in Linz."), said()]),
    ]
    assert len({*other, _hash()}) == len(other) + 1
    assert taken("x").payload_hash == b""
