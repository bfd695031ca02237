"""The phrases of a simulated user: facts that change, come back, grow and shrink, and small talk.

They are written as people talk, independently of the rules; `{v}` is the value, `{o}` the previous one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class One:
    """A single-valued fact: phrases to state, change, correct, resume and repeat it."""

    name: str
    values: tuple[str, ...]
    told: tuple[str, ...]
    changed: tuple[str, ...]
    corrected: tuple[str, ...]
    repeated: tuple[str, ...]
    returned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Many:
    """A multi-valued fact: phrases to state, repeat and end a value."""

    name: str
    values: tuple[str, ...]
    told: tuple[str, ...]
    repeated: tuple[str, ...]
    ended: tuple[str, ...]


_CITIES: Final = ("Lisbon", "Bergen", "Turin", "Ghent", "Malaga", "Leeds", "Tallinn", "Zagreb", "Nantes", "Aarhus")
_FIRMS: Final = ("Northwind", "Halberd", "Quillon", "Ostrava Steel", "Bluefin", "Carrick", "Tessera", "Lumio")

SINGLES: Final = (
    One(
        "residence",
        _CITIES,
        ("I live in {v}.", "Home is {v} for me, I live there. I mean I live in {v}.", "I'm based in {v}."),
        ("I moved to {v}.", "We've moved from {o} to {v}.", "I left {o}, I live in {v} now.", "I'm living in {v} now."),
        ("Sorry, I live in {v}, not {o}.", "Actually I'm based in {v}, not in {o}."),
        ("As you know, I live in {v}.", "I still live in {v}.", "I'm living in {v}."),
        ("I moved back to {v}.",),
    ),
    One(
        "employer",
        _FIRMS,
        ("I work at {v}.", "I work for {v}."),
        ("I left {o}, I'm at {v} now.", "I started at {v}.", "I got a job at {v}.", "I now work for {v}."),
        ("Correction: I work at {v}, not {o}.",),
        ("Like I said, I work for {v}.", "I'm still working at {v}."),
        ("I'm back at {v}.", "I work at {v} again."),
    ),
    One(
        "car",
        ("a Volvo", "a Mazda", "a Fiat", "a Skoda", "a Toyota", "a Peugeot"),
        ("My car is {v}.",),
        ("My car is {v} now.", "My new car is {v}."),
        ("No, my car is {v}, not {o}.",),
        ("As I mentioned, my car is {v}.",),
    ),
    One(
        "doctor",
        ("Dr Hale", "Dr Okafor", "Dr Lindqvist", "Dr Marchetti", "Dr Sato"),
        ("My doctor is {v}.",),
        ("My new doctor is {v}.", "My doctor is {v} now."),
        ("Sorry, my doctor is {v}.",),
        ("My doctor is {v}, by the way.",),
    ),
    One(
        "manager",
        ("Ingrid", "Tobias", "Yolanda", "Kwame", "Beatrix", "Rashid"),
        ("My manager is {v}.", "My manager is called {v}."),
        ("My manager is {v} now.", "My new manager is {v}."),
        ("No, my manager is called {v}.",),
        ("As I said, my manager is {v}.",),
    ),
    One(
        "deadline",
        ("3 October", "12 October", "24 October", "5 November", "19 November", "30 November", "9 December"),
        ("The deadline for the thesis is {v}.",),
        (
            "The deadline for the thesis was moved to {v}.",
            "The deadline for the thesis is {v} now.",
            "They moved the deadline for the thesis to {v}.",
        ),
        ("Sorry, the deadline for the thesis is {v}, not {o}.",),
        ("The deadline for the thesis is still {v}.",),
    ),
    One(
        "editor",
        ("Helix", "Emacs", "PyCharm", "Zed", "Vim"),
        ("My editor is {v}.",),
        ("My editor is {v} now.", "I switched from {o} to {v}."),
        ("Correction: my editor is {v}.",),
        ("As I said, my editor is {v}.",),
        ("I went back to {v}.",),
    ),
    One(
        "database",
        ("PostgreSQL", "MariaDB", "CockroachDB", "MongoDB", "Cassandra"),
        ("Our database is {v}.",),
        ("We migrated from {o} to {v}.", "Our database is {v} now."),
        ("Sorry, our database is {v}, not {o}.",),
        ("Our database is {v}, as I told you.",),
    ),
    One(
        "rent",
        ("800 euros", "860 euros", "910 euros", "975 euros", "1020 euros"),
        ("My rent is {v}.",),
        ("My rent went up to {v}.", "My rent is {v} now."),
        ("No, my rent is {v}, not {o}.",),
        ("My rent is {v}, like I said.",),
    ),
    One(
        "gym day",
        ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Sundays"),
        ("My yoga class is on {v}.",),
        ("My yoga class moved to {v}.", "My yoga class is on {v} now."),
        ("Sorry, my yoga class is on {v}, not {o}.",),
        ("My yoga class is on {v}, as ever.",),
    ),
    One(
        "favourite food",
        ("lasagne", "pho", "falafel", "bibimbap", "paella"),
        ("My favourite food is {v}.",),
        ("My favourite food is {v} now.", "These days my favourite food is {v}."),
        ("Actually, my favourite food is {v}, not {o}.",),
        ("{v} is my favourite food.",),
    ),
    One(
        "phone",
        ("555 0110", "555 0127", "555 0133", "555 0148"),
        ("My phone number is {v}.",),
        ("My new phone number is {v}.", "My phone number has changed to {v}."),
        ("Oops, my phone number is {v}, not {o}.",),
        ("My phone number is {v}.",),
    ),
)

SETS: Final = (
    Many(
        "language",
        ("Danish", "Greek", "Korean", "Catalan", "Swahili", "Hungarian"),
        ("I speak {v}.", "I also speak {v}."),
        ("As I said, I speak {v}.",),
        ("I no longer speak {v}.",),
    ),
    Many(
        "allergy",
        ("walnuts", "pollen", "latex", "shellfish", "kiwi"),
        ("I'm allergic to {v}.", "I'm allergic to {v}, too."),
        ("Remember that I'm allergic to {v}.",),
        ("I'm no longer allergic to {v}.",),
    ),
    Many(
        "hobby",
        ("tennis", "the cello", "badminton", "chess", "the banjo", "volleyball"),
        ("I play {v}.", "I also play {v}."),
        ("I still play {v}.",),
        ("I don't play {v} any more.", "I gave up {v}.", "I stopped playing {v}."),
    ),
    Many(
        "like",
        ("opera", "gardening", "old maps", "horror films", "sea swimming", "rye bread", "camping"),
        ("I like {v}.", "I love {v}.", "I'm a big fan of {v}."),
        ("I really like {v}.",),
        ("I don't like {v} any more.",),
    ),
    Many(
        "dog",
        ("Biscuit", "Pepper", "Ziggy", "Mabel"),
        ("I have a dog called {v}.", "I have a dog named {v}."),
        ("My dog is called {v}.",),
        (),
    ),
    Many(
        "sister",
        ("Ottilie", "Ramona", "Signe"),
        ("I have a sister called {v}.",),
        ("My sister is called {v}.",),
        (),
    ),
)

SCOPED: Final = (
    ("For Python I use {v}.", ("Black", "Ruff")),
    ("At work I drink {v}.", ("tea", "decaf")),
    ("In the morning I prefer {v}.", ("silence", "podcasts")),
    ("On flights I prefer {v}.", ("aisle seats", "window seats")),
)

PEOPLE: Final = (
    ("My brother", ("lives in {c}.", "works at {f}.", "has moved to {c}.", "loves rugby.", "is a welder.")),
    ("My neighbour", ("drives a tractor.", "works for {f}.", "has two parrots.", "hates noise.")),
    ("Leonora", ("lives in {c}.", "is a paediatrician.", "prefers mornings.", "works at {f}.")),
    ("My boss", ("moved to {c}.", "is allergic to dust.", "wants shorter meetings.")),
    ("My aunt", ("lives in {c}.", "used to work at {f}.", "is a beekeeper.")),
)

PLANS: Final = (
    ("I'm thinking of buying {v}.", "I bought {v}.", ("a canoe", "a loom", "a piano", "a telescope")),
    ("I plan to adopt {v}.", "I adopted {v}.", ("a parrot", "a rabbit", "a tortoise")),
    ("I'm considering moving to {v}.", None, ("Reykjavik", "Osaka", "Montevideo", "Perth")),
    ("I might apply to {v}.", None, ("Globetrot", "Ferrograph", "Arkwright")),
    ("Maybe I'll learn {v}.", None, ("Icelandic", "the harp", "welding")),
)

SUPPOSED: Final = (
    "What if I lived in {c}?",
    "Imagine I worked at {f}.",
    "Suppose my rent were 3000 euros.",
    "If I lived in {c}, I'd cycle everywhere.",
    "Imagine I were a pirate captain.",
    "What if my manager were Napoleon?",
)

ALIENS: Final = (
    'The song goes "I live in {c}".',
    "Translate this: I work at {f}.",
    'He said "my car is a Bentley" and laughed.',
)

ASSISTANT: Final = (
    "I live in the cloud, so distance is no matter to me.",
    "Since you live in {c}, try the market by the river.",
    "I prefer PostgreSQL for this kind of load.",
    "My favourite food would be electricity.",
    "Have you thought about moving to {c}?",
    "I work at {f} as a demo, so to speak.",
    "Sure, here is a shorter version.",
    "You could switch from Vim to Emacs, for example.",
)

TALK: Final = (
    "Thanks, that helps.",
    "Good morning!",
    "Can you shorten this paragraph?",
    "How far is the moon?",
    "I'm tired today.",
    "Ha, nice one.",
    "What should I cook tonight?",
    "The printer is jammed again.",
    "Could you write a limerick about frogs?",
    "It's pouring outside.",
    "ok",
    "Let me think about it for a minute.",
    "Why does this loop never end?",
    "I'm off to lunch.",
    "Great, another meeting.",
    "Which of these two sounds better?",
    "Make it a bit more formal, please.",
    "I need a synonym for quick.",
    "That was not what I meant.",
    "Let's continue tomorrow.",
    "Give me three titles for this talk.",
    "Never seen such a long queue, wow.",
    "Is there a train at nine?",
    "Sorry, got distracted.",
    "Explain recursion as if to a child.",
)
