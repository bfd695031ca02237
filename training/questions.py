"""Teach the encoder of questions which claim answers them: `python -m training.questions --out questions.pt`.

The encoder of texts stays as it is, so that stored vectors keep their meaning. A second one, which begins as the same,
learns to put a question near the claim that answers it ("my rent is 985. rent went out today, 985") and far from the
other claims of the same person. `--write FILE` writes its layers in the form that ships.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.build_models import convert_encoder, encode_tensors
from credenda.providers.embed.minilm import MiniLmEmbedder
from credenda.text.passages import compose_memory_meaning
from training.bases import ENGLISH, list_names
from training.messages import is_held_out, list_files, load_rows
from training.network import Encoder

QUESTIONS: Final = Path(__file__).with_name("questions")
_BARE: Final = 0.3
"""Share of the claims that are given as their sentence alone."""
_TEMPERATURE: Final = 0.05
_BATCH: Final = 32
_CLAIMS: Final = 400
"""Most claims that the questions of one batch are compared with."""
_APART: Final = -1e4
_PIECES: Final = 96
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
    """The claims of one person or file, and the questions about them."""

    name: str
    claims: list[str]
    asked: list[Asked]


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


def open_encoder() -> Encoder:
    """Return the encoder of texts, all of whose layers can be taught."""
    encoder = Encoder(ENGLISH.open_tokenizer().get_vocab_size(), ENGLISH.layers, 0)
    encoder.load_state_dict({name: torch.tensor(value) for name, value in ENGLISH.load_weights().items()})
    return encoder


def embed(encoder: Encoder, texts: Sequence[str]) -> Tensor:
    """Return the vectors (n, 384) of some questions, of unit length."""
    pieces = [one.ids[:_PIECES] for one in ENGLISH.open_tokenizer().encode_batch(list(texts))]
    longest = max(map(len, pieces))
    ids = torch.tensor([one + [0] * (longest - len(one)) for one in pieces])
    mask = torch.tensor([[1] * len(one) + [0] * (longest - len(one)) for one in pieces])
    states = encoder(ids, mask, torch.zeros_like(ids))
    return functional.normalize((states * mask[..., None]).sum(1), dim=-1)


def measure(encoder: Encoder, groups: Sequence[Group], claims: dict[str, Tensor]) -> tuple[float, float]:
    """Return how many questions find their claim first, and the mean reciprocal rank; unsure claims do not count."""
    encoder.eval()
    ranks: list[int] = []
    with torch.no_grad():
        for group in groups:
            scores = embed(encoder, [one.text for one in group.asked]) @ claims[group.name].T
            for row, one in zip(scores, group.asked, strict=True):
                row[list(one.unsure)] = _APART
                ranks.append(int((row > row[one.answer]).sum()))
    return float(np.mean([rank == 0 for rank in ranks])), float(np.mean([1 / (rank + 1) for rank in ranks]))


def _draw_batches(groups: Sequence[Group]) -> Iterator[tuple[Group, list[Asked]]]:
    batches: list[tuple[Group, list[Asked]]] = []
    for group in groups:
        asked = random.sample(group.asked, len(group.asked))
        batches += [(group, asked[at : at + _BATCH]) for at in range(0, len(asked), _BATCH)]
    random.shuffle(batches)
    return iter(batches)


def _compute_loss(encoder: Encoder, group: Group, asked: Sequence[Asked], claims: Tensor) -> Tensor:
    answers = list(dict.fromkeys(one.answer for one in asked))
    others = [at for at in range(len(group.claims)) if at not in set(answers)]
    shown = answers + random.sample(others, min(len(others), _CLAIMS))
    place = {claim: at for at, claim in enumerate(shown)}
    scores = embed(encoder, [one.text for one in asked]) @ claims[shown].T / _TEMPERATURE
    for row, one in enumerate(asked):
        for claim in one.unsure:
            if claim in place:
                scores[row, place[claim]] = _APART
    return functional.cross_entropy(scores, torch.tensor([place[one.answer] for one in asked]))


def teach(epochs: int, rate: float, seed: int) -> Encoder:
    """Teach the encoder on all questions but those of persons kept apart, on which it is measured."""
    random.seed(seed)
    torch.manual_seed(seed)
    groups = load_groups(seed)
    texts = MiniLmEmbedder()
    claims = {group.name: torch.tensor(texts.embed(group.claims)) for group in groups}
    kept, shown = _split(groups)
    encoder = open_encoder()
    taught = [one for name, one in encoder.named_parameters() if not name.startswith(("words", "places", "kinds"))]
    steps = epochs * sum(-(-len(group.asked) // _BATCH) for group in shown)
    optimizer = torch.optim.AdamW(taught, lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps, pct_start=0.1)
    sys.stderr.write(f"before: {measure(encoder, kept, claims)}\n")
    for epoch in range(epochs):
        encoder.train()
        for group, asked in _draw_batches(shown):
            optimizer.zero_grad()
            _compute_loss(encoder, group, asked, claims[group.name]).backward()
            torch.nn.utils.clip_grad_norm_(taught, 1.0)
            optimizer.step()
            schedule.step()
        sys.stderr.write(f"epoch {epoch + 1}: {measure(encoder, kept, claims)}\n")
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
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rate", type=float, default=6e-5)
    parser.add_argument("--runs", type=int, default=2, help="the mean of the weights of so many runs is written")
    parser.add_argument("--write", type=Path, help="where to write the layers that ship")
    given = parser.parse_args()
    if not given.out.exists():
        runs = [teach(given.epochs, given.rate, seed).state_dict() for seed in range(1, given.runs + 1)]
        torch.save({name: torch.stack([one[name] for one in runs]).mean(0) for name in runs[0]}, given.out)
    if given.write is not None:
        encoder = open_encoder()
        encoder.load_state_dict(torch.load(given.out))
        write_layers(encoder, given.write)
        print(json.dumps({"bytes": given.write.stat().st_size}))


if __name__ == "__main__":
    main()
