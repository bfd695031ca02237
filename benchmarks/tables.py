"""Text output of the benchmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from credenda.bench.tables import LISTED_MAX, flatten, format_figure, format_talk, lay_out


def format_precision(document: Mapping[str, Any]) -> str:
    """Show the passed cases by category, and the results of each failed case."""
    rows = [["", "passed", "of"]]
    rows += [[name, str(found["passed"]), str(found["n"])] for name, found in document["categories"].items()]
    rows.append([f"all ({document['embedder']})", str(document["passed"]), str(document["n"])])
    failed = (
        f"FAILED {one['case']}: {', '.join(one['failed'])}; returned {', '.join(one['relevant']) or 'nothing'}"
        for one in document["failed"]
    )
    return "\n".join((lay_out(rows), *failed))


def format_erase(document: Mapping[str, Any]) -> str:
    """Show every figure of an erasure."""
    return lay_out([[name.replace("_", " "), format_figure(value)] for name, value in document.items()])


def format_figures(document: Mapping[str, Any]) -> str:
    """Show every figure by its path."""
    return lay_out([[path, format_figure(value)] for path, value in flatten(document)])


def format_year(document: Mapping[str, Any]) -> str:
    """Show the result of a simulated year, with every problem."""
    retired, doubled, core = document["retired_wrongly"], document["duplicates"], document["core"]
    named: list[tuple[str, Sequence[str]]] = [
        ("slots with two values instead of one", document["two_live_values"]),
        (f"retired wrongly, of {retired['checked']} checked", retired["found"]),
        ("never extracted, of the same", document["missed"]),
        ("past values that are still active", document["stale_values"]),
        (f"duplicates, {doubled['share'] * 100:.1f} % of {document['memories']}", doubled["list"]),
        ("of others, stored as the user's", document["others_as_own"]),
        ("hypothetical or planned, with too high confidence", document["too_sure"]),
        ("days on which the core was over its cap", core["over_the_cap"]),
        ("standing instructions missing from the core on a day", core["instructions_missing"]),
        ("revoked instructions still in the core", core["taken_back_and_shown"]),
        ("contested instead of decided", document["contested"]),
    ]
    rows = [[name, str(len(found))] for name, found in named]
    errors = [f"  {name}: {line}" for name, found in named[:-1] for line in found]
    spent = document["seconds"]
    head = f"seed {document['seed']}: {document['turns']} turns, {document['memories']} memories, {spent:.1f} CPU s"
    shown = f"{core['instructions']} instructions, at most {core['tokens_most']} tokens and {core['lines_most']} lines"
    always = f"core: {core['days']} days, {shown}, {core['rewrites']} rewrites"
    verdict = "kept" if document["kept"] else "broken"
    return "\n".join((head, lay_out(rows), always, *errors, f"promises: {verdict}"))


def format_lifetime(document: Mapping[str, Any]) -> str:
    """Show the result of two simulated years: each check with its finding."""
    wrongly, fates, decayed = document["archived_wrongly"], document["fates"], document["decay"]
    moved = document["sabbatical_moved"]
    spread = (
        f"{decayed['null']} of {document['memories']} null, {decayed['distinct']} values, spread {decayed['spread']}"
    )
    done = f"{fates['rises']} promoted, {fates['archived']} archived, {fates['stays']} unchanged"
    rows = [
        ("promise", "found", "kept"),
        (
            f"every idle memory decays, of {document['idle']}",
            f"{len(document['immortal'])}; the most retained {document['most_retained_idle']}",
            _format_verdict(not document["immortal"]),
        ),
        (
            f"no lasting fact is archived wrongly, of {wrongly['checked']} checked",
            str(len(wrongly["found"])),
            _format_verdict(not wrongly["found"]),
        ),
        (f"{document['episodes']} episodes match the formulas", done, _format_verdict(not fates["differ"])),
        ("decay is varied and known", spread, _format_verdict(decayed["varied"])),
        ("half a year away on the active clock changes nothing", f"{len(moved)} changed", _format_verdict(not moved)),
    ]
    named = [*document["immortal"], *wrongly["found"], *fates["differ"], *moved]
    head = (
        f"seed {document['seed']}: {document['events']:,} events on {document['days']} days, "
        f"{document['memories']:,} active memories, {document['archived']} archived,  {document['seconds']:.1f} CPU s"
    )
    return "\n".join((head, lay_out(rows), *(f"  {line}" for line in named[:LISTED_MAX])))


def _format_verdict(held: object) -> str:
    return "yes" if held else "NO"


def format_newest(document: Mapping[str, Any]) -> str:
    """Show how often the newest of two values came first, by the number of facts."""
    rows = [("facts", "changed", "newest first", "%")]
    rows += [
        (f"{one['facts']:,}", f"{one['changed']:,}", f"{one['newest_first']:,}", f"{100 * one['share']:.1f}")
        for one in document["sizes"]
    ]
    return "\n".join((f"embedder: {document['embedder']}", lay_out(rows)))


def format_decay(document: Mapping[str, Any]) -> str:
    """Show the cost of decay runs, and whether they changed anything but scores."""
    rows = [("run", "moved", "CPU s", "s")]
    rows += [(run["run"], f"{run['moved']:,}", f"{run['cpu_s']:.2f}", f"{run['s']:.2f}") for run in document["runs"]]
    bar = f"{document['cpu_s_per_100k']:.2f} CPU s for 100,000 memories (target {document['bar']:g})"
    still = "beliefs and log: unchanged" if document["beliefs_unmoved"] else "beliefs or log: CHANGED"
    return "\n".join(
        (
            f"{document['memories']:,} memories",
            lay_out(rows),
            bar,
            still,
            f"target met: {_format_verdict(document['met'])}",
        )
    )


def format_ceiling(document: Mapping[str, Any]) -> str:
    """Show the table of `bench talk`, the memories that were shown, and the claims that were changed or refused."""
    counts, questions = document["counts"], max(1, document["counts"].get("questions", 0))
    shown = f"{counts.get('shown', 0)} of {counts.get('replaced', 0)} replaced values shown"
    means = f"{counts.get('known', 0) / questions:.1f} memories and {counts.get('tokens', 0) / questions:.0f} tokens"
    lines = [f"{number} {why}" for why, number in document["outcomes"].items()]
    return "\n\n".join((format_talk(document), "\n".join((f"{shown}; a question has {means}", *lines))))


def format_families(document: Mapping[str, Any]) -> str:
    """Show each way to rank by family with its intervals over questions and conversations, then the probability."""
    rows = [["", "", *(name for name in ("any@10", "mrr"))]]
    for family, found in document["families"].items():
        head = f"{family} ({found['questions']} of {found['conversations']})"
        for way, measures in found["rows"].items():
            rows.append([head, way, *(_format_interval(measures[name]) for name in ("any@10", "mrr"))])
            higher = [measures[name].get("this version is higher by") for name in ("any@10", "mrr")]
            if way != "this version" and all(higher):
                rows.append(["", "  this version is higher by", *map(_format_interval, higher)])
            head = ""
    sure = [["", "probability", "own: mean", "found", "Brier", "foreign: mean", "Brier"]]
    for family, ways in document["probability"].items():
        for way, found in ways.items():
            own, foreign = found["own"], found.get("foreign", {})
            figures = (own["mean"], own["found"], own["brier"], foreign.get("mean", ""), foreign.get("brier", ""))
            sure.append([family, way, *map(format_figure, figures)])
    curves = [f"{share} {base:.2f} {slope:.2f}" for share, (base, slope) in document["curve of persons"].items()]
    return f"{lay_out(rows)}\n\n{lay_out(sure)}\n\ncurve of persons, by share of foreign: {'; '.join(curves) or 'none'}"


def _format_interval(found: Mapping[str, Any]) -> str:
    both = "; ".join("–".join(map(str, found[over])) for over in ("questions", "conversations"))
    return f"{found['mean']} ({both})"
