"""Private text is written nowhere: parts in `<private>` tags, and messages that ask not to be kept. Pure.

Every text is cut here before it is journaled, hashed, queued or repeated in an error. Hooks of agents call this for
every prompt, so that only `re` is imported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, cast

_TAG: Final = re.compile(r"<private(?=[\s/<>\\]|\Z)|< +private *>|< */ *private\s*>", re.IGNORECASE)
"""The beginning of an opening tag, whose attributes are private too, or a closing tag.

After "< ", only a whole tag counts: "x < private" compares. A backslash follows where an error shows a tag as `repr`.
"""

_HINTS: Final = ("record", "don", "not ", "nothing", "n't", "nt ", "nicht", "never", "no ", "ne ", "out of", "avoid")
"""One of these stands in every request for silence; other texts are not searched for one."""
_NOT: Final = r"(?:do not|do ?n'?t|never|(?:please|pls|plz|kindly),? not)"
_NEGATED: Final = (
    rf"(?:{_NOT}|(?:there'?s |there is )?no (?:need|reason)(?: for you)? to|i (?:do not|don'?t) (?:want|need) you to"
    r"|i(?:'?d| would)? (?:rather|prefer)(?: that| if)? you (?:didn'?t|did not)"
    r"|you (?:needn'?t|need not|mustn'?t|must not|shouldn'?t|should not|(?:don'?t|do not) (?:have|need) to|are not to)"
    r"|(?:make sure|be sure|take care|i(?:'?d| would) (?:like|ask) you|i ask you)"
    r"(?: (?:not to|to not)|(?: that)? you (?:don'?t|do not)))"
)
_HOW: Final = r"(?: (?:ever|even|actually|just|please))?"
_THIS: Final = (
    r"(?:(?:this|that|it|(?:any|none|a word) of (?:this|that|it)|(?:this|that|the next|the last|the following) "
    r"(?:one|bit|part|message|conversation|chat|info(?:rmation)?|stuff|fact|detail|secret|number|code|pin|password"
    r"|address|name|date)|(?:these|the) details|what (?:i(?:'?m| am) about to|i|i just|follows|i'?m)"
    r" ?(?:say|said|tell you|told you|write|wrote|saying|telling you)?|my (?:next|last) message|the following"
    r"|anything (?:i say|from this))(?![\w'-]))"
)
_THING: Final = (
    r"(?:files?|docs?|documents?|drafts?|changes?|edits?|work|progress|code|tabs?|seat|spot|screen|games?|settings?)"
)
_MINE: Final = rf"(?:my|our)(?! (?:\w+ )?{_THING}\b)(?: [\w'-]+){{1,3}}?"
_I: Final = r"(?:i|i'?m|i'?ve|i'?d|we|we'?re|we'?ve|my|our|he|she|he's|she's|they|his|her|their)"
_CLAUSE: Final = (
    rf"(?:(?:the fact )?that (?={_I} )|anything (?:about|on) (?=\w)"
    r"|(?<!remember )(?:how much|what|where|who|why) (?=(?:i|we|my|our) ))"
)
"""What begins the words that are not to be kept."""
_WORDS: Final = (
    r"(?:th(?:is|at) (?:message|conversation|chat)|what i(?:'?m| am)? (?:say|said|saying|told you|tell you))"
)
_IN_MEMORY: Final = (
    r"(?:in|to|into|on|for|from) (?:your |the |any |my )?(?:long[- ]term )?"
    r"(?:memory|memories|notes?|file|records?|logs?|journal|database)"
)
_WHERE: Final = rf"(?:(?: |, )(?:down|anywhere|away|please|pls|for me|ok(?:ay)?|though|{_IN_MEMORY}))"
_STOP: Final = r"(?=\s*(?:[:;,.!\n)\u2013\u2014\u2600-\U0010ffff]|-\s|\Z|(?:but|because|cause|cuz|bc|since|and|as)\s))"
_TO_STORE: Final = (
    r"(?:save|store|record|remember|memori[sz]e|journal|retain|persist|log|note(?: down)?|(?:write|jot) down"
    r"|(?:keep|make|take) (?:a |any )?(?:record|notes?|track) of|commit to memory)"
)
_PUT: Final = r"(?:write|put|keep|file|enter|commit|add)"
"""Verbs that ask for silence only with the place or the words that they name: other things are kept too."""
_STORED: Final = r"(?:saved|stored|recorded|logged|remembered|memori[sz]ed|noted|written down|kept)"
_KEPT: Final = (
    rf"(?:(?:{_TO_STORE}|keep) ?(?=:)|(?:{_TO_STORE}) {_CLAUSE}"
    rf"|(?:{_TO_STORE}) (?:{_THIS}|{_MINE}){_WHERE}{{0,3}}{_STOP}|keep {_THIS}{_WHERE}{{0,2}}(?=\s*[:\u2013\u2014])"
    rf"|(?:write|jot|note) (?:{_THIS}|{_MINE}|anything) down{_WHERE}{{0,2}}(?:{_STOP}|(?= about (?:this|my|our|me)\b))"
    rf"|{_PUT} (?:(?:{_THIS}|{_MINE}){_WHERE}{{1,3}}|{_WORDS}){_STOP})"
)
_REQUESTS: Final = (
    rf"{_NEGATED}{_HOW} {_KEPT}",
    rf"(?:can|could|would) you (?:please |pls )?not {_TO_STORE} {_THIS}{_WHERE}{{0,3}} ?\?",
    rf"(?:can|could|would|will) you (?:please |pls )?(?:not|avoid) {_KEPT}",
    rf"nothing (?:of this|i (?:say|tell you|write))(?: \w+){{0,2}} (?:should|may|is to|must) be {_STORED}\b",
    (
        rf"(?:(?:{_THIS}|what follows) (?:is not to|isn'?t to|is never to|must(?:n'?t| not| never)|may not"
        r"|should(?:n'?t| not| never)|need(?:n'?t| not)) be|not to be"
        rf"|i (?:do not|don'?t) want (?:{_THIS}|{_MINE})(?: to be| being)?) {_STORED}{_WHERE}{{0,2}}{_STOP}"
    ),
    (
        rf"(?:{_THIS}(?: is|'s) |it'?s )?(?:not(?: meant)?|isn'?t|nothing) for (?:your|the)"
        rf" (?:memory|notes?|records?|logs?|files?){_STOP}"
    ),
    (
        rf"(?:keep|leave) (?:{_THIS}|{_MINE}) (?:out of|off) (?:your |the |any )?(?:long[- ]term )?"
        r"(?:memory|notes|log|records?|file)s?\b"
    ),
    (
        rf"(?:(?:let's |let us )?keep {_THIS} |(?:{_THIS}|what follows)(?: is|'s) |strictly |totally |all of this is )?"
        rf"(?:off the record|not for the record)(?: please| now)?{_STOP}"
    ),
    (
        r"(?:speicher[ne]?|merke? dir|notiere?|schreibe?) (?:dir )?(?:das|dies)(?: hier)?(?: bitte)? nicht"
        rf"(?: auf| mit)?{_STOP}"
    ),
    rf"no (?:guardes|recuerdes|anotes|apuntes|registres) (?:esto|eso|nada de esto){_STOP}",
    rf"ne (?:garde|sauvegarde|retiens|note|enregistre|m\u00e9morise)[sz]? pas (?:\u00e7a|ceci|cela){_STOP}",
)
"""A request for silence: a negation, a verb of keeping, and what is not to be kept, or the words that tell it."""
_REPORT_CHARACTERS: Final = 64
_REPORTED: Final = re.compile(
    r"\b(?:said|says|saying|told|tells|asked|asks|wrote|writes|begged|warned|insisted|answered)(?: \w+){0,2}\W*\Z"
)
"""Words after which a request is somebody's that the text reports."""


