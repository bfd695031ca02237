"""Text between <private> and </private> is written by no way into a memory, and the receipt says so."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, cast

import pytest

from credenda import Credenda, Invalid, MemoryUnit
from credenda.agents import remembering
from credenda.interfaces.anthropic_memory import Refused, open_pages
from credenda.portability.importing import FORMATS
from credenda.services.items import Words
from credenda.text.recalled_block import FENCE_OPENING

from . import people_files, strands
from .conftest import Events
from .exports import chat, said, told, tree
from .transcripts import line

pytestmark = pytest.mark.sqlite_file  # the bytes of the file are searched
WORD: Final = "zorkmid"
ALL: Final = f"<private>{WORD}</private>"
WHOLE: Final = "private as a whole: nothing of it was written"
SOME: Final = "private text left out"


def dump(path: Path) -> str:
    return "".join(one.read_bytes().decode("latin-1") for one in path.parent.glob("memory.db*"))


def test_a_message_that_is_all_private_is_not_stored_and_the_receipt_says_so(mem: Credenda, path: Path) -> None:
    receipt = mem.remember(f"  {ALL}\n", idempotency_key="k")
    assert (receipt.job_id, receipt.event_ids, receipt.queued, receipt.refused) == (None, (), False, (WHOLE,))
    claims = [{"quote": WORD, "entity": "user", "attribute": "secret", "value": WORD}]
    refused = mem.remember(ALL, source="ai", claims=claims)
    assert (refused.event_ids, refused.refused, [one.outcome for one in refused.claims]) == ((), (WHOLE,), ["refused"])
    assert mem.stats().events == 0
    assert mem.remember("I live in Linz.", idempotency_key="k").queued, "nothing was stored under the key"
    mem.close()
    assert WORD not in dump(path)


def test_of_several_messages_the_others_stay_with_what_is_not_private_in_them(mem: Credenda, path: Path) -> None:
    receipt = mem.remember(
        [
            {"role": "user", "content": f"I live in Linz. My PIN is {ALL}"},
            {"role": "user", "content": ALL, "name": "Ben"},
            {"role": "assistant", "content": [{"type": "text", "text": f"Noted <private>{WORD}"}, {"text": WORD}]},
        ],
        tags=[ALL, f"home {ALL}"],
        topic=ALL,
        metadata={ALL: 1, "note": ALL, "list": [{"deep": f"tea {ALL}"}]},
        session="s",
    )
    assert receipt.refused == (SOME, f"message 2: {WHOLE}", SOME)
    first, second = (mem.event(one).event for one in receipt.event_ids)
    assert (first.text, second.text) == ("I live in Linz. My PIN is", "Noted")
    assert (first.topic, first.tags, first.metadata) == (None, ("home",), {"note": "", "list": [{"deep": "tea"}]})
    mem.settle()
    mem.close()
    assert WORD not in dump(path)


def test_the_key_of_a_call_covers_what_is_not_private(mem: Credenda) -> None:
    first = mem.remember("I live in Linz. <private>one</private>", idempotency_key="k")
    again = mem.remember("I live in Linz. <private>two</private>", idempotency_key="k")
    assert (again.cached, again.event_ids) == (True, first.event_ids)
    claims: Callable[[str], Any] = lambda pin: [  # noqa: E731 - of two calls
        {"quote": f"I like tea <private>{pin}</private>", "entity": "user", "attribute": "likes", "value": "tea"}
    ]
    kept = [mem.remember("I like tea.", source="ai", idempotency_key="c", claims=claims(pin)) for pin in ("1", "2")]
    assert [one.cached for one in kept] == [False, True]
    assert kept[0].claims[0].outcome == "kept"


@pytest.mark.parametrize("policy", ["mask", "keep", "reject"])
def test_private_text_is_cut_whatever_the_policy_for_secrets(path: Path, policy: str) -> None:
    settings = {"secrets_policy": policy}
    with Credenda.open(path, user="ana", embedder="none", workers=False, settings=settings) as mem:
        mem.remember("I live in Linz.<private>my password is zorkmid99</private>", metadata={"a": ALL}, tags=[ALL])
        mem.settle()
    assert WORD not in dump(path)


@pytest.mark.parametrize("field", ["session", "agent", "idempotency_key"])
def test_an_identifier_with_private_text_is_refused(mem: Credenda, path: Path, field: str) -> None:
    given: dict[str, Any] = {field: f"a {ALL}"}
    with pytest.raises(Invalid, match="private text") as caught:
        mem.remember("I live in Linz.", **given)
    assert WORD not in str(caught.value)
    mem.close()
    assert WORD not in dump(path)


def test_edits_of_a_memory_lose_their_private_parts_and_need_something_else(mem: Credenda, path: Path) -> None:
    fields: dict[str, Any] = dict.fromkeys(("entity", "value", "scope", "topic"), f"Acme {ALL}")
    held = mem.store(MemoryUnit(text=f"I work at Acme. {ALL}", attribute=f"job {ALL}", tags=(ALL,), **fields))
    assert (held.text, held.entity, held.attribute, held.value) == ("I work at Acme.", "Acme", "job", "Acme")
    bare = mem.store(MemoryUnit(text="I like jam.", entity=ALL, attribute=ALL, value=ALL, scope=ALL, topic=ALL))
    assert (bare.entity, bare.attribute, bare.value, bare.scope, bare.topic) == (None, None, None, None, None)
    for act in (
        lambda: mem.store(MemoryUnit(text=ALL)),
        lambda: mem.correct(held.id, text=ALL),
        lambda: mem.correct(held.id, value=ALL),
    ):
        with pytest.raises(Invalid, match="private as a whole") as caught:
            act()
        assert WORD not in str(caught.value)
    right = mem.correct(held.id, text=f"I work at Initech. {ALL}", reason=f"wrong {ALL}")
    assert right.text == "I work at Initech."
    mem.manage.set_status(right.id, "archived", reason=ALL)
    mem.close()
    assert WORD not in dump(path)


def mark(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Put private text behind every text of several words."""
    if isinstance(value, str):
        return f"{value} <private>{WORD}\n\nand {WORD}</private>" if " " in value else value
    if isinstance(value, dict):
        return {name: mark(one) for name, one in cast("dict[str, Any]", value).items()}
    return [mark(one) for one in cast("list[Any]", value)] if isinstance(value, list) else value


