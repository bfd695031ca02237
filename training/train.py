"""Train the reader: `python -m training.train`. Resumable: a run that was cut off goes on after its last epoch."""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
import torch
from torch import Tensor
from torch.nn import functional

from training import labels
from training.bases import BASES, ENGLISH, Base
from training.messages import (
    Example,
    Span,
    encode_message,
    is_held_out,
    list_files,
    load_rows,
    make_examples,
)
from training.network import Reader, represent_spans

__all__ = ["open_reader", "propose_spans"]

_BATCH: Final = 96
_POOL: Final = 16
"""Batches that are sorted by length together, so that little is padded."""
_PARTS: Final = (1, 24, 24, 48)
"""Pieces up to which the sentences of a message are joined: of one message these, of another those."""
_RANDOM: Final = 4
"""Random spans of a message that are no fact."""
_PROPOSED: Final = 12
"""Most spans of a message that the tagger proposes while it learns."""
_HEAD_RATE: Final = 1e-3
_NEAR: Final = 0.12
"""Share of a target that attributes near to it get."""
_SMOOTH: Final = 0.03
_TAG_WEIGHTS: Final = (1.0, 2.0, 2.0)
_TAG_LOSS: Final = 4.0


def open_reader(path: Path | None = None, base: Base = ENGLISH) -> Reader:
    """Open a trained reader, from its weights or from the folder of its graphs, or a new one over the base encoder."""
    reader = Reader(base)
    if path is not None and path.is_file():
        _load(reader, torch.load(path, weights_only=True))
        return reader.eval()
    reader.encoder.load_state_dict({name: torch.tensor(one) for name, one in base.load_weights().items()})
    reader.eval()
    if path is not None:
        _load(reader, dict(_read_graphs(path)))
        return reader
    reader.start_rows({name: encode_message(base, words, "")[0].ids[2:] for name, words in labels.MEANINGS.items()})
    return reader


def _load(reader: Reader, weights: dict[str, Tensor]) -> None:
    """Load weights, of which those from before a head was added have none for it."""
    reader.load_state_dict(reader.state_dict() | weights)


def _read_graphs(folder: Path) -> Iterator[tuple[str, Tensor]]:
    """Yield the weights of the graphs that ship by their names; the tables of words are those of the base encoder."""
    for graph in (onnx.load(folder / name).graph for name in ("encoder.onnx", "heads.onnx")):
        held = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
        for name, array in held.items():
            if name.startswith("reader.") and array.dtype == np.float32 and not name.endswith("_scale"):
                yield name.removeprefix("reader."), torch.tensor(array)
        for node in graph.node:
            if node.op_type != "MatMulInteger":
                continue
            stem = node.input[1].removesuffix("_quantized")
            whole = held[f"{stem}_quantized"].astype(np.float32) - held[f"{stem}_zero_point"]
            named = stem.removeprefix("reader.").removesuffix("_Transposed")
            if not stem.startswith("reader."):
                named = ".".join(node.name.strip("/").split("/")[:-1]) + ".weight"
            yield named, torch.tensor((whole * held[f"{stem}_scale"]).T.copy())


def propose_spans(shares: Tensor, threshold: float) -> list[Span]:
    """Join the pieces (t, 3) of one role to spans: one that begins, and those that go on after it."""
    outside, begins, inside = shares.T.tolist()
    spans: list[Span] = []
    at = 1
    while at < len(begins):
        if begins[at] < threshold or begins[at] < inside[at] * 0.7:
            at += 1
            continue
        last = at
        while last + 1 < len(begins) and _is_continued(outside, begins, inside, last + 1):
            last += 1
        spans.append((at, last))
        at = last + 1
    return spans


def _is_continued(outside: list[float], begins: list[float], inside: list[float], at: int) -> bool:
    """Return whether a piece goes on with the span before it, as the product reads."""
    if inside[at] <= 0.3 or begins[at] >= 0.5:  # noqa: PLR2004
        return False
    return inside[at] > outside[at] or (at + 1 < len(inside) and inside[at + 1] > max(outside[at + 1], begins[at + 1]))


def _soften_targets() -> Tensor:
    """Return the target of each attribute (attributes, attributes): near ones get a little of its share."""
    count = len(labels.ATTRIBUTES)
    places = {name: at for at, name in enumerate(labels.ATTRIBUTES)}
    targets = torch.full((count, count), _SMOOTH / count)
    for name, at in places.items():
        near = [other for pair in labels.NEAR if name in pair for other in pair if other != name]
        for other in near:
            targets[at, places[other]] += _NEAR / len(near)
        targets[at, at] += 1 - _SMOOTH - (_NEAR if near else 0)
    return targets


