"""Retrieval over conversations, as the public contract defines it: store every turn, search every question.

It uses only `remember`, `settle` and `search`. Each conversation is a separate tenant in one temporary store.
"""

from __future__ import annotations

import hashlib
import math
import random
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.sentences import Asked
from benchmarks.stats import compute_median, find_percentile, read_numbered_lines
from credenda import Conflict, Credenda, Invalid
from credenda.clock import seconds
from credenda.model.query import Hit
from credenda.text.tokens import extract_query_terms, tokenize

# A plain BM25 over turns, the baseline of every retrieval benchmark.


_K1: Final = 1.2
_B: Final = 0.75


class PlainBm25:
    """Ranks the texts of one conversation."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Index texts by their ids."""
        self._postings: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        self._lengths: dict[str, int] = {}
        for name, text in texts.items():
            terms = tokenize(text)
            self._lengths[name] = len(terms)
            for term, count in Counter(terms).items():
                self._postings[term].append((name, count))
        self._mean = max(1.0, sum(self._lengths.values()) / max(1, len(self._lengths)))

    def rank(self, question: str, limit: int) -> list[str]:
        """Return the ids of the best texts, best first; ties keep the order of the texts."""
        scores = self.score(question)
        order = {name: place for place, name in enumerate(self._lengths)}
        return sorted(scores, key=lambda name: (-scores[name], order[name]))[:limit]

    def score(self, question: str) -> dict[str, float]:
        """Return the score of each text that has a term of the question."""
        scores: defaultdict[str, float] = defaultdict(float)
        for term in extract_query_terms(question):
            found = self._postings.get(term, [])
            idf = math.log(1 + (len(self._lengths) - len(found) + 0.5) / (len(found) + 0.5))
            for name, count in found:
                norm = _K1 * (1 - _B + _B * self._lengths[name] / self._mean)
                scores[name] += idf * count * (_K1 + 1) / (count + norm)
        return scores


# The measures of a ranking in `bench locomo`, each for one question, and their means.


_ANY: Final = (1, 5, 10, 20, 50)
_ALL: Final = (5, 10, 20, 50)
_DEPTH: Final = 10
_RESAMPLES: Final = 1_000

MEASURES: Final = (*(f"any@{k}" for k in _ANY), *(f"all@{k}" for k in _ALL), "recall@10", "mrr", "ndcg@10")
"""Names of the measures, in display order."""


def measure_ranking(ranked: Sequence[str], gold: Collection[str]) -> dict[str, float]:
    """Measure one ranking, best first and without repeats, against at least one gold turn.

    >>> measure_ranking(["a", "b", "c"], {"b", "z"})["mrr"]
    0.5
    """
    wanted = set(gold)
    if not wanted:
        raise ValueError("a question without gold turns cannot be judged")
    places = [place for place, turn in enumerate(ranked, 1) if turn in wanted]
    found = {k: sum(place <= k for place in places) for k in {*_ANY, *_ALL, _DEPTH}}
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(len(wanted), _DEPTH) + 1))
    gain = sum(1 / math.log2(place + 1) for place in places if place <= _DEPTH)
    return {
        **{f"any@{k}": float(found[k] > 0) for k in _ANY},
        **{f"all@{k}": float(found[k] == len(wanted)) for k in _ALL},
        "recall@10": found[_DEPTH] / len(wanted),
        "mrr": 1 / places[0] if places else 0.0,
        "ndcg@10": gain / ideal,
    }


