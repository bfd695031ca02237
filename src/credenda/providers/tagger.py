"""The reader that ships: a small encoder trained to tag the facts of a message, run by onnxruntime.

One model reads English; another, of a package of its own, reads the languages that its card names. Each has two graphs.
The encoder gives each piece of a window a state and, for each of seven roles, the probabilities that it is
outside, begins or continues such a span. The heads classify the spans that are values, and link them to the others.
`training/` has the messages that it learned from, the recipe and the figures.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from credenda.errors import Unavailable, format_install
from credenda.lazy import load_runtime
from credenda.model.attributes import TASTES
from credenda.model.claim import LISTENER, SPEAKER, Fact, FactChange, FactStatus, Words
from credenda.providers import embed
from credenda.providers.languages import find_language
from credenda.text.normalize import join_surrogates
from credenda.text.sentences import split_sentences

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


_PACKAGE: Final = "credenda_models"
_MULTILINGUAL: Final = "credenda_multilingual"
_FOLDER: Final = "reader"
_NEEDED: Final = ("onnxruntime", "tokenizers", "py3langid", _PACKAGE)
_PIECES: Final = 192
"""Pieces of a window, special ones included; the encoder was trained on as many."""
_BEFORE: Final = 48
"""Pieces of the message before, its last ones."""
_WINDOWS: Final = 256
"""Windows of a message, each of a sentence: of several together the encoder misses more. What follows is pasted."""
_VALUE: Final = 0.25
"""Probability from which a piece begins a value."""
_OTHER: Final = 0.4
"""Probability from which a piece begins a span of another role."""
_GOES_ON: Final = 0.3
_RIVAL: Final = 0.7
_FRESH: Final = 0.5
_LINKED: Final = 0.5
_TOPIC: Final = 0.55
"""Probability from which the kind of what somebody likes names its slot."""
_SLOTS: Final = TASTES | {"hobby"}
"""Kinds of things that are slots of likings; a liking of any other keeps its own."""
_ROLES: Final = ("value", "subject", "key", "old", "when", "scope", "quote")
_LINKS: Final[tuple[str, ...]] = ("subject", "key", "old", "when", "scope")
_LOADING: Final = Lock()

Span = tuple[int, int]
"""First and last piece."""


_HURTING: Final = frozenset(
    {"allergy", "medication", "condition", "diet", "name", "employer", "job_title", "residence", "age"}
)
"""Attributes for which what stands before may not stand in: after "I'm allergic to nuts", ruff is no allergy."""
_ORDER: Final = re.compile(r"(?:(?:and|but|also|so|then|please)\W+)*(?:always|never|from now on)\b", re.IGNORECASE)
"""Words that begin an order, which is told by itself."""
_CLAUSE_END: Final = re.compile(r"[,.;:!?\n]")
_NEGATIONS: Final = {
    "de": frozenset("nicht nie niemals kein keine keinen keinem keiner keins ohne weder nix net".split()),  # noqa: SIM905
    "es": frozenset("no nunca jamás ningún ninguna ninguno sin tampoco".split()),  # noqa: SIM905
    "fr": frozenset("ne n pas jamais aucun aucune sans".split()),  # noqa: SIM905
    "pt": frozenset("não nao nunca jamais nenhum nenhuma sem nem".split()),  # noqa: SIM905
}
_UNSURE: Final = 0.5
"""From this probability of being no fact, a value may be read with a word less."""
_PLAIN: Final = 0.6
"""Certainties of a fact and its attribute from which a sentence tells it by itself, whatever stands before."""
_SURE: Final = 0.4
"""The probability of being no fact below which it is."""


class _Window(NamedTuple):
    """A part of a message with the message before, as pieces; `base` is the number of the first piece of the part."""

    ids: list[int]
    base: int
    text: str
    offset: int
    """Where the part begins in the message."""
    places: list[tuple[int, int]]
    before: str
    before_places: list[tuple[int, int]]
    after_message: bool
    """Whether what stands before is another message, of which this one may take up a value: "me too"."""

    def read_alone(self) -> _Window:
        """Return the window without what stands before it."""
        first, last = self.ids[0], self.ids[-1]
        return self._replace(ids=[first, last, *self.ids[self.base :]], base=2, before="", before_places=[])

    def words(self, span: Span) -> Words:
        """Return the words of a span."""
        first, last = span[0] - self.base, span[1] - self.base
        if first >= 0:
            start, stop = _widen(self.text, self.places[first][0], self.places[min(last, len(self.places) - 1)][1])
            return Words(self.text[start:stop], self.offset + start, self.offset + stop)
        last = min(span[1] - 1, len(self.before_places) - 1)
        start, stop = _widen(self.before, self.before_places[span[0] - 1][0], self.before_places[last][1])
        return Words(self.before[start:stop])


def _widen(text: str, start: int, stop: int) -> Span:
    """Widen a place to whole words, of which the model may mark a part, in scripts that have spaces between words.

    Letters with a case are of such scripts, and so are the digits between them.

    >>> _widen("left Quillmark", 5, 8)
    (5, 14)
    """
    while start > 0 and _is_of_word(text[start - 1 : start + 1]):
        start -= 1
    while 0 < stop < len(text) and _is_of_word(text[stop - 1 : stop + 1]):
        stop += 1
    return start, stop


def _is_of_word(signs: str) -> bool:
    return all(one.isdecimal() or (one.isalpha() and one.lower() != one.upper()) for one in signs)


def is_installed() -> bool:
    """Return whether the model and what runs it are installed; loads neither."""
    return not list_missing()


def list_missing() -> list[str]:
    """Return the modules that are not installed, of the model and of what runs it."""
    return [name for name in _NEEDED if find_spec(name) is None]


class TaggingReader:
    """Reads messages with the models that are installed, each loaded at its first message and shared by the process."""

    def __init__(self) -> None:
        """Raise `Unavailable` if the model or its runtime is not installed."""
        if not is_installed():
            raise _make_error(f"not installed: {', '.join(list_missing())}")

    @property
    def reader_id(self) -> str:
        """Names and versions of the models; raises `Unavailable` if the one for English is not installed."""
        packages = [_PACKAGE, *([_MULTILINGUAL] if find_spec(_MULTILINGUAL) else [])]
        return " ".join(_get_loaded(package).card["reader_id"] for package in packages)

    def reads(self, text: str, before: str = "") -> bool:
        """Return whether a model reads the language of a message, which may answer the one before it."""
        return bool(_find_package(find_language(text, before)))

    def read(self, text: str, before: str = "") -> Sequence[Fact]:
        """Return the facts of a message in order, whatever their certainty; none in a language that no model reads.

        A message is read sentence by sentence, each with the one before it, the first with the message before. Every
        one runs alone, so that its facts depend on nothing but that. A kind of fact that can hurt is told by the
        sentence itself, unless what stands before it asks for it.
        """
        language = find_language(text, before)
        package = _find_package(language)
        if not package:
            return []
        model = _get_loaded(package)
        windows = islice(_cut_windows(model, text, before), _WINDOWS)
        facts = sorted((fact for window in windows for fact in _read_window(model, window)), key=_find_start)
        if language == "en":
            return facts
        return [replace(fact, language=language) for fact in facts if not _is_misread_denial(fact, text, language)]


def _find_package(language: str) -> str:
    """Return the package of the model that reads a language; "" if none is installed."""
    if language == "en":
        return _PACKAGE
    known = language and find_spec(_MULTILINGUAL) and language in _get_loaded(_MULTILINGUAL).card["languages"]
    return _MULTILINGUAL if known else ""


def _is_misread_denial(fact: Fact, text: str, language: str) -> bool:
    """Return whether a fact is told as so while a word of its clause denies something, or as denied while none does.

    The model for these languages learned from few denials.
    """
    if fact.attribute == "dislikes":
        return fact.status is FactStatus.DENIED
    start, stop = max(fact.value.start, 0), max(fact.value.stop, 0)
    before, after = _CLAUSE_END.split(text[:start])[-1], _CLAUSE_END.split(text[stop:])[0]
    denied = not _NEGATIONS.get(language, frozenset()).isdisjoint(re.findall(r"\w+", f"{before} {after}".lower()))
    if fact.status is FactStatus.DENIED:
        return not denied
    return denied and fact.status not in {FactStatus.ENDED, FactStatus.PAST}


def _find_start(fact: Fact) -> int:
    return fact.value.start


def _read_window(model: _Model, window: _Window) -> Sequence[Fact]:
    """Read a sentence with what stands before it, and by itself where that could mislead.

    What stands before explains an answer and distracts from a statement. A kind of fact that can hurt is told by the
    sentence itself, unless what stands before it asks for it. After another message the sentence is always read by
    itself too, and of the same words the surer reading is kept.
    """
    facts = list(model.read(window))
    if not window.before:
        return facts
    asked = "?" in window.before
    kept = [fact for fact in facts if asked or fact.attribute not in _HURTING]
    if len(kept) == len(facts) and not window.after_message:
        return facts
    misled = {fact.value for fact in facts if fact not in kept}
    for fact in model.read(window.read_alone()):
        same = [one for one in kept if (one.value.start < fact.value.stop and fact.value.start < one.value.stop)]
        plain = window.after_message and min(fact.certainty, fact.attribute_certainty) >= _PLAIN
        if fact.value in misled or (plain and all(one.certainty < fact.certainty for one in same)):
            kept = [one for one in kept if one not in same] + [fact]
    return kept


def _cut_windows(model: _Model, text: str, before: str) -> Iterator[_Window]:
    """Yield the sentences of a message; one that is long, as dictated text is, in several windows."""
    shown = before[-_BEFORE * 16 :]
    after = True
    head, places = model.pieces.split_plain(shown)
    for start, stop in split_sentences(text):
        ids, offsets = model.pieces.split_plain(text[start:stop])
        if not after and _ORDER.match(text, start):
            head, places, shown = [], [], ""
        head, places = head[-_BEFORE:], places[-_BEFORE:]
        most = _PIECES - len(head) - 3
        for at in range(0, len(ids), most):
            whole = [model.cls, *head, model.sep, *ids[at : at + most], model.sep]
            yield _Window(whole, len(head) + 2, text[start:stop], start, offsets[at : at + most], shown, places, after)
        head, places, shown, after = ids, offsets, text[start:stop], False


class _Pieces:
    """A tokenizer of a file of its own, whose pieces may begin with the space before them."""

    def __init__(self, file: str) -> None:
        from tokenizers import Tokenizer

        self._pieces: Tokenizer = Tokenizer.from_str(file)

    def split_plain(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the numbers of all pieces of a text and the characters of each, without the space before it."""
        found = self._pieces.encode(join_surrogates(text), add_special_tokens=False)
        return found.ids, [(start + text[start:stop].startswith(" "), stop) for start, stop in found.offsets]


