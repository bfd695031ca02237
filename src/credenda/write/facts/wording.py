"""Facts by the words around them, which say more than their reader saw: the value, its slot and its owner. Pure.

Each step goes from facts to facts. It rests on the form of words that is the same whatever they are about: the dose of
a medicine, an appointment on a day, "any more", "Ida is" behind what somebody no longer is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from credenda.model.claim import LISTENER, SPEAKER, Fact, FactChange, FactStatus, Turn, Words
from credenda.model.statement import BEGINNINGS
from credenda.text.dates import WEEKDAYS, find_dates
from credenda.text.normalize import is_same_value
from credenda.text.passing import CURRENT, is_limit
from credenda.text.sentences import split_sentences
from credenda.write.extract.voices import lexicon
from credenda.write.facts.endings import read_endings
from credenda.write.facts.framing import read_actual
from credenda.write.facts.keys import mend_keys
from credenda.write.facts.misread import drop_misread
from credenda.write.facts.schemas import load_fact_schemas

_SURE: Final = 0.8
"""Certainty of what the form of the words tells."""
_LEAST: Final = 0.4
"""Least certainty of a fact whose opposite the same sentence tells."""
_WITHIN: Final = re.compile(r"\s+in\s+(?:the\s+)?", re.IGNORECASE)
INSTITUTIONS: Final = frozenset({"employer", "school", "member_of"})
_MISSPOKEN: Final = re.compile(
    r"[\s,;.:\u2013\u2014-]*(?:(?:no|oh|oops|wait|actually)\W+)*(?:sorry|i meant?|scratch that|correction|make that)"
    r"(?:\W+(?:no|sorry|i meant?|it's|its|it is))*\W+",
    re.IGNORECASE,
)
"""Words between two values of which the second one takes the place of the first: "12, no sorry, 14" """
_CALLED: Final = re.compile(r",? (?:(?:that|which)(?:'s| is) )?(?:called|named) ", re.IGNORECASE)
"""Words between a kind of thing and its name: "a charity in Cardiff called Bramble"."""
_CHOSE: Final = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:finally |just )?(?:chose|chosen|picked|went with|settled on|decided on)\b"
    r"|\blet(?:'s| us) go with\b",
    re.IGNORECASE,
)
"""Words by which a thing in use is a decision: "I picked Vim"."""
_REJECTED: Final = re.compile(r"\b(?:over|instead of|rather than)\s+(?:the |an? )?$", re.IGNORECASE)  # "Vim over Nano"
_OF_TASK: Final = re.compile(
    r"\b(?:for|in|on) (?:this|the current) (?:\w+ )?"
    r"(?:task|script|session|example|exercise|demo|snippet|chat|conversation|ticket|run)\b",
    re.IGNORECASE,
)
"""Words that bind a choice to the task at hand, which is nothing to remember (R-053)."""
_CHOICES: Final = frozenset({"tool", "decision", "prefers"})
_VERSIONED: Final = re.compile(
    r"(?<!\S)\(?(?!(?:to|from|is|was|are|on|at|now|of|the|an?|use|using|with|still|only|about|and|or|than|by|in|for|its"
    r"|version|release)\s)(?P<name>[A-Za-z][\w+#.-]*) (?:version )?$",
    re.IGNORECASE,
)
"""The word that a version follows names the thing that has it: "Flask" in "on Flask 2.3.1"."""
_DEPLOYED: Final = re.compile(r"(?:deployed|released|shipped|published|launched|tagged)", re.IGNORECASE)
_DOSE: Final = re.compile(
    r"(?P<dose>\d[\d.,]*\s?(?:mg|mcg|\u00b5g|ug|iu|puffs?|tablets?|pills?|drops?|capsules?))\b[^,.;]{0,24}",
    re.IGNORECASE,
)
_NEW_DOSE: Final = re.compile(
    r"\b(?:rais\w+|increas\w+|upped|bumped|lower\w*|reduc\w+|cut|dropped|doubled|halved|chang\w+|adjust\w+|put|took"
    r"|brought|moved) my (?P<name>(?!dos)[\w-]+)(?: dos\w+)?(?: (?:up|down|back))?(?: from [^,.;]{1,24}?)?"
    r" (?:to|at) $"
    r"|\bmy (?P<now>(?!dos)[\w-]+)(?: dos\w+)? (?:is|was|went|goes|has gone) (?:now )?(?:back )?(?:up |down )?"
    r"(?:to|at) $",
    re.IGNORECASE,
)
"""Words before the new dose of a medicine of the speaker: "My doctor raised my Lisinopril to"."""
_TAKEN_DOSE: Final = re.compile(
    r"\b(?:i|we)(?:'m|'ve been| am| was)?(?: (?:still|now|also|currently|just))? (?:take|taking|on|use|using|inject"
    r"|prescribed) (?:my )?(?P<name>[\w-]+) $",
    re.IGNORECASE,
)
"""Words before the dose of a medicine that the speaker takes: "I take metformin"."""
_CUT_SHORT: Final = re.compile(r"^(?:the|an?)$|\w (?:of|the|with|at|in|for|to|an?)$", re.IGNORECASE)
"""The end of a part of a value, which is no end of a value."""
_MONEY: Final = re.compile(
    r"[\u20ac$\u00a3]|\b(?:euros?|eur|dollars?|pounds?|francs?|kronor|quid|\d+k)\b", re.IGNORECASE
)
_RENT: Final = re.compile(r"(?:\s(?:in|for|of))?\s?\brent\b\s?", re.IGNORECASE)
_RAISE: Final = re.compile(r"(?:pay |salary )?(?:raise|rise)", re.IGNORECASE)
_BESIDES: Final = re.compile(
    r"\b(?:with|by|from|for|selling|an hour|per hour|a lesson|tenants?|lodgers?|get .{1,24} rent|receive)\b|/h",
    re.IGNORECASE,
)
"""Words of money that comes beside a salary, or is no rent of the speaker's own."""
_EARNED: Final = re.compile(
    r"\b(?:earn(?:ing)?|get paid|'m paid|am paid|make) (?:about |around |roughly |now )*$", re.IGNORECASE
)
_STAYS: Final = re.compile(r"\b(?:i'm|i am|we're|we are|im) (?:\w+ ){0,2}(?:in|at|on)\b", re.IGNORECASE)
_APPOINTMENT: Final = (
    r"(?:meeting|appointment|call|interview|viewing|check-?up|exam|session|consultation|hearing|audition|presentation"
    r"|rehearsal|scan|inspection|fitting)"
)
_NAMED_APPOINTMENT: Final = re.compile(
    r"\b(?:an?|the|my|our|another) (?P<what>(?:(?!(?:with|has|have|had|is|got|gets|needs)\b)[\w'-]+ ){0,3}?"
    + _APPOINTMENT
    + r"\b"
    r"(?: (?:with|at|about|for|of) (?:(?!(?:on|at|in|is|are|was|to|tomorrow|today|tonight|next|this|for|from|and|so"
    r"|until|mon|tues?|wednes|thurs?|fri|satur|sun)(?:day)?\b)[\w'&-]+ ?){1,5})?)",
    re.IGNORECASE,
)
"""What somebody is to go to, with whom: "my dentist appointment", "a meeting with the bank"."""
_NOT: Final = re.compile(
    r"(?:\b(?:do|does|did|is|are|am|was|can|will|wo|ca)(?:n't| not)|'(?:m|s|re) not|\bnever)\b[^,;.!?]*$", re.IGNORECASE
)
_ANY_MORE: Final = re.compile(r"\W{0,2}(?:any ?more|any longer)\b", re.IGNORECASE)
"""Words around a value that end it: "invoices don't go to Ines any more"."""
_IS_NOW: Final = re.compile(
    r"[^.!?]*?[,;] (?:but |and |now )*(?P<name>[A-Z][\w'-]*(?: [A-Z][\w'-]*)?)"
    r"(?:'s| is|(?P<acts> does| has))(?: now| instead| it| him| her| them)*\s*(?:[.!]|$)"
)
"""Words behind what somebody no longer is or has that say who is or has: "Ben no longer runs the shop, Ida does"."""
_SPEAKER_NOT: Final = re.compile(
    r"[,;] (?:but |and |while )*(?:i|we)(?:'m| am|'re| are| do| have)(?: not|n't)(?: though| myself| ourselves)?\W*$",
    re.IGNORECASE,
)
"""Words behind what somebody else is by which the speaker is not: "my sister is vegan, I'm not"."""
_WORD: Final = re.compile(r"[\w-]+")
_DOUBTED: Final = re.compile(r"\b(?:supposed|meant|might|may|not|maybe|if|should)\b|n't\b", re.IGNORECASE)
_SEEING: Final = frozenset({"watch"})
_OF_BIRTH: Final = re.compile(r"birth|b-?day|\bborn\b|\bturn(?:s|ed|ing)?\b", re.IGNORECASE)
_PURSUITS: Final = frozenset({"hobby", "instrument", "learning", "sport"})
_TRIED: Final = re.compile(
    r"(?<!been )\b(?:tried|had a go at|took a (?:class|lesson|workshop) in)(?: some| a bit of| out)? $",
    re.IGNORECASE,
)
_GOES_ON: Final = re.compile(
    r"\b(?:now|since|every|regularly|hooked|weekly|again|keep|still|new hobby)\b", re.IGNORECASE
)
"""Words of something that was not done just once."""
_STANDING: Final = re.compile(r"\b(?:always|never|from now on)\b", re.IGNORECASE)
_LEFT: Final = r"\b(?:I|we)(?:'ve| have)? (?:just |finally )?(?:left|quit|resigned from) (?:the |my )?"
_DRINKS: Final = re.compile(
    r"\b(?:drink(?:ing)?|back (?:to|on)|(?:switched|switching|changed|gone|went|going) (?:back |over )?to"
    r"|(?:i'm|i am|we're|we are)(?: (?:now|back))? on)(?: (?:only|mostly|just|my|the|drinking))* $",
    re.IGNORECASE,
)
"""Words before what somebody drinks: "I drink", "I'm back to"."""
_NO: Final = re.compile(r"\b(?:no|not|never)\b|n't\b", re.IGNORECASE)
_DRINKING: Final = re.compile(r"drinking (?:my |the )?", re.IGNORECASE)
_PREVIOUSLY: Final = re.compile(
    r"\b(?:previously|formerly|in the past)(?: (?:was|were|worked|lived|used|had|it was))?"
    r"(?: (?:at|in|with|for|on|by))?(?: (?:the|an?|my|our))? $",
    re.IGNORECASE,
)
"""Words right before what was so, and is no longer: "Microsoft; previously at Google"."""
_NOT_YET: Final = ("until ", "till ")


