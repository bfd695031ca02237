"""Text to numbers of word pieces, as BERT base uncased and the models trained after it read them."""

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

    Cuts text exactly as the `tokenizer.json` published with all-MiniLM-L6-v2 does, but for the marks that are the
    model's own: "[SEP]" inside a text is four pieces like any other, not the end of a sentence.
    """

    def __init__(self, tokens: int) -> None:
        """Cut texts to `tokens` pieces, the marks at both ends included."""
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
        pieces.enable_truncation(tokens)  # pyright: ignore[reportUnknownMemberType] - its stub leaves **kwargs open
        self._pieces = pieces

    def numbers(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the numbers of the pieces of each text, at least the two marks."""
        return [self._pieces.encode(join_surrogates(text)).ids for text in texts]


def _load_pieces() -> list[str]:
    packed = files("credenda.providers.embed").joinpath("data", "vocabulary.txt.gz").read_bytes()
    return gzip.decompress(packed).decode("utf-8").splitlines()