class PrivateParts:
    """Cuts the private parts out of texts that follow each other, such as the lines of a file.

    Parts may be nested. One that is not closed extends to the end, and a closing tag alone is ordinary text. A tag in
    code counts like any other: a program cannot tell an example from a person who asks for silence.
    """

    def __init__(self) -> None:
        self._depth = 0

    @property
    def is_open(self) -> bool:
        """Whether the text so far ends inside a private part."""
        return self._depth > 0

    def cut(self, text: str) -> str:
        """Return the next text without its private parts.

        The words before and after a part stay apart, so that no new tag arises.
        """
        if not self._depth and "<" not in text:
            return text
        kept: list[str] = []
        done = 0
        for tag in _TAG.finditer(text):
            if "/" in tag[0]:
                if self._depth == 1:
                    done = tag.end()
                self._depth = max(self._depth - 1, 0)
                continue
            if not self._depth:
                kept.append(text[done : tag.start()])
            self._depth += 1
        if not self._depth:
            kept.append(text[done:])
        joined: list[str] = []
        for piece in filter(None, kept):
            if joined and not (joined[-1][-1].isspace() or piece[0].isspace()):
                joined.append(" ")
            joined.append(piece)
        return "".join(joined)


@cache
def _compile_request() -> re.Pattern[str]:
    """Compile on first use what asks for silence: at the start of a sentence or after a comma or colon."""
    begin = r"(?:\A|[.!?;:,(\n\u2013\u2014*_-]|\s(?:but|and|so)(?=\s))[\s*_]{0,8}"
    opening = (
        r"(?:(?:please|pls|plz|hey|hi|ok|okay|btw|by the way|but|and|so|oh|also|just|psst|kindly|sorry|actually|well"
        r"|look|for now|bitte|por favor|s'il te pla\u00eet|claude|note)[,:]? ){0,3}"
    )
    return re.compile(rf"{begin}{opening}(?:{'|'.join(_REQUESTS)})")