def read_wordings(text: str, facts: Sequence[Fact], now_us: int) -> Iterator[Fact]:
    """Yield the facts of a message as its words tell them, in order; `now_us` is when it was said."""
    said = text.replace("\u2019", "'")
    firm = [one for one in facts if not _is_habit(one)]
    mended = _mend_facts(list(_share_denials(said, drop_misread(said, mend_keys(said, firm)))), text)
    mended = read_endings(said, mended)
    mended = [drink for one in mended if (drink := _read_drink(said, one)) is not None]
    found = _name_successors(said, _end_denied(said, _drop_misspoken(text, mended)))
    found = [
        _name_amount(said, _read_stay(_read_tried(said, _read_seen(text, _read_previous(said, one)))))
        for one in _join_parts(text, found)
    ]
    found = _read_corrections(said, found)
    found = [read_actual(said, one) for one in found]
    found = _read_doses(said, found)
    found = _read_appointments(said, found, now_us)
    return _read_versions(text, _read_choices(text, found))


def _join_parts(text: str, facts: Iterable[Fact]) -> Iterator[Fact]:
    """Join the parts of one value that were read apart: "Noor", "Haddad"; "lab of the", "university".

    A part of which the end was missed is as sure as its attribute and its other part together.
    """
    before: Fact | None = None
    for one in facts:
        if before is not None and _is_next_part(text, before, one):
            start, stop = before.value.start, one.value.stop
            sure = max(before.certainty, one.certainty)
            if before.attribute != "name":
                sure = max(sure, (sure + min(before.attribute_certainty, one.attribute_certainty)) / 2)
            before = replace(one, value=Words(text[start:stop], start, stop), certainty=sure)
            continue
        if before is not None:
            yield before
        before = one
    if before is not None:
        yield before