class _Model:
    """The two graphs, the pieces, and the names of what they give."""

    def __init__(self, folder: Path) -> None:
        """Load the model of a folder; raises `ValueError` for files that are not those of its card."""
        self.card: Mapping[str, Any] = json.loads((folder / "reader.json").read_text("utf-8"))
        self.cls, self.sep = self.card["special"]
        pieces = folder / "pieces.json"
        self.pieces = _Pieces(pieces.read_text("utf-8")) if pieces.exists() else embed.minilm.WordPieces(None)
        self._encoder = _open_graph(folder / "encoder.onnx", self.card["sha256"]["encoder.onnx"])
        self._heads = _open_graph(folder / "heads.onnx", self.card["sha256"]["heads.onnx"])

    def read(self, window: _Window) -> Iterator[Fact]:
        """Yield the facts of a window."""
        import numpy as np

        count = len(window.ids)
        kinds = np.zeros((1, count), np.int64)
        kinds[0, window.base :] = 1
        ids = np.array([window.ids], np.int64)
        states, tags = self._encoder.run(None, {"ids": ids, "mask": np.ones_like(ids), "typ": kinds})
        spans = _list_spans(tags[0].reshape(count, len(_ROLES), 3), window)
        if not spans["value"]:
            return
        linked = [(role, span) for role in _LINKS for span in spans[role]]
        proposed = [(span, *_list_shorter(window, span, spans)) for span in spans["value"]]
        values = np.stack([_encode_span(states[0], span, whole=True) for spans in proposed for span in spans])
        others = [_encode_span(states[0], span) for _, span in linked] or [values[0, : 3 * states.shape[2]]]
        named = [one.name for one in self._heads.get_outputs()]
        heads = dict(zip(named, self._heads.run(None, {"values": values, "others": np.stack(others)}), strict=True))
        at = 0
        for choices in proposed:
            nothing = heads["weight"][at : at + len(choices), 0]
            chosen = int(nothing.argmin()) if nothing[0] > _UNSURE and nothing.min() < _SURE else 0
            at, chosen, span = at + len(choices), at + chosen, choices[chosen]
            words = window.words(span)
            if words.text:
                parts = _find_parts(window, heads["links"][:, chosen], linked)
                parts["key"] = "" if parts["key"] == words.text else parts["key"]
                shares = {name: heads[name][chosen] for name in named if name != "links"}
                attribute, weight = shares["attribute"], shares["weight"]
                subject = int(shares["subject"].argmax())
                told = self.card["attributes"][int(attribute.argmax())]
                yield Fact(
                    value=words,
                    quote=_find_quote(window, words, spans["quote"]),
                    attribute=told,
                    subject=(SPEAKER, LISTENER, parts["subject"])[subject],
                    key=parts["key"] or (self._name_topic(shares["topic"]) if told == "likes" else ""),
                    old=parts["old"],
                    scope=parts["scope"],
                    when=parts["when"],
                    status=FactStatus(self.card["statuses"][int(shares["status"].argmax())]),
                    change=FactChange(self.card["changes"][int(shares["change"].argmax())]),
                    weight=2 if weight[2] >= weight[1] else 1,
                    certainty=1.0 - float(weight[0]),
                    attribute_certainty=float(attribute.max()),
                )

    def _name_topic(self, shares: Floats) -> str:
        """Name the slot of a liking by the kind of its value; "" if that is unsure or has none."""
        topic = self.card["topics"][int(shares.argmax())]
        return topic if shares.max() >= _TOPIC and topic in _SLOTS else ""


