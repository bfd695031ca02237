"""Tables of the benchmarks that measure how Credenda was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from credenda.bench.tables import LISTED_MAX, flatten, format_figure, lay_out


def precision(document: Mapping[str, Any]) -> str:
    """Show the cases passed by category, and what each failed case returned."""
    rows = [["", "passed", "of"]]
    rows += [[name, str(found["passed"]), str(found["n"])] for name, found in document["categories"].items()]
    rows.append([f"all ({document['embedder']})", str(document["passed"]), str(document["n"])])
    failed = (
        f"FAILED {one['case']}: {', '.join(one['failed'])}; returned {', '.join(one['relevant']) or 'nothing'}"
        for one in document["failed"]
    )
    return "\n".join((lay_out(rows), *failed))


def erase(document: Mapping[str, Any]) -> str:
    """Show every figure of an erasure."""
    return lay_out([[name.replace("_", " "), format_figure(value)] for name, value in document.items()])


def figures(document: Mapping[str, Any]) -> str:
    """Show every figure by its path."""
    return lay_out([[path, format_figure(value)] for path, value in flatten(document)])


def year(document: Mapping[str, Any]) -> str:
    """Show what a simulated year came to, and name whatever is not as it should be."""
    retired, doubled, core = document["retired_wrongly"], document["duplicates"], document["core"]
    named: list[tuple[str, Sequence[str]]] = [
        ("two values of a slot for one", document["two_live_values"]),
        (f"retired wrongly, of {retired['checked']} looked at", retired["found"]),
        ("never understood, of the same", document["missed"]),
        ("values that are past and still held", document["stale_values"]),
        (f"duplicates, {doubled['share'] * 100:.1f} % of {document['memories']}", doubled["list"]),
        ("of others, held as the user's", document["others_as_own"]),
        ("pretended or planned, believed too much", document["too_sure"]),
        ("days on which the core was over its cap", core["over_the_cap"]),
        ("standing instructions that the core lacked on a day", core["instructions_missing"]),
        ("instructions taken back and still in the core", core["taken_back_and_shown"]),
        ("asked about instead of decided", document["contested"]),
    ]
    rows = [[name, str(len(found))] for name, found in named]
    errors = [f"  {name}: {line}" for name, found in named[:-1] for line in found]
    spent = document["seconds"]
    head = f"seed {document['seed']}: {document['turns']} turns, {document['memories']} memories, {spent:.1f} CPU s"
    shown = f"{core['instructions']} instructions, at most {core['tokens_most']} tokens and {core['lines_most']} lines"
    always = f"core: {core['days']} days, {shown}, {core['rewrites']} rewrites"
    verdict = "kept" if document["kept"] else "broken"
    return "\n".join((head, lay_out(rows), always, *errors, f"promises: {verdict}"))


def lifetime(document: Mapping[str, Any]) -> str:
    """Show what two simulated years came to: each promise, what was found, and whether it was kept."""
    wrongly, fates, decayed = document["archived_wrongly"], document["fates"], document["decay"]
    moved = document["sabbatical_moved"]
    spread = (
        f"{decayed['null']} of {document['memories']} null, {decayed['distinct']} values, spread {decayed['spread']}"
    )
    done = f"{fates['rises']} rose, {fates['archived']} put away, {fates['stays']} stayed"
    rows = [
        ("promise", "found", "kept"),
        (
            f"nothing is immortal, of {document['idle']} idle ones that fade",
            f"{len(document['immortal'])}; the most retained {document['most_retained_idle']}",
            _verdict(not document["immortal"]),
        ),
        (
            f"no lasting fact put away wrongly, of {wrongly['checked']} looked at",
            str(len(wrongly["found"])),
            _verdict(not wrongly["found"]),
        ),
        (f"{document['episodes']} episodes fare as the formulas say", done, _verdict(not fates["differ"])),
        ("decay is varied and known", spread, _verdict(decayed["varied"])),
        ("half a year away on the active clock moves nothing", f"{len(moved)} moved", _verdict(not moved)),
    ]
    named = [*document["immortal"], *wrongly["found"], *fates["differ"], *moved]
    head = (
        f"seed {document['seed']}: {document['events']:,} events on {document['days']} days, "
        f"{document['memories']:,} memories held, {document['archived']} put away, {document['seconds']:.1f} CPU s"
    )
    return "\n".join((head, lay_out(rows), *(f"  {line}" for line in named[:LISTED_MAX])))


def _verdict(held: object) -> str:
    return "yes" if held else "NO"


def decay(document: Mapping[str, Any]) -> str:
    """Show what runs of decay cost, and whether anything but scores moved."""
    rows = [("run", "moved", "CPU s", "s")]
    rows += [(run["run"], f"{run['moved']:,}", f"{run['cpu_s']:.2f}", f"{run['s']:.2f}") for run in document["runs"]]
    bar = f"{document['cpu_s_per_100k']:.2f} CPU s for 100,000 memories (target {document['bar']:g})"
    still = "beliefs and log: unmoved" if document["beliefs_unmoved"] else "beliefs or log: MOVED"
    return "\n".join(
        (f"{document['memories']:,} memories", lay_out(rows), bar, still, f"target met: {_verdict(document['met'])}")
    )