def _is_next_part(text: str, one: Fact, after: Fact) -> bool:
    if one.attribute != after.attribute or (one.subject and one.subject != after.subject):
        return False
    cut = (" " in one.value.text and _CUT_SHORT.search(one.value.text) is not None) or one.attribute == "name"
    return cut and one.value.start >= 0 and text[one.value.stop : after.value.start] == " "


def _name_amount(text: str, fact: Fact) -> Fact:
    """Name an amount of money of the speaker by its words: what they earn, the rent that they pay."""
    money = fact.attribute == "amount" and fact.subject == SPEAKER and _MONEY.search(fact.value.text)
    money = money and not _BESIDES.search(fact.quote.text)
    named = fact.key and not (_RAISE.fullmatch(fact.key) or _EARNED.fullmatch(f"{fact.key} "))  # "I earn" names none
    if not money or fact.value.start < 0 or named:
        return fact
    if _RENT.search(fact.value.text):
        return replace(fact, key="rent", value=fact.value._replace(text=_RENT.sub(" ", fact.value.text).strip()))
    earned = fact.key or _EARNED.search(text[: fact.value.start])
    return replace(fact, key="salary") if earned else fact


def _read_stay(fact: Fact) -> Fact:
    """Read a stay that has begun ("I'm in Faro this week"), and a job or home that begins today, as no plan."""
    if fact.subject != SPEAKER or fact.status is not FactStatus.PLANNED:
        return fact
    schema = load_fact_schemas().get(fact.attribute)
    lasts = schema is not None and schema.name in BEGINNINGS
    begins = lasts and fact.change is FactChange.CHANGED and fact.when.lower().startswith("today")
    begins = begins and _DOUBTED.search(fact.quote.text) is None
    begun = fact.when.lower().startswith(CURRENT) or is_limit(fact.when)
    stays = fact.attribute == "location" and begun
    stays = stays and _STAYS.search(fact.quote.text.replace("\u2019", "'")) is not None
    return replace(fact, status=FactStatus.NOW) if stays or begins else fact


