"""Write a trained reader as the two graphs that ship: `python -m training.export WEIGHTS FOLDER --name reader-en-1`.

Weights are eight-bit integers of which seven bits are used: on processors that add two products in sixteen bits, more
would overflow without a word.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from training import labels
from training.bases import BASES, MULTILINGUAL, Base
from training.messages import list_files
from training.network import WIDTH, Reader
from training.train import open_reader

_OPSET: Final = 20


class _Encoding(nn.Module):
    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, ids: Tensor, mask: Tensor, typ: Tensor) -> tuple[Tensor, Tensor]:
        states = self.reader.encoder(ids, mask, typ)
        return states, self.reader.tag(states)


class _Heads(nn.Module):
    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, values: Tensor, others: Tensor) -> tuple[Tensor, ...]:
        reader = self.reader
        heads = (reader.name_attributes, reader.status, reader.change, reader.weight, reader.subject, reader.topic)
        shares = [head(values).softmax(-1) for head in heads]
        links = [reader.link(values[:, : 3 * WIDTH], others, role) for role in labels.LINKED]
        return *shares, torch.stack(links).sigmoid()


def _write(module: nn.Module, inputs: tuple[Tensor, ...], axes: dict[str, dict[int, str]], path: Path) -> None:
    named = list(axes)
    with tempfile.TemporaryDirectory() as folder:
        full = Path(folder) / path.name
        torch.onnx.export(
            module.eval(),
            inputs,
            str(full),
            input_names=named[: len(inputs)],
            output_names=named[len(inputs) :],
            dynamic_axes=axes,
            opset_version=_OPSET,
            dynamo=False,
        )
        quantize_dynamic(full, path, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)


def _hash_messages(languages: Sequence[str]) -> str:
    """Return one hash over the messages that it was trained on."""
    digest = hashlib.sha256()
    for path in list_files(languages):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _export(weights: Path, folder: Path, name: str, *, base: Base, languages: Sequence[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    reader = open_reader(weights, base)
    ids = torch.randint(1_000, 2_000, (2, 9))
    pieces = {0: "examples", 1: "pieces"}
    _write(
        _Encoding(reader),
        (ids, torch.ones_like(ids), torch.zeros_like(ids)),
        {"ids": pieces, "mask": pieces, "typ": pieces, "states": pieces, "tags": pieces},
        folder / "encoder.onnx",
    )
    shares = ("attribute", "status", "change", "weight", "subject", "topic")
    _write(
        _Heads(reader),
        (torch.randn(3, 4 * WIDTH), torch.randn(4, 3 * WIDTH)),
        {
            "values": {0: "values"},
            "others": {0: "others"},
            **{one: {0: "values"} for one in shares},
            "links": {1: "values", 2: "others"},
        },
        folder / "heads.onnx",
    )
    files = {one: hashlib.sha256((folder / one).read_bytes()).hexdigest() for one in ("encoder.onnx", "heads.onnx")}
    card = {
        "reader_id": name,
        "languages": list(languages) or ["en"],
        "special": [base.cls, base.sep],
        "attributes": labels.ATTRIBUTES,
        "statuses": labels.STATUSES,
        "changes": labels.CHANGES,
        "topics": labels.TOPICS,
        "sha256": files,
        "messages_sha256": _hash_messages(languages),
    }
    if base is MULTILINGUAL:
        (folder / "pieces.json").write_text(base.open_tokenizer().to_str(), "utf-8")
    (folder / "reader.json").write_text(json.dumps(card, indent=1) + "\n", "utf-8")


def _run(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m training.export", description=__doc__)
    parser.add_argument("weights", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--base", choices=BASES, default="english")
    parser.add_argument("--language", action="append", default=[], help="a language that it reads, as de; default: en")
    options = parser.parse_args(arguments)
    _export(options.weights, options.folder, options.name, base=BASES[options.base], languages=options.language)


if __name__ == "__main__":
    _run(sys.argv[1:])
