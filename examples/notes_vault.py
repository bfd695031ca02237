"""A vault of Markdown notes that stays in step with the memory, in both directions.

The folder opens in any editor, for example as an Obsidian vault. `credenda files sync DIR --watch` does the same as
this example continuously.
"""

import tempfile
from pathlib import Path

from credenda import Credenda


def show(title: str, page: Path) -> None:
    """Print the headings and entries of a page."""
    print(title)
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith(("- ", "## ")):
            print(" ", line)


def edit(page: Path, old: str, new: str) -> None:
    """Replace words on a page, as a person does in an editor."""
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace(old, new), encoding="utf-8")


def main() -> None:
    """Write the vault, edit a page, and carry the edit back."""
    with tempfile.TemporaryDirectory() as folder, Credenda.open(Path(folder, "memory.db"), user="ana") as mem:
        vault = Path(folder, "vault")
        mem.remember("I work at Google.")
        mem.remember("I'm allergic to peanuts.")
        mem.settle()

        # 1. The first sync writes the pages: one page for each entity, an index, and the words by day.
        mem.data.sync_files(vault)
        page = vault / "consolidated" / "user.md"
        print("pages:", *sorted(path.name for path in vault.rglob("*.md")))
        show("\nthe page about the user:", page)

        # 2. An edited entry corrects its memory. A new line becomes a memory.
        edit(page, "- I'm allergic to peanuts.", "- I'm allergic to cashews.\n- I live in Linz.")
        report = mem.data.sync_files(vault)
        mem.settle()
        print(f"\nfrom the files: {report.corrected} corrected, {report.remembered} remembered")
        for memory in mem.list().items:
            print(f"  {memory.attribute}: {memory.value}")

        # 3. A change in the memory reaches the page with the next sync.
        mem.remember("I left Google, I'm at Microsoft now.")
        mem.settle()
        mem.data.sync_files(vault)
        show("\nthe page after a change in the memory:", page)

        # 4. The change log names the file as the origin of the correction.
        (allergy,) = mem.list(attribute="allergy").items
        print(
            "\nchanges of the allergy:",
            [(change.kind.value, change.actor.value) for change in mem.why(allergy.id).changes],
        )


if __name__ == "__main__":
    main()
