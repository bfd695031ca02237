"""Write the pages of a synchronised folder that changed, and remove those of ours that became empty."""

from __future__ import annotations

from dataclasses import dataclass, field

from credenda.errors import Unavailable
from credenda.portability.files.folder import Folder, Found
from credenda.portability.files.memory_side import View
from credenda.portability.files.page_plan import Layout, index_lines
from credenda.portability.files.parse import parse
from credenda.portability.files.render import draw, draw_index, is_empty


@dataclass(slots=True)
class DrawnPages:
    """The files that changed and those that could not be written, the footers by file, and notes for the user."""

    failed: set[str]
    written: list[str] = field(default_factory=list[str])
    removed: list[str] = field(default_factory=list[str])
    footers: dict[str, str] = field(default_factory=dict[str, str])
    notes: list[str] = field(default_factory=list[str])


def draw_pages(folder: Folder, found: Found, layout: Layout, after: View) -> DrawnPages:
    """Draw all pages that can be drawn, then that of the core block, which all link to, then the index."""
    made = DrawnPages(failed=set(found.troubles))
    parsed = {text.path: text.page for text in found.texts if text.own}
    for path, sheet in sorted(layout.sheets.items(), key=lambda one: one[0] == layout.core):
        old = parsed.get(path)
        text = draw(old, sheet, folder.find_ending(path))
        try:
            page = parse(text)
            if is_empty(page, sheet) and not (path == layout.core and made.footers):
                if old is not None:
                    folder.remove(path)
                    made.removed.append(path)
            else:
                made.footers[path] = page.footer
                made.written += [path] if folder.write(path, text) else []
        except Unavailable as error:
            made.footers.pop(path, None)
            made.failed.add(path)
            made.notes.append(f"{error.what}" + (f": {error.why}" if error.why else ""))
    try:
        lines = index_lines(after, layout, core=layout.core in made.footers)
        old = folder.read_index(layout.index)
        written = folder.write(layout.index, draw_index(old, lines, folder.find_ending(layout.index)))
        made.written += [layout.index] if written else []
    except Unavailable as error:
        made.notes.append(error.what)
    return made
