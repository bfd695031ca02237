"""The network of the reader: an encoder, taggers for the spans of each role, and heads over the spans of values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from training import labels
from training.bases import Base

__all__ = ["Encoder", "Reader", "represent_spans"]

WIDTH: Final = 384
_HEADS: Final = 12
_INNER: Final = 1_536
_PLACES: Final = 512
_LINK: Final = 128
_EPSILON: Final = 1e-12
_SCALE: Final = 16.0
"""Factor of the cosine between a value and the row of an attribute."""
_COMMON: Final = 0.8
"""Share of their mean that is taken from the first rows: what the meanings of all attributes have in common."""


class Layer(nn.Module):
    """One layer of BERT."""

    def __init__(self, drop: float) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm_attention = nn.LayerNorm(WIDTH, eps=_EPSILON)
        self.inner, self.outer = nn.Linear(WIDTH, _INNER), nn.Linear(_INNER, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=_EPSILON)
        self.drop = nn.Dropout(drop)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Return the next states (b, t, 384)."""
        count, length, width = states.shape
        query, key, value = (
            part(states).view(count, length, _HEADS, width // _HEADS).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        mixed = mixed.transpose(1, 2).reshape(count, length, width)
        states = self.norm_attention(states + self.drop(self.out(mixed)))
        return self.norm(states + self.drop(self.outer(functional.gelu(self.inner(states)))))


class Encoder(nn.Module):
    """BERT without its pooling, of which the first `frozen` layers are not trained."""

    def __init__(self, pieces: int, layers: int, frozen: int, drop: float = 0.1) -> None:
        super().__init__()
        self._frozen = frozen
        self.words, self.places, self.kinds = (
            nn.Embedding(pieces, WIDTH),
            nn.Embedding(_PLACES, WIDTH),
            nn.Embedding(2, WIDTH),
        )
        self.norm = nn.LayerNorm(WIDTH, eps=_EPSILON)
        self.layers = nn.ModuleList([Layer(drop) for _ in range(layers)])
        self.drop = nn.Dropout(drop)

    def forward(self, ids: Tensor, mask: Tensor, kinds: Tensor) -> Tensor:
        """Return the states (b, t, 384) of pieces (b, t); `mask` is 1 for a piece, `kinds` 1 for the message itself."""
        at = torch.arange(ids.shape[1], device=ids.device)[None]
        shown = mask[:, None, None, :].bool()
        with torch.no_grad():
            states = self.drop(self.norm(self.words(ids) + self.places(at) + self.kinds(kinds)))
            for layer in self.layers[: self._frozen]:
                states = layer(states, shown)
        for layer in self.layers[self._frozen :]:
            states = layer(states, shown)
        return states


def _make_head(outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Dropout(0.2), nn.Linear(4 * WIDTH, 256), nn.GELU(), nn.Linear(256, outputs))


def represent_spans(states: Tensor, spans: Tensor) -> Tensor:
    """Return (n, 1152): first, last and mean state of spans (n, 3) of example, first and last piece."""
    flat, length = states.reshape(-1, states.shape[-1]), states.shape[1]
    first, last = spans[:, 0] * length + spans[:, 1], spans[:, 0] * length + spans[:, 2]
    sums = torch.cat([torch.zeros_like(flat[:1]), flat]).float().cumsum(0)
    total = sums.index_select(0, last + 1) - sums.index_select(0, first)
    mean = (total / (last - first + 1)[:, None]).to(states.dtype)
    return torch.cat([flat.index_select(0, first), flat.index_select(0, last), mean], -1)


class Reader(nn.Module):
    """Encoder, taggers and heads."""

    def __init__(self, base: Base) -> None:
        super().__init__()
        self.base = base
        self.encoder = Encoder(base.open_tokenizer().get_vocab_size(), base.layers, base.frozen)
        self.tags = nn.Linear(WIDTH, 3 * len(labels.ROLES))
        self.drop = nn.Dropout(0.2)
        self.meaning = nn.Sequential(
            nn.Dropout(0.2), nn.Linear(4 * WIDTH, 512), nn.GELU(), nn.Dropout(0.1), nn.Linear(512, WIDTH)
        )
        self.rows = nn.Parameter(torch.zeros(len(labels.ATTRIBUTES), WIDTH))
        self.bias = nn.Parameter(torch.zeros(len(labels.ATTRIBUTES)))
        self.scale = nn.Parameter(torch.tensor(_SCALE))
        self.status, self.change = _make_head(len(labels.STATUSES)), _make_head(len(labels.CHANGES))
        self.weight, self.subject = _make_head(3), _make_head(len(labels.SUBJECTS))
        self.topic = _make_head(len(labels.TOPICS))
        self.value_link = nn.Linear(3 * WIDTH, _LINK)
        self.links = nn.ModuleDict({role: nn.Linear(3 * WIDTH, _LINK) for role in labels.LINKED})

    def tag(self, states: Tensor) -> Tensor:
        """Return the scores (b, t, 7, 3) of outside, beginning and inside for each role."""
        return self.tags(self.drop(states)).view(*states.shape[:2], len(labels.ROLES), 3)

    def name_attributes(self, values: Tensor) -> Tensor:
        """Return the scores (n, attributes) of represented values (n, 1536)."""
        meant = functional.normalize(self.meaning(values).float(), dim=-1)
        return self.scale * meant @ functional.normalize(self.rows, dim=-1).T + self.bias

    def link(self, values: Tensor, others: Tensor, role: str) -> Tensor:
        """Return the scores (n, m) that represented spans of a role (m, 1152) belong to values (n, 1152)."""
        return (self.value_link(values) @ self.links[role](others).T).float() / math.sqrt(_LINK)

    @torch.no_grad()
    def start_rows(self, encode: Mapping[str, list[int]]) -> None:
        """Begin the rows of the attributes as the encoder's reading of their meanings, given as pieces."""
        for at, name in enumerate(labels.ATTRIBUTES):
            ids = torch.tensor([encode[name]])
            states = self.encoder(ids, torch.ones_like(ids), torch.zeros_like(ids))[0]
            self.rows[at] = functional.normalize(states.mean(0), dim=0)
        self.rows -= self.rows.mean(0, keepdim=True) * _COMMON
        self.rows.copy_(functional.normalize(self.rows, dim=-1))
