"""Words of statements that another memory holds: whole sentences, so that extraction finds their slot."""

from __future__ import annotations

import re
from typing import Final

from credenda.read.weights import load_questions
from credenda.text.normalize import normalise_name

ABOUT_USER: Final = "default_user"
"""The user's name in the reference server's own instructions."""
_NOBODY: Final = "default"
"""The user where none is named: no person's name."""
_NAMES: Final = (
    "Agnes|Ahmed|Alfred|Anders|Andreas|Carlos|Charles|Chris|Doris|Elias|Frances|Fred|Hans|Iris|Jacques|James|Jared|Jens"
    "|Johannes|Jonas|Julius|Klaus|Lars|Louis|Lucas|Luis|Lukas|Manfred|Markus|Mats|Matthias|Mohammed|Nicholas|Nicolas"
    "|Niklas|Nils|Phyllis|Ted|Thomas|Tobias|Wilfred"
)
"""First names that end as a verb does."""
_VERB: Final = re.compile(
    r"(?:Is|Was|Has|Had|Can|Will(?!\s+[A-Z]))\b(?!['\u2019,:])"
    r"|(?:(?:Is|Was|Has|Had|Does|Did|Could|Would)n['\u2019]t|Can(?:no|['\u2019])t|Won['\u2019]t)\b"
    rf"|(?!(?:{_NAMES})\b)[A-Z][a-z]+(?:[^s\W]s|ed)\b(?!['\u2019,:]|\s+(?:is|are|was|were|has|have|had|can|could"
    r"|may|might|must|shall|should|will|would|does|did|and\s+[A-Z]\w*|asked|became|builds|comes|drives|enjoys|goes|got|hates"
    r"|joined|keeps|knows|leads|left|likes|lives|loves|makes|manages|married|moved|needs|owns|plays|prefers|reports|runs"
    r"|said|says|speaks|studied|studies|teaches|thinks|told|uses|wants|went|works)\b)"
)
"""Beginnings of observations that continue the entity's name: "Prefers tea", "Graduated in 2019".

Before another verb stands a name or a noun with such an ending: "Jonas is a nurse", "Fred moved to Graz".
"""
_USER: Final = re.compile(r"(?:the )?user(?=['\u2019]s\s|\s[a-z])", re.IGNORECASE)
_NAMED: Final = re.compile(r"(?:(?:Full|First|Last|Given|Family|Middle|Preferred) n|N)ame is\b")
_JOINT: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|[_\s-]+")


def word_observation(entity: str, observation: str) -> str:
    """Return an observation of an entity as a complete sentence.

    >>> (word_observation("Ann", "likes tea"), word_observation("Ann", "Prefers tea"),
    ... word_observation("Ann", "Ann is five"))
    ('Ann likes tea', 'Ann prefers tea', 'Ann is five')
    >>> word_observation("Ann", "Nurse in Graz"), word_observation("default_user", "Lives in Graz")
    ('Ann: Nurse in Graz', 'User lives in Graz')
    >>> word_observation("default_user", "Jonas is a nurse"), word_observation("Ann", "Fred moved to Graz")
    ('Jonas is a nurse', 'Ann: Fred moved to Graz')
    """
    name = show_name(entity)
    if normalise_name(f"{observation} ").startswith((f"{normalise_name(name)} ", f"{normalise_name(name)}'")):
        return observation
    if observation[:1].islower():
        return f"{name} {observation}"
    if _VERB.match(observation):
        return f"{name} {observation[:1].lower()}{observation[1:]}"
    return observation if entity == ABOUT_USER else f"{name}: {observation}"


def word_relation(source: str, relation: str, target: str) -> str:
    """Return a relation as a sentence.

    >>> word_relation("Ann", "works_at", "Acme"), word_relation("Ann", "isFriendOf", "Ben")
    ('Ann works at Acme', 'Ann is friend of Ben')
    """
    return f"{show_name(source)} {_JOINT.sub(' ', relation).strip().lower()} {show_name(target)}"


def show_name(entity: str) -> str:
    """Return the name of an entity; "User" for the user."""
    return "User" if entity == ABOUT_USER else entity


def word_about_user(text: str) -> str:
    """Return a memory about the user as a sentence with "User"; one with another subject keeps it.

    >>> word_about_user("Lives in Lille"), word_about_user("Name is Ana")
    ('User lives in Lille.', "User's name is Ana.")
    >>> word_about_user("The user's cat is Tom."), word_about_user("Charles reads")
    ("User's cat is Tom.", 'Charles reads')
    """
    told = f"User{text[found.end() :]}" if (found := _USER.match(text)) else text
    begun, small = told[:1].upper() + told[1:], told[:1].lower() + told[1:]
    if _NAMED.match(begun):
        told = f"User's {small}"
    elif _VERB.match(begun):
        told = f"User {small}"
    ends = told.startswith(("User ", "User's ", "User\u2019s ")) and told[-1:].isalnum()
    return f"{told}." if ends else told


def name_user(text: str, user: str) -> str:
    """Return a memory with "User" where a sentence begins with the user's own name.

    >>> name_user("Ana is a nurse. Ana's cat is Tom. Ben likes Ana.", "ana")
    "User is a nurse. User's cat is Tom. Ben likes Ana."
    >>> name_user("Default is the dark theme.", "default")
    'Default is the dark theme.'
    """
    if user == _NOBODY or user in load_questions().ambiguous_names:
        return text
    return re.sub(rf"(?:^|(?<=[.!?]\s))(?i:{re.escape(user)})(?=['\u2019]s\s|\s[a-z])", "User", text)
