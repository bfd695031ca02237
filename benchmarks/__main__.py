"""`python -m benchmarks …`: benchmarks outside the distribution. Progress goes to standard error."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks import tables
from benchmarks.ceiling import run_ceiling
from benchmarks.cli import ENGINES, EXISTING_FILE, as_json_option, note, parse_sizes, show
from benchmarks.consolidation import run_consolidation
from benchmarks.contradiction import run_contradiction
from benchmarks.decay_cost import run_decay
from benchmarks.erase_cost import run_erase
from benchmarks.families import run_families
from benchmarks.hook_held_out import run_held_out
from benchmarks.hooks import run_hooks
from benchmarks.lifetime import run_lifetime
from benchmarks.migrate import run_migration
from benchmarks.newest import run_newest
from benchmarks.others import OTHERS, run_others
from benchmarks.precision import run_precision
from benchmarks.serve import run_serve
from benchmarks.year_run import run_year


@click.group(help="Measure Credenda itself.", context_settings={"help_option_names": ["-h", "--help"]})
def benchmarks() -> None:
    """Group the benchmarks."""


@benchmarks.command(
    help="Precision: searches that must return exactly some beliefs, in the format of precisionMemBench."
)
@click.option("--beliefs", "held", type=EXISTING_FILE, required=True, help="Beliefs, JSON Lines, .gz or plain.")
@click.option("--cases", type=EXISTING_FILE, required=True, help="Questions with required and forbidden results.")
@click.option("--sessions", type=EXISTING_FILE, help="Cases of several turns.")
@click.option("--embedder", type=click.Choice(ENGINES), default="none", show_default=True)
@as_json_option
def precision(*, held: Path, cases: Path, sessions: Path | None, embedder: str, as_json: bool) -> None:
    """Run the benchmark of precision."""
    show(run_precision(held, cases, sessions, embedder=embedder, note=note), tables.format_precision, as_json=as_json)


@benchmarks.command(help="Retrieval by family of conversations beside two baselines, with intervals (local model).")
@click.option("--data", type=EXISTING_FILE, multiple=True, required=True, help="Conversations of a family.")
@click.option("--questions", type=EXISTING_FILE, multiple=True, required=True, help="Its questions, in the same order.")
@click.option("--keep", type=click.Path(file_okay=False, exists=True, path_type=Path), help="A folder for the stores.")
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="Write the ranking of each question.")
@click.option("--before", type=EXISTING_FILE, help="Rankings that another version has saved.")
@as_json_option
def families(
    *,
    data: tuple[Path, ...],
    questions: tuple[Path, ...],
    keep: Path | None,
    save: Path | None,
    before: Path | None,
    as_json: bool,
) -> None:
    """Run the benchmark by family."""
    document = run_families(data, questions, keep=keep, save=save, before=before, note=note)
    show(document, tables.format_families, as_json=as_json)


@benchmarks.command(help="Cost of the contradiction check per write, and of a slot that changes constantly.")
@click.option("--n", "size", default="100k", show_default=True, help="Memories in the store, such as 100k.")
@click.option(
    "--turns", type=click.IntRange(min=1), default=3_000, show_default=True, help="Turns that change one slot."
)
@as_json_option
def contradiction(*, size: str, turns: int, as_json: bool) -> None:
    """Run the benchmark of the contradiction check."""
    document = run_contradiction(parse_sizes(size)[0], turns, note=note)
    show(document, tables.format_judged, as_json=as_json)


@benchmarks.command(help="A simulated year of one user: final beliefs compared with the truth.")
@click.option("--turns", type=click.IntRange(100, 20_000), default=2_000, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Random seed of the year.")
@as_json_option
def year(*, turns: int, seed: int, as_json: bool) -> None:
    """Run the simulated year; exit with 1 when a guarantee was broken."""
    document = run_year(turns, seed=seed, note=note)
    show(document, tables.format_year, as_json=as_json)
    if not document["kept"]:
        raise click.exceptions.Exit(1)


@benchmarks.command(help="A large store moved to Postgres and back, killed on both ways, with equal rows and searches.")
@click.option("--db", "target", metavar="TARGET", required=True, help="An empty Postgres database.")
@click.option("--n", "size", default="100k", show_default=True, help="Memories in the store, such as 100k.")
@click.option("--users", type=click.IntRange(4, 1_000), default=11, show_default=True, help="One of them has half.")
@as_json_option
def migrate(*, target: str, size: str, users: int, as_json: bool) -> None:
    """Run the benchmark of migration; exit with 1 when a row or a search differed."""
    document = run_migration(target, parse_sizes(size)[0], users, note=note)
    show(document, tables.format_figures, as_json=as_json)
    if not document["kept"]:
        raise click.exceptions.Exit(1)


@benchmarks.command(
    help="Consolidation without a model: its cost, and a check that a year of weekly runs loses nothing."
)
@click.option("--n", "size", default="10k", show_default=True, help="Memories in the store, such as 10k.")
@click.option("--turns", type=click.IntRange(100, 20_000), default=2_000, show_default=True, help="Turns of the year.")
@click.option("--seed", type=int, default=1, show_default=True, help="Random seed of the year.")
@as_json_option
def consolidation(*, size: str, turns: int, seed: int, as_json: bool) -> None:
    """Run the benchmark of consolidation; exit with 1 when a fact was lost."""
    document = run_consolidation(parse_sizes(size)[0], turns, seed=seed, note=note)
    show(document, tables.format_figures, as_json=as_json)
    if not document["kept"]:
        raise click.exceptions.Exit(1)


@benchmarks.command(help="Two simulated years with daily scheduled tasks: decay, promotion and archiving.")
@click.option("--events", type=click.IntRange(100, 100_000), default=20_000, show_default=True)
@click.option("--days", type=click.IntRange(100, 3_650), default=728, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Random seed.")
@as_json_option
def lifetime(*, events: int, days: int, seed: int, as_json: bool) -> None:
    """Run the simulated years; exit with 1 when a guarantee was broken."""
    document = run_lifetime(events, seed=seed, days=days, note=note)
    show(document, tables.format_lifetime, as_json=as_json)
    if not document["kept"]:
        raise click.exceptions.Exit(1)


@benchmarks.command(help="Hooks of a coding agent: a transcript of 5,000 lines, and the cost of a process.")
@click.option("--processes", type=click.IntRange(1, 1_000), default=41, show_default=True)
@as_json_option
def hooks(*, processes: int, as_json: bool) -> None:
    """Run the benchmark of hooks; exit with 1 when a target was missed."""
    document = run_hooks(processes)
    show(document, tables.format_figures, as_json=as_json)
    if not document["kept"]:
        raise click.exceptions.Exit(1)


@benchmarks.command(help="Hooks in conversations that nothing was fitted to: what is recalled, and what is kept.")
@click.option("--data", type=EXISTING_FILE, help="Conversations of user and assistant, JSON Lines, .gz or plain.")
@click.option("--questions", type=EXISTING_FILE, help="Questions with the turns that answer them.")
@click.option("--seed", "seeds", type=int, multiple=True, default=(1, 2, 3), show_default=True, help="Transcripts.")
@click.option("--words", type=click.IntRange(1, 2), default=1, show_default=True, help="Sentences of transcripts.")
@click.option("--embedder", type=click.Choice(ENGINES), default="none", show_default=True)
@as_json_option
def held_out(
    *, data: Path | None, questions: Path | None, seeds: tuple[int, ...], words: int, embedder: str, as_json: bool
) -> None:
    """Run the benchmark of hooks on foreign conversations; exit with 1 when a bound was broken."""
    document = run_held_out(data, questions, seeds=seeds, words=words, embedder=embedder, note=note)
    show(document, tables.format_figures, as_json=as_json)
    if not document["kept"]:
        raise click.exceptions.Exit(1)


@benchmarks.command(help="Whether the newest of two values of one slot comes first.")
@click.option("--n", "sizes", default="500,2k", show_default=True, help="Numbers of facts, such as 500,2k,20k.")
@click.option("--embedder", type=click.Choice(ENGINES), default="none", show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Random seed of names and values.")
@as_json_option
def newest(*, sizes: str, embedder: str, seed: int, as_json: bool) -> None:
    """Run the benchmark of changed values."""
    document = run_newest(parse_sizes(sizes), embedder=embedder, seed=seed, note=note)
    show(document, tables.format_newest, as_json=as_json)


@benchmarks.command(help="What the path of a model loses when a program answers with the gold claims.")
@click.option("--data", type=EXISTING_FILE, required=True, help="Conversations, JSON Lines, .gz or plain.")
@click.option("--gold", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--conversation", "names", multiple=True, help="Only this conversation; may be given several times.")
@as_json_option
def ceiling(*, data: Path, gold: Path, names: tuple[str, ...], as_json: bool) -> None:
    """Run the benchmark of gold answers."""
    show(run_ceiling(data, gold, names=names, note=note), tables.format_ceiling, as_json=as_json)


@benchmarks.command(help="Cost of a decay run, and a check that it changes only scores.")
@click.option("--memories", type=click.IntRange(10, 1_000_000), default=100_000, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@as_json_option
def decay(*, memories: int, seed: int, as_json: bool) -> None:
    """Run the benchmark of decay; exit with 1 when a target was missed."""
    document = run_decay(memories, seed=seed, note=note)
    show(document, tables.format_decay, as_json=as_json)
    if not document["met"]:
        raise click.exceptions.Exit(1)


@benchmarks.command(help="Erase a user beside another, search every byte, and compare the other's export.")
@click.option(
    "--events", type=click.IntRange(min=1), default=50_000, show_default=True, help="Events of each of the two."
)
@click.option("--embedder", type=click.Choice(["none", "hashed", "minilm"]), default="hashed", show_default=True)
@as_json_option
def erase(*, events: int, embedder: str, as_json: bool) -> None:
    """Run the benchmark of erasure; exit with 1 when a check failed."""
    document = run_erase(events, embedder=embedder, note=note)
    show(document, tables.format_erase, as_json=as_json)
    if not document["held"]:
        raise click.exceptions.Exit(1)


@benchmarks.command(help="Other memories beside this one, as pip installs them: packages, size, a first message.")
@click.argument("names", nargs=-1, type=click.Choice(tuple(OTHERS)))
@as_json_option
def others(*, names: tuple[str, ...], as_json: bool) -> None:
    """Install and try each."""
    show({"others": run_others(names, note)}, tables.format_figures, as_json=as_json)


@benchmarks.command(
    help="A server under load in a process of its own, compared with the library, and killed in the middle."
)
@click.option("--clients", type=click.IntRange(1, 500), default=50, show_default=True)
@click.option("--seconds", "for_seconds", type=click.FloatRange(1, 3_600), default=60, show_default=True)
@click.option("--users", type=click.IntRange(1, 50), default=10, show_default=True, help="Users whom they call for.")
@click.option(
    "--pace",
    type=click.FloatRange(0, 1_000),
    default=4,
    show_default=True,
    help="Requests a second of a client; 0: no pause.",
)
@click.option("--embedder", type=click.Choice(ENGINES), default="none", show_default=True)
@as_json_option
def serve(*, clients: int, for_seconds: float, users: int, pace: float, embedder: str, as_json: bool) -> None:
    """Run the load; exit with 1 when there was an error or something acknowledged was lost."""
    document = run_serve(clients, for_seconds, users=users, pace=pace, embedder=embedder, note=note)
    show(document, tables.format_figures, as_json=as_json)
    if not document["kept"]:
        raise click.exceptions.Exit(1)


if __name__ == "__main__":
    benchmarks(prog_name="python -m benchmarks")