def _list_spans(tags: Floats, window: _Window) -> dict[str, list[Span]]:
    """List the spans of each role; only values may lie in the message before."""
    import numpy as np

    shares = np.exp(tags - tags.max(axis=2, keepdims=True))
    shares /= shares.sum(axis=2, keepdims=True)
    found = {
        role: _join_pieces(shares[:, at].tolist(), _VALUE if role == "value" else _OTHER)
        for at, role in enumerate(_ROLES)
    }
    return {
        role: [
            (first, last)
            for first, last in spans
            if last < len(tags) - 1
            and (first >= window.base or (role == "value" and window.after_message and last < window.base - 1))
        ]
        for role, spans in found.items()
    }


def _list_shorter(window: _Window, span: Span, spans: Mapping[str, Sequence[Span]]) -> list[Span]:
    """List a value of the message without its last word, and without its first: "peanut" of "peanut allergy".

    Also without the words that say when or in what case, with which it may end: "metformin every morning".
    """
    first, last = span
    places, base = window.places, window.base
    begins = [
        at
        for at in range(first + 1, last + 1)
        if first >= base and at - base < len(places) and places[at - base - 1][1] < places[at - base][0]
    ]
    ends = [at for role in ("when", "scope") for at, _ in spans[role] if at in begins]
    return [(first, begins[-1] - 1), (begins[0], last), *((first, at - 1) for at in ends)] if begins else []