NOTES: Final = f"""# About bees {ALL}

Ana keeps bees in Graz.

<private>
Her PIN is {WORD}.

- {WORD}
</private>

- Ana keeps owls in Linz. <private>{WORD}
  and {WORD}</private>
- [ ] more <PRIVATE>

{WORD} to the end
"""
LISTED: Final = (
    f"- [2026-03-01] - Ana keeps bees in Graz. {ALL}\n- [2026-03-02] - {ALL}\n<private>\n- [2026-03-02] - {WORD}\n"
)
KNOWN: Final = [
    {"type": "entity", "name": "Ana", "entityType": "person", "observations": [f"keeps bees {ALL}", ALL]},
    {"type": "relation", "from": "Ana", "to": "Graz", "relationType": f"lives in {ALL}"},
]
TALK: Final = {
    "conv": "c1",
    "sessions": [{"id": "s1", "turns": [{"id": "t1", "speaker": "user", "text": f"Bees {ALL}"}]}],
}
FILES: Final[dict[str, tuple[str, Any]]] = {
    "claude-code": ("session.jsonl", [line("user", [mark({"type": "text", "text": "I keep bees."})])]),
    "chatgpt": (
        "conversations.json",
        [mark(tree("bees", said(1, "user", "I keep bees."), said(2, "assistant", "So so.")))],
    ),
    "claude": ("conversations.json", [mark(chat("bees", told(1, "human", "I keep bees.")))]),
    "mcp-memory": ("memory.jsonl", KNOWN),
    "pam": ("pam.json", mark(strands.PAM_STORE)),
    "letta": ("agent.af", mark(strands.LETTA)),
    "hindsight": ("hindsight.json", mark(strands.DOCUMENT)),
    "zep": ("zep.json", mark(strands.GRAPHITI)),
    "cognee": ("cognee.json", mark(strands.COGNEE)),
    "mem0": ("mem0.json", mark({"results": [{"id": "1", "memory": "Ana keeps bees", "user_id": "ana"}]})),
    "conversation": ("talk.jsonl", [TALK]),
    "messages": ("messages.json", mark(strands.MESSAGES)),
    "codex": ("rollout-1.jsonl", mark(people_files.CODEX)),
    "copilot": ("events.jsonl", mark(people_files.COPILOT)),
    "gemini-cli": ("session-1.json", mark(people_files.GEMINI)),
    "telegram": ("result.json", mark(people_files.TELEGRAM)),
    "open-webui": ("chats.json", mark(people_files.WEBUI)),
    "sillytavern": ("chat.jsonl", mark(people_files.TAVERN)),
    "gemini-takeout": ("MyActivity.json", mark(people_files.ACTIVITIES)),
    "whatsapp": ("chat.txt", f"{people_files.WHATSAPP}13/02/2026, 21:18 - Ines: I keep bees. {ALL}\n{ALL}\n"),
    "hermes": ("USER.md", f"Keeps bees. {ALL}\n§\n<private>\n{WORD}\n§\n</private>\n"),
    "openclaw": ("USER.md", f"- **Name:** Ana {ALL}\n- **Notes:** <private>\n{WORD}\n</private>\n"),
    "memory-folder": ("memory/notes.md", NOTES),
    "memories": ("memories.txt", LISTED),
    "obsidian": ("bees.md", f"See [[Ana]].\n\n{NOTES}- [fact] Ana keeps bees {ALL}\n"),
    "markdown": ("notes.md", NOTES),
    "text": ("notes.txt", NOTES),
}
ELSEWHERE: Final = {"openmemory", "recall", "engram", "suzent"}
"""Formats of databases and folders; see `test_rows_of_a_database_are_cut`."""


