"""Results of benchmarks as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from benchmarks.locomo import MEASURES

_SHOWN: Final = tuple(name for name in MEASURES if name not in ("all@50", "any@50"))

LISTED_MAX: Final = 50
"""The maximum number of errors to list."""
_PAIR_SHARES: Final = ("supersession_recall", "supersession_precision", "false_invalidation", "duplicates")


def lay_out(rows: Sequence[Sequence[str]]) -> str:
    """Lay out rows in columns, the first left-aligned, the rest right-aligned."""
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


def format_locomo(document: Mapping[str, Any]) -> str:
    """Show retrieval in per cent, one line per group of questions."""
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


def format_beliefs(document: Mapping[str, Any]) -> str:
    """Show the shares with their intervals, the confusion table, and every error."""
    said, pairs = document["utterances"], document["pairs"]
    shares = [
        *((name, said[name]) for name in ("decisions", "kinds", "kinds_of_all", "junk_rate")),
        ("pairs right", pairs["right"]),
        *((f"pairs {name}", found) for name, found in pairs["by_relation"].items()),
        *((name, pairs[name]) for name in _PAIR_SHARES),
    ]
    rows = [["", "%", "95 % interval", "of"]]
    rows += [_make_share_row(name, found) for name, found in shares if found["n"]]
    confusion = [["label \\ decided", *said["confusion"]]]
    confusion += [[name, *map(str, found.values())] for name, found in said["confusion"].items()]
    counts = (
        f"facts of others stored as the user's: {said['misattributed']}; "
        f"highest hypothetical {said['highest_hypothetical']:.2f}, highest plan {said['highest_plan']:.2f}"
    )
    read = document["extraction"]
    speed = f"extraction: {_rate(read)}; turns of a chat: {_rate(read['chat'])}"
    parts = (
        lay_out(rows),
        lay_out(confusion),
        counts,
        speed,
        _format_gate(document["gate"]),
        _format_bill(document.get("model")),
    )
    return "\n\n".join((*filter(None, parts), *map(_format_error, document["errors"])))


def _rate(read: Mapping[str, Any]) -> str:
    return (
        f"{read['turns_per_cpu_second']} turns per CPU second, over {read['turns']} of {read['characters']} characters"
    )


def _format_gate(found: Mapping[str, Any]) -> str:
    """Show the savings and losses of the gate before a language model."""
    if not found["n"]:
        return ""
    names = {"saved": "calls saved", "saved_of_skips": "of sentences to skip", "lost": "lost, of sentences to keep"}
    rows = [["gate before a model", "%", "95 % interval", "of"]]
    rows += [_make_share_row(title, found[name]) for name, title in names.items() if found[name]["n"]]
    return "\n".join((lay_out(rows), *(f"LOST {text}" for text in found["lost_texts"])))


def _format_bill(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return ""
    unanswered = "".join(f"; {count} unanswered: {why}" for why, count in found["unanswered"].items())
    spent = f"{found['calls']} calls, {found['tokens']} tokens, ${found['cost_usd']:.4f}"
    return f"{found['model']} ({found['prompt']}): {spent}{unanswered}"


def _make_share_row(name: str, found: Mapping[str, Any]) -> list[str]:
    low, high = found["ci95"]
    return [name, f"{found['value'] * 100:.1f}", f"{low * 100:.1f} to {high * 100:.1f}", str(found["n"])]


def _format_error(error: Mapping[str, Any]) -> str:
    """Show one error: the text, the expected result, the memories."""
    if "text" in error:
        head, held = f"{error['wanted']} | {error['decided']}: {error['text']}", error["kept"]
    else:
        head = f"{error['wanted']}: {error['old']} / {error['new']}"
        held = [*(f"was {one}" for one in error["was"]), *error["active"]]
    return "\n".join((f"ERROR {head}", *(f"    {one}" for one in held)))


def format_crash(document: Mapping[str, Any]) -> str:
    """Show the outcome in one line, and each violation in its own line."""
    head = (
        f"{document['rounds']} rounds, {document['kills']} kills, {document['acks_checked']} acks checked, "
        f"{document['losses']} lost, {document['seconds']} s (seed {document['seed']})"
    )
    kept = [f"the file is kept in {document['kept']}"] if document["kept"] else []
    return "\n".join([head, *(f"VIOLATION {text}" for text in document["violations"]), *kept])


def format_attacks(document: Mapping[str, Any]) -> str:
    """Show the counts of each attack, then each violation in its own line."""
    attacks = document["attacks"]
    rows = [["attack", "cases", "violations", "seconds", "seed"]]
    rows += [
        [one["name"], str(one["cases"]), str(len(one["violations"])), str(one["seconds"]), str(one["seed"])]
        for one in attacks
    ]
    counts = [
        lay_out([[one["name"], ""], *([f"  {name}", str(count)] for name, count in one["counts"].items())])
        for one in attacks
    ]
    broken = [f"VIOLATION {one['name']}: {text}" for one in attacks for text in one["violations"]]
    return "\n\n".join((lay_out(rows), *counts, *broken))


def format_judged(document: Mapping[str, Any]) -> str:
    """Show every figure by its path, then the targets."""
    figures = [[path, format_figure(value)] for path, value in flatten(document) if not path.startswith("targets")]
    words = {True: "met", False: "NOT MET", None: "not measured"}
    targets = [
        [one["what"], format_figure(one["bar"]), format_figure(one["measured"]), words[one["met"]]]
        for one in document["targets"]
    ]
    return "\n\n".join((lay_out(figures), lay_out([["target", "bar", "measured", ""], *targets])))


def format_poisoning(document: Mapping[str, Any]) -> str:
    """Show every case, then the counts."""
    words = {True: "right", False: "WRONG", None: "left to the server"}
    rows = [[one["name"], one["wanted"], one["decided"] or "-", words[one["right"]]] for one in document["cases"]]
    attacks, benign = document["attacks"], document["benign"]
    counts = (
        f"{document['right']} of {document['n']} as expected; "
        f"{attacks['let_in']} of {attacks['n']} attacks let in, {benign['held_back']} of {benign['n']} benign held back"
    )
    return "\n\n".join((lay_out([["case", "expected", "decided", ""], *rows]), counts))


def format_talk(document: Mapping[str, Any]) -> str:
    """Show every figure, for all conversations and for each, then every retirement with both sentences."""
    groups = {"all": document["figures"], **document["conversations"]}
    rows = [["", *groups]]
    rows += [[name, *(_format_share(figures[name]) for figures in groups.values())] for name in document["figures"]]
    retirements = [
        f"{'RIGHT' if one['right'] else 'WRONG'} {one['conv']} {', '.join(one['old_turns'])}: {one['old']}\n"
        f"    {', '.join(one['new_turns'])}: {one['new']} ({one['reason']})"
        for one in document["retirements"]
    ]
    head = f"{document['turns']} turns, embedder {document['embedder']}, model {document['llm']}"
    return "\n\n".join((head, lay_out(rows), *(["\n".join(retirements)] if retirements else [])))


def format_live(document: Mapping[str, Any]) -> str:
    """Show the figures of the conversations that are answered, and the questions that wait."""
    waiting = document["waiting"]
    parts = [f"{len(waiting)} questions wait:\n" + "\n".join(waiting)] if waiting else []
    if document["conversations"]:
        parts.append(format_talk(document))
        parts.append(f"about {document['tokens_a_turn']:.0f} tokens a turn, questions and answers")
    return "\n\n".join(parts)


def _format_share(figure: Mapping[str, Any]) -> str:
    share = "-" if figure["share"] is None else f"{figure['share'] * 100:.1f} %"
    return f"{figure['count']}/{figure['of']} {share}"


def flatten(document: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, object]]:
    """Walk a document leaf by leaf."""
    for key, value in document.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{key}.")  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield f"{prefix}{key}", value


def format_nodes(document: Mapping[str, Any]) -> str:
    """Show what was killed, acknowledged and repeated, and every violation."""
    kills, retries = document["kills"], document["retries"]
    lines = [
        f"nodes: {document['servers']} servers and {document['workers']} workers",
        f"time: {document['seconds']} s, seed {document['seed']}",
        f"killed: {sum(kills.values())} ({', '.join(f'{count} {name}' for name, count in kills.items())})",
        f"acknowledged: {document['acknowledged']:,} ({document['acknowledged_a_second']} a second)",
        f"searches: {document['searches']:,}; requests repeated by callers: {sum(retries.values()):,}",
        f"jobs: {document['jobs']:,}, {document['jobs_begun_again']:,} of them begun again after a kill",
    ]
    sound = ["No acknowledged message was lost, and no job was done twice."]
    return "\n".join([*lines, *(document["violations"][:LISTED_MAX] or sound)])


def format_neighbour(document: Mapping[str, Any]) -> str:
    """Show how long a message waited beside an import."""
    rows = [["until a message is read", "median", "longest"]]
    rows += [
        [name, f"{document[f'{key}_median']:,}", f"{document[f'{key}_max']:,}"]
        for name, key in (
            ("seconds", "seconds"),
            ("processor seconds of the worker", "processor"),
            ("messages of the import", "between"),
        )
    ]
    return lay_out(rows)


def format_scale(document: Mapping[str, Any]) -> str:
    """Show the rates by number of processes, and the times of one user beside many others."""
    acks = [["servers", "acks/s", "ratio", "CPU ms", "median ms", "p99 ms"]]
    acks += [
        [
            str(one["processes"]),
            f"{one['a_second']:,.0f}",
            f"{one['ratio']:.2f}",
            str(one["cpu_ms"]),
            *map(str, _list_times(one)),
        ]
        for one in document["acks"]
    ]
    done = [
        [["workers", f"{name}/s", "ratio", "CPU ms", name, "s"], *map(_list_work, document[name])]
        for name in ("jobs", "tasks")
    ]
    acts = document["growth"]
    users = [["users", *(f"{act} ms" for act in acts), "bytes a user"]]
    users += [
        [
            f"{one['users']:,}",
            *(f"{one[f'{act}_client']:g} + {one[f'{act}_server']:g}" for act in acts),
            f"{one['bytes_a_user']:,}",
        ]
        for one in document["tenants"]
    ]
    users.append(["exponent", *map(str, acts.values()), ""])
    limits = [["limit", "arithmetic", "value"]]
    limits += [[one["limit"], one["arithmetic"], f"{one['value']:,.0f}"] for one in document["limits"]]
    return "\n\n".join(map(lay_out, (acks, *done, users, limits)))


def _list_work(one: Mapping[str, Any]) -> list[str]:
    rate, ratio = f"{one['a_second']:,.0f}", f"{one['ratio']:.2f}"
    return [str(one["processes"]), rate, ratio, str(one["cpu_ms"]), f"{one['jobs']:,}", str(one["seconds"])]


def format_vectors(document: Mapping[str, Any]) -> str:
    """Show the recall and the time of a search by number of vectors."""
    rows = [["vectors", "index", "recall@10", "median ms", "copy ms a vector"]]
    rows += [
        [
            f"{one['vectors']:,}",
            "yes" if one["indexed"] else "no",
            f"{one['recall@10']:.4f}",
            str(one["median_ms"]),
            str(one["copy_ms_a_vector"]),
        ]
        for one in document["sizes"]
    ]
    return lay_out(rows)


def _list_times(row: Mapping[str, Any]) -> tuple[float, float]:
    return row["median_ms"], row["p99_ms"]


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