def _join_pieces(shares: list[list[float]], threshold: float) -> list[Span]:
    """Join pieces to spans: one that begins, and those that go on after it."""
    spans: list[Span] = []
    at, count = 1, len(shares)
    while at < count:
        _, begins, goes_on = shares[at]
        if begins < threshold or begins < goes_on * _RIVAL:
            at += 1
            continue
        last = at
        while last + 1 < count and _is_continued(shares, last + 1):
            last += 1
        spans.append((at, last))
        at = last + 1
    return spans


def _is_continued(shares: list[list[float]], at: int) -> bool:
    """Return whether a piece belongs to the span before it; "the" of "hiking in the Alps" does by the piece after."""
    outside, begins, goes_on = shares[at]
    if goes_on <= _GOES_ON or begins >= _FRESH:
        return False
    return goes_on > outside or (at + 1 < len(shares) and shares[at + 1][2] > max(shares[at + 1][:2]))


def _encode_span(states: Floats, span: Span, *, whole: bool = False) -> Floats:
    """Represent a span by its first, last and mean state, and with `whole` by that of the window."""
    import numpy as np

    first, last = span
    parts = [states[first], states[last], states[first : last + 1].mean(axis=0)]
    return np.concatenate([*parts, states[0]] if whole else parts)


def _find_parts(window: _Window, scores: Floats, linked: Sequence[tuple[str, Span]]) -> dict[str, str]:
    """Find the likeliest words of each role that belong to a value; "" where none does."""
    parts: dict[str, str] = dict.fromkeys(_LINKS, "")
    best: dict[str, float] = dict.fromkeys(_LINKS, _LINKED)
    for at, (role, span) in enumerate(linked):
        score = float(scores[_LINKS.index(role), at])
        if score > best[role]:
            parts[role], best[role] = window.words(span).text, score
    return parts


def _find_quote(window: _Window, value: Words, quotes: Sequence[Span]) -> Words:
    """Find the quotation that holds a value, else its sentence; of a value in the message before, the whole window."""
    found = [window.words(span) for span in quotes]
    holding = [one for one in found if one.start <= value.start and value.stop <= one.stop and value.start >= 0]
    if holding:
        return min(holding, key=lambda one: one.stop - one.start)
    if value.start < 0:
        return found[0] if found else Words(window.text, window.offset, window.offset + len(window.text))
    for start, stop in split_sentences(window.text):
        if window.offset + start <= value.start < window.offset + stop:
            return Words(window.text[start:stop], window.offset + start, window.offset + stop)
    return value


def _open_graph(path: Path, digest: str) -> Any:  # noqa: ANN401 - onnxruntime has no types
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise ValueError(f"{path} is not the file that this version was tested with")
    runtime = load_runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # it grows to the largest message ever seen and never shrinks
    options.log_severity_level = 3
    return runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def _get_loaded(package: str) -> _Model:
    """Return the model of a package, loaded once for the process by the first thread."""
    with _LOADING:
        return _load(package)


@cache
def _load(package: str) -> _Model:
    try:
        return _Model(Path(import_module(package).__file__ or "").with_name(_FOLDER))
    except (ImportError, OSError, ValueError, KeyError) as error:
        raise _make_error(str(error)) from error


def _make_error(why: str) -> Unavailable:
    fix = f'{format_install()}, or set reader = "none"'
    return Unavailable("the learned reader cannot be loaded", why=why, fix=fix)
