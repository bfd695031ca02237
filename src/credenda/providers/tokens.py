"""Construction of a token counter from the user's choice: the estimate, a function, or a tokenizer's file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from operator import index
from pathlib import Path
from threading import Lock
from types import FunctionType
from typing import Any, Final, cast

from credenda import limits
from credenda.errors import Invalid, Unavailable, format_install
from credenda.paths import find_path_kind
from credenda.text.fence import ESTIMATE, TokenCounter
from credenda.text.normalize import join_surrogates

Tokenizer = str | Path | Callable[[str], int] | None
"""The user's choice: a path, a function from a text to its count, "estimate", or None for the setting."""

_PROBE: Final = "A short sentence about tea.\nEin zweiter Satz, 東京."
_NAME_CHARACTERS: Final = 64


def open_counter(choice: object) -> TokenCounter:
    """Return the token counter for a choice: "" and "estimate" are the estimate, others a function or a file.

    A function is tested with two texts; a file must exist, and is read at the first count. Raises `Invalid` for a
    function that does not return whole numbers, for a file that is missing or of an unknown kind, and for a file whose
    library is not installed.
    """
    if isinstance(choice, str | Path):
        if str(choice).strip() in {"", ESTIMATE.name}:
            return ESTIMATE

        return open_file_counter(Path(choice).expanduser())
    if not callable(choice):
        raise Invalid(
            "the given tokenizer cannot be used",
            why=f"a {type(choice).__name__} is neither a path nor a function",
            fix='give the path of a tokenizer.json or .tiktoken file, a function from a text to a count, or "estimate"',
        )
    name = getattr(choice, "__qualname__", None) or type(choice).__qualname__
    given = TokenCounter(
        "".join(one for one in str(name) if one.isprintable())[:_NAME_CHARACTERS],
        _wrap_counter(cast("Callable[[str], object]", choice)),
    )
    given.count("")
    if not given.count(_PROBE):
        raise Invalid("the given tokenizer cannot be used", why="it finds no token in a text of words", fix="mend it")
    return given


def _wrap_counter(function: Callable[[str], object]) -> Callable[[str], int]:
    """Check every count; exceptions of the function itself pass through to the caller."""

    def count(text: str) -> int:
        found = function(text)
        try:
            tokens = -1 if isinstance(found, bool) else index(cast("int", found))
        except TypeError:
            tokens = -1
        if tokens < 0:
            raise Invalid(
                "the given tokenizer cannot be used",
                why=f"it counted {str(found)[:_NAME_CHARACTERS]!r} tokens in a text",
                fix="let it return their number, a whole number from 0",
            )
        return tokens

    return count


# Tokenizers from local files: `tokenizer.json` and the ranks of tiktoken. Nothing is downloaded.


_LIBRARIES: Final = {".json": "tokenizers", ".tiktoken": "tiktoken"}
_IN_FOLDER: Final = "tokenizer.json"
_TRIED: Final = "A short sentence about tea."
_LOADING: Final = Lock()


def open_file_counter(path: Path) -> TokenCounter:
    """Return a token counter for a file, or for the tokenizer.json of a folder; it is read at the first count.

    Raises `Invalid` if the file is missing, of another kind or too large, or its library is not installed; the first
    count raises it if the file cannot be read.
    """
    try:
        file = path / _IN_FOLDER if find_path_kind(path) == "folder" else path
        about = file.stat()
    except (OSError, ValueError, Unavailable) as error:
        raise _make_refusal(path, "it cannot be found", "correct the path") from error
    library = _LIBRARIES.get(file.suffix.lower())
    if library is None:
        raise _make_refusal(
            file, "its name ends neither in .json nor in .tiktoken", "give a file of one of these kinds"
        )
    if not file.is_file() or not 0 < about.st_size <= limits.TOKENIZER_BYTES:
        why = f"it is no file of 1 to {limits.TOKENIZER_BYTES >> 20} MiB"
        raise _make_refusal(file, why, "give the tokenizer itself, not the model")
    if find_spec(library) is None:
        raise _make_refusal(
            file, f"{library} is not installed", format_install("" if library == "tokenizers" else "tokens")
        )
    stamp = (about.st_mtime_ns, about.st_size)
    return TokenCounter("/".join(file.absolute().parts[-2:]), partial(_count, file.absolute(), stamp))


def _count(file: Path, stamp: tuple[int, int], text: str) -> int:
    with _LOADING:
        count = _get_loaded(file, stamp)
    return count(join_surrogates(text))


@cache
def _get_loaded(file: Path, stamp: tuple[int, int]) -> Callable[[str], int]:
    """Read a file once for the process, and once more after it was changed and opened anew."""
    del stamp
    read = _load_ranks_tokenizer if file.suffix.lower() == ".tiktoken" else _load_json_tokenizer
    try:
        count = read(file)
        found = count(_TRIED)
    except Invalid:
        raise
    except Exception as error:  # the libraries raise nothing narrower for an invalid file
        raise _make_refusal(file, f"it cannot be read: {error}"[:200], "give a tokenizer's own file") from error
    if not found:
        raise _make_refusal(file, "it finds no token in a text of words", "give a tokenizer's own file")
    return count


def _load_json_tokenizer(file: Path) -> Callable[[str], int]:
    """Count all tokens of a text, without the special tokens around it."""
    tokenizer = import_module("tokenizers").Tokenizer.from_file(str(file))
    tokenizer.no_truncation()  # a file may limit the length of texts: the truncated tokens would not count
    tokenizer.no_padding()

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count


def _load_ranks_tokenizer(file: Path) -> Callable[[str], int]:
    """Count like the encoding of these ranks: the file name identifies it, and the hash confirms it."""
    public = import_module("tiktoken_ext.openai_public")
    maker = cast("Mapping[str, object]", public.ENCODING_CONSTRUCTORS).get(file.stem)
    if not isinstance(maker, FunctionType) or "load_tiktoken_bpe" not in maker.__code__.co_names:
        known = ", ".join(name for name in public.ENCODING_CONSTRUCTORS if name != "gpt2")
        raise _make_refusal(
            file, f"tiktoken knows no encoding {file.stem!r} of ranks", f"name it after its own: {known}"
        )
    # The library's own recipe for the encoding, with our reader in place of its downloader.
    parts: dict[str, Any] = FunctionType(
        maker.__code__, {**maker.__globals__, "load_tiktoken_bpe": partial(_read_ranks, file)}
    )()
    encoding = import_module("tiktoken").Encoding(**parts)

    def count(text: str) -> int:
        return len(encoding.encode_ordinary(text))

    return count


def _read_ranks(file: Path, address: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """Read the ranks for an address of the library from a file instead."""
    del address
    content = file.read_bytes()
    if expected_hash is not None and hashlib.sha256(content).hexdigest() != expected_hash:
        raise _make_refusal(file, f"its content is not that of {file.stem} as tiktoken knows it", "get it once more")
    pairs = (line.split() for line in content.splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


def _make_refusal(file: Path, why: str, fix: str) -> Invalid:
    return Invalid(f"tokens cannot be counted by {file}", why=why, fix=f'{fix}, or set tokenizer to "estimate"')
