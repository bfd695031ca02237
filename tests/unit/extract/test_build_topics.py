"""The list of nouns by topic: built from WordNet's files, the most frequent sense first."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from benchmarks import build_topics
from benchmarks.build_topics import FOLDER, Nouns, decide_topic, find_topic, read_nouns
from credenda.model.attributes import TASTES

NOUNS = Nouns(
    senses={"food": ["1"], "animal": ["2"], "duck": ["3", "4"], "party": ["6", "7"], "soup": ["4"]},
    uses={("duck", "4"): 1, ("party", "6"): 9, ("party", "7"): 1},
    above={"1": [], "2": [], "3": ["2"], "4": ["1"], "5": ["1"], "6": [], "7": ["1"]},
)
ROOTS = {"1": "food", "2": build_topics.LIVING}


@pytest.mark.parametrize(
    ("noun", "topic"),
    [("soup", "food"), ("duck", "food"), ("party", ""), ("apple", ""), ("chess", "game"), ("animal", "living")],
)
def test_a_noun_has_the_topic_of_most_of_its_uses(noun: str, topic: str) -> None:
    assert decide_topic(NOUNS, ROOTS, noun) == topic


def test_the_nearest_root_names_the_topic() -> None:
    above = {**NOUNS.above, "8": ["3"], "9": ["6"]}
    assert find_topic(NOUNS._replace(above=above), ROOTS, "8") == build_topics.LIVING
    assert find_topic(NOUNS._replace(above=above), ROOTS, "9") == ""


def test_the_files_of_wordnet_are_read(tmp_path: Path) -> None:
    files = {
        "index.noun": "  1 a licence\nsoup n 1 1 @ 1 1 00000002\nfood n 1 1 ~ 1 0 00000001\n",
        "index.sense": "soup%1:13:00:: 00000002 1 5\nsoup%2:30:00:: 00000009 1 7\n",
        "data.noun": "00000001 03 n 01 food 0 000 | eaten\n00000002 13 n 01 soup 0 001 @ 00000001 n 0000 | liquid\n",
    }
    with tarfile.open(tmp_path / "archive.tgz", "w:gz") as whole:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"package/dict/{name}")
            entry.size = len(text)
            whole.addfile(entry, io.BytesIO(text.encode()))
    nouns = read_nouns(tmp_path / "archive.tgz")
    assert nouns.senses == {"soup": ["00000002"], "food": ["00000001"]}
    assert nouns.uses == {("soup", "00000002"): 5}
    assert nouns.above == {"00000001": [], "00000002": ["00000001"]}


def test_the_list_has_each_topic_once_and_each_noun_once() -> None:
    lines = (FOLDER / "topics.txt").read_text("utf-8").splitlines()
    topics = {topic: nouns.split() for topic, _, nouns in (line.partition(": ") for line in lines)}
    listed = [noun for nouns in topics.values() for noun in nouns]
    assert set(topics) == TASTES | {"hobby"}
    assert len(listed) == len(set(listed))
