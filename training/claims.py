"""Teach the encoder of claims which of them answers a question: `python -m training.claims --out claims.pt`.

The encoder of texts stays as it is, so that the vectors of messages keep their meaning. A second one, which begins as
the same, learns to put a claim near the questions that it answers ("my rent is 985. rent went out today, 985") and far
from other claims of the same person. `--write FILE` writes its layers in the form that ships.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.build_models import convert_encoder, encode_tensors
from credenda.text.passages import compose_memory_meaning
from training.bases import ENGLISH, list_names
from training.messages import is_held_out, list_files, load_rows
from training.network import Encoder

QUESTIONS: Final = Path(__file__).with_name("questions")
CARDS: Final = Path(__file__).with_name("cards")
_KEPT_CARDS: Final = "k5"
"""File of cards on which the encoder is measured."""
_BARE: Final = 0.3
"""Share of the claims that are given as their sentence alone."""
_TEMPERATURE: Final = 0.05
_BATCH: Final = 32
_CARDS: Final = 8
"""Number of cards in a batch."""
_BESIDE: Final = 16
"""Number of claims beside the answers of a batch of questions."""
_APART: Final = -1e4
_PIECES: Final = 72
_FROZEN: Final = 2
"""Number of layers, from the first, that stay those of the encoder of texts."""
_UNRELATED: Final = frozenset("nomjisdvey")
"""First letters of files whose messages are by many persons: there a claim of the same attribute is no wrong answer."""
_ALSO_UNRELATED: Final = frozenset({"h00", "h01", "h04"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the place of the claim that answers it among those of its group, and claims that may answer too."""

    text: str
    answer: int
    unsure: tuple[int, ...]


@dataclass(slots=True)
class Group:
    """Claims of one person or file, the questions about them, and of a card the words of the claims' names."""

    name: str
    claims: list[str]
    asked: list[Asked]
    names: list[set[str]] = field(default_factory=list)


def load_groups(seed: int = 1) -> list[Group]:
    """Load the questions with all claims of the same person."""
    draw = random.Random(seed)
    named: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for one in load_rows(sorted(QUESTIONS.glob("*.jsonl"))):
        named.setdefault((one["id"], one["fact"]), []).append(one)
    rows: dict[str, list[dict[str, Any]]] = {}
    for path in list_files():
        mixed = path.stem[0] in _UNRELATED or path.stem in _ALSO_UNRELATED
        for row in load_rows([path]):
            rows.setdefault(path.stem if mixed else row["id"].rpartition("-")[0], []).append(row)
    wanted = {message for message, _ in named}
    asked = {name: found for name, found in rows.items() if any(one["id"] in wanted for one in found)}
    return [_make_group(name, found, named, draw) for name, found in asked.items()]


def _make_group(
    name: str, rows: Sequence[dict[str, Any]], named: dict[tuple[str, int], list[dict[str, Any]]], draw: random.Random
) -> Group:
    places = {(row["id"], at): fact for row in rows for at, fact in enumerate(row["facts"])}
    order = {place: at for at, place in enumerate(places)}
    of_message: dict[str, list[int]] = {}
    of_attribute: dict[str, list[int]] = {}
    claims: list[str] = []
    for place, fact in places.items():
        of_message.setdefault(place[0], []).append(len(claims))
        of_attribute.setdefault(fact["attribute"], []).append(len(claims))
        own = {"entity": "user" if fact["subject"] == "me" else fact["subject"], "value": fact["value"]}
        slot = named[place][0] if place in named else own | {"attribute": fact.get("key") or fact["attribute"]}
        claims.append(
            fact["quote"]
            if draw.random() < _BARE
            else compose_memory_meaning(
                fact["quote"], entity=slot["entity"], attribute=slot["attribute"], value=slot["value"]
            )
        )
    mixed = name[0] in _UNRELATED or name in _ALSO_UNRELATED
    asked = [
        Asked(
            one["q"],
            order[place],
            tuple(
                {
                    *(at for message in one["old"] for at in of_message.get(message, ())),
                    *(of_attribute[places[place]["attribute"]] if mixed else ()),
                }
                - {order[place]}
            ),
        )
        for place in order
        for one in named.get(place, ())
    ]
    return Group(name, claims, asked)


def load_cards(names: Sequence[str]) -> list[Group]:
    """Load files of cards: claims of one matter, and questions; other versions of an answer may answer too."""
    return [_make_card(one) for name in names for one in load_rows([CARDS / f"{name}.jsonl"])]


def _make_card(card: dict[str, Any]) -> Group:
    claims = [
        compose_memory_meaning(one["quote"], entity=one["entity"], attribute=one["attribute"], value=one["value"])
        for one in card["claims"]
    ]
    versions = set(card["versions"])
    asked = [
        Asked(one["q"], one["answer"], tuple(versions - {one["answer"]} if one["answer"] in versions else ()))
        for one in card["asked"]
    ]
    return Group("", claims, asked, [set(one["attribute"].lower().split()) for one in card["claims"]])


def open_encoder() -> Encoder:
    """Return the encoder of texts, whose later layers can be taught."""
    encoder = Encoder(ENGLISH.open_tokenizer().get_vocab_size(), ENGLISH.layers, _FROZEN)
    encoder.load_state_dict({name: torch.tensor(value) for name, value in ENGLISH.load_weights().items()})
    return encoder