def write(folder: Path, name: str, content: Any) -> Path:  # noqa: ANN401 - JSON, lines of JSON, or text
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    if isinstance(content, str):
        path.write_text(content, "utf-8")
    elif name.endswith(".jsonl"):
        path.write_text("".join(json.dumps(one) + "\n" for one in content), "utf-8")
    else:
        path.write_text(json.dumps(content), "utf-8")
    return path


def test_every_format_of_an_import_is_tried() -> None:
    assert {one.name for one in FORMATS} == FILES.keys() | ELSEWHERE


@pytest.mark.parametrize("name", FILES)
def test_no_import_writes_private_text(mem: Credenda, path: Path, tmp_path: Path, name: str) -> None:
    file = write(tmp_path, *FILES[name])
    source = file.parent if name == "memory-folder" else file
    tried = mem.data.import_(source, name, me="", dry_run=True)
    report = mem.data.import_(source, name, me="")
    assert report.turns == tried.turns > 0, report
    assert WORD not in str(report)
    again = mem.data.import_(source, name, me="")
    assert again.turns == 0
    mem.settle()
    mem.close()
    assert WORD not in dump(path)


def mark_each(value: Any) -> Iterator[Any]:  # noqa: ANN401 - JSON
    """Yield copies of a value, in each of which one text has private text, also where that is no valid value."""
    if isinstance(value, str):
        yield f"{value}{ALL}"
    elif isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        yield from ({**table, name: one} for name in table for one in mark_each(table[name]))
    elif isinstance(value, list):
        row = cast("list[Any]", value)
        yield from ([*row[:at], one, *row[at + 1 :]] for at in range(len(row)) for one in mark_each(row[at]))


@pytest.mark.parametrize("name", [name for name, (_, content) in FILES.items() if not isinstance(content, str)])
def test_no_report_of_an_import_repeats_private_text_of_any_field(mem: Credenda, tmp_path: Path, name: str) -> None:
    file, content = FILES[name]
    told = 0
    for one in mark_each(content):
        report = mem.data.import_(write(tmp_path, file, one), name, me="", dry_run=True)
        assert WORD not in str(report)
        told += len(report.problems)
    assert told, "without problems this test would prove nothing"


