"""Checks of a part that a pattern proposes as a secret: check sums, and whether it looks chosen or random. Pure.

Each check returns how many characters of the part are the secret, 0 for none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Final

__all__ = ["CHECKS"]

_LUHN_MODULUS: Final = 10
_NINE: Final = 9
_IBAN_MODULUS: Final = 97
_IBAN_LENGTHS: Final[Mapping[str, int]] = {
    word[:2]: int(word[2:])
    for word in [
        "NO15",
        "BE16",
        "DK18",
        "FK18",
        "FO18",
        "FI18",
        "GL18",
        "NL18",
        "SD18",
        "MK19",
        "SI19",
        "AT20",
        "BA20",
        "EE20",
        "KZ20",
        "LT20",
        "LU20",
        "MN20",
        "XK20",
        "CH21",
        "HR21",
        "LI21",
        "LV21",
        "BG22",
        "BH22",
        "CR22",
        "DE22",
        "GB22",
        "GE22",
        "IE22",
        "ME22",
        "RS22",
        "VA22",
        "AE23",
        "GI23",
        "IL23",
        "IQ23",
        "OM23",
        "SO23",
        "TL23",
        "AD24",
        "CZ24",
        "ES24",
        "MD24",
        "PK24",
        "RO24",
        "SA24",
        "SE24",
        "SK24",
        "TN24",
        "VG24",
        "LY25",
        "PT25",
        "ST25",
        "IS26",
        "TR26",
        "BI27",
        "DJ27",
        "FR27",
        "GR27",
        "IT27",
        "MC27",
        "MR27",
        "SM27",
        "AL28",
        "AZ28",
        "BY28",
        "CY28",
        "DO28",
        "GT28",
        "HN28",
        "HU28",
        "LB28",
        "NI28",
        "PL28",
        "SV28",
        "BR29",
        "EG29",
        "PS29",
        "QA29",
        "UA29",
        "JO30",
        "KW30",
        "MU30",
        "MT31",
        "SC31",
        "LC32",
        "RU33",
    ]
}
"""Length of an IBAN by country (the register of SWIFT)."""
_DNI_LETTERS: Final = "TRWAGMYFPDXBNJZSQVHLCKE"
_DNI_DIGITS: Final = {"X": "0", "Y": "1", "Z": "2"}
_ENDS: Final = ".,;:!?)]}"
_SIGNS: Final = re.compile(r"[!@#$%^&*+=~?/]")
_DIGIT: Final = re.compile(r"\d")
_LETTER: Final = re.compile(r"[^\W\d_]")
_ID_DIGITS: Final = 5
_STRICT: Final = 5
_MIXED: Final = 4
"""A word of letters alone looks random if its case changes once in this many letters."""
_CODE: Final = re.compile(
    r"(?i)^(?:[$<{%&\[].*|[\w.]{1,80}[(\[{].*|[\"'*x._-]+|(?:none|null|nil|true|false|undefined|string|str|bytes|int|"
    r"text|optional|required|redacted|hidden|masked|empty|changeme|example|placeholder|todo|tbd|n/a|secretstr)|"
    r"(?:your|insert|enter|example|dummy|fake|placeholder)[-_.].*|(?:self|os|env|process|settings|config|cfg|args|"
    r"request|req|ctx|options|opts|params|data|response|res)\.[a-z_].*|[a-z]+(?:\.[a-z_]+)+|[a-z]+(?:_[a-z]+)+|"
    r"(?-i:[a-z]+(?:[A-Z][a-z]+)+)|https?://.*|(?:~|\.{1,2})?/[a-z].*)$"
)
"""Placeholders, expressions of code, addresses and paths."""
_MEASURE: Final = re.compile(
    r"(?i)^(?:[~<>≥≤±+-]?[$€£]?\d+(?:[.,:/x-]\d+)*(?:-?[a-z%€]+){0,2}|v\d[.\d]*\w{0,8}|\d{4}-\d{2}-\d{2}t.*|"
    r"[a-z]+-?\d{1,2}|(?:sha|md|aes|rsa|utf|base|argon|ipv|pbkdf|hmac|blake|rfc|iso|ed|log|curve|secp|ecdsa|gpt|python|"
    r"win|windows|es|rs|hs)-?\d+\w{0,4}(?:-\w+)*|[\w.+-]+@[\w-]+\.[\w.]+|[a-z]+['’][a-z]+|\d+(?:-\d+)+)$"
)
"""Measures, dates, versions, names of formats, rooms and products, and e-mail addresses."""


def _is_any(part: str) -> int:
    return len(part)


def _check_card(part: str) -> int:
    """Verify the check digit of ISO/IEC 7812-1."""
    total = 0
    for place, digit in enumerate(int(sign) for sign in reversed(part) if sign.isdigit()):
        doubled = digit * 2 if place % 2 else digit
        total += doubled - _NINE if doubled > _NINE else doubled
    return 0 if total % _LUHN_MODULUS else len(part)


def _check_iban(part: str) -> int:
    """Verify length and check digits of ISO 13616; words after the number are left out."""
    places = [place for place, sign in enumerate(part) if sign.isalnum()]
    letters = "".join(part[place] for place in places).upper()
    length = _IBAN_LENGTHS.get(letters[:2], 0)
    if not length or len(letters) < length:
        return 0
    stop = places[length - 1] + 1
    if part[stop : stop + 1].isalnum():
        return 0
    turned = letters[4:length] + letters[:4]
    return 0 if int("".join(str(int(sign, 36)) for sign in turned)) % _IBAN_MODULUS != 1 else stop


def _check_dni(part: str) -> int:
    number = part[:-1].rstrip("-").upper()
    number = _DNI_DIGITS.get(number[0], number[0]) + number[1:]
    return len(part) if _DNI_LETTERS[int(number) % len(_DNI_LETTERS)] == part[-1].upper() else 0


def _is_number(part: str) -> int:
    return len(part) if len(_DIGIT.findall(part)) >= _ID_DIGITS else 0


def _is_chosen(part: str) -> int:
    """Accept anything but placeholders and code."""
    return 0 if _CODE.match(part.rstrip(_ENDS)) else len(part)


def _is_random(part: str) -> int:
    """Accept letters with digits or signs, and letters whose case changes often."""
    bare = part.rstrip(_ENDS)
    if _CODE.match(bare) or not _LETTER.search(bare):
        return 0
    turns = sum(one.isupper() != other.isupper() for one, other in pairwise(bare))
    mixed = turns * _MIXED >= len(bare)
    return len(part) if _DIGIT.search(bare) or _SIGNS.search(bare) or mixed else 0


def _is_strict(part: str) -> int:
    """Accept letters with digits that are no measure, date or name of a format."""
    bare = part.rstrip(_ENDS)
    apart = len(bare) < _STRICT or _CODE.match(bare) or _MEASURE.match(bare)
    return len(part) if not apart and _DIGIT.search(bare) and _LETTER.search(bare) else 0


CHECKS: Final[Mapping[str, Callable[[str], int]]] = {
    "any": _is_any,
    "luhn": _check_card,
    "iban": _check_iban,
    "dni": _check_dni,
    "number": _is_number,
    "chosen": _is_chosen,
    "random": _is_random,
    "strict": _is_strict,
}