def embed(encoder: Encoder, texts: Sequence[str]) -> Tensor:
    """Return the vectors (n, 384) of claims or questions, of unit length."""
    pieces = [one.ids[:_PIECES] for one in ENGLISH.open_tokenizer().encode_batch(list(texts))]
    longest = max(map(len, pieces))
    ids = torch.tensor([one + [0] * (longest - len(one)) for one in pieces])
    mask = torch.tensor([[1] * len(one) + [0] * (longest - len(one)) for one in pieces])
    states = encoder(ids, mask, torch.zeros_like(ids))
    return functional.normalize((states * mask[..., None]).sum(1), dim=-1)


def measure(encoder: Encoder, groups: Sequence[Group]) -> tuple[float, float]:
    """Return how many questions find their claim first, and the mean reciprocal rank; unsure claims do not count."""
    encoder.eval()
    ranks: list[int] = []
    with torch.no_grad():
        for group in groups:
            parts = range(0, len(group.claims), _BATCH)
            claims = torch.cat([embed(encoder, group.claims[at : at + _BATCH]) for at in parts])
            for row, one in zip(embed(encoder, [one.text for one in group.asked]) @ claims.T, group.asked, strict=True):
                row[list(one.unsure)] = _APART
                ranks.append(int((row > row[one.answer]).sum()))
    return float(np.mean([rank == 0 for rank in ranks])), float(np.mean([1 / (rank + 1) for rank in ranks]))


def _draw_questions(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """Yield the questions of each person in batches, with their answers and a few other claims."""
    for group in groups:
        asked = random.sample(group.asked, len(group.asked))
        for at in range(0, len(asked), _BATCH):
            some = asked[at : at + _BATCH]
            shown = list(dict.fromkeys(one.answer for one in some))
            others = sorted(set(range(len(group.claims))).difference(shown))
            shown += random.sample(others, min(len(others), _BESIDE))
            place = {claim: at for at, claim in enumerate(shown)}
            moved = [
                Asked(one.text, place[one.answer], tuple(place[claim] for claim in one.unsure if claim in place))
                for one in some
            ]
            yield [Group(group.name, [group.claims[claim] for claim in shown], moved)]


def _draw_cards(cards: Sequence[Group]) -> Iterator[list[Group]]:
    mixed = random.sample(cards, len(cards))
    yield from (mixed[at : at + _CARDS] for at in range(0, len(mixed), _CARDS))


def _compute_loss(encoder: Encoder, batch: Sequence[Group]) -> Tensor:
    claims = embed(encoder, [claim for group in batch for claim in group.claims])
    scores = embed(encoder, [one.text for group in batch for one in group.asked]) @ claims.T / _TEMPERATURE
    names = [words for group in batch for words in group.names]
    answers: list[int] = []
    first = 0
    for group in batch:
        own = range(first, first + len(group.claims))
        for one in group.asked:
            answer, row = first + one.answer, scores[len(answers)]
            alike = [at for at in range(len(names)) if at not in own and not names[at].isdisjoint(names[answer])]
            row[[*alike, *(first + claim for claim in one.unsure)]] = _APART  # "rent" of another card
            answers.append(answer)
        first += len(group.claims)
    return functional.cross_entropy(scores, torch.tensor(answers))


def teach(rate: float, seed: int) -> Encoder:
    """Teach the encoder: once with cards and questions mixed, once with cards. It is measured on those kept apart."""
    random.seed(seed)
    torch.manual_seed(seed)
    kept, shown = _split(load_groups(seed))
    cards = load_cards(sorted(path.stem for path in CARDS.glob("*.jsonl") if path.stem != _KEPT_CARDS))
    batches = [*_draw_questions(shown), *_draw_cards(cards)]
    random.shuffle(batches)
    batches += _draw_cards(cards)
    encoder = open_encoder()
    fixed = ("words", "places", "kinds", "norm", *(f"layers.{layer}." for layer in range(_FROZEN)))
    taught = [one for name, one in encoder.named_parameters() if not name.startswith(fixed)]
    optimizer = torch.optim.AdamW(taught, lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=len(batches), pct_start=0.1)
    apart = load_cards([_KEPT_CARDS])
    sys.stderr.write(f"before: {measure(encoder, apart)}, {measure(encoder, kept)}\n")
    for batch in batches:
        encoder.train()
        optimizer.zero_grad()
        _compute_loss(encoder, batch).backward()
        torch.nn.utils.clip_grad_norm_(taught, 1.0)
        optimizer.step()
        schedule.step()
    sys.stderr.write(f"after: {measure(encoder, apart)}, {measure(encoder, kept)}\n")
    return encoder


def _split(groups: Sequence[Group]) -> tuple[list[Group], list[Group]]:
    """Return the groups of persons kept apart, and the others."""
    kept = [group for group in groups if is_held_out(f"{group.name}-0") and group.name[0] not in _UNRELATED]
    return kept, [group for group in groups if group not in kept]


def write_layers(encoder: Encoder, path: Path) -> None:
    """Write the layers as eight-bit integers; the tables of words and places are those of the encoder of texts."""
    state = {name: value.numpy() for name, value in encoder.state_dict().items()}
    made = convert_encoder({published: state[own] for own, published in list_names(ENGLISH.layers).items()})
    path.write_bytes(
        encode_tensors({name: one for name, one in made.items() if not name.startswith(("words", "places"))})
    )


def main() -> None:
    """Read the arguments, teach and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="weights in the form of torch, read again by --write")
    parser.add_argument("--rate", type=float, default=7e-5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path, help="where to write the layers that ship")
    given = parser.parse_args()
    if not given.out.exists():
        torch.save(teach(given.rate, given.seed).state_dict(), given.out)
    if given.write is not None:
        encoder = open_encoder()
        encoder.load_state_dict(torch.load(given.out))
        write_layers(encoder, given.write)
        print(json.dumps({"bytes": given.write.stat().st_size}))


if __name__ == "__main__":
    main()