def _pad(examples: Sequence[Example]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return pieces, mask, kinds (b, t) and tags (b, t, 7) of some examples."""
    length = max(len(one.ids) for one in examples)
    ids, mask, kinds = (torch.zeros(len(examples), length, dtype=torch.long) for _ in range(3))
    tags = torch.zeros(len(examples), length, len(labels.ROLES), dtype=torch.long)
    for at, one in enumerate(examples):
        count = len(one.ids)
        ids[at, :count], mask[at, :count], kinds[at, :count] = torch.tensor(one.ids), 1, torch.tensor(one.kinds)
        marked = [
            (labels.ROLES.index(role), span)
            for target in one.targets
            for role, span in (("value", target.value), *target.spans.items())
        ]
        for role, (first, last) in marked:
            tags[at, first : last + 1, role] = 2
        for role, (first, _) in marked:
            tags[at, first, role] = 1
    return ids, mask, kinds, tags


def _pick_negatives(one: Example, shares: Tensor, threshold: float) -> Iterator[Span]:
    """Yield spans of an example that are no fact: random ones, and what the tagger proposes."""
    taken = {target.value for target in one.targets}
    for _ in range(_RANDOM):
        first = random.randrange(one.first, max(one.first + 1, len(one.ids) - 1))
        last = min(len(one.ids) - 2, first + random.randrange(6))
        if first <= last and (first, last) not in taken:
            yield first, last
    for first, last in propose_spans(shares, threshold)[:_PROPOSED]:
        if last < len(one.ids) - 1 and not any(abs(first - a) <= 1 and abs(last - b) <= 1 for a, b in taken):
            yield first, last


def _compute_loss(reader: Reader, examples: Sequence[Example], soft: Tensor, threshold: float) -> Tensor:
    """Return the loss of a batch: tags, rejection, and the heads over the values that are facts."""
    ids, mask, kinds, tags = _pad(examples)
    states = reader.encoder(ids, mask, kinds)
    scores = reader.tag(states).float()
    each = functional.cross_entropy(
        scores.reshape(-1, 3), tags.reshape(-1), weight=torch.tensor(_TAG_WEIGHTS), reduction="none"
    )
    told = mask.float()
    told[:, 0] = 0
    loss = (each.view(*tags.shape) * told[..., None]).sum() / (told.sum() * len(labels.ROLES)) * _TAG_LOSS
    facts = [(at, target) for at, one in enumerate(examples) for target in one.targets]
    shares = scores.detach()[:, :, 0].softmax(-1)
    negatives = [(at, *span) for at, one in enumerate(examples) for span in _pick_negatives(one, shares[at], threshold)]
    spans = torch.tensor([*((at, *target.value) for at, target in facts), *negatives])
    values = represent_spans(states, spans)
    whole = torch.cat([values, states[:, 0].index_select(0, spans[:, 0])], -1)
    weights = torch.tensor([*(target.weight for _, target in facts), *(0 for _ in negatives)])
    loss = loss + functional.cross_entropy(reader.weight(whole), weights)
    return loss + _compute_heads(reader, states, values, whole, facts, soft) if facts else loss


def _compute_heads(  # noqa: PLR0917 - the parts of one sum
    reader: Reader, states: Tensor, values: Tensor, whole: Tensor, facts: list[tuple[int, Any]], soft: Tensor
) -> Tensor:
    told, linked = whole[: len(facts)], values[: len(facts)]
    named = [labels.ATTRIBUTES.index(target.attribute) for _, target in facts]
    loss = functional.cross_entropy(reader.name_attributes(told), soft[named])
    for head, wanted in (
        (reader.status, [labels.STATUSES.index(target.status) for _, target in facts]),
        (reader.change, [labels.CHANGES.index(target.change) for _, target in facts]),
        (reader.subject, [target.subject for _, target in facts]),
    ):
        loss = loss + 0.5 * functional.cross_entropy(head(told), torch.tensor(wanted))
    liked = [(at, labels.TOPICS.index(target.topic)) for at, (_, target) in enumerate(facts) if target.topic]
    if liked:
        places, topics = (torch.tensor(one) for one in zip(*liked, strict=True))
        loss = loss + 0.5 * functional.cross_entropy(reader.topic(told[places]), topics)
    owners = torch.tensor([at for at, _ in facts])
    for role in labels.LINKED:
        others = sorted({(at, *target.spans[role]) for at, target in facts if role in target.spans})
        if not others:
            continue
        scores = reader.link(linked, represent_spans(states, torch.tensor(others)), role)
        right = torch.tensor([[other == (at, *target.spans.get(role, ())) for other in others] for at, target in facts])
        same = owners[:, None] == torch.tensor([other[0] for other in others])[None]
        loss = loss + 0.5 * functional.binary_cross_entropy_with_logits(scores[same], right.float()[same])
    return loss


def _make_batches(examples: list[Example]) -> list[list[Example]]:
    random.shuffle(examples)
    pools = [examples[at : at + _BATCH * _POOL] for at in range(0, len(examples), _BATCH * _POOL)]
    batches: list[list[Example]] = []
    for pool in pools:
        pool.sort(key=lambda one: len(one.ids))
        batches += [pool[at : at + _BATCH] for at in range(0, len(pool), _BATCH)]
    random.shuffle(batches)
    return batches


def _make_optimizer(reader: Reader, rate: float, steps: int) -> tuple[torch.optim.Optimizer, Any]:
    """Return an optimizer that leaves embeddings and first layers as they are: rare words keep what they knew."""
    still = [reader.encoder.words, reader.encoder.places, reader.encoder.kinds, reader.encoder.norm]
    for part in (*still, *reader.encoder.layers[: reader.base.frozen]):
        part.requires_grad_(requires_grad=False)
    moving = [one for one in reader.encoder.parameters() if one.requires_grad]
    heads = [one for name, one in reader.named_parameters() if not name.startswith("encoder.")]
    groups = [{"params": moving, "lr": rate}, {"params": heads, "lr": _HEAD_RATE}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
    warm = max(1, steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, step / warm) * max(0.02, 1 - step / steps)
    )
    return optimizer, schedule


def _is_fast_in_half() -> bool:
    """Return whether the processor multiplies numbers of 16 bits; without that they take forty times as long."""
    return torch.backends.cpu.get_cpu_capability().startswith("AVX512")


def _train(options: argparse.Namespace) -> None:
    torch.manual_seed(options.seed)
    random.seed(options.seed)
    base = BASES[options.base]
    rows = [row for row in load_rows(list_files(options.language)) if not is_held_out(row["id"])]
    parts = [(row["id"][0], one) for row in rows for one in make_examples(base, row, random.choice(_PARTS))]
    if options.topics:
        parts = [(letter, one) for letter, one in parts if any(target.topic for target in one.targets)]
    new = [one for letter, one in parts if letter in options.new]
    known = [one for letter, one in parts if letter not in options.new]
    drawn = round(options.replay * len(known))
    reader = open_reader(options.begin, base)
    steps = options.epochs * math.ceil((drawn + len(new)) / _BATCH)
    optimizer, schedule = _make_optimizer(reader, options.rate, steps)
    for name, one in reader.named_parameters():
        if options.topics and not name.startswith("topic."):
            one.requires_grad_(requires_grad=False)
    begun = 0
    if options.out.with_suffix(".state").exists():
        state = torch.load(options.out.with_suffix(".state"), weights_only=False)
        reader.load_state_dict(state["reader"])
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        random.setstate(state["random"])
        torch.set_rng_state(state["torch"])
        begun = state["epoch"] + 1
    print(drawn, "of", len(known), "+", len(new), "parts of messages", flush=True)
    soft, started = _soften_targets(), time.monotonic()
    for epoch in range(begun, options.epochs):
        reader.train()
        total, batches = 0.0, _make_batches(random.sample(known, drawn) + new)
        for batch in batches:
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=_is_fast_in_half()):
                loss = _compute_loss(reader, batch, soft, 0.3 if epoch < 2 and options.begin is None else 0.12)  # noqa: PLR2004 - the tagger proposes too much at first
            loss.backward()
            optimizer.step()
            schedule.step()
            total += float(loss.detach())
        seconds = round(time.monotonic() - started)
        print(f"epoch {epoch}: loss {total / len(batches):.3f}, {seconds} s", flush=True)
        torch.save(reader.state_dict(), options.out)
        state = {
            "reader": reader.state_dict(),
            "optimizer": optimizer.state_dict(),
            "schedule": schedule.state_dict(),
            "random": random.getstate(),
            "torch": torch.get_rng_state(),
            "epoch": epoch,
        }
        torch.save(state, options.out.with_suffix(".state"))
    options.out.with_suffix(".state").unlink(missing_ok=True)


def _parse_options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.train", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="file of the weights")
    parser.add_argument("--begin", type=Path, help="weights to begin with, or the folder of a reader that ships")
    parser.add_argument("--base", choices=BASES, default="english", help="published encoder to begin with")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--rate", type=float, default=4e-4, help="largest learning rate of the encoder")
    parser.add_argument("--new", default="", help="first letters of the ids of messages that every epoch has")
    parser.add_argument("--replay", type=float, default=1.0, help="share of the others that an epoch draws")
    parser.add_argument("--language", action="append", default=[], help="also messages in this language, as de")
    parser.add_argument("--topics", action="store_true", help="train the head of topics alone, on tastes")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    _train(_parse_options(sys.argv[1:]))
