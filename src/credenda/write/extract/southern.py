"""French, Spanish and Portuguese clauses in English order: who does what, and whether it is denied. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from credenda.write.extract.conjugate import Form, inflected
from credenda.write.extract.glossary import Item

__all__ = ["Said", "southern"]

_DENIALS: Final = frozenset({"neg", "longer", "never", "ne"})
_WORDS: Final = {"neg": "not", "longer": "no longer", "never": "never"}
_NOMINAL: Final = frozenset({"noun", "kin", "x", "number", "name"})
_WEAK: Final = frozenset({"la", "le", "les", "l'", "lo", "los", "las", "leur", "nos", "o", "a", "os", "as", "en", "y"})
_OBJECTS: Final = frozenset({"lo", "la", "los", "las", "le", "les", "l'", "o", "a", "os", "as"})
_LINKS: Final = frozenset({"de", "d'", "a", "à", "en", "por", "que", "em"})
_BARE: Final = frozenset({"can", "must", "should", "may", "will"})
_DOING: Final = frozenset({"stop", "quit", "avoid", "start", "finish", "keep", "give up", "end", "consider", "think of"})
_PREPOSITIONS: Final = frozenset({"to", "from", "with", "in", "at", "of", "for", "by", "about"})
_MOVING: Final = ("move", "postpone", "switch", "increase", "decrease", "change", "bring", "go", "rename", "lower", "reduce", "raise")
_TOWARDS: Final = frozenset({"à", "a", "au", "aux", "para", "pra", "pro", "ao", "às", "al", "en"})
_GENERIC: Final = frozenset({"like", "love", "hate", "prefer", "stand", "tolerate", "study", "speak", "learn", "teach", "play", "drink", "eat", "stop"})
"""What is said of a kind of thing takes an article elsewhere and none in English."""
_DAYS: Final = frozenset({"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"})
_MONTHS: Final = frozenset(
    {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
)
_DONE: Final = frozenset({"decide", "choose", "agree", "buy", "sell", "move", "change", "switch", "split up", "cancel"})
"""What one rather tells when it is done: "decidimos" is "we decided"."""
_SUBJECTS: Final = {1: "I", 4: "we"}
_IMAGINED: Final = frozenset({"were", "would", "was"})


class Said(NamedTuple):
    """A piece of the English sentence and the place of what it stands for; -1 where nothing does."""

    text: str
    start: int = -1
    stop: int = -1
    tag: str = ""


@dataclass(slots=True)
class _Clause:
    """A clause while it is read: what was said in English, whether a subject and a verb were."""

    items: list[Item]
    language: str
    out: list[Said] = field(default_factory=list[Said])
    named: bool = False
    verbed: bool = False
    doing: str = ""
    told: bool = False
    ordered: bool = False
    denied: tuple[str, int, str] | None = None

    def put(self, text: str, item: Item | None = None, tag: str = "") -> None:
        """Say a piece."""
        if item is None:
            self.out.append(Said(text, tag=tag))
        else:
            self.out.append(Said(text, item.start, item.stop, tag or item.tag))


def southern(items: Sequence[Item], language: str, *, told: bool = False) -> list[Said]:
    """Say a clause in English order. `told`: the sentence has told of somebody, who may do this as well."""
    clause = _Clause(list(items), language, told=told)
    _settle(clause)
    at = 0
    while at < len(clause.items):
        past = _verb_group(clause, at)
        if past > at:
            at = past
            continue
        item = clause.items[at]
        _put_plain(clause, item, at)
        clause.named = clause.named or item.tag in _NOMINAL or item.tag == "subject"
        at += 1
    return _favourites(clause.out)


_MAY_BE: Final = frozenset({("pt", "e"), ("pt", "esta"), ("es", "esta"), ("fr", "a")})
"""Words that are verbs only where an accent is missing, or as nothing else in the clause is one."""
_NEVER: Final = frozenset({"a", "as", "da", "para", "sobre", "entre", "nos", "su", "sin", "de"})
_DENIED_ALONE: Final = {"neg": "not", "ne": ""}


def _put_plain(clause: _Clause, item: Item, at: int) -> None:
    """Say a piece that is no verb, as what stands around it asks."""
    items = clause.items
    english = _DENIED_ALONE.get(item.tag, item.english)
    following = items[at + 1] if at + 1 < len(items) else None
    last = clause.out[-1] if clause.out else None
    if english == "that" and any("prefer" in one.text or one.text == "more" for one in clause.out):
        english = "rather than"
    elif item.tag == "longer" and clause.language == "fr" and all(one.tag != "ne" for one in items):
        english = "more"
    elif clause.doing.startswith("prefer") and last is not None and item.source.lower() in {"a", "al", "à", "au", "aux", "ao", "às"} and last.tag != "verb":
        english = "over"
    elif item.source.lower() in {"à", "ao", "às", "as"} and following is not None and following.tag == "number":
        english = "at"
    elif item.tag == "prep" and item.source.lower() in _TOWARDS and clause.doing.startswith(_MOVING):
        english = f"to{' the' if english.endswith(' the') else ''}"
    elif item.tag == "prep" and clause.doing.startswith(("swap", "replace")) and english in {"for", "by", "against", "for the", "by the"}:
        english = "with" if clause.doing.startswith("replace") else "for"
    elif english == "of" and last is not None and last.tag in {"verb", *_DENIALS} and clause.denied is not None:
        english = ""
    elif english in {"the", "some"} and last is not None and last.tag == "verb" and clause.doing in _GENERIC:
        english = ""
    if following is not None and english.split(" ")[-1] == "the" and _needs_no_article(clause, item, following):
        english = english.removesuffix("the").strip()
    if english in {"the", "in", "in the", "at", "at the"} and following is not None and _is_day(items, at + 1):
        english = "on"
    if english == "but" and clause.denied is not None and not any(one.verb for one in items[at + 1 :]):
        base, person, tense = clause.denied
        english = f"but now {_SUBJECTS.get(person, '')} {inflected(base, person, tense)}".replace("  ", " ")
    clause.put(english, item)


def _needs_no_article(clause: _Clause, item: Item, following: Item) -> bool:
    owned = following.tag == "det"
    person = clause.language == "pt" and following.tag == "x" and following.source[0].isupper()
    return owned or person


def _is_day(items: Sequence[Item], at: int) -> bool:
    """Say whether a day stands at a place: its name, or a number and a month."""
    one = items[at]
    if one.english in _DAYS:
        return True
    following = [later.english for later in items[at + 1 : at + 3]]
    return one.tag == "number" and any(later in _MONTHS for later in following)


def _settle(clause: _Clause) -> None:
    """Decide of each item that may be a verb whether it is one."""
    items = clause.items
    for at, item in enumerate(items):
        before = items[at - 1] if at else None
        after = items[at + 1] if at + 1 < len(items) else None
        if item.verb and before is not None and (item.source[0].isupper() or _is_noun(items, at)):
            item.tag, item.english = "x", item.source
        if item.source.lower() == "se" and clause.language == "pt" and (before is None or before.tag == "conj"):
            item.tag, item.english = "conj", "if"
        if not item.forms or item.verb or item.tag == "x":
            continue
        if _is_verb(clause, item, before, after):
            item.tag = "verb"
            item.english = item.forms[0].base
    for at, item in enumerate(items[:-1]):
        weak = item.source.lower() in _WEAK and item.tag in {"det", "prep", "conj", "adv", "clitic"}
        following = items[at + 1]
        if weak and following.of("present", "past", "was", "will", "would", "be", "were") and not (
            at and items[at - 1].tag == "prep"
        ):
            item.tag = "clitic"


def _is_noun(items: Sequence[Item], at: int) -> bool:
    """Say whether what looks like a verb is a noun, for an article or a preposition stands before it."""
    item, before = items[at], items[at - 1]
    if before.tag not in {"det", "prep"} or item.of("infinitive") is not None:
        return False
    if before.tag == "prep":
        return item.of("participle") is None and item.of("gerund") is None and before.source.lower() not in _WEAK
    weak = before.source.lower() in _WEAK
    return not (weak and at > 1 and items[at - 2].tag in {"subject", *_DENIALS, "clitic", "x", "noun", "kin"})


def _is_verb(clause: _Clause, item: Item, before: Item | None, after: Item | None) -> bool:
    word, language = item.source.lower(), clause.language
    verbs = any(one.verb for one in clause.items) or any(
        one.forms and one is not item and one.tag in {"noun", "x"} for one in clause.items
    )
    if item.source[0].isupper() and before is not None:
        return False
    if (language, word) == ("fr", "a") and after is not None and _done(after) is not None and after.source.lower() != "plus":
        return True
    if (language, word) in _MAY_BE:
        return before is not None and before.tag not in {"prep", "conj", "subject"} and not verbs
    if word in {"como", "cómo"}:
        return language == "es" and (before is None or before.tag in {*_DENIALS, "subject"}) and after is not None and after.tag != "verb"
    if word in _NEVER:
        return False
    if item.sure and item.forms[0].base == "be":
        return before is None or before.tag != "prep"
    if item.sure and (before is None or before.tag not in {"det", "prep"}):
        return True
    if item.tag in {"det", "prep", "conj", "subject", "clitic", "neg", "longer", "never", "ne", "adv", "than"}:
        return False
    if before is None:
        return clause.language != "fr" or after is None or after.tag not in {"verb"}
    if before.tag in {"det", "prep", "adj"}:
        return any(one.tense == "infinitive" for one in item.forms) and item.tag not in {"noun", "kin"}
    return item.tag != "adj"


def _verb_group(clause: _Clause, at: int) -> int:
    """Say the verb that begins at a place, with what denies it; returns the place after it, the same without a verb."""
    items, start, denied, weak = clause.items, at, "", list[str]()
    while at < len(items) and (items[at].tag in _DENIALS or items[at].tag == "clitic"):
        if items[at].tag == "clitic":
            weak.append(items[at].source.lower())
        elif items[at].tag != "ne":
            denied = _WORDS[items[at].tag]
        at += 1
    if at >= len(items) or not items[at].verb:
        return start
    first = at
    form = _form_of(clause, items[at], subject=_subject_before(clause))
    at += 1
    asked = False
    while at < len(items) and items[at].tag in {*_DENIALS, "clitic", "subject"}:
        if items[at].tag == "subject":
            if not (clause.language == "fr" and items[at - 1].stop + 1 == items[at].start and not clause.named):
                break
            asked = asked or items[at].source.lower() not in {"moi"}
        elif items[at].tag == "clitic":
            if items[at].start != items[at - 1].stop + 1 or clause.language == "es":
                if clause.language != "pt" and items[at].source.lower() not in {"moi", "me"}:
                    pass
            weak.append(items[at].source.lower())
        elif items[at].tag != "ne":
            denied = _WORDS[items[at].tag]
        at += 1
    if items[first].tail:
        weak.append(items[first].tail[:2])
    if denied == "not" and at < len(items) and items[at].source.lower() in {"mais", "más", "mas"}:
        denied, at = "no longer", at + 1
    form, at, denied, between = _compound(clause, form, at, denied)
    _say(clause, form, denied, weak, items[first:at], between)
    return _chained(clause, form, at)


def _subject_before(clause: _Clause) -> int:
    """Give the person of a pronoun right before; 0 without any."""
    if len(clause.out) > 1 and any(one.text == "and" for one in clause.out) and any(one.text == "I" for one in clause.out):
        return 4
    for one in reversed(clause.out[-2:]):
        if one.tag == "subject":
            return {"I": 1, "we": 4, "you": 2, "they": 6}.get(one.text, 3)
    return 0


def _form_of(clause: _Clause, item: Item, subject: int) -> Form:
    forms = item.forms
    if subject == 4 and clause.language in {"fr", "pt"}:  # "on", "a gente"  # noqa: PLR2004
        found = next((one for one in forms if one.person in {3, 4}), None)
        if found is not None:
            return found._replace(person=4)
    wanted = subject or (3 if clause.named else 1)
    finite = [one for one in forms if one.person]
    matching = [one for one in finite if one.person == wanted]
    if item.forms[0].base in _DONE:
        matching.sort(key=lambda one: one.tense != "past")
        finite.sort(key=lambda one: one.person != 4 or one.tense != "past")  # noqa: PLR2004
    if item.tail and not matching:
        matching = [one for one in forms if one.tense in {"present", "infinitive", "gerund"}]
    return (matching or finite or list(forms))[0]


def _compound(clause: _Clause, form: Form, at: int, denied: str) -> tuple[Form, int, str, list[Item]]:
    """Join "have" and "be" with the participle, the gerund or the infinitive that follows."""
    items, look, between = clause.items, at, list[Item]()
    while look < len(items) and look - at < 3 and items[look].tag in {"adv", *_DENIALS, "clitic"}:  # noqa: PLR2004
        if items[look].tag in _DENIALS:
            denied = _WORDS.get(items[look].tag, denied)
        elif items[look].tag == "adv":
            between.append(items[look])
        look += 1
    if look >= len(items):
        return form, at, denied, []
    one = items[look]
    if form.base in {"have", "be"} and one.forms and (done := _done(one)) is not None and one.tag in {"verb", "adj", "noun"}:
        moved = form.base == "be" and done.moved and clause.language == "fr"
        if form.base == "have" or moved:
            if one.tag != "verb":
                return form, at, denied, []
            tense = "past" if form.tense in {"present", "past"} else form.tense
            if form.tense in {"would", "were"}:
                return Form(f"have {inflected(done.base, 0, 'participle')}", form.person, "would"), look + 1, denied, between
            return Form(done.base, form.person, tense), look + 1, denied, between
        if one.tag == "verb":
            return Form(f"be {inflected(done.base, 0, 'participle')}", form.person, form.tense), look + 1, denied, between
    if form.base == "be" and (doing := one.of("gerund")) is not None:
        return Form(f"be {inflected(doing.base, 0, 'gerund')}", form.person, form.tense), look + 1, denied, between
    return _ahead(clause, form, at, denied)


def _done(item: Item) -> Form | None:
    return next((one for one in item.forms if one.tense == "participle"), None)


def _ahead(clause: _Clause, form: Form, at: int, denied: str) -> tuple[Form, int, str, list[Item]]:
    """Join "going to", "have just", "am doing" and "now" with the infinitive that follows."""
    items = clause.items
    look = at + 1 if at < len(items) and items[at].source.lower() in {"a", "à"} else at
    between: list[Item] = []
    while look < len(items) and items[look].tag == "adv" and form.base == "go":
        between.append(items[look])
        look += 1
    one = items[look].of("infinitive") if look < len(items) else None
    if form.base == "have just":
        if one is None:
            return form._replace(base="come from"), at, denied, []
        return Form(f"have just {inflected(one.base, 0, 'participle')}", form.person, "present"), look + 1, denied, []
    if one is None:
        return form, at, denied, []
    if form.base == "go":
        return Form(f"be going to {one.base}", form.person, form.tense), look + 1, denied, between
    if form.base == "be" and (look > at or clause.language == "fr"):
        return Form(f"be {inflected(one.base, 0, 'gerund')}", form.person, form.tense), look + 1, denied, []
    if form.base == "switch" and look > at:
        return Form(one.base, form.person, "present"), look + 1, "now", []
    return form, at, denied, []


def _say(
    clause: _Clause, form: Form, denied: str, weak: list[str], items: Sequence[Item], between: Sequence[Item]
) -> None:
    """Say subject and verb; put what stands before as an object, and who likes it, where English has them."""
    base, person, tense = form.base, form.person, form.tense
    span = (items[0].start, items[-1].stop)
    liked = base.startswith("@")
    if liked:
        base = base[1:]
        person = next(({"me": 1, "m'": 1, "nos": 4, "te": 2, "le": 3, "les": 6}[one] for one in weak if one in {"me", "m'", "nos", "te", "le", "les"}), 3)
    order = not liked and _orders(clause, form, weak)
    moved: list[Said] = []
    fronted = (liked and person in {1, 4}) or (not _OBJECTS.isdisjoint(weak) and person in {1, 4} and clause.language != "fr")
    if fronted and clause.named and not clause.verbed and not _subject_before(clause):
        lead = 1 if clause.out[0].text == "to" else 0
        moved, clause.out = clause.out[lead:], []
    if liked and clause.out and clause.out[0].text.lower() in {"to", "at"} and person in {3, 6}:
        clause.out.pop(0)
    clause.ordered = clause.ordered or order
    if order:
        tense, person = "order", 2
    elif person in _SUBJECTS and not _subject_before(clause) and tense not in {"infinitive", "participle", "gerund"}:
        clause.put(_SUBJECTS[person], tag="subject")
    elif person == 3 and base == "be" and not clause.named and not clause.out and tense in {"present", "past", "was"}:  # noqa: PLR2004
        clause.put("it", tag="subject")
    elif person == 6 and not clause.named:  # noqa: PLR2004
        clause.put("they", tag="subject")
    said = inflected(base, person, "order" if tense == "infinitive" and _begins(clause) else tense, denied)
    for one in between:
        clause.put(one.english, one)
    after_prep = bool(clause.out) and clause.out[-1].tag == "prep"
    if tense == "infinitive" and after_prep:
        said = _after(clause, base, denied)
    parted = said.rpartition(" ") if moved and said.rpartition(" ")[2] in _PREPOSITIONS else (said, "", "")
    clause.out.append(Said(parted[0], *span, "verb"))
    if order and base in {"speak", "write", "explain", "talk", "show"} and not {"me", "moi", "m'"}.isdisjoint(weak):
        clause.put("to")
    if order and not {"me", "moi", "m'"}.isdisjoint(weak):
        clause.put("me", tag="clitic")
    clause.verbed = clause.verbed or tense not in {"participle", "gerund"}
    clause.out.extend(moved)
    if parted[2]:
        clause.put(parted[2], tag="prep")
    clause.doing = base.removeprefix("be ")
    clause.denied = (base, person, tense) if denied in {"not", "no longer"} else None


def _begins(clause: _Clause) -> bool:
    return all(one.tag in {"adv", "say", "mark", "conj"} for one in clause.out)


def _after(clause: _Clause, base: str, denied: str) -> str:
    """Say an infinitive after a preposition: "to" where it is the purpose, else what is done."""
    before = clause.out[-1]
    if before.text in {"for", "to", "at"}:
        clause.out.pop()
        return f"{denied} to {base}".strip()
    if before.text in {"of", "from"}:
        clause.out.pop()
        return f"{denied} to {base}".strip()
    return inflected(base, 0, "gerund", denied)


def _orders(clause: _Clause, form: Form, weak: Sequence[str]) -> bool:
    """Say whether a verb at the head of its clause gives an order."""
    again = clause.ordered and bool(clause.out) and clause.out[-1].tag in {"conj", "adv"}
    if not again and (clause.named or clause.verbed or _subject_before(clause)):
        return False
    if not again and any(one.tag not in {"adv", "say", "mark", "conj"} for one in clause.out):
        return False
    if clause.told and form.tense == "present":
        return False
    if clause.language == "fr":
        return form.tense == "present" and form.person in {1, 2, 3}
    if form.tense == "be":
        return form.person in {1, 2, 3}
    return form.tense == "present" and form.person == 3 and form.base not in {"be", "have"} and "se" not in weak  # noqa: PLR2004


def _chained(clause: _Clause, form: Form, at: int) -> int:
    """Say the infinitive that hangs on a verb: "stop smoking", "can swim", "want to move"."""
    items, look = clause.items, at
    if look < len(items) and items[look].source.lower() in _LINKS and look + 1 < len(items):
        look += 1
    while look < len(items) and items[look].tag in {*_DENIALS, "clitic"}:
        look += 1
    if look >= len(items) or (one := items[look].of("infinitive")) is None or not _near(items, at, look):
        return at
    denied = next((_WORDS.get(items[step].tag, "") for step in range(at, look) if items[step].tag in _DENIALS), "")
    if form.base.lstrip("@") in _DOING:
        said = inflected(one.base, 0, "gerund", denied)
    elif form.base.endswith((" about", " of", " from", " for")) or form.base.endswith("considering"):
        said = inflected(one.base, 0, "gerund", denied)
    elif form.base.split(" ", 1)[0] in _BARE or form.base.endswith(" to"):
        said = f"{denied} {one.base}".strip()
    else:
        said = f"{denied} to {one.base}".strip()
    clause.out.append(Said(said, items[at].start, items[look].stop, "verb"))
    return _chained(clause, one, look + 1)


def _near(items: Sequence[Item], at: int, look: int) -> bool:
    return all(one.tag in {*_DENIALS, "clitic", "prep", "conj", "det", "than", "adv"} for one in items[at:look])


def _favourites(out: list[Said]) -> list[Said]:
    """Put "favourite" and "new" before what they are said of, and a person's own before what they have."""
    found = list(out)
    for at in range(1, len(found)):
        one = found[at]
        alone = found[at - 2].text not in {"is", "are", "am", "was"} if at > 1 else False
        if one.tag == "adj" and found[at - 1].tag in {"noun", "x"} and (alone or one.text == "favourite"):
            found[at - 1], found[at] = found[at], found[at - 1]
    for at in range(len(found) - 2):
        if found[at].text in {"have", "has", "do not have"} and found[at + 2].text == "years" and len(found) == at + 3:
            be = "am" if found[at].text == "have" else "is"
            found[at], found[at + 2] = found[at]._replace(text=be), found[at + 2]._replace(text="years old")
    for at in range(len(found) - 4):
        head, thing, of, my, who = found[at : at + 5]
        if head.text.lower() == "the" and thing.tag in {"noun", "x", "kin"} and of.text in {"of", "of the"} and my.text in {"my", "our"} and who.tag == "kin":
            found[at : at + 5] = [my, Said(f"{who.text}'s", who.start, who.stop, "noun"), thing]
            break
    return [one for one in found if one.text]



