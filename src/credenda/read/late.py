"""Late interaction: how well each token of the question is matched by a token of a text, over the best candidates.

For each token of the question, X is the best product with a token of the text (MaxSim; Khattab and Zaharia, "ColBERT",
SIGIR 2020), less the mean over the compared texts: X = max(0, (X − m) / (1 − m)). A text takes over half of what the
message before it matches, and 0.3 of what the next one matches, where that is more. The score is the mean of X,
weighted by the idf of the token's word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from credenda import limits
from credenda.index.quantize import decode_rows
from credenda.index.resident import ResidentIndex
from credenda.providers.embed.factory import TokenAsk, TokenVectors
from credenda.read.candidates import Candidates, Floats, Integers, Mask
from credenda.read.score import Fused, compute_z_scores
from credenda.storage.store import Reader
from credenda.text.tokens import tokenize

_ROLES: Final = frozenset({"user", "assistant"})
_WORD: Final = re.compile(r"\w+")
_PLAIN: Final = 1.0
"""Weight of tokens without a term: stop words and marks."""
_BACK: Final = np.float32(0.5)
_AHEAD: Final = np.float32(0.3)
_HEAD_BYTES: Final = 8
_BYTE: Final = 8
_STEPS: Final = np.float32(255)
_FLAT: Final = np.float32(1e-6)


class Question:
    """The tokens of a question, their weights, and the model under which token vectors are stored."""

    def __init__(self, model_id: str, tokens: TokenVectors, weights: Floats) -> None:
        self.model_id = model_id
        self.vectors = tokens.vectors
        self.weights = weights


def is_talk_of_persons(index: ResidentIndex) -> bool:
    """Return whether anyone but a user and an assistant speaks in the store."""
    return not _ROLES.issuperset(index.speaker_names)


def ask_tokens(index: ResidentIndex, ask: TokenAsk, text: str) -> Question:
    """Encode a question and weigh its tokens by the statistics of the index."""
    tokens = ask.embed(text)
    return Question(ask.model_id, tokens, weigh_tokens(index, text, tokens.spans))


def weigh_tokens(index: ResidentIndex, text: str, spans: Sequence[tuple[int, int]]) -> Floats:
    """Return the weight of each token: the idf of the word that it belongs to, 1 for stop words and marks."""
    words = [(match.end(), tokenize(match[0])) for match in _WORD.finditer(text)]
    terms = list(dict.fromkeys(term for _, found in words for term in found[:1]))
    total = max(index.worded, 1)
    idfs = {
        term: math.log1p((max(total - count, 0) + 0.5) / (count + 0.5))
        for term, count in zip(terms, index.counts(terms), strict=True)
    }
    weights = np.full(len(spans), _PLAIN, np.float32)
    at = 0
    for place, (start, stop) in enumerate(spans):
        while at < len(words) and words[at][0] <= start:
            at += 1
        if at < len(words) and words[at][1] and stop <= words[at][0] and _WORD.match(text[start:stop]):
            weights[place] = idfs[words[at][1][0]]
    return weights


def add_late_scores(
    index: ResidentIndex, reader: Reader, found: Candidates, fused: Fused, *, question: Question, weight: float
) -> Fused:
    """Return the relevance with the term "late" for the best candidates.

    Candidates behind those count as the worst, and compared ones without token vectors (long texts) as average.
    """
    top = fused.relevance.argpartition(max(len(found) - limits.LATE_CANDIDATES, 0))[-limits.LATE_CANDIDATES :]
    scores = _score_rows(index, reader, question, index.rows_of(found.codes[top]))
    known = ~np.isnan(scores)
    if not known.any():
        return fused
    standard = compute_z_scores(np.where(known, scores, np.float32(0)), known)
    late = np.full(len(found), standard[known].min(), np.float32)
    late[top] = standard
    late *= np.float32(weight)
    return Fused(fused.relevance + late, {**fused.terms, "late": late})


def _score_rows(index: ResidentIndex, reader: Reader, question: Question, rows: Integers) -> Floats:
    """Return the score of each row in [0, 1], NaN for rows without token vectors."""
    beside = index.turns.find_adjacent(rows, index.session)
    every = np.unique(np.concatenate([rows, beside[beside >= 0]]))
    codes = index.codes[every]
    known, best = compare_tokens(reader, codes.tolist(), question)
    scores = np.full(len(rows), np.nan, np.float32)
    if not known.any():
        return scores
    mean = best[known].mean(axis=0)
    matched = np.zeros((len(every) + 1, best.shape[1]), np.float32)  # the last is for "no neighbour", -1
    matched[:-1][known] = np.maximum((best[known] - mean) / np.maximum(np.float32(1) - mean, _FLAT), 0)
    at = np.searchsorted(every, rows)
    places = np.where(beside >= 0, np.searchsorted(every, beside), len(every))
    shared = np.maximum(matched[at], np.maximum(_BACK * matched[places[:, 0]], _AHEAD * matched[places[:, 1]]))
    own = known[at]
    scores[own] = (shared[own] @ question.weights) / max(float(question.weights.sum()), float(_FLAT))
    return scores


def compare_tokens(reader: Reader, codes: Sequence[int], question: Question) -> tuple[Mask, Floats]:
    """Return which documents have token vectors, (n,), and for each token of the question its best product, (n, k)."""
    vectors = question.vectors
    place = {code: at for at, code in enumerate(codes)}
    stored = [one for one in reader.vector_data(codes, question.model_id) if len(one[2]) > _HEAD_BYTES]
    known = np.zeros(len(codes), np.bool_)
    best = np.zeros((len(codes), len(vectors)), np.float32)
    whole = [(place[code], data) for code, bits, data in stored if bits == _BYTE]
    if whole:
        at = np.array([one for one, _ in whole])
        known[at] = True
        # Return the best products with tokens of 8 bits: numbers are compared as stored, and scaled afterwards.
        blobs = [data for _, data in whole]
        dims = vectors.shape[1]
        counts = np.array([(len(blob) - _HEAD_BYTES) // dims for blob in blobs])
        ranges = np.frombuffer(b"".join(blob[:_HEAD_BYTES] for blob in blobs), "<f4").reshape(-1, 2)
        levels = np.frombuffer(b"".join(blob[_HEAD_BYTES:] for blob in blobs), np.uint8).reshape(-1, dims)
        products = levels.astype(np.float32) @ vectors.T
        highest: Floats = np.maximum.reduceat(products, np.concatenate([[0], np.cumsum(counts)[:-1]]), axis=0)
        steps = (ranges[:, 1:] - ranges[:, :1]) / _STEPS
        best[at] = highest * steps + ranges[:, :1] * vectors.sum(axis=1)
    for code, bits, data in stored:
        if bits != _BYTE:
            known[place[code]] = True
            best[place[code]] = (_decode_rough(data, bits, vectors.shape[1]) @ vectors.T).max(axis=0)
    return known, best


def _decode_rough(data: bytes, bits: int, dims: int) -> Floats:
    """Return the tokens of a compressed text, (t, dims)."""
    numbers = (len(data) - _HEAD_BYTES - 1) * (_BYTE // bits) // dims * dims
    (flat,) = decode_rows([data], bits, numbers)
    tokens = flat.reshape(-1, dims)
    return tokens / np.maximum(np.linalg.norm(tokens, axis=1, keepdims=True), _FLAT)
