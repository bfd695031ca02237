"""Run docs/tutorial.md in a temporary folder and write the real output into it.

With `--check`, say whether each output on the page is the real one. Ids, times, scores and the columns of drawn bars
differ between runs; the comparison ignores them.
"""

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Generator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from credenda.interfaces.cli.main import cli

PAGE = Path(__file__).resolve().parents[1] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(?P<kind>[\w-]+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
INSTALL = "pip install ."
"""The only line of the page that is not run."""
PROMPT = "$ "
# What differs from run to run, and its replacement.
VARIABLE = (
    (re.compile(r"\b([a-z]\d+)-[0-9a-f]{6}\b"), r"\1"),
    (re.compile(r"\d{4}-\d{2}-\d{2}T[\d:.]+Z"), "TIME"),
    (re.compile(r"\b\d+(?:\.\d+)? ms\b"), "TIME"),
    (re.compile(r"\b[01]\.\d{2}\b"), "SCORE"),
    (re.compile(r"\|?[=.~]{3,}[|>]?"), "BAR"),
    (re.compile(r"[─-╿]{2,}"), "BAR"),
    (re.compile(r"\s+"), " "),
)
RUN_ON = re.compile(r"<!-- Outputs written on (\d{4}-\d{2}-\d{2}) by scripts/docs_tutorial.py -->")


def normalise(text: str, today: str) -> str:
    """Replace ids, times, scores, bars and the day of the run by fixed words, and collapse white space."""
    day = date.fromisoformat(today)
    for pattern, fixed in VARIABLE:
        text = pattern.sub(fixed, text)
    for one in (day, day - timedelta(days=1)):  # yesterday: a run around midnight
        text = text.replace(one.isoformat(), "TODAY").replace(f"{one.day} {one:%b %Y}", "TODAY")
    return text.strip()


def run_command(line: str) -> str:
    """Run one `credenda` command of the page and return its output; raise `RuntimeError` when it fails."""
    program, *arguments = shlex.split(line)
    if program != "credenda":
        raise RuntimeError(f"the page runs another program: {line}")
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.main(arguments, standalone_mode=False)
    if code:
        raise RuntimeError(f"{line}: exit code {code}: {err.getvalue()}")
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines()) + "\n"


def run_settings(body: str) -> None:
    """Set the variables of a block of `export` lines; `pip install` is the only other line allowed."""
    for line in body.splitlines():
        export, _, setting = line.partition(" ")
        name, is_set, value = setting.partition("=")
        if line != INSTALL and (export != "export" or not is_set):
            raise RuntimeError(f"the page has a line that cannot be run: {line}")
        if is_set:
            os.environ[name] = value


def run_python(body: str) -> str:
    """Run a block of Python and return what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(body, PAGE.name, "exec"), {})  # noqa: S102 - the page's own code
    return out.getvalue()


def run_page(page: str) -> str:
    """Run every block of a page in order, in the current folder, and return the page with the real outputs."""
    printed = ""

    def run_block(block: re.Match[str]) -> str:
        nonlocal printed
        kind, body = block["kind"], block["body"]
        if kind == "shell-session":
            commands = [line for line in body.splitlines() if line.startswith(PROMPT)]
            body = "".join(f"{line}\n{run_command(line.removeprefix(PROMPT))}" for line in commands)
        elif kind == "python":
            printed = run_python(body)
        elif kind == "text":
            body = printed
        elif kind == "sh":
            run_settings(body)
        else:
            raise RuntimeError(f"the page has a block of an unknown kind: {kind}")
        return f"```{kind}\n{body}```"

    return BLOCK.sub(run_block, page)


@contextlib.contextmanager
def enter_fresh_folder() -> Generator[None]:
    """Enter a new folder with empty settings; restore the environment at the end."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        try:
            config = Path(folder, "config.toml")
            config.touch()
            os.environ.update({"CREDENDA_EMBEDDER": "auto", "CREDENDA_CONFIG": str(config)})
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def render(page: str) -> str:
    """Run the page and return it with the real outputs and the day of the run."""
    with enter_fresh_folder():
        fresh = run_page(page)
    mark = f"<!-- Outputs written on {datetime.now(UTC):%Y-%m-%d} by scripts/docs_tutorial.py -->"
    return RUN_ON.sub(mark, fresh)


def compare(old: str, fresh: str) -> list[tuple[str, str]]:
    """Return each pair of blocks, on the page and of the run, that differ after normalisation."""
    days = [found[1] for page in (old, fresh) for found in [RUN_ON.search(page)] if found]
    pairs = zip(BLOCK.finditer(old), BLOCK.finditer(fresh), strict=True)
    texts = [tuple(normalise(block["body"], day) for block, day in zip(pair, days, strict=True)) for pair in pairs]
    return [(one, other) for one, other in texts if one != other]


def main() -> int:
    """Write or check the page."""
    current = PAGE.read_text(encoding="utf-8")
    fresh = render(current)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(fresh, encoding="utf-8")
        return 0
    different = compare(current, fresh)
    for old, new in different:
        print(f"on the page: {old}\nnow:         {new}\n", file=sys.stderr)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
