"""Import a year of chats from a folder, with progress, and ask about several times of that year.

The example writes the files itself, in the conversation format of docs/how-to/import.md: one conversation a line.
Exports of ChatGPT, Claude.ai and Claude Code need no conversion; `import_` recognises them.
"""

import json
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from credenda import Credenda

START = datetime(2025, 1, 6, 9, tzinfo=UTC)
FACTS = {  # week of the year: a message with a fact
    0: "I live in Linz.",
    2: "I work at Google.",
    9: "My sister lives in Oslo.",
    21: "I left Google, I'm at Microsoft now.",
    30: "I moved to Graz.",
    44: "I'm allergic to peanuts.",
}


def write_year(folder: Path) -> None:
    """Write a file a month, with one conversation a week; most of them are small talk."""
    folder.mkdir()
    for week in range(52):
        texts = [f"Good morning! Week {week + 1} begins.", FACTS.get(week, "Nothing new today, just saying hello.")]
        turns = [{"id": f"t{number}", "speaker": "user", "text": text} for number, text in enumerate(texts)]
        turns.append({"id": "reply", "speaker": "assistant", "text": "Thank you for telling me."})
        time = START + timedelta(weeks=week)
        session = {"id": "s", "time": time.isoformat(), "turns": turns}
        line = {"conv": f"week-{week:02}", "speakers": ["user", "assistant"], "sessions": [session]}
        with Path(folder, f"{time:%Y-%m}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def show_progress(done: int, total: int | None) -> None:
    """Take the bytes that were read so far, and how many there are where that is known."""
    share = f"{done / total:.0%}" if total else f"{done:,} bytes"
    print(f"\r  {share} read", end="", flush=True)


def ask(mem: Credenda) -> Iterator[str]:
    """Ask the same question about three days of the year."""
    for day in ("1 February 2025", "1 July 2025", "31 December 2025"):
        hits = mem.search("Where do I work?", as_of=day).hits
        yield f"{day}: {hits[0].text if hits else 'nothing known'}"


def main() -> None:
    """Import the year twice and ask."""
    with tempfile.TemporaryDirectory() as folder, Credenda.open(Path(folder, "year.db"), user="ana") as mem:
        chats = Path(folder, "chats")
        write_year(chats)

        report = mem.data.import_(chats, progress=show_progress)
        print(f"\nimported {report.turns} turns of {report.conversations} conversations")
        mem.settle(timeout=120)  # the turns are searchable already; this waits for the beliefs

        # A second import of the same folder adds nothing, so an interrupted import can simply be repeated.
        print(f"imported again: {mem.data.import_(chats).skipped} turns skipped")

        print(*ask(mem), sep="\n")
        print("homes:", [version.value for version in mem.history(entity="user", attribute="residence")])


if __name__ == "__main__":
    main()
