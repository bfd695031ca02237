"""The command: replay everything, and check, dump, compare, accept or update."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from pathlib import Path
from typing import cast

from . import hashes
from .canonical import Line
from .replays import chunk_names, replay, sampled


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 1 where the replay differs."""
    asked = _parser().parse_args(arguments)
    names = [name for name in chunk_names() if name.startswith(asked.only) and (sampled(name) or not asked.sample)]
    if asked.compare is not None or asked.accept is not None:
        return _against(_replayed(names, asked.jobs), asked.compare or asked.accept, asked.why)
    found = _replayed(names, asked.jobs)
    if asked.dump is not None:
        with asked.dump.open("w", encoding="utf-8") as file:
            file.writelines(f"{chunk}\t{name}\t{text}\n" for chunk, lines in found.items() for name, text in lines)
    if asked.update:
        fresh = {name: hashes.chunk_hash(lines, {}) for name, lines in found.items()}
        kept = hashes.load_hashes() if hashes.HASHES.exists() and len(names) < len(chunk_names()) else {}
        hashes.save_hashes({**kept, **fresh})
        gone = {name for name, _ in chain.from_iterable(found.values())}
        hashes.save_exceptions({name: one for name, one in hashes.load_exceptions().items() if name not in gone})
        return 0
    return _check(found, names)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="replay.py", description=__doc__)
    parser.add_argument("--dump", type=Path, metavar="FILE", help="write every canonical line to a file")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="print the lines that differ from an older dump")
    parser.add_argument("--accept", type=Path, metavar="FILE", help="list what differs from a dump as wanted")
    parser.add_argument("--why", default="", metavar="TEXT", help="the reason that --accept writes beside each line")
    parser.add_argument("--update", action="store_true", help="write the hashes anew, and clear the exceptions")
    parser.add_argument(
        "--only", default="", metavar="PREFIX", help='replay only chunks that begin so: "pairs/pairs_h"'
    )
    parser.add_argument("--sample", action="store_true", help="replay only what the test suite replays")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes at a time (2)")
    return parser


def _timed(name: str) -> tuple[str, list[Line], float]:
    began = time.process_time()
    return name, replay(name), time.process_time() - began


def _replayed(names: Sequence[str], jobs: int) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = {}
    spent = 0.0
    with ProcessPoolExecutor(jobs) as pool:
        for name, lines, took in pool.map(_timed, names):
            found[name] = lines
            spent += took
            if len(found) % 20 == 0:
                _say(f"{len(found)} of {len(names)} chunks")
    _say(f"{sum(map(len, found.values()))} lines in {len(found)} chunks, {spent:.1f} s of CPU")
    return found


def _check(found: dict[str, list[Line]], names: Sequence[str]) -> int:
    wanted = hashes.load_exceptions()
    fresh = {name: hashes.chunk_hash(lines, wanted) for name, lines in found.items()}
    differ = hashes.differing(fresh, hashes.load_hashes() if hashes.HASHES.exists() else {}, names)
    for name in differ:
        _say(f"differs: {name}")
    _say(f"{len(names) - len(differ)} of {len(names)} chunks are as committed")
    return 1 if differ else 0


def _against(found: dict[str, list[Line]], older: Path, why: str) -> int:
    """Print what differs from an older dump; with a reason, list it as wanted."""
    old: dict[str, str] = {}
    with older.open(encoding="utf-8") as file:
        for row in file:
            chunk, name, text = row.rstrip("\n").split("\t", 2)
            if chunk in found:
                old[name] = text
    new = dict(chain.from_iterable(found.values()))
    differ = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    for name in differ:
        _show(name, old.get(name), new.get(name))
    _say(f"{len(differ)} of {len(new)} lines differ")
    if why:
        rows = {name: hashes.Wanted(_digest(old.get(name)), _digest(new.get(name)), why) for name in differ}
        hashes.save_exceptions({**hashes.load_exceptions(), **rows})
        return 0
    return 1 if differ else 0


def _digest(text: str | None) -> str:
    return "" if text is None else hashes.digest(text)


def _show(name: str, old: str | None, new: str | None) -> None:
    """Print the smallest parts of a line that differ, each with the way to it."""
    _print(name)
    if old is None or new is None:
        _print(f"  - {old}" if new is None else f"  + {new}")
        return
    _parts("", json.loads(old), json.loads(new))


def _parts(way: str, old: object, new: object) -> None:
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        one, other = cast("dict[str, object]", old), cast("dict[str, object]", new)
        for key in sorted({*one, *other}):
            _parts(f"{way}.{key}", one.get(key), other.get(key))
        return
    olds = cast("list[object]", old) if isinstance(old, list) else []
    news = cast("list[object]", new) if isinstance(new, list) else []
    if olds and len(olds) == len(news):
        for place, (before, after) in enumerate(zip(olds, news, strict=True)):
            _parts(f"{way}[{place}]", before, after)
    else:
        _print(
            f"  {way or '.'}\n    - {json.dumps(old, ensure_ascii=False)}\n    + {json.dumps(new, ensure_ascii=False)}"
        )


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
