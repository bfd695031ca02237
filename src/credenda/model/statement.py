"""The statement of a memory: one line that stands alone, made from its slot, value, scope and times. Pure.

It is made when it is shown and stored nowhere, so that it never holds a word that the memory lost; one that came with
the claim and says nothing beyond it is kept in the metadata, and goes when the memory loses words. The words of the
message stand behind it as the quotation. A memory without a slot, and an instruction, is shown by its words. It is in
the language of these words where `wordings.toml` has that language, else in English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any, Final, Protocol

from credenda.clock import DAY_US, to_datetime
from credenda.lazy import import_on_use
from credenda.text.fence import format_day, name_author
from credenda.text.normalize import detect_language, normalise_attribute
from credenda.text.passages import cut_to_clause, format_yearly_day, is_one_clause

if TYPE_CHECKING:
    from credenda.model import attributes, wordings
else:
    attributes = import_on_use("credenda.model.attributes")  # it needs memories, which need statements
    wordings = import_on_use("credenda.model.wordings")  # most statements are in English, which needs no table

GIVEN: Final = "given_"
GIVEN_STATEMENT: Final = f"{GIVEN}statement"
GIVEN_KEY: Final = f"{GIVEN}key"
"""The keys of the metadata under which a memory has the wording that its claim came with."""
ENGLISH: Final = "en"
_USER: Final = "user"
_INSTRUCTION: Final = "instruction"
_PREFERENCE: Final = "preference"
_NEGATED: Final = "negated"
_DECISION: Final = "decision"
_OPEN: Final = frozenset({"planned", "considered"})
BEGINNINGS: Final = frozenset({"residence", "employer", "job_title", "school", "employment_status", "marital_status"})
"""Attributes of what goes on once it has begun: the time of such a plan is only that of its beginning."""
_UNREAL: Final = {
    "reported": "hearsay",
    "hypothetical": "only supposed",
    "role_play": "in role play",
    "sarcastic": "not meant literally",
}
_AGE: Final = re.compile(r"(\d{1,3})(?: ?(?:years?(?: old)?|y/?o))?", re.IGNORECASE)
_YEAR_US: Final = 31_556_952_000_000
"""The mean year of the calendar."""
_MONTH_DAYS: Final = 31
_CORRECTED: Final = "corrected"
_SUPERSEDED: Final = "superseded"
_PAST: Final = frozenset({_SUPERSEDED, "merged"})
_WITHDRAWN: Final = "invalidated"
_NOUNS: Final = {
    "does": "activity",
    "location": "place",
    "has_been_to": "visited place",
    "opens": "opening time",
    "plan": "plan",
}
"""Names of attributes that would read badly after an owner: "Jonas's does"."""
_IN_WORDS: Final = frozenset({"considering", "decision", "event", "experience", "goal", "opinion", "plan"})
"""Attributes whose values say little without the words around them: "pick it up"."""
_VERBS: Final = {
    "likes": ("likes", "does not like"),
    "dislikes": ("dislikes", "does not dislike"),
    "loves": ("loves", "does not love"),
    "hates": ("hates", "does not hate"),
    "enjoys": ("enjoys", "does not enjoy"),
    "prefers": ("prefers", "does not prefer"),
    "wants": ("wants", "does not want"),
    "needs": ("needs", "does not need"),
    "avoids": ("avoids", "does not avoid"),
    "eats": ("eats", "does not eat"),
    "drinks": ("drinks", "does not drink"),
    "plays": ("plays", "does not play"),
    "drives": ("drives", "does not drive"),
    "uses": ("uses", "does not use"),
    "owns": ("owns", "does not own"),
    "has": ("has", "does not have"),
    "speaks": ("speaks", "does not speak"),
    "bought": ("bought", "did not buy"),
    "sold": ("sold", "did not sell"),
    "lives_in": ("lives in", "does not live in"),
    "lives_with": ("lives with", "does not live with"),
    "works_on": ("works on", "does not work on"),
    "learning": ("is learning", "is not learning"),
    "considering": ("is considering", "is not considering"),
    "built_with": ("is built with", "is not built with"),
}
"""Attributes that are verbs, as a statement says them of an owner and denies them."""


class Stated(Protocol):
    """The fields of a memory that its statement is made of."""

    @property
    def text(self) -> str: ...  # noqa: D102 - as of a memory
    @property
    def entity(self) -> str | None: ...  # noqa: D102
    @property
    def attribute(self) -> str | None: ...  # noqa: D102
    @property
    def value(self) -> str | None: ...  # noqa: D102
    @property
    def scope(self) -> str | None: ...  # noqa: D102
    @property
    def speaker(self) -> str: ...  # noqa: D102
    @property
    def type(self) -> str: ...  # noqa: D102
    @property
    def stance(self) -> str: ...  # noqa: D102
    @property
    def status(self) -> str: ...  # noqa: D102
    @property
    def relation(self) -> str | None: ...  # noqa: D102
    @property
    def created_us(self) -> int: ...  # noqa: D102
    @property
    def valid_from_us(self) -> int | None: ...  # noqa: D102
    @property
    def valid_until_us(self) -> int | None: ...  # noqa: D102
    @property
    def over(self) -> bool: ...  # noqa: D102
    @property
    def due(self) -> bool: ...  # noqa: D102
    @property
    def metadata(self) -> Mapping[str, object]: ...  # noqa: D102


def replace_given(metadata: Mapping[str, object], statement: str = "", key: str = "") -> dict[str, object]:
    """Return metadata with this wording of a claim, and with no other."""
    given = {name: text for name, text in ((GIVEN_STATEMENT, statement), (GIVEN_KEY, key)) if text}
    return {name: value for name, value in metadata.items() if name not in {GIVEN_STATEMENT, GIVEN_KEY}} | given


def list_given(metadata: Mapping[str, object]) -> tuple[str, ...]:
    """Return the statement and the key with which a claim came, as far as there are any."""
    found = (metadata.get(name) for name in (GIVEN_STATEMENT, GIVEN_KEY))
    return tuple(one for one in found if isinstance(one, str))


def _get_given(memory: Stated, name: str) -> str:
    found = memory.metadata.get(name)
    return found if isinstance(found, str) else ""


def _choose(language: str, kind: str, word: str) -> Any:  # noqa: ANN401 - a text or a pair of texts
    return wordings.load_wordings()[language].get(kind, {}).get(word) if is_worded(language) else None


def is_worded(language: str) -> bool:
    """Return whether statements of a language have words of their own; those of English need no table."""
    return language not in {ENGLISH, ""} and language in wordings.load_wordings()


def choose_word(language: str, english: str) -> str:
    """Choose the word of a language for a word of a statement or a prompt; one without stays English."""
    return _choose(language, "times", english) or english


def name_attribute(attribute: str, language: str = ENGLISH) -> str:
    """Name an attribute in words of a language; one without a wording by its key.

    >>> name_attribute("job_title"), name_attribute("job_title", "de"), name_attribute("likes", "de")
    ('job title', 'Beruf', 'mag')
    """
    verb = _choose(language, "verbs", attribute)
    if verb is not None:
        return " ".join(verb[0].format("").split())
    return _choose(language, "names", attribute) or attribute.replace("_", " ")


def name_owner(owner: str, language: str = ENGLISH) -> str:
    """Name an owner without the user, and in words of a language what that is to the user.

    >>> name_owner("user's sister Carla"), name_owner("user's sister Carla", "de")
    ('sister Carla', 'Schwester Carla')
    """
    known = _choose(language, "authors", owner)
    if known:
        return known
    relation, space, name = owner.removeprefix("user's ").partition(" ")
    return f"{_choose(language, 'names', relation) or relation}{space}{name}"


def name_slot(entity: str | None, attribute: str | None, scope: str | None = None) -> str:
    """Name a slot in words; the user, whose slots most are, is not named.

    >>> name_slot("user", "job_title"), name_slot("user's daughter", "name"), name_slot("Ben", "likes")
    ('job title', "daughter's name", 'Ben likes')
    """
    owner = (entity or "").removeprefix("user's ")
    named = _join_owner("" if owner == _USER else owner, attribute)
    return f"{named} ({scope})" if scope else named


def name_value(memory: Stated, language: str = ENGLISH) -> str:
    """Return the value of a memory in words, or its text when it has no value."""
    value = format_yearly_day(memory.value or memory.text)
    return f"{choose_word(language, 'not')} {value}" if memory.value and memory.stance == _NEGATED else value


def _join_owner(owner: str, attribute: str | None, language: str = ENGLISH) -> str:
    if is_worded(language):
        name = name_attribute(attribute or "", language)
        return f"{name} {choose_word(language, 'of')} {owner}" if owner and name else owner or name
    verb = _VERBS.get(attribute or "")
    if verb is not None:
        return f"{owner} {verb[0]}".strip()
    name = _NOUNS.get(attribute or "", (attribute or "").replace("_", " "))
    repeated = name.casefold() == owner.casefold()
    return f"{owner}'s {name}" if owner and name and not repeated else owner or name


def grow_age(value: str, told_us: int, now_us: int) -> str:
    """Return an age with the years since it was told, "" within the first year and for a value that is no age in years.

    >>> grow_age("34", 1_730_419_200_000_000, 1_795_000_000_000_000), grow_age("8 months", 0, 1_795_000_000_000_000)
    ('about 36', '')
    """
    found = _AGE.fullmatch(value.strip())
    years = (now_us - told_us) // _YEAR_US
    return f"about {int(found[1]) + years}" if found and years > 0 else ""


def write_claim(memory: Stated, now_us: int = 0, language: str = "") -> str:
    """Write what a memory claims, without its speaker and its times; its words if it has no slot.

    An owner who is the speaker is not named again: "employer: Bramble", "Ben's employer: Bramble", "likes tea". Where
    it is known what time it is, an age goes on: "age: 34 when told, about 36 now". A statement that came with the claim
    stands in its place, and a key in the place of the attribute. `language` is that of the words unless it is given.
    """
    language = language or detect_language(memory.text)
    if memory.attribute == _INSTRUCTION:
        return memory.text
    given = _get_given(memory, GIVEN_STATEMENT)
    if given:
        return _grow(memory, _name_scope(memory, given), now_us, language)
    if memory.value == memory.text:
        return memory.text
    owner = _name_owner(memory)
    if not (memory.entity and memory.attribute and memory.value):
        return cut_to_clause(memory.text, memory.value)
    if memory.attribute in _IN_WORDS and not owner and memory.value in memory.text and is_one_clause(memory.text):
        return memory.text
    owner = name_owner(owner, language) if is_worded(language) else owner
    key = _get_given(memory, GIVEN_KEY)
    verb = None if key else _find_verb("likes" if is_liking(memory) else memory.attribute, language)
    if verb is not None:
        said = f"{owner} {verb[memory.stance == _NEGATED].replace('{}', format_yearly_day(memory.value))}".strip()
    else:
        named = _join_owner("" if owner.casefold() in key.casefold() else owner, key or memory.attribute, language)
        said = _grow(memory, f"{named}: {name_value(memory, language)}", now_us, language)
    return _name_scope(memory, said)


def is_in_words(memory: Stated) -> bool:
    """Return whether a memory is an instruction, or of an attribute whose values are shown with their words."""
    return memory.attribute == _INSTRUCTION or memory.attribute in _IN_WORDS


def is_liking(memory: Stated) -> bool:
    """Return whether a memory tells what somebody likes, under the kind of it: food, music."""
    return memory.type == _PREFERENCE and memory.attribute in attributes.TASTES


def _find_verb(attribute: str, language: str) -> Sequence[str] | None:
    """Return how a verb is said of a value, and denied."""
    if is_worded(language):
        return _choose(language, "verbs", attribute)
    verb = _VERBS.get(attribute)
    return None if verb is None else [f"{one} {{}}" for one in verb]


def _name_scope(memory: Stated, said: str) -> str:
    """Name the scope of a memory after its claim, where that does not."""
    named = not memory.scope or memory.scope.casefold() in said.casefold()
    return said if named else f"{said} ({memory.scope})"


def _grow(memory: Stated, said: str, now_us: int, language: str) -> str:
    """Say how old somebody is by now whose age a claim tells."""
    told_us = memory.created_us if memory.valid_from_us is None else memory.valid_from_us
    aged = memory.attribute == "age" and memory.stance != _NEGATED and memory.status not in _PAST
    grown = grow_age(memory.value or "", told_us, now_us) if aged else ""
    if not grown:
        return said
    grown = grown.replace("about", choose_word(language, "about"))
    return f"{said} {choose_word(language, 'when told')}, {grown} {choose_word(language, 'now')}"


def _name_owner(memory: Stated) -> str:
    """Return whose value it is, "" for the speaker's own."""
    author, owner = name_author(memory.speaker, memory.text), memory.entity or ""
    if owner.casefold() == author.casefold():
        return ""
    own = f"{author}'s "
    return owner[len(own) :] if author and owner.casefold().startswith(own.casefold()) else owner


