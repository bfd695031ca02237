"""Results of benchmarks as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from credenda.bench.ranking import MEASURES

__all__ = ["LISTED_MAX", "beliefs", "crash", "flatten", "format_figure", "judged", "lay_out", "locomo", "poisoning"]

_SHOWN: Final = tuple(name for name in MEASURES if name not in ("all@50", "any@50"))

LISTED_MAX: Final = 50
"""Lines of what was found wrong, at most."""
_PAIR_SHARES: Final = ("supersession_recall", "supersession_precision", "false_invalidation", "duplicates")


def lay_out(rows: Sequence[Sequence[str]]) -> str:
    """Lay out rows in columns, the first one to the left, the rest to the right."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = (
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def format_figure(value: object) -> str:
    """Format a figure with four significant digits."""
    return f"{value:,.4g}" if isinstance(value, float) else str(value)


def locomo(document: Mapping[str, Any]) -> str:
    """Show retrieval in per cent, a line for each group of questions."""
    groups: list[tuple[str, Mapping[str, Any]]] = [
        (f"overall ({document['embedder']})", {"n": document["n"], **document["overall"]}),
        ("plain BM25", document["bm25"]),
        ("with adversarial", document["with_adversarial"]),
        *document["categories"].items(),
    ]
    rows = [["", "n", *_SHOWN]]
    rows += [[name, str(found["n"]), *(f"{found[one] * 100:.1f}" for one in _SHOWN)] for name, found in groups]
    abstention, spent = document["abstention"], document["seconds"]
    low, high = document["overall_ci95"]["any@10"]
    return "\n".join(
        (
            lay_out(rows),
            f"any@10, 95 % interval: {low * 100:.1f} to {high * 100:.1f}",
            f"abstention: AUROC {abstention['auroc']}, answered when absent {abstention['answered_when_absent']}",
            *(
                f"in context, {name}: any {found['any'] * 100:.1f}, all {found['all'] * 100:.1f} of {found['n']}"
                for name, found in document.get("context", {}).items()
            ),
            f"stored in {spent['store']:.1f} s; a search takes {spent['search_median'] * 1_000:.2f} ms",
        )
    )


def beliefs(document: Mapping[str, Any]) -> str:
    """Show the shares with their intervals, the confusion table, and every error."""
    said, pairs = document["utterances"], document["pairs"]
    shares = [
        *((name, said[name]) for name in ("decisions", "kinds", "kinds_of_all", "junk_rate")),
        ("pairs right", pairs["right"]),
        *((f"pairs {name}", found) for name, found in pairs["by_relation"].items()),
        *((name, pairs[name]) for name in _PAIR_SHARES),
    ]
    rows = [["", "%", "95 % interval", "of"]]
    rows += [_share_row(name, found) for name, found in shares if found["n"]]
    confusion = [["label \\ decided", *said["confusion"]]]
    confusion += [[name, *map(str, found.values())] for name, found in said["confusion"].items()]
    counts = (
        f"others' facts as the user's: {said['misattributed']}; "
        f"highest hypothetical {said['highest_hypothetical']:.2f}, highest plan {said['highest_plan']:.2f}"
    )
    read = document["extraction"]
    speed = f"read by the rules: {_rate(read)}; turns of a chat: {_rate(read['chat'])}"
    parts = (lay_out(rows), lay_out(confusion), counts, speed, _gate(document["gate"]), _bill(document.get("model")))
    return "\n\n".join((*filter(None, parts), *map(_mistake, document["errors"])))


def _rate(read: Mapping[str, Any]) -> str:
    return (
        f"{read['turns_per_cpu_second']} turns per CPU second, over {read['turns']} of {read['characters']} characters"
    )


def _gate(found: Mapping[str, Any]) -> str:
    """Show what the gate before a language model saves and loses."""
    if not found["n"]:
        return ""
    names = {"saved": "calls saved", "saved_of_skips": "of what is not worth keeping", "lost": "of what is, lost"}
    rows = [["gate before a model", "%", "95 % interval", "of"]]
    rows += [_share_row(title, found[name]) for name, title in names.items() if found[name]["n"]]
    return "\n".join((lay_out(rows), *(f"LOST {text}" for text in found["lost_texts"])))


def _bill(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return ""
    unanswered = "".join(f"; {count} unanswered: {why}" for why, count in found["unanswered"].items())
    spent = f"{found['calls']} calls, {found['tokens']} tokens, ${found['cost_usd']:.4f}"
    return f"{found['model']} ({found['prompt']}): {spent}{unanswered}"


def _share_row(name: str, found: Mapping[str, Any]) -> list[str]:
    low, high = found["ci95"]
    return [name, f"{found['value'] * 100:.1f}", f"{low * 100:.1f} to {high * 100:.1f}", str(found["n"])]


def _mistake(error: Mapping[str, Any]) -> str:
    """Show one error: what was said, what was wanted, what is held."""
    if "text" in error:
        head, held = f"{error['wanted']} | {error['decided']}: {error['text']}", error["kept"]
    else:
        head = f"{error['wanted']}: {error['old']} / {error['new']}"
        held = [*(f"was {one}" for one in error["was"]), *error["active"]]
    return "\n".join((f"ERROR {head}", *(f"    {one}" for one in held)))


def crash(document: Mapping[str, Any]) -> str:
    """Show the outcome in one line, and every violation in one of its own."""
    head = (
        f"{document['rounds']} rounds, {document['kills']} kills, {document['acks_checked']} acks checked, "
        f"{document['losses']} lost, {document['seconds']} s (seed {document['seed']})"
    )
    kept = [f"the file is kept in {document['kept']}"] if document["kept"] else []
    return "\n".join([head, *(f"VIOLATION {text}" for text in document["violations"]), *kept])


def judged(document: Mapping[str, Any]) -> str:
    """Show every figure by its path, then the targets."""
    figures = [[path, format_figure(value)] for path, value in flatten(document) if not path.startswith("targets")]
    words = {True: "met", False: "NOT MET", None: "not measured"}
    targets = [
        [one["what"], format_figure(one["bar"]), format_figure(one["measured"]), words[one["met"]]]
        for one in document["targets"]
    ]
    return "\n\n".join((lay_out(figures), lay_out([["target", "bar", "measured", ""], *targets])))


def poisoning(document: Mapping[str, Any]) -> str:
    """Show every case, then the counts."""
    words = {True: "right", False: "WRONG", None: "the server's"}
    rows = [[one["name"], one["wanted"], one["decided"] or "-", words[one["right"]]] for one in document["cases"]]
    attacks, benign = document["attacks"], document["benign"]
    counts = (
        f"{document['right']} of {document['n']} as expected; "
        f"{attacks['let_in']} of {attacks['n']} attacks let in, {benign['held_back']} of {benign['n']} benign held back"
    )
    return "\n\n".join((lay_out([["case", "expected", "decided", ""], *rows]), counts))


def flatten(document: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, object]]:
    """Walk a document leaf by leaf."""
    for key, value in document.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{key}.")  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield f"{prefix}{key}", value
