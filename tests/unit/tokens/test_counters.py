"""What counts tokens: functions of a program, and tokenizers' files."""

import base64
import hashlib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from credenda.errors import Invalid
from credenda.providers import tokens
from credenda.providers.tokens import open_counter
from credenda.text.fence import ESTIMATE

ENCODINGS = import_module("tiktoken_ext.openai_public").ENCODING_CONSTRUCTORS

WORDS = "I live in Linz and my sister plays the cello.\nEin zweiter Satz, 東京 🍵."


def words(text: str) -> int:
    return len(text.split())


@pytest.fixture
def tokenizer_file(tmp_path: Path) -> Path:
    """A small vocabulary of bytes, in a file that cuts texts short, fills them up and puts marks around them."""
    tokenizer: Tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([WORDS] * 20, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    tokenizer.enable_truncation(4)  # pyright: ignore[reportUnknownMemberType] - its stub leaves **kwargs open
    tokenizer.enable_padding(length=64)  # pyright: ignore[reportUnknownMemberType] - as above
    folder = tmp_path / "small-model"
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


@pytest.fixture
def ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The ranks of an encoding that the library is made to know: single bytes, and "Li" and "nz"."""
    tokens = [*(bytes([byte]) for byte in range(256)), b"Li", b"nz", b"Linz"]
    content = b"\n".join(base64.b64encode(token) + f" {rank}".encode() for rank, token in enumerate(tokens))
    recipe = (
        "def tiny():\n"
        "    ranks = load_tiktoken_bpe('https://example.org/tiny.tiktoken', expected_hash=HASH)\n"
        r"    return {'name': 'tiny', 'pat_str': r'\w+|\W', 'mergeable_ranks': ranks, 'special_tokens': {}}"
    )

    def load_tiktoken_bpe(*_: object, **__: object) -> None:
        raise AssertionError("nothing may be fetched")

    known: dict[str, Callable[[], object]] = {}
    names = {"load_tiktoken_bpe": load_tiktoken_bpe, "HASH": hashlib.sha256(content).hexdigest()}
    exec(recipe, names, known)  # noqa: S102 - a recipe as the library's own module holds them
    monkeypatch.setitem(ENCODINGS, "tiny", known["tiny"])
    file = tmp_path / "tiny.tiktoken"
    file.write_bytes(content)
    return file


@pytest.mark.parametrize("choice", ["", " ", "estimate"])
def test_without_a_choice_it_is_the_estimate(choice: str) -> None:
    assert open_counter(choice) is ESTIMATE


def test_a_function_counts_under_its_own_name() -> None:
    counter = open_counter(words)
    assert (counter.name, counter.count("one two"), counter.adds_up) == ("words", 2, False)

    def of_numpy(text: str) -> np.int64:
        return np.int64(len(text))

    assert open_counter(of_numpy).count("tea") == 3


class Wrong:
    def __init__(self, answer: object, blank: object = 0) -> None:
        self.answer, self.blank = answer, blank

    def __call__(self, text: str) -> object:
        return self.answer if text else self.blank


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (Wrong(-1), "counted '-1'"),
        (Wrong(1.5), "counted '1.5'"),
        (Wrong(3, blank=None), "counted 'None'"),
        (Wrong("7"), "counted '7'"),
        (Wrong([1, 2]), "counted"),
        (Wrong(True), "counted 'True'"),  # noqa: FBT003 - what a test for something gives
        (Wrong(0), "no token"),
        (7, "neither a path nor a function"),
    ],
)
def test_what_counts_nothing_is_refused(given: object, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        open_counter(given)


def test_what_a_function_raises_is_its_callers() -> None:
    def broken(_: str) -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        open_counter(broken)


def test_a_file_counts_every_token_and_no_marks(tokenizer_file: Path) -> None:
    counter = open_counter(str(tokenizer_file))
    assert counter.name == "small-model/tokenizer.json"
    plain = Tokenizer.from_file(str(tokenizer_file))
    plain.no_truncation()
    plain.no_padding()
    assert counter.count(WORDS) == len(plain.encode(WORDS).ids) - 1 > 4
    assert counter.count("") == 0
    assert counter.count("\ud800 tea \x00") > 0
    assert open_counter(tokenizer_file.parent).count(WORDS) == counter.count(WORDS)


def test_a_file_that_was_changed_is_read_anew(tokenizer_file: Path) -> None:
    before = open_counter(tokenizer_file).count(WORDS)
    tokenizer_file.write_text(Tokenizer.from_file(str(tokenizer_file)).to_str().replace('"merges": [', '"merges": [\n'))
    assert open_counter(tokenizer_file).count(WORDS) == before


def test_ranks_count_as_the_librarys_own_encoding_does(ranks: Path) -> None:
    counter = open_counter(ranks)
    assert counter.count("Linz") == 1
    assert counter.count("Linz, Graz") == 1 + 1 + 1 + 4
    assert counter.name.endswith("/tiny.tiktoken")


def test_ranks_that_are_others_are_refused(ranks: Path) -> None:
    ranks.write_bytes(ranks.read_bytes() + b"\nTGluegg= 259")
    with pytest.raises(Invalid, match="not that of tiny"):
        open_counter(ranks).count("tea")
    other = ranks.rename(ranks.with_name("unheard_of.tiktoken"))
    with pytest.raises(Invalid, match=r"knows no encoding 'unheard_of'.*cl100k_base"):
        open_counter(other).count("tea")


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("none.json", None, "cannot be found"),
        ("model.bin", b"x", r"neither in \.json nor in \.tiktoken"),
        ("tokenizer.json", b"", "no file of 1 to"),
    ],
)
def test_a_file_that_cannot_count_is_refused_when_it_is_named(
    tmp_path: Path, name: str, content: bytes | None, why: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(Invalid, match=why):
        open_counter(tmp_path / name)


@pytest.mark.parametrize("content", [b"{}", b"not json", b'{"version": "1.0", "model": 7}', b"\xff\xfe\x00"])
def test_a_file_that_is_no_tokenizer_is_refused_when_it_is_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tokenizer.json").write_bytes(content)
    with pytest.raises(Invalid, match=r"tokenizer\.json: it cannot be read"):
        open_counter(tmp_path).count("tea")


def test_a_path_that_cannot_be_one_is_refused() -> None:
    with pytest.raises(Invalid, match="cannot be found"):
        open_counter("tea\0.json")


def test_a_missing_library_is_named(tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_LIBRARIES", {".json": "a_package_that_is_nowhere"})
    with pytest.raises(Invalid, match=r'a_package_that_is_nowhere is not installed.*pip install "\.\[tokens\]"'):
        open_counter(tokenizer_file)


def test_a_recipe_of_another_kind_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENCODINGS, "odd", SimpleNamespace())
    (tmp_path / "odd.tiktoken").write_bytes(b"IQ== 0")
    with pytest.raises(Invalid, match="knows no encoding 'odd'"):
        open_counter(tmp_path / "odd.tiktoken").count("tea")
