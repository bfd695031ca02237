"""Words from which no belief follows: whereabouts, idioms of return, roles that frame a request, ends of relations."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda
from credenda.model.memory import Stance

Say = Callable[..., None]


def list_held(mem: Credenda) -> set[tuple[str | None, str | None]]:
    """Return the attributes and values that are held as true."""
    return {(one.attribute, one.value) for one in mem.list().items if one.attribute and one.stance is Stance.ASSERTED}


@pytest.mark.parametrize(
    "words",
    [
        "I'm still at the airport.",
        "I'm still at the dentist.",
        "I'm at the gym again.",
        "I'm stuck at the office.",
        "I'm back in a café.",
        "I'm now at the library.",
        "I'm on the train now.",
        "I'm back at the office full time.",
    ],
)
def test_where_somebody_is_for_an_hour_is_no_belief(mem: Credenda, say: Say, words: str) -> None:
    say("I work at Siemens.", words)
    assert list_held(mem) == {("employer", "Siemens")}


@pytest.mark.parametrize(
    ("words", "held"),
    [
        ("I'm at Microsoft now.", ("employer", "Microsoft")),
        ("I'm at the BBC now.", ("employer", "BBC")),
        ("I work at the hospital.", ("employer", "hospital")),
        ("I'm in the choir again.", ("member_of", "choir")),
        ("I'm a nurse at the hospital.", ("employer", "hospital")),
        ("I'm in a studio flat now.", ("home", "studio flat")),
    ],
)
def test_a_name_a_group_or_a_home_is_more_than_whereabouts(
    mem: Credenda, say: Say, words: str, held: tuple[str, str]
) -> None:
    say(words)
    assert held in list_held(mem)


@pytest.mark.parametrize(
    "words",
    [
        "I still haven't heard from Spotify.",
        "We're back to square one with the CI pipeline.",
        "We're back to square one.",
        "I'm back from lunch.",
        "I'm back on track.",
        "I went back to sleep.",
        "I'm still on hold with the bank.",
        "I'm a beginner again.",
        "I'm back in business.",
        "I still don't get Kubernetes.",
        "I'm a free man again.",
        "I'm still waiting for a reply from Siemens.",
    ],
)
def test_an_idiom_of_return_brings_no_value(mem: Credenda, say: Say, words: str) -> None:
    say(words)
    assert [one.attribute for one in mem.list().items] == []


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("I'm single again.", "single"),
        ("I'm back on Spotify.", "Spotify"),
        ("I still use Vim.", "Vim"),
        ("I still drive a Golf.", "Golf"),
        ("I'm learning Spanish again.", "Spanish"),
        ("I'm back at Siemens.", "Siemens"),
        ("I'm playing chess again.", "chess"),
    ],
)
def test_a_sure_value_that_is_back_is_held(mem: Credenda, say: Say, words: str, value: str) -> None:
    say(words)
    assert [one.value for one in mem.list().items] == [value]


@pytest.mark.parametrize(
    "words",
    [
        "Actually I'm a teacher, can you pitch it at my level?",
        "I'm actually a pilot - give me the technical version.",
        "Actually, I'm a lawyer - put it in legal terms.",
        "Actually, I'm a lawyer. Put it in legal terms.",
        "I'm a chef, explain it in kitchen terms",
        "I'm a doctor, can you phrase it in medical terms?",
        "I\u2019m actually a chemist, put that in lab language please.",
    ],
)
def test_a_role_that_frames_a_request_leaves_the_job_alone(mem: Credenda, say: Say, words: str) -> None:
    say("I'm a backend engineer.", words)
    assert list_held(mem) == {("job_title", "backend engineer")}


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("I'm a nurse now, my shifts are nights.", "nurse"),
        ("I'm a manager now, so give me tips for one-on-ones.", "manager"),
        ("Sorry, I'm actually a data engineer.", "data engineer"),
        ("Actually, I'm a lawyer.", "lawyer"),
        ("I'm a lawyer. Give me the short version.", "lawyer"),
        ("I'm a teacher, can you suggest quiz ideas for my class?", "teacher"),
        ("I'm a nurse, can you explain this to my patients?", "nurse"),
    ],
)
def test_a_job_that_is_meant_takes_the_place_of_the_one_before(mem: Credenda, say: Say, words: str, value: str) -> None:
    say("I'm a backend engineer.", words)
    assert [one.value for one in mem.list(attribute="job_title").items if one.stance is Stance.ASSERTED] == [value]


@pytest.mark.parametrize(
    "words",
    [
        "we broke up btw, me and Priya.",
        "Priya and I split up.",
        "Me and Priya called it quits.",
        "Priya dumped me yesterday :(",
        "I'm no longer with Priya.",
        "Priya is my ex now.",
    ],
)
def test_words_of_an_end_end_the_relation_to_whom_they_name(mem: Credenda, say: Say, words: str) -> None:
    say("my girlfriend Priya says i should just buy bread", words)
    assert list_held(mem) == set()


@pytest.mark.parametrize(
    "words",
    [
        "Priya and I didn't break up.",
        "We almost broke up last year, Priya and I.",
        "My girlfriend Priya and I split the bill.",
        "My sister broke up with her boyfriend.",
        "I got the job!",
        "I got promoted!",
        "we broke the window",
    ],
)
def test_what_ends_no_relation_states_none(mem: Credenda, say: Say, words: str) -> None:
    say("My girlfriend is Priya.", words)
    assert list_held(mem) == {("girlfriend", "Priya")}


def test_the_partner_of_a_relative_is_that_of_the_relative(mem: Credenda, say: Say) -> None:
    say("My sister broke up with Tom.")
    (ended,) = mem.list().items
    assert (ended.entity, ended.attribute, ended.stance) == ("user's sister", "partner", Stance.NEGATED)


@pytest.mark.parametrize(
    ("words", "order"),
    [
        ("shorter. and always use british spelling pls", "always use british spelling"),
        ("ok. but please always answer in French", "always answer in French"),
        ("Thanks. Also never use tabs.", "never use tabs"),
    ],
)
def test_an_order_behind_a_short_sentence_is_read_as_alone(mem: Credenda, say: Say, words: str, order: str) -> None:
    say(words)
    (held,) = mem.list(attribute="instruction").items
    assert order in (held.value or "")