def format_validity(memory: Stated, zone: tzinfo, told_us: Sequence[int] = (), language: str = ENGLISH) -> list[str]:
    """Say in words since when a memory is true and until when, and if it is no plain assertion.

    `told_us` are the times of the messages that it came from: a message that names no date tells only when it was
    told, and where they are unknown a memory is as of its day. A value of a coming day begins then, a plan is named as
    one, and a corrected value was true at no time.
    """
    real = [choose_word(language, _UNREAL[memory.stance])] if memory.stance in _UNREAL else []
    if memory.relation == _CORRECTED:
        return [*real, choose_word(language, "corrected, never true")]
    if memory.status == _WITHDRAWN:
        return [*real, choose_word(language, "withdrawn")]
    over = _name_end(memory, zone, language)
    opened = [choose_word(language, memory.stance)] if memory.stance in _OPEN else []
    if memory.valid_from_us is None:
        return [*real, *opened, *(over or _name_past_end(memory, zone, language))]
    day, coming = format_day(memory.valid_from_us, zone), memory.valid_from_us > memory.created_us + DAY_US
    told = any(format_day(one, zone) == day for one in told_us)
    since = "told" if told else "since" if told_us else "as of"
    if opened and (coming or memory.valid_until_us is not None):
        planned_for = choose_word(language, f"{memory.stance} for")
        return [f"{planned_for} {format_planned(memory, language) or day}", *over]
    begun = "decided" if memory.type == _DECISION and not opened else since
    dated = f"{choose_word(language, 'from' if coming else begun)} {day}"
    ended = _name_past_end(memory, zone, language)
    return [*real, dated, *ended] if ended else [*real, *opened, dated, *over]


