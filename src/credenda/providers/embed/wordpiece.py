"""Tokenization of text into word piece numbers, as in BERT base uncased and the models trained after it."""

from __future__ import annotations

import gzip
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from credenda.text.encodable import join_surrogates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tokenizers import Tokenizer

__all__ = ["WordPieces"]

_WORD_CHARACTERS: Final = 100
"""A longer word is unknown."""


class WordPieces:
    """The tokenizer of BERT base uncased, built from the vocabulary that ships.

    Splits text exactly as the `tokenizer.json` published with all-MiniLM-L6-v2 does, except for the model's special
    tokens: "[SEP]" inside a text is four ordinary pieces, not the end of a sentence.
    """

    def __init__(self, tokens: int | None) -> None:
        """Cut texts to `tokens` pieces, including the special tokens at both ends; None cuts nothing."""
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

        vocabulary = {piece: number for number, piece in enumerate(_load_pieces())}
        pieces: Tokenizer = Tokenizer(
            models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=_WORD_CHARACTERS)  # noqa: S106 - a piece of text
        )
        pieces.normalizer = normalizers.BertNormalizer()
        pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        pieces.post_processor = processors.BertProcessing(
            ("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"])
        )
        if tokens is not None:
            pieces.enable_truncation(tokens)  # pyright: ignore[reportUnknownMemberType] - its stub leaves **kwargs open
        self._pieces = pieces

    def numbers(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the piece numbers of each text, at least the two special tokens."""
        return [numbers for numbers, _ in self.split(texts)]

    def split(self, texts: Sequence[str]) -> list[tuple[list[int], list[tuple[int, int]]]]:
        """Return for each text the piece numbers and the characters of each piece; special tokens have none."""
        found = (self._pieces.encode(join_surrogates(text)) for text in texts)
        return [(one.ids, one.offsets) for one in found]

    def split_plain(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the numbers of all pieces of a text and the characters of each, without special tokens."""
        found = self._pieces.encode(join_surrogates(text), add_special_tokens=False)
        return found.ids, found.offsets


def _load_pieces() -> list[str]:
    packed = files("credenda.providers.embed").joinpath("data", "vocabulary.txt.gz").read_bytes()
    return gzip.decompress(packed).decode("utf-8").splitlines()