def average(judged: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Average the measures over questions; 0 for each when there is none."""
    count = max(1, len(judged))
    return {name: round(sum(one[name] for one in judged) / count, 4) for name in MEASURES}


def compute_bootstrap_intervals(
    judged: Sequence[Mapping[str, float]], *, seed: int = 0
) -> dict[str, tuple[float, float]]:
    """Return a 95 % interval of each mean: percentiles over seeded resamples of the questions."""
    if not judged:
        return dict.fromkeys(MEASURES, (0.0, 0.0))
    draw = random.Random(seed)
    rows = [[one[name] for name in MEASURES] for one in judged]
    resampled: list[list[float]] = []
    for _ in range(_RESAMPLES):
        sample = draw.choices(rows, k=len(rows))
        resampled.append([sum(column) / len(rows) for column in zip(*sample, strict=True)])
    columns = zip(MEASURES, zip(*resampled, strict=True), strict=True)
    return {name: (round(find_percentile(c, 0.025), 4), round(find_percentile(c, 0.975), 4)) for name, c in columns}


def compute_auroc(present: Sequence[float], absent: Sequence[float]) -> float | None:
    """Return how often a score where the answer is present beats one where it is absent; a tie counts half.

    None when either is empty.

    >>> compute_auroc([0.9, 0.4], [0.4, 0.1])
    0.875
    """
    if not present or not absent:
        return None
    won = sum((one > other) + (one == other) / 2 for one in present for other in absent)
    return round(won / (len(present) * len(absent)), 4)


Note = Callable[[str], None]
_DEPTH_LOCOMO: Final = 50
_ABSENT: Final = frozenset({"adversarial", "abstention"})
"""Categories whose questions have no answer in the conversation, even if they name turns."""
_MESSAGES: Final = 500
_SETTLE_SECONDS: Final = 3_600.0
_CITED: Final = re.compile(r"^- \[(m[^\]\s]+)\]", re.MULTILINE)
"""Ids of memories at the beginnings of a context's lines."""
_ROLES: Final = frozenset({"user", "assistant"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One conversation: messages by session, and the text of each turn by its id."""

    name: str
    sessions: Sequence[tuple[str, Sequence[Mapping[str, object]]]]
    turns: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question with its gold turns; none when the conversation does not answer it."""

    conversation: str
    category: str
    text: str
    gold: frozenset[str]

    @property
    def answerable(self) -> bool:
        """Return whether the answer is in the conversation."""
        return bool(self.gold) and self.category not in _ABSENT


class _Answer(NamedTuple):
    """The result of a question: turns best first, from the memory and from plain BM25."""

    question: Question
    turns: list[str]
    plain: list[str]
    score: float
    abstained: bool
    took_seconds: float
    packed: list[str] | None = None
    """Turns of the lines of a context for the question; None if no context was requested."""


def read_lines(path: Path, *, may_be_empty: bool = False) -> list[dict[str, Any]]:
    """Read JSON Lines, gzipped or not; raise `Invalid` naming the malformed line."""
    return [line for _, line in read_numbered_lines(path, may_be_empty=may_be_empty)]


def load_conversations(path: Path) -> list[Conversation]:
    """Read a conversation file; raise `Invalid` for any other file."""
    try:
        return [_parse_conversation(row) for row in read_lines(path)]
    except (KeyError, TypeError, AttributeError) as error:
        what = f"{path} is not a conversation file"
        raise Invalid(what, why=f"{type(error).__name__}: {error}", fix="see the conversation format") from error


def _parse_conversation(row: Mapping[str, Any]) -> Conversation:
    sessions: list[tuple[str, list[Mapping[str, object]]]] = []
    turns: dict[str, str] = {}
    for session in row["sessions"]:
        messages: list[Mapping[str, object]] = []
        for turn in session["turns"]:
            caption = turn.get("image_caption")
            said = f"{turn['text']} [image: {caption}]" if caption else str(turn["text"])
            turns[str(turn["id"])] = said
            messages.append(_make_message(turn, said, turn.get("time") or session.get("time")))
        sessions.append((str(session["id"]), messages))
    return Conversation(name=str(row["conv"]), sessions=sessions, turns=turns)


def _make_message(turn: Mapping[str, Any], said: str, moment: str | None) -> Mapping[str, object]:
    speaker = str(turn["speaker"])
    role = speaker.casefold()
    who = {"role": role} if role in _ROLES else {"role": "person", "name": speaker}
    return {**who, "content": said, "timestamp": moment, "id": str(turn["id"])}


def load_questions(path: Path) -> list[Question]:
    """Read questions; audited gold turns count where present. Raise `Invalid` for a file without questions."""
    try:
        return [
            Question(
                conversation=str(row["conv"]),
                category=str(row["category"]),
                text=str(row["question"]),
                gold=frozenset(map(str, row.get("evidence_audited", row["evidence"]))),
            )
            for row in read_lines(path)
        ]
    except (KeyError, TypeError) as error:
        what = f"{path} is not a question file"
        raise Invalid(what, why=f"{type(error).__name__}: {error}", fix="see the format of questions") from error


def find_turns(hits: Iterable[Hit]) -> list[str]:
    """Map hits to turn ids by their events, best first, each turn once."""
    found: dict[str, None] = {}
    for hit in hits:
        for event in hit.evidence if hit.event is None else (hit.event,):
            if event.external_id is not None:
                found.setdefault(event.external_id)
    return list(found)


def run_locomo(
    data: Path,
    questions: Path,
    *,
    embedder: str = "none",
    limit: int | None = None,
    context: int = 0,
    target: str | None = None,
    note: Note,
) -> dict[str, object]:
    """Store, search and measure; return the document of `bench locomo --json`.

    With `context`, a budget of tokens, every question is packed as well, and its turns are measured. `target` is an
    empty database that keeps the conversations; without one they are in a temporary file. Raises `Conflict` where the
    database has one of them.
    """
    asked = load_questions(questions)[:limit]
    wanted = {question.conversation for question in asked}
    conversations = [one for one in load_conversations(data) if one.name in wanted]
    missing = wanted - {one.name for one in conversations}
    if missing:
        raise Invalid(f"no conversation {min(missing)!r}", why="a question names it", fix="give the matching files")
    answers: list[_Answer] = []
    store_seconds = 0.0
    with tempfile.TemporaryDirectory(prefix="credenda-bench-") as folder:
        for conversation in conversations:
            mine = [question for question in asked if question.conversation == conversation.name]
            note(f"{conversation.name}: {len(conversation.turns)} turns, {len(mine)} questions")
            path = target or str(Path(folder) / "memory.db")
            with Credenda.open(path, user=conversation.name, embedder=embedder, workers=False) as memory:
                if memory.stats().events:
                    raise Conflict(f"{conversation.name} is in this database", fix="give an empty one as --db")
                store_seconds += store_conversation(memory, conversation)
                answers += _ask(memory, conversation, mine, context)
    return report(answers, embedder=embedder, store_seconds=store_seconds)


def store_conversation(memory: Credenda, conversation: Conversation) -> float:
    """Store every turn of a conversation, with its session, time and speaker, and wait; return the seconds."""
    start = seconds()
    for session, messages in conversation.sessions:
        for at in range(0, len(messages), _MESSAGES):
            memory.remember(messages[at : at + _MESSAGES], session=session)
    memory.settle(_SETTLE_SECONDS)
    return seconds() - start


def _ask(
    memory: Credenda, conversation: Conversation, questions: Sequence[Question], context: int = 0
) -> list[_Answer]:
    plain = PlainBm25(conversation.turns)
    answers: list[_Answer] = []
    for question in questions:
        start = seconds()
        result = memory.search(question.text, limit=_DEPTH_LOCOMO, record_access=False)
        took = seconds() - start
        score = max((hit.score for hit in result.hits), default=0.0)
        turns = find_turns(result.hits)
        ranked = plain.rank(question.text, _DEPTH_LOCOMO)
        packed = _pack_context(memory, question.text, context) if context else None
        answers.append(_Answer(question, turns, ranked, score, result.abstained, took, packed))
    return answers


def _pack_context(memory: Credenda, question: str, budget: int) -> list[str]:
    """Return the turns of the lines of a context; each line names its memory or event."""
    block = memory.context(question, token_budget=budget, record_access=False)
    found = dict.fromkeys(find_turns(block.hits))
    shown = {hit.id for hit in block.hits}
    for name in _CITED.findall(block.text):
        if name not in shown:
            found.update(dict.fromkeys(e.external_id for e, _, _ in memory.why(name).evidence if e.external_id))
    return list(found)


def report(answers: Sequence[_Answer], *, embedder: str, store_seconds: float) -> dict[str, object]:
    """Return the figures of the contract, all as fractions."""
    judged = [
        (answer, measure_ranking(answer.turns, answer.question.gold)) for answer in answers if answer.question.gold
    ]
    usual = [measures for answer, measures in judged if answer.question.category != "adversarial"]
    plain = [
        measure_ranking(answer.plain, answer.question.gold)
        for answer, _ in judged
        if answer.question.category != "adversarial"
    ]
    categories: dict[str, list[dict[str, float]]] = {}
    for answer, measures in judged:
        categories.setdefault(answer.question.category, []).append(measures)
    return {
        "embedder": embedder,
        "n": len(usual),
        "overall": average(usual),
        "overall_ci95": compute_bootstrap_intervals(usual),
        "with_adversarial": {"n": len(judged), **average([measures for _, measures in judged])},
        "categories": {name: {"n": len(found), **average(found)} for name, found in sorted(categories.items())},
        "bm25": {"n": len(plain), **average(plain)},
        "abstention": _measure_abstention(answers),
        "context": _score_contexts(answers),
        "seconds": {
            "store": round(store_seconds, 3),
            "search_median": round(compute_median([answer.took_seconds for answer in answers]), 6) if answers else 0.0,
        },
    }


def _score_contexts(answers: Sequence[_Answer]) -> dict[str, dict[str, float]]:
    """Return for each category how often a context contains one, or every, gold turn; empty without contexts."""
    found: dict[str, list[tuple[bool, bool]]] = {}
    for answer in answers:
        gold = answer.question.gold
        if answer.packed is not None and gold:
            held = gold.intersection(answer.packed)
            found.setdefault(answer.question.category, []).append((bool(held), held == gold))
    return {
        name: {
            "n": len(pairs),
            "any": round(sum(one for one, _ in pairs) / len(pairs), 4),
            "all": round(sum(every for _, every in pairs) / len(pairs), 4),
        }
        for name, pairs in sorted(found.items())
    }


def _measure_abstention(answers: Sequence[_Answer]) -> dict[str, object]:
    """Measure whether the best score separates answerable questions from others, and how many others were answered.

    A question is unanswerable if it has no gold turns, or belongs to a category without answers.
    """
    present = [answer for answer in answers if answer.question.answerable]
    absent = [answer for answer in answers if not answer.question.answerable]
    answered = [answer for answer in absent if not answer.abstained]
    return {
        "auroc": compute_auroc([one.score for one in present], [one.score for one in absent]),
        "answered_when_absent": round(len(answered) / len(absent), 4) if absent else None,
        "abstained_when_present": round(sum(one.abstained for one in present) / max(1, len(present)), 4),
        "n_absent": len(absent),
    }


# An embedder with fixed vectors: random by text, and for each question a vector near its answer's.


_DIMS: Final = 384
_CLOSENESS: Final = 0.6
"""Cosine of a question and its answer; two unrelated texts have 0 ± 0.05."""


class GivenVectors:
    """Unit vectors of 384 dimensions that depend on the text alone."""

    model_id: str = "bench-given-1"
    dims: int = _DIMS

    def __init__(self, asked: Iterable[Asked] = ()) -> None:
        """Set the questions and their answers."""
        self._known = {one.text: _make_near_vector(one) for one in asked}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, 384) float32 with rows of unit length."""
        rows = np.empty((len(texts), _DIMS), np.float32)
        for row, text in zip(rows, texts, strict=True):
            known = self._known.get(text)
            row[:] = _draw_unit_vector(text) if known is None else known
        return rows


def _make_near_vector(one: Asked) -> NDArray[np.float32]:
    """Precompute a question's vector, so that its time does not count as search time."""
    near = _CLOSENESS * _draw_unit_vector(one.gold) + np.sqrt(1 - _CLOSENESS**2) * _draw_unit_vector(
        f"noise {one.text}"
    )
    return (near / np.linalg.norm(near)).astype(np.float32)


def _draw_unit_vector(text: str) -> NDArray[np.float32]:
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
    values = np.random.Generator(np.random.PCG64(seed)).standard_normal(_DIMS)
    return (values / np.linalg.norm(values)).astype(np.float32)