def _read_previous(text: str, fact: Fact) -> Fact:
    """Let a value that was so previously be past: it takes no place of the present one."""
    now = fact.status is FactStatus.NOW and fact.value.start >= 0 and fact.subject in {SPEAKER, ""}
    past = now and _PREVIOUSLY.search(text[: fact.value.start]) is not None
    return replace(fact, status=FactStatus.PAST, change=FactChange.NONE) if past else fact


def _read_seen(text: str, fact: Fact) -> Fact:
    """Read what somebody watched as that, and as no visit: a film is no place."""
    if fact.attribute != "visited" or fact.value.start < 0:
        return fact
    words = [one for one in _WORD.finditer(text, 0, fact.value.stop) if one[0].lower() not in {"the", "a", "an"}]
    inside = sum(one.start() >= fact.value.start for one in words)
    near = words[len(words) - inside - 1 :][:2] if inside < len(words) else words[:1]
    verb = next((one for one in reversed(near) if lexicon().verbs.get(one[0].lower()) in _SEEING), None)
    if verb is None:
        return fact
    seen = Words(text[verb.start() : fact.value.stop], verb.start(), fact.value.stop)
    return replace(fact, attribute="experience", value=seen)


def _read_tried(text: str, fact: Fact) -> Fact:
    """Read something that was tried as done once, and as no hobby: "last weekend I tried pottery"."""
    tried = _TRIED.search(text[: fact.value.start]) if fact.attribute in _PURSUITS and fact.value.start >= 0 else None
    if tried is None or _GOES_ON.search(fact.quote.text):
        return fact
    done = Words(text[tried.start() : fact.value.stop], tried.start(), fact.value.stop)
    sure = max(fact.attribute_certainty, _SURE)
    return replace(fact, attribute="experience", value=done, attribute_certainty=sure)


def _read_drink(text: str, fact: Fact) -> Fact | None:
    """Read what somebody drinks as that, and neither as a diet nor as a preference: "I've switched to tea".

    Who has a coffee once has neither a diet nor a habit.
    """
    told = fact.attribute in {"diet", "prefers"} and fact.status is FactStatus.NOW and fact.value.start >= 0
    if not told or fact.key or fact.subject != SPEAKER:
        return fact
    opener = _DRINKING.match(fact.value.text)
    start = fact.value.start + (opener.end() if opener else 0)
    said = text[start : fact.value.stop]
    kinds = {lexicon().category(said), lexicon().category(said.rpartition(" ")[2])}
    if "drink" not in kinds or _NO.search(said):
        return fact
    if _DRINKS.search(text[:start]) is None:
        return None if fact.attribute == "diet" else fact
    sure = max(fact.attribute_certainty, _SURE)
    value = Words(said, start, fact.value.stop)
    return replace(fact, attribute="drinks", value=value, attribute_certainty=sure)


def _read_doses(text: str, facts: Iterable[Fact]) -> list[Fact]:
    """Read the doses of medicines; a medicine named beside its dose is told once."""
    read = [_read_dose(text, one) for one in facts]
    taken = [one for one in read if one.attribute == "medication" and one.subject == SPEAKER]
    dosed = {one.value.text.casefold().rpartition(" of ")[2]: one for one in taken if _DOSE.match(one.value.text)}
    scopes = {one.value.text.casefold(): one.scope for one in taken}
    kept = [one for one in read if one not in taken or one.value.text.casefold() not in dosed]
    return [
        replace(one, scope=one.scope or scopes.get(name, ""))
        if (name := one.value.text.casefold().rpartition(" of ")[2]) in dosed and one is dosed[name]
        else one
        for one in kept
    ]


def _read_dose(text: str, fact: Fact) -> Fact:
    """Read an amount of a medicine that the speaker takes as that medicine: "raised my Lisinopril to 40 mg"."""
    value, found = fact.value, _DOSE.fullmatch(fact.value.text)
    if value.start < 0 or fact.attribute not in {"amount", "medication"} or found is None:
        return fact
    before = text[: value.start]
    named = _NEW_DOSE.search(before) or (_TAKEN_DOSE.search(before) if fact.attribute == "amount" else None)
    if named is None:
        return fact
    name = next(one for one in (*named.groupdict().values(), "") if one is not None)
    if fact.subject.casefold() not in {SPEAKER, "", name.casefold()}:
        return fact  # somebody else takes it
    whole = value._replace(text=f"{found['dose']} of {name}")
    sure = max(fact.certainty, _SURE)
    return replace(
        fact,
        attribute="medication",
        attribute_certainty=sure,
        certainty=sure,
        subject=SPEAKER,
        key="",
        old=name if fact.change is FactChange.CHANGED else "",
        value=whole,
    )