def _name_past_end(memory: Stated, zone: tzinfo, language: str) -> list[str]:
    """Say of a replaced value until when it was true."""
    if memory.status != _SUPERSEDED or memory.valid_until_us is None:
        return []
    return [f"{choose_word(language, 'until')} {format_day(memory.valid_until_us, zone)}"]


def is_lasting_plan(stance: str, attribute: str | None) -> bool:
    """Return whether a memory of this stance plans what lasts, so that it is not over with its day.

    >>> [is_lasting_plan(*one) for one in (("planned", "school"), ("planned", "date"), ("asserted", "school"))]
    [True, False, False]
    """
    return stance in _OPEN and normalise_attribute(attribute or "") in BEGINNINGS


def _name_end(memory: Stated, zone: tzinfo, language: str) -> list[str]:
    """Say of a memory that is over since when; a dated plan names its time anyway, which may have come."""
    if memory.due:
        return [choose_word(language, "not yet confirmed")]
    if not memory.over or memory.valid_until_us is None:
        return []
    planned = memory.stance in _OPEN and memory.valid_from_us is not None
    since = f"{choose_word(language, 'over since')} {format_day(memory.valid_until_us, zone)}"
    return [choose_word(language, "over") if planned else since]


def format_planned(memory: Stated, language: str = ENGLISH) -> str:
    """Return the time of a dated plan by the clock of its words: an hour, a day, a month or a period; "" of all else.

    Its times are kept as said, without a zone, so that a plan for 15:00 stays one for 15:00.
    """
    if memory.stance not in _OPEN or memory.valid_from_us is None or memory.valid_until_us is None:
        return ""
    first, after = to_datetime(memory.valid_from_us), to_datetime(memory.valid_until_us)
    last = to_datetime(max(memory.valid_until_us - 1, memory.valid_from_us))
    whole_days = not (memory.valid_from_us % DAY_US or memory.valid_until_us % DAY_US)
    if first.date() == last.date():
        return f"{first:%Y-%m-%d}" if whole_days else f"{first:%Y-%m-%d %H:%M}"
    if not whole_days:
        return ""
    if first.day == after.day == 1 and (after - first).days <= _MONTH_DAYS:
        return f"{first:%Y-%m}"
    return f"{first:%Y-%m-%d} {choose_word(language, 'to')} {last:%Y-%m-%d}"