def is_off_record(text: str) -> bool:
    """Return whether a message asks in its own words that it is not kept; a request alone keeps nothing back.

    >>> is_off_record("Don't save this: I earn 61,000."), is_off_record("Off the record, I am leaving in May.")
    (True, True)
    >>> is_off_record("Don't save this file as PDF."), is_off_record("You said it was off the record.")
    (False, False)
    """
    folded = text.lower()
    if not any(hint in folded for hint in _HINTS):
        return False
    folded = folded.replace("\u2019", "'")
    for found in _compile_request().finditer(folded):
        if (
            _REPORTED.search(folded[max(0, found.start() - _REPORT_CHARACTERS) : found.start()])
            or folded[found.end() : found.end() + 1] == "?"
        ):
            continue
        if any(letter.isalnum() for letter in folded[: found.start()] + folded[found.end() :]):
            return True
    return False


def cut_private(text: str) -> str:
    """Return a text without its private parts; "" if nothing else is in it, or its words ask that it is not kept.

    >>> cut_private("My name is Ana. <private>PIN 1234</private> Tabs, please."), cut_private("Off the record: a PIN.")
    ('My name is Ana.  Tabs, please.', '')
    """
    kept = cut_tagged(text)
    return "" if is_off_record(kept) else kept


def cut_tagged(text: str) -> str:
    """Return a text without the parts between private tags: for a file, an error or another text beside messages.

    >>> cut_private("My name is Ana. <private>PIN 1234</private> Tabs, please.")
    'My name is Ana.  Tabs, please.'
    >>> cut_private("I like tea.<PRIVATE why='health'>My blood pressure"), cut_private("<private>all</private>")
    ('I like tea.', '')
    """
    kept = PrivateParts().cut(text)
    return text if kept == text else kept.strip()


def has_private(text: str) -> bool:
    """Return whether a text has a private part, or asks that it is not kept."""
    return cut_private(text) != text


def cut_private_fields(value: object) -> object:
    """Return a JSON value whose texts have no private parts; a name that is private takes its value along.

    >>> cut_private_fields({"note": "<private>x</private>tea", "n": [1, "<private>y"], "<private>z": 2})
    {'note': 'tea', 'n': [1, '']}
    """
    if isinstance(value, str):
        return cut_private(value)
    if isinstance(value, Mapping):
        table = cast("Mapping[object, object]", value)
        named = ((cut_private(name) if isinstance(name, str) else name, one) for name, one in table.items())
        return {name: cut_private_fields(one) for name, one in named if name != "" or "" in table}
    if isinstance(value, list | tuple):
        return [cut_private_fields(one) for one in cast("list[object]", value)]
    return value