def test_no_name_of_a_chat_is_told_with_its_private_part(mem: Credenda, tmp_path: Path) -> None:
    chat = f"13/02/2026, 21:15 - Ruben {ALL}: Hi.\n13/02/2026, 21:16 - Ines: Hello.\n"
    with pytest.raises(Invalid, match="Ines") as refused:
        mem.data.import_(write(tmp_path, "chat.txt", chat), "whatsapp")
    assert WORD not in str(refused.value)


def test_rows_of_a_database_are_cut(mem: Credenda, path: Path, tmp_path: Path) -> None:
    file = tmp_path / "openmemory.db"
    strands.close_openmemory(file, {"u1": "ana"})
    import sqlite3  # noqa: PLC0415 - to change one row

    with sqlite3.connect(file) as db:
        db.execute("UPDATE memories SET content = content || ?", (ALL,))
    db.close()
    assert mem.data.import_(file, "openmemory").turns > 0
    mem.close()
    assert WORD not in dump(path)


def test_a_transcript_brings_back_nothing_that_this_memory_put_into_it(
    mem: Credenda, events: Events, tmp_path: Path
) -> None:
    block = f"{FENCE_OPENING}\n- [m4-ca2571] user: I live in Wels.\n</memory>"
    lines = [
        line("user", [{"type": "text", "text": f"{block}\n\nI keep bees."}], 1),
        line("user", [{"type": "text", "text": block}], 2),
        line(
            "assistant",
            [{"type": "text", "text": f"From memory:\n- [m4-ca2571] user: I live in Wels.\nSo so. {block}"}],
            3,
        ),
    ]
    report = mem.data.import_(write(tmp_path, "session.jsonl", lines), "claude-code")
    assert (report.turns, report.problems) == (2, ())
    assert sorted(one.text.split() for one in events()) == [["From", "memory:", "So", "so."], ["I", "keep", "bees."]]


def test_what_a_hook_and_an_import_keep_of_a_prompt_is_the_same(
    mem: Credenda, events: Events, path: Path, tmp_path: Path
) -> None:
    prompt = "My salary is <private>95000 euro at zorkmid</private> and my dog is called Rex."
    mem.data.import_(write(tmp_path, "session.jsonl", [line("user", prompt, 1)]), "claude-code")
    mem.settle()
    assert [one.text for one in events()] == ["My salary is  and my dog is called Rex."]
    mem.close()
    assert "95000" not in dump(path)


def test_a_statement_of_a_page_stays_private_and_where_it_is(mem: Credenda, path: Path, tmp_path: Path) -> None:
    page = tmp_path / "vault/consolidated/ana.md"
    page.parent.mkdir(parents=True)
    page.write_text(
        f"- Ana keeps bees in Graz.\n\n<private>\n\n- Her PIN is {WORD}.\n\n</private>\n\n"
        f"- {ALL}\n\n- Ana likes tea. {ALL}\n",
        "utf-8",
    )
    report = mem.data.sync_files(tmp_path / "vault")
    assert (report.remembered, report.notes) == (2, ("consolidated/ana.md: private text left out",))
    assert mem.data.sync_files(tmp_path / "vault").remembered == 0
    assert f"- Her PIN is {WORD}." in page.read_text("utf-8")
    assert f"- {ALL}" in page.read_text("utf-8")
    mem.close()
    assert WORD not in dump(path)