def was_before(old: Stated, new: Stated) -> bool:
    """Return whether a replaced value was true before another one in the same slot, and not merely corrected."""
    same = (old.entity, old.attribute, old.scope) == (new.entity, new.attribute, new.scope)
    changed = old.status == "superseded" and old.relation == "changed" and bool(old.text)
    return same and changed and old.value != new.value


def write_statement(
    memory: Stated, zone: tzinfo = UTC, *, told_us: Sequence[int] = (), before: str = "", language: str = ""
) -> str:
    """Write the statement of a memory: who says so, whose it is, what, the value, the scope and the times.

    `before` names the value that it replaced: "Tess: employer: Bramble, since 2025-06-02; before: Lumen Labs". A memory
    that is shown by its words has its times in brackets: "Ana: It rained. (told 2026-03-01)".
    """
    if not memory.text:
        return ""
    language = language or detect_language(memory.text)
    claim, times = write_claim(memory, language=language), format_validity(memory, zone, told_us, language)
    said = format_author(memory, claim, language)
    sentence = claim.endswith((".", "!", "?")) and times
    timed = f"{said} ({', '.join(times)})" if sentence else ", ".join([said, *times])
    return f"{timed}; {choose_word(language, 'before')}: {before}" if before else timed


def find_before(statement: str) -> str:
    """Find the value that a statement names as the one before, "" for none.

    >>> find_before("user: home: Graz, told 2026-01-02; before: Wels"), find_before("user: home: Graz")
    ('Wels', '')
    """
    words = {"before", *(one["times"]["before"] for one in wordings.load_wordings().values())}
    found = re.search(rf"; (?:{'|'.join(sorted(words))}): (.+)$", statement)
    return found[1] if found is not None else ""


def format_author(memory: Stated, claim: str, language: str = ENGLISH) -> str:
    """Put the author before a claim, as in "Ana: residence: Linz"; a derived memory has none."""
    author = name_author(memory.speaker, memory.text)
    return f"{_choose(language, 'authors', author) or author}: {claim}" if author else claim


def format_fact(memory: Stated, claim: str) -> str:
    """Put the author before a claim, but for a slot that the user told: whose it is goes without saying."""
    slot = memory.entity and memory.attribute and memory.value and claim not in {memory.text, memory.value}
    own = slot and name_author(memory.speaker, memory.text) == _USER
    return claim if own else format_author(memory, claim)


def format_core_text(memory: Stated, now_us: int = 0) -> str:
    """Return the claim of a memory for the core, which is about the user: another speaker is named before it."""
    claim = write_claim(memory, now_us)
    return claim if memory.speaker == _USER else format_author(memory, claim)
