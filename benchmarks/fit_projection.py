"""Fit the projection of token states to 64 numbers, `src/credenda/providers/embed/data/token_projection.f16`.

python benchmarks/fit_projection.py --texts GROUPS [--write]

GROUPS is a (gzip'd) JSON list of `{"q": question, "c": [[text, …], …]}`, made of QMSum (MIT) and FairytaleQA
(Apache-2.0): no benchmark conversation is in it. The axes are the eigenvectors of the second moment of the unit token
states, so that a product of projected vectors approximates the cosine of the states. The result depends on the texts
alone.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from credenda.providers.embed import minilm

PROJECTION: Final = Path(__file__).resolve().parents[1] / "src/credenda/providers/embed/data/token_projection.f16"
DIMS: Final = 64
GROUPS: Final = 1_200
CHARACTERS: Final = 500
"""Texts are cut to the length up to which texts get token vectors."""


def read_texts(path: Path) -> list[str]:
    """Return the questions and the first two texts of the first groups, each text once."""
    content = path.read_bytes()
    groups: list[dict[str, Any]] = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    found = (text for group in groups[:GROUPS] for text in (group["q"], *(one[0] for one in group["c"][:2])))
    return list(dict.fromkeys(text[:CHARACTERS] for text in found if text.strip()))


def yield_states(texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
    """Yield the unit token states of batches of texts, (tokens, 384), without the special tokens."""
    pieces, model = minilm._get_loaded()  # pyright: ignore[reportPrivateUsage] # noqa: SLF001 - the fit looks inside
    for _, states in minilm._run_batches(model, pieces.numbers(texts)):  # pyright: ignore[reportPrivateUsage] # noqa: SLF001
        inner = states[:, 1:-1].reshape(-1, states.shape[2])
        yield inner / np.linalg.norm(inner, axis=1, keepdims=True)


def fit_projection(states: Iterator[NDArray[np.float32]], dims: int = DIMS) -> tuple[NDArray[np.float32], float]:
    """Return the (d, dims) leading axes of the second moment, and their share of it.

    >>> axes, share = fit_projection(iter([np.array([[1.0, 0.0], [0.0, 0.1]], np.float32)]), 1)
    >>> abs(axes).tolist(), round(share, 2)
    ([[1.0], [0.0]], 0.99)
    """
    moment: NDArray[np.float64] | None = None
    for batch in states:
        square = batch.T.astype(np.float64) @ batch
        moment = square if moment is None else moment + square
    if moment is None:
        raise SystemExit("there are no texts")
    values, axes = np.linalg.eigh(moment)
    best = axes[:, ::-1][:, :dims]
    signs = np.sign(best[np.abs(best).argmax(axis=0), np.arange(dims)])  # an eigenvector has no sign of its own
    return (best * signs).astype(np.float32), float(values[::-1][:dims].sum() / values.sum())


def main() -> None:
    """Read the arguments, fit, print the share and the hash, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    texts = read_texts(given.texts)
    axes, share = fit_projection(yield_states(texts))
    packed = axes.astype("<f2").tobytes()
    print(f"{len(texts)} texts, {share:.3f} of the second moment, sha256 {hashlib.sha256(packed).hexdigest()}")
    if given.write:
        PROJECTION.write_bytes(packed)


if __name__ == "__main__":
    main()