def _end_denied(text: str, facts: list[Fact]) -> list[Fact]:
    """End what words deny for now: "invoices don't go to Ines any more" names her as a former one."""
    return [
        replace(one, status=FactStatus.ENDED, certainty=max(one.certainty, _SURE))
        if one.status in {FactStatus.NOW, FactStatus.ENDED}
        and one.attribute != "dislikes"  # what is not liked any more is disliked now
        and one.certainty >= _LEAST
        and one.value.start >= 0
        and _ANY_MORE.match(text, one.value.stop)
        and _NOT.search(text[: one.value.start])
        else one
        for one in facts
    ]


def _share_denials(text: str, facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield denials of their owner: "my sister is vegan, I'm not" denies nothing of her."""
    for one in facts:
        over = one.status in {FactStatus.DENIED, FactStatus.ENDED} and one.value.start >= 0
        before = text[max(one.quote.start, 0) : one.value.start] if over else ""
        other = over and one.status is FactStatus.DENIED and one.subject not in {SPEAKER, LISTENER, ""}
        behind = text[one.value.stop : max(one.quote.stop, one.value.stop)]
        if other and _NOT.search(before) is None and _SPEAKER_NOT.match(behind):
            yield replace(one, status=FactStatus.NOW)
            yield replace(one, subject=SPEAKER)
        else:
            yield one


def _name_successors(text: str, facts: list[Fact]) -> list[Fact]:
    """Add who is now what somebody no longer is: "Ben no longer runs the shop, Ida does".

    An end is as sure as its successor where both are named: "Dana is no longer our cleaner, Mia is". The new
    owner of a thing is nothing of the speaker's: "I no longer have a dog, Karl has him".
    """
    added: list[Fact] = []
    kept = list(facts)
    for one in facts:
        ended = one.status is FactStatus.ENDED and one.value.start >= 0
        found = _IS_NOW.match(text, one.value.stop) if ended else None
        if found is None:
            continue
        own = one.subject == SPEAKER and bool(text[one.quote.start : one.value.start].strip())
        if own or (one.subject == SPEAKER and not found["acts"]):
            heirs = [fact for fact in kept if fact.value.text == found["name"] and fact.attribute == one.attribute]
            sure = max((one.certainty, *(fact.certainty for fact in heirs)))
            kept = [replace(fact, certainty=sure) if fact is one else fact for fact in kept]
            kept = [fact for fact in kept if fact not in heirs] if found["acts"] else kept
        elif one.subject not in {SPEAKER, LISTENER} and found["name"] != one.subject and one.certainty >= _LEAST:
            added.append(
                replace(one, subject=found["name"], status=FactStatus.NOW, change=FactChange.NONE, old="", when="")
            )
    named = {one.subject for one in added}
    return [*(one for one in kept if one.value.text not in named), *added]


def _read_appointments(text: str, facts: list[Fact], now_us: int) -> list[Fact]:
    """Name the appointment of a sentence that has its noun and a day to come, as "meeting with the bank"."""
    for start, stop in split_sentences(text):
        inside = [one for one in facts if one.value.start >= 0 and start <= one.value.start < stop]
        dated = [one for one in inside if one.attribute == "appointment" and one.status is FactStatus.PLANNED]
        read, dated = dated, _join_day(dated, now_us)
        named = list(_NAMED_APPOINTMENT.finditer(text, start, stop))
        own = len({one.when for one in dated if one.when}) == 1 and all(one.subject in {SPEAKER, ""} for one in dated)
        if not own or len(named) != 1 or text[start:stop].rstrip().endswith("?"):
            continue
        what = Words(
            named[0]["what"].strip(), named[0].start("what"), named[0].start("what") + len(named[0]["what"].strip())
        )
        when = next((one.when for one in dated if one.when), "")
        ahead = [
            one for one in find_dates(when, now_us, "future") if one.until_us is not None and one.until_us > now_us
        ]
        best = max(dated, key=lambda one: one.certainty)
        if not ahead or what.text.casefold() in best.value.text.casefold():
            continue
        sure = {name: max(getattr(best, name), _SURE) for name in ("certainty", "attribute_certainty")}
        whole = replace(best, subject=SPEAKER, value=what, when=when, key="", **sure)
        facts = [one for one in facts if one not in read]
        facts = sorted([*facts, whole], key=lambda one: one.value.start)
    return facts


def _join_day(dated: list[Fact], now_us: int) -> list[Fact]:
    """Give appointments of a sentence the day that was read as another one: "dentist", moved to "Thursday"."""
    day = next((one for one in dated if _is_day(one.value.text, now_us)), None)
    if day is None or len(dated) == 1:
        return dated
    change = next((one.change for one in dated if one.change is not FactChange.NONE), FactChange.NONE)
    return [replace(one, when=one.when or day.value.text, change=change) for one in dated]


def _is_day(words: str, now_us: int) -> bool:
    """Return whether words are nothing but a day."""
    found = [one for one in find_dates(words, now_us, "future") if one.stop == len(words)]
    return any(words[: one.start].strip(" ,").lower() in {"", *WEEKDAYS} for one in found)


def _drop_misspoken(text: str, facts: list[Fact]) -> list[Fact]:
    """Let a value stand for the one that it corrects in the same breath; leave out the department of an employer."""
    said = [one for one in facts if one.value.start >= 0]
    beside = [(one, after) for one, after in pairwise(said) if one.attribute == after.attribute]
    named = [(one, after) for one, after in pairwise(said) if after.old.casefold() == one.value.text.casefold()]
    right = {
        one: _put_right(one, after)
        for one, after in [*beside, *named]
        if _MISSPOKEN.fullmatch(text, one.value.stop, after.value.start)
    }
    over = [after for one, after in [*beside, *named] if one in right]
    over += [one for one, after in beside if _CALLED.fullmatch(text, one.value.stop, after.value.start)]
    over += [
        after
        for one, after in beside
        if one.attribute in INSTITUTIONS and _WITHIN.fullmatch(text, one.value.stop, after.value.start)
    ]
    return [right.get(one, one) for one in facts if one not in over]


def _put_right(wrong: Fact, right: Fact) -> Fact:
    """Let a value stand for the one that it corrects, of which alone a denial is: "not Shell, I meant Shelter"."""
    said = replace(wrong, value=right.value, quote=right.quote, certainty=max(wrong.certainty, right.certainty))
    if wrong.status is not FactStatus.DENIED or right.status is FactStatus.DENIED:
        return said
    return replace(said, status=right.status, change=FactChange.CORRECTED, old=wrong.value.text)


def _read_choices(text: str, facts: list[Fact]) -> list[Fact]:
    """Read what somebody chose as a decision, and leave out what they rejected or chose for the task at hand."""
    found: list[Fact] = []
    for one in facts:
        words, choice = one.quote.text.replace("\u2019", "'"), one.attribute in _CHOICES
        chose = choice and _CHOSE.search(words) is not None
        if (choice and _OF_TASK.search(words)) or (chose and _REJECTED.search(text[: max(one.value.start, 0)])):
            continue
        decides = chose and one.attribute == "tool"  # the words tell the attribute
        found.append(replace(one, attribute="decision", attribute_certainty=1.0) if decides else one)
    return found


def _read_versions(text: str, facts: Iterable[Fact]) -> Iterator[Fact]:
    """Let a version be that of the word before it, and the day on which one was deployed an experience."""
    for one in facts:
        named = _VERSIONED.search(text[: max(one.value.start, 0)]) if one.attribute == "version" else None
        if named is not None and _DEPLOYED.fullmatch(named["name"]):
            start, stop = named.start("name"), one.value.stop
            words = Words(text[start:stop], start, stop)
            yield replace(one, attribute="experience", attribute_certainty=1.0, subject=SPEAKER, value=words)
        else:
            yield replace(one, subject=named["name"]) if named else one


def complete_name(named: str, sentence: str) -> str:
    """Return the name of a thing with the capitalised words before it, but for the first word of a sentence.

    >>> complete_name("API", "We call the Meteo Geocoding API 3 times"), complete_name("API", "Our API is slow")
    ('Meteo Geocoding API', 'API')
    """
    whole = re.search(rf"(?<=[\w,;:(] )(?:[A-Z][\w+#.-]+ ){{1,3}}{re.escape(named)}\b", sentence) if named else None
    return whole[0] if whole else named


def _mend_facts(facts: Sequence[Fact], text: str) -> list[Fact]:
    """Mend the facts of a message: torn orders, ends that have not come, ends without a slot, and times preferred."""
    return _name_ended(_join_orders(facts, text), text)


def is_lasting_order(fact: Fact) -> bool:
    """Return whether an order says itself that it holds from now on."""
    return fact.attribute == "instruction" and _STANDING.search(fact.value.text) is not None


def _join_orders(facts: Sequence[Fact], text: str) -> list[Fact]:
    """Join the parts of an order between which nothing stands: "always" and "use grams"."""
    joined: list[Fact] = []
    for one in facts:
        last = joined[-1].value if joined and joined[-1].attribute == one.attribute == "instruction" else None
        if last is not None and last.start >= 0 and text[last.stop : max(one.value.start, 0)] == " ":
            start, stop = last.start, one.value.stop
            joined.pop()
            joined.append(replace(one, value=Words(text[start:stop], start, stop)))
        else:
            joined.append(one)
    return joined


def _name_ended(facts: Sequence[Fact], text: str) -> list[Fact]:
    """Give an end and the value that takes its place the surer attribute: "I left Acme, I start at Halden on Monday".

    A thing that goes on until a day has not ended, and is left out: "Tim is away until Friday".
    """
    next_of = {one.old.casefold(): one for one in facts if one.old and one.value.start >= 0}
    named = [end for one in next_of.values() if (end := _find_left(one, facts, text)) is not None]
    surer: dict[Words, Fact] = {}
    for one in facts:
        after = next_of.get(one.value.text.casefold())
        if one.status is not FactStatus.ENDED or after is None or one.subject not in {after.subject, ""}:
            named.append(one)  # what Mia is told to be is not what she takes the place of
        else:
            named.append(replace(one, certainty=after.certainty))
            surer[one.value] = surer[after.value] = max(after, one, key=_get_attribute_certainty)
    named = [_name_slot(one, surer.get(one.value, one)) for one in named]
    return [one for one in named if one.status is not FactStatus.ENDED or not one.when.lower().startswith(_NOT_YET)]


def _get_attribute_certainty(fact: Fact) -> float:
    return fact.attribute_certainty


def _name_slot(fact: Fact, surer: Fact) -> Fact:
    return replace(fact, attribute=surer.attribute, attribute_certainty=surer.attribute_certainty)


def _find_left(after: Fact, facts: Sequence[Fact], text: str) -> Fact | None:
    """Return the end of a value that was left before the next one begins, where no fact of its own tells it."""
    found = re.search(rf"{_LEFT}{re.escape(after.old)}\b", text) if after.status is FactStatus.PLANNED else None
    if found is None or any(one.value.text.casefold() == after.old.casefold() for one in facts):
        return None
    start = found.end() - len(after.old)
    old = Words(after.old, start, found.end())
    return replace(after, value=old, old="", when="", status=FactStatus.ENDED, change=FactChange.NONE)


def has_words_of_birth(turn: Turn) -> bool:
    """Return whether a message, or the one before it, speaks of a birth: "1 June" alone may be any day."""
    return any(_OF_BIRTH.search(one.text) for one in (*turn.before[-1:], turn.event))


# Corrections that name only the value, of which what is held tells the rest.


_THEIR_NAME: Final = re.compile(
    r"\b(?:his|her|its|their) (?:\w+ )?name(?:'s| is)\b"
    r"|\b(?:he|she|it|they)(?:'s| is|'re| are) (?:\w+ )?(?:called|named|spel(?:led|t))\b",
    re.IGNORECASE,
)
_RENAMED: Final = re.compile(rf"{_THEIR_NAME.pattern}|\bi meant? (?-i:[A-Z])", re.IGNORECASE)
"""Words that give somebody a name without telling who it is: "his name is Tim, not Tom"."""
_IT_IS: Final = re.compile(r"\bit(?:'s| is)(?: (?:actually|really|in|at|on|the|an?|my))*\s+$", re.IGNORECASE)
"""Words before the right value: "it's actually Rome", and not "it's cold in Rome"."""
_RESPELLED: Final = re.compile(
    r"\bspel(?:led|t)\b|\b(?:name|it|he|she|they)(?:'s| is|'re| are) (?:actually|really)\b|\bi meant? (?-i:[A-Z])",
    re.IGNORECASE,
)
"""Words that say that the name before was wrong: "her name's actually Anna"."""
_NAMED: Final = frozenset(
    {"name", "preferred_name", "friend", "colleague", "contact", "pet", "partner", "child", "parent", "sibling"}
)


def is_naming(fact: Fact) -> bool:
    """Return whether words give a name without telling whose it is."""
    return _RENAMED.search(fact.quote.text.replace("\u2019", "'")) is not None


def is_naming_another(fact: Fact) -> bool:
    """Return whether words give the name of somebody or something else than their speaker."""
    return _THEIR_NAME.search(fact.quote.text.replace("\u2019", "'")) is not None


def is_renaming(fact: Fact) -> bool:
    """Return whether a fact corrects the name of somebody or something that only the wrong name identifies.

    Words that only say that it was wrong correct the one name of the message before.
    """
    words = fact.quote.text.replace("\u2019", "'")
    before = words[: max(fact.value.start - fact.quote.start, 0)]
    told = fact.attribute == "name" or fact.change is FactChange.CORRECTED
    if not is_naming(fact) and not (told and _IT_IS.search(before) and _is_named_by_old(fact)):
        return False
    respelled = fact.change is FactChange.CORRECTED or _RESPELLED.search(words) is not None
    return bool(fact.old) or (respelled and fact.attribute in _NAMED and fact.value.text[:1].isupper())


def _is_named_by_old(fact: Fact) -> bool:
    """Return whether only the wrong value tells what a fact is about: "it's Rome, not Oslo"."""
    schema = load_fact_schemas().get(fact.attribute)
    if schema is None or not fact.old:
        return fact.attribute == "name"
    of_thing = schema.thing and fact.subject == SPEAKER  # "it's Tuesday" is no date of the speaker
    return fact.attribute == "name" or of_thing or fact.attribute_certainty < schema.sure


_OPENING: Final = r"\W*(?:(?:no|nope|sorry|oops|oh|wait|actually|correction|well|ok|okay|ah|my (?:mistake|bad))\W+)*"
_IT: Final = r"(?:(?:it|that)(?:'s| is| was| should be)|i (?:actually |really )?meant?(?: to say)?|make (?:it|that)) "
_VALUE: Final = (
    r"(?!(?:i|i'm|my|we|our|if|to|that|because|yet|sure|really|bad|only|just|even)\b)[^\s,;!?]+(?: [^\s,;!?]+){0,3}?"
)
_RIGHT, _WRONG = (rf"(?:the |in |on |at |an? )?(?P<{name}>{_VALUE})" for name in ("right", "wrong"))
_CORRECTIONS: Final = tuple(
    re.compile(rf"{_OPENING}{pattern}[\s.!]*", re.IGNORECASE)
    for pattern in (
        rf"(?P<cue>{_IT})?{_RIGHT},? (?:and )?not {_WRONG}",
        rf"(?P<cue>not ){_WRONG}[,;.]? (?:but )?(?:{_IT})?{_RIGHT}",
    )
)
"""Sentences that are nothing but a right value and a wrong one: "sorry, I meant Anna, not Ana", "not Rex, Max"."""


def _read_corrections(text: str, facts: list[Fact]) -> list[Fact]:
    """Read a sentence that has only a right value and a wrong one as the correction of that, whatever it is of."""
    found = list(facts)
    for start, stop in split_sentences(text):
        told = next((one for sign in _CORRECTIONS if (one := sign.fullmatch(text[start:stop]))), None)
        if told is None or not _is_pair(told):
            continue
        old, at = told["wrong"].rstrip("."), start + told.start("right")
        inside = [one for one in found if start <= one.value.start < stop]
        right = Words(told["right"].rstrip("."), at, at + len(told["right"].rstrip(".")))
        read = [one for one in inside if one.change is FactChange.CORRECTED]
        whole = [one for one in read if is_same_value(one.old, old)]
        mended = [one for one in inside if one not in read and is_same_value(one.value.text, right.text)]
        if any(one.certainty > _UNSURE for one in (*whole, *mended)) or not (told["cue"] or read):
            continue
        quote = Words(text[start:stop], start, stop)
        made = Fact(value=right, quote=quote, attribute="name", old=old, change=FactChange.CORRECTED, weight=2)
        found = sorted([*(one for one in found if one not in inside), made], key=lambda one: one.value.start)
    return found


def _is_pair(told: re.Match[str]) -> bool:
    """Return whether a value may take the place of another: both are names, or neither is."""
    ends = [told[name].rpartition(" ")[2] for name in ("right", "wrong")]
    named = [one[:1].isupper() for one in ends]
    return named[0] == named[1] and told["right"].casefold() != told["wrong"].casefold()


_SWITCHED: Final = re.compile(
    r"\b(?:switched|moved|changed|transferred|went)(?: jobs?| companies| employers)?(?: over)? to $", re.IGNORECASE
)
_UNSURE: Final = 0.6


def _is_habit(fact: Fact) -> bool:
    """Return whether a firm that somebody switched to is none, by its small letter: "Jana switched to decaf"."""
    at = fact.value.start - fact.quote.start
    told = fact.attribute == "employer" and fact.value.start >= 0 and fact.value.text[:1].islower()
    return told and _SWITCHED.search(fact.quote.text[: max(at, 0)]) is not None


def is_switch(fact: Fact) -> bool:
    """Return whether somebody is told to have switched to a firm by words that may tell of other things as well.

    It counts only where an employer of theirs is held: "Jana switched to Vivantes".
    """
    told = fact.attribute == "employer" and fact.subject not in {SPEAKER, LISTENER, ""} and fact.value.start >= 0
    if not told or fact.change is not FactChange.CHANGED or fact.attribute_certainty >= _UNSURE:
        return False
    before = fact.quote.text[: fact.value.start - fact.quote.start]
    return fact.value.text[:1].isupper() and _SWITCHED.search(before) is not None
