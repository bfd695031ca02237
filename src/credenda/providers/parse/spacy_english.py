"""spaCy's small English model, from a package whose files are checked against known hashes before they are loaded.

Loading takes about 0.8 s and 90 MB, so it happens with the first text. Nothing is downloaded.
"""

from __future__ import annotations

import hashlib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from credenda.errors import Corrupt, Unavailable
from credenda.install_hint import format_install
from credenda.model.parsed import Token

if TYPE_CHECKING:
    from spacy.language import Language

__all__ = ["ENGLISH_SHA256", "SpacyEnglish", "hash_folder", "is_installed"]

_PACKAGE: Final = "credenda_models"
_FOLDER: Final = "en_core_web_sm-3.8.0"
ENGLISH_SHA256: Final = "7594131c96b3fbd4aa9bf292d55ef51ed11d9f23b9a02d9232a1c782363d85b8"
"""SHA-256 over the names and hashes of the model's files, which are Explosion's under the MIT licence."""
_TEXTS: Final = frozenset({"LICENSE", "LICENSES_SOURCES", "README.md", "accuracy.json"})


def is_installed() -> bool:
    """Return whether the extra `parse` is installed."""
    return all(find_spec(name) is not None for name in ("spacy", _PACKAGE))


class SpacyEnglish:
    """The parser; one instance serves all threads, one text at a time."""

    def __init__(self) -> None:
        """Raise `Unavailable` if the extra is not installed."""
        if not is_installed():
            what = "the parser of English is not installed"
            raise Unavailable(what, why="it needs spacy and credenda-models", fix=format_install("parse"))
        self._lock = Lock()
        self._pipeline: Language | None = None

    @property
    def parser_id(self) -> str:
        """Return the name and version of the model."""
        return "en_core_web_sm-3.8.0"

    def parse(self, text: str) -> tuple[Token, ...]:
        """Return the tokens of a text; loads the model with the first one."""
        with self._lock:
            if self._pipeline is None:
                self._pipeline = _load()
            return _convert(self._pipeline(text))


def _load() -> Language:
    import spacy

    folder = Path(import_module(_PACKAGE).__file__ or "").with_name(_FOLDER)
    if hash_folder(folder) != ENGLISH_SHA256:
        what = "the parser's model is not the one that was tested"
        raise Corrupt(what, why=f"the files in {folder} have another hash", fix="reinstall credenda-models")
    return spacy.load(folder, exclude=["senter"])


def hash_folder(folder: Path) -> str:
    """Return the SHA-256 over the names and hashes of the model's files, without the texts about it."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in _TEXTS:
            name = path.relative_to(folder).as_posix()
            digest.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _convert(document: Any) -> tuple[Token, ...]:  # noqa: ANN401 - spaCy ships no usable types
    kept = [token for token in document if not token.is_space]
    places = {token.i: at for at, token in enumerate(kept)}
    return tuple(
        Token(
            text=token.text,
            lemma=token.lemma_.lower(),
            pos=token.pos_,
            tag=token.tag_,
            dep=token.dep_,
            head=places.get(token.head.i, at),
            start=token.idx,
            stop=token.idx + len(token.text),
            entity=token.ent_type_,
        )
        for at, token in enumerate(kept)
    )