def test_an_edit_of_a_page_loses_its_private_part(mem: Credenda, path: Path, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    mem.remember("I live in Linz.")
    mem.remember("I like tea.")
    mem.settle()
    mem.data.sync_files(vault)
    (page,) = [one for one in (vault / "consolidated").rglob("*.md") if "I live in Linz." in one.read_text("utf-8")]
    written = page.read_text("utf-8")
    page.write_text(written.replace("I live in Linz.", f"I live in Graz. {ALL}"), "utf-8")
    assert mem.data.sync_files(vault).corrected == 1
    assert [one.text for one in mem.list(attribute="residence").items] == ["I live in Graz."]
    page.write_text(page.read_text("utf-8").replace("I live in Graz.", ALL), "utf-8")
    report = mem.data.sync_files(vault)
    assert (report.corrected, report.deleted) == (0, 0)
    assert [one.text for one in mem.list(attribute="residence").items] == ["I live in Graz."]
    assert WORD not in str(report)
    mem.close()
    assert WORD not in dump(path)


def test_entries_inside_a_private_part_of_a_page_are_asked_about(mem: Credenda, path: Path, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    mem.remember("I live in Linz.")
    mem.settle()
    mem.data.sync_files(vault)
    (page,) = [one for one in (vault / "consolidated").rglob("*.md") if "I live in Linz." in one.read_text("utf-8")]
    head, entry, rest = page.read_text("utf-8").partition("- I live in Linz.")
    page.write_text(
        f"{head}{entry}\n\n<private>\n\n- {WORD}\n\n{head[head.rindex('<!--m') :]}- I live in {WORD}.{rest}"
    )
    report = mem.data.sync_files(vault)
    assert (report.deleted, report.corrected, report.remembered) == (0, 0, 0)
    assert [one.text for one in mem.list(attribute="residence").items] == ["I live in Linz."]
    mem.close()
    assert WORD not in dump(path)


def test_pages_of_programs_are_cut_before_they_are_split(mem: Credenda, path: Path) -> None:
    page = mem.directory.write(
        "notes/a.md", f"Ana keeps bees.\n<private>\nHer PIN is {WORD}.\n</private>\nAna likes tea.\n"
    )
    assert [one for one in page.text.split("\n") if one] == ["Ana keeps bees.", "Ana likes tea."]
    for text in (f"Ana keeps bees.\n<private>\n{WORD}\nAna likes tea.\n", f"{ALL}\n"):
        with pytest.raises(Invalid, match="private") as caught:
            mem.directory.write("notes/a.md", text)
        assert WORD not in str(caught.value)
    assert mem.directory.read("notes/a.md").text == page.text
    pages = open_pages(mem)
    pages.create("/memories/b.md", f"Ana keeps owls. {ALL}\n")
    pages.insert("/memories/b.md", 1, f"Ana likes jam. {ALL}")
    pages.str_replace("/memories/b.md", "jam", f"milk {ALL}")
    with pytest.raises(Refused, match="without an end"):
        pages.insert("/memories/b.md", 0, f"<private>{WORD}")
    assert WORD not in pages.view("/memories/b.md")
    assert "milk" in pages.view("/memories/b.md")
    mem.close()
    assert WORD not in dump(path)


def test_items_lose_private_values_and_names(mem: Credenda, path: Path) -> None:
    value = {"note": f"Ana keeps bees. {ALL}", ALL: 1, "deep": [{"more": ALL}]}
    kept = mem.items.put("s", "k", value, words=Words(f"Ana keeps bees. {ALL}", "store s"))
    assert json.loads(kept.value) == {"note": "Ana keeps bees.", "deep": [{"more": ""}]}
    mem.items.put("s", "p", {"note": ALL}, words=Words(ALL, "store s"))
    mem.items.append("log", [({"content": f"Hello {ALL}"}, None)])
    with pytest.raises(Invalid, match="private"):
        mem.items.put("s", ALL, {})
    assert [one.text for one in mem.list().items] == ["Ana keeps bees."]
    mem.close()
    assert WORD not in dump(path)


def test_a_program_that_remembers_around_its_model_hashes_no_private_words(mem: Credenda, events: Events) -> None:
    def ask(**given: Any) -> dict[str, str]:  # noqa: ANN401 - as a client
        assert WORD in str(given), "the model reads them"
        return {"content": f"Fine. {ALL}"}

    for word in (WORD, f"{WORD} again"):
        call = remembering(mem, ask, session="s")
        call(messages=[{"role": "user", "content": f"I keep bees. <private>{word}</private>"}])
    mem.settle()
    assert [one.text for one in events() if "bees" in one.text] == ["I keep bees."]
