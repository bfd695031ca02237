"""Every command does its job, for people and as JSON."""

import gzip
import json
from pathlib import Path

import click
import pytest

from credenda import __version__, limits
from credenda.interfaces.cli.main import cli
from credenda.operations import OPERATIONS
from credenda.portability import importing

from .terminal import Terminal

MEMORY_FIELDS = {
    *("id", "text", "type", "topic", "entity", "attribute", "value", "scope", "cardinality", "stance", "confidence"),
    *("importance", "layer", "status", "relation", "valid_from", "valid_until", "superseded_by", "recorded_at"),
    *("last_accessed", "access_count", "decay_score", "pinned", "trust", "confirmations", "source_session"),
    *("tags", "metadata", "contested"),
}


def commands() -> list[str]:
    return cli.list_commands(click.Context(cli, **cli.context_settings))


@pytest.mark.parametrize("name", commands())
def test_every_command_explains_itself(name: str, ana: Terminal) -> None:
    inner = ["sync"] if name == "files" else []  # a group, with the operation under a name of its own
    shown = ana.text(name, *inner, "--help")
    assert f"credenda {name}" in shown
    operation = OPERATIONS.get(name)
    for param in operation.params if operation and "cli" in operation.doors else ():
        assert param.help.split()[0] in shown


def test_every_operation_for_the_command_line_is_a_command() -> None:
    assert {name for name, one in OPERATIONS.items() if "cli" in one.doors} <= set(commands())


def test_without_a_command_the_help_is_shown(ana: Terminal) -> None:
    assert "Commands:" in ana.text()
    assert ana.text("--version").strip() == f"credenda {__version__}"


def test_remember_tells_what_is_believed_from_it(ana: Terminal) -> None:
    shown = ana.text("remember", "I live in Linz. I'm allergic to peanuts.")
    assert shown.startswith("Stored as e1-")
    assert "residence: Linz" in shown
    assert "allergy: peanuts" in shown


def test_remember_as_json_is_a_receipt_with_consequences(ana: Terminal) -> None:
    receipt = ana.json("remember", "I live in Linz.", "--session", "s1", "--tag", "home", "--metadata", "app=notes")
    assert receipt["event_ids"][0].startswith("e1-")
    assert (receipt["queued"], receipt["cached"], receipt["refused"], receipt["settled"]) == (True, False, [], True)
    (believed,) = receipt["believed"]
    assert believed["consequence"] == "added"
    memory = believed["memory"]
    assert (memory["tags"], memory["metadata"], memory["source_session"]) == (["home"], {"app": "notes"}, "s1")


def test_remember_says_what_changed_and_what_was_said_before(ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    assert "residence: now Graz; previously Linz" in ana.text("remember", "I moved to Graz.")
    again = ana.text("remember", "I live in Graz.")
    assert "confirmed" in again
    assert "residence: Graz" in again


def test_a_deed_says_that_it_was_only_considered_before(ana: Terminal) -> None:
    ana.remember("I'm thinking of moving to Graz.")
    assert "previously moving to Graz [considered]" in ana.text("remember", "I moved to Graz.")


def test_remember_tells_a_correction_an_end_and_a_doubt_apart(ana: Terminal) -> None:
    ana.remember("My name is Jon.", "I drink coffee.", "We use Postgres.")
    assert "name: John; Jon was wrong" in ana.text("remember", "Actually, my name is John, not Jon.")
    assert "not coffee" in ana.text("remember", "I don't drink coffee any more.")
    shown = ana.text("remember", "Let's go with MySQL.")
    assert "database: MySQL" in shown
    assert "[challenged]" in shown
    assert "[hypothetical · confidence 0.30]" in ana.text("remember", "If I lived in Rome I'd eat pizza.")


def test_remember_takes_claims_as_json_and_says_why_one_was_refused(ana: Terminal) -> None:
    claims = [
        {"quote": "moved to Graz", "attribute": "residence", "value": "Graz"},
        {"quote": "moved to Rome", "attribute": "residence", "value": "Rome"},
    ]
    shown = ana.text("remember", "I moved to Graz.", "--claims", json.dumps(claims))
    assert "residence: Graz" in shown
    assert "refused, the quote does not occur in a message" in shown
    receipt = ana.json("remember", "I am at Siemens.", "--claims", '[{"quote": "at Siemens", "value": "Siemens"}]')
    assert [one["outcome"] for one in receipt["claims"]] == ["kept"]
    assert "this is no JSON" in ana.error("remember", "I moved to Graz.", "--claims", "residence=Graz", code=2)


def test_remember_that_leads_to_nothing_says_so(ana: Terminal) -> None:
    assert "No belief follows from it" in ana.text("remember", "Perfect, thanks!")


def test_remember_reads_standard_input(ana: Terminal) -> None:
    ana.run("remember", "-", stdin="I live in Wien.\n")
    assert ana.values("--attribute", "residence") == ["Wien"]


def test_remember_without_waiting_is_read_by_the_next_one(ana: Terminal) -> None:
    receipt = ana.json("remember", "I live in Linz.", "--no-wait")
    assert (receipt["settled"], receipt["believed"]) == (False, [])
    assert ana.json("stats")["pending_extractions"] == 1
    assert ana.json("search", "Linz")["hits"][0]["kind"] == "event"
    ana.remember("Perfect, thanks!")
    assert ana.values() == ["Linz"]


def test_the_same_key_files_once(ana: Terminal) -> None:
    first = ana.json("remember", "I live in Linz.", "--key", "k1")
    again = ana.json("remember", "I live in Linz.", "--key", "k1")
    assert again["cached"]
    assert again["event_ids"] == first["event_ids"]
    assert ana.text("remember", "I live in Linz.", "--key", "k1").startswith("Already stored as ")


def test_a_refused_secret_is_named(ana: Terminal) -> None:
    shown = ana.text("remember", "curl -H 'Authorization: Bearer sk-test-NOTAREALKEY4f9a7c2e81b05d36' x")
    assert "refused" in shown
    assert "NOTAREALKEY" not in shown


def test_search_shows_hits_with_their_source(ana: Terminal) -> None:
    ana.remember("I live in Linz.", "I'm allergic to peanuts.")
    shown = ana.text("search", "What am I allergic to?", "--explain")
    assert "user: allergy: peanuts, told " in shown.splitlines()[0]
    assert "“I'm allergic to peanuts.”" in shown
    assert "relevance" in shown


def test_search_as_json_has_the_fields_of_the_contract(ana: Terminal) -> None:
    ana.remember("I'm allergic to peanuts.")
    found = ana.json("search", "peanuts", "--explain")
    assert {"hits", "abstained", "took_ms", "trace"} <= set(found)
    hit = found["hits"][0]
    assert {"kind", "id", "text", "score", "flags", "memory", "event", "evidence", "terms"} <= set(hit)
    assert hit["kind"] == "memory"
    assert set(hit["memory"]) >= MEMORY_FIELDS
    assert hit["event"] is None
    assert hit["evidence"][0]["text"] == "I'm allergic to peanuts."
    assert hit["terms"]


def test_search_says_when_nothing_is_known(ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    assert "Nothing relevant is known." in ana.text("search", "What is my blood type?")
    assert ana.json("search", "What is my blood type?")["abstained"] is True


def test_search_takes_its_conditions(ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    kinds = {hit["kind"] for hit in ana.json("search", "Linz", "--kind", "event")["hits"]}
    assert kinds == {"event"}
    assert ana.json("search", "Linz", "--as-of", "2001-01-01", "--kind", "memory")["hits"] == []
    assert len(ana.json("search", "Linz", "--limit", "1")["hits"]) == 1


def test_context_is_a_block_for_a_prompt(ana: Terminal) -> None:
    ana.remember("My favourite snack is peanuts.")
    assert "peanuts" in ana.text("context", "What is my favourite snack?")
    nothing = ana.run("context", "What is my blood type?")
    assert (nothing.stdout, len(nothing.stderr.splitlines())) == ("", 1)
    narrow = ana.run("context", "What is my favourite snack?", "--tokens", "5")
    assert (narrow.stdout, narrow.stderr) == ("", "nothing fits into 5 tokens; the block is empty\n")
    packed = ana.json("context", "peanuts", "--tokens", "200")
    assert {"text", "hits", "tokens", "abstained", "counted_by", "waiting", "probability"} == set(packed)
    assert 0 < packed["tokens"] <= 200
    assert ana.json("context")["abstained"] in (True, False)


def test_list_shows_a_table_and_pages(ana: Terminal) -> None:
    ana.remember("I live in Linz.", "I'm allergic to peanuts.", "My phone is a Fairphone.")
    head, *rows = ana.text("list").splitlines()
    assert head.split() == ["ID", "TYPE", "SINCE", "ABOUT", "BELIEVED"]
    assert len(rows) == 3
    page = ana.json("list", "--limit", "2")
    assert set(page["items"][0]) >= MEMORY_FIELDS
    rest = ana.json("list", "--limit", "2", "--cursor", page["next_cursor"])
    assert (len(page["items"]), len(rest["items"]), rest["next_cursor"]) == (2, 1, None)
    assert "No memory matches" in ana.text("list", "--topic", "nowhere")


def test_times_are_rfc_3339_in_utc(ana: Terminal) -> None:
    ana.remember("I live in Linz.", at="2026-03-01T10:00:00+02:00")
    (memory,) = ana.held()
    assert memory["valid_from"] == "2026-03-01T08:00:00Z"
    assert memory["recorded_at"].endswith("Z")
    assert not [name for name in memory if name.endswith("_us")]


def test_get_shows_one_memory(ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    name = ana.an_id()
    assert ana.text("get", name).startswith("residence: Linz")
    assert ana.json("get", name)["id"] == name


def test_why_quotes_the_words_a_memory_rests_on(ana: Terminal) -> None:
    ana.remember("Hello there. I live in Linz.")
    name = ana.an_id()
    assert "“I live in Linz.”" in ana.text("why", name)
    why = ana.json("why", name)
    assert {"memory", "evidence", "changes", "earned"} == set(why)
    (evidence,) = why["evidence"]
    assert evidence["quote"] == "I live in Linz."
    assert evidence["event"]["text"][evidence["start"] : evidence["end"]] == evidence["quote"]
    assert {"id", "kind", "actor", "reason", "at", "memory_id"} <= set(why["changes"][0])


def test_history_is_a_timeline(ana: Terminal) -> None:
    ana.remember("I live in Linz.", at="2025-01-01")
    ana.remember("I moved to Graz.", at="2026-01-01")
    shown = ana.text("history", "user", "residence")
    assert "2025-01-01 – 2026-01-01" in shown
    assert "since 2026-01-01" in shown
    versions = ana.json("history", "user", "residence")
    assert [one["value"] for one in versions] == ["Linz", "Graz"]
    fields = {"value", "valid_from", "valid_until", "status", "relation", "superseded_by", "reason"}
    assert all(fields <= set(one) for one in versions)


def test_correct_replaces_what_was_wrong(ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    right = ana.json("correct", ana.an_id(), "--value", "Graz", "--reason", "misheard")
    assert right["value"] == "Graz"
    assert ana.values() == ["Graz"]
    (old,) = ana.held("--status", "superseded")
    assert (old["relation"], old["superseded_by"]) == ("corrected", right["id"])


def test_forget_and_restore(ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    name = ana.an_id()
    assert ana.text("forget", name, "--reason", "private").startswith("Forgotten;")
    assert ana.held() == []
    assert ana.text("restore", name, "--yes").startswith("Restored.")
    assert ana.values() == ["Linz"]


def test_delete_never_waits_for_an_answer_without_a_terminal(ana: Terminal) -> None:
    ana.remember("My day rate is 1,150 dollars.")
    name = ana.an_id()
    first, second = (ana.json("delete", name, "--yes") for _ in range(2))
    assert (first["id"], first["done"], first["memories"], first["log_emptied"]) == (name, "deleted", 1, True)
    assert (second["done"], second["memories"]) == ("deleted", 0)
    refused = ana.json("remember", "My day rate is 1,150 dollars.")
    assert refused["refused"]
    assert refused["believed"] == []
    assert ana.held() == []
    ana.remember("Perfect, thanks!")
    assert ana.json("remember", "My day rate is 1,150 dollars.", "--allow-deleted")["believed"]


def test_feedback_is_taken_for_good_and_bad_hits(ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    name = ana.an_id()
    assert ana.json("feedback", name, "--useful") == {"id": name, "done": "useful"}
    assert ana.text("feedback", name, "--useless") == f"Useless: {name}\n"
    assert "--useful" in ana.error("feedback", name, code=2)


def test_a_pinned_memory_is_in_every_context(ana: Terminal) -> None:
    ana.remember("My phone is a Fairphone.")
    name = ana.an_id()
    assert ana.json("pin", name)["pinned"] is True
    assert "Fairphone" in ana.text("context")
    assert ana.json("unpin", name)["pinned"] is False


def test_stats_count(ana: Terminal) -> None:
    assert ana.json("stats")["events"] == 0
    ana.remember("I live in Linz.")
    counted = ana.json("stats")
    assert (counted["events"], counted["total"], counted["pending_extractions"]) == (1, 1, 0)
    assert "active memories" in ana.text("stats")


def test_a_sound_store_passes_the_doctor(ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    report = ana.json("doctor")
    assert report["ok"] is True
    assert report["findings"] == []
    assert ana.text("doctor", "--repair").splitlines()[1] == "No problem was found."


def test_what_is_exported_can_be_imported(ana: Terminal, tmp_path: Path) -> None:
    ana.remember("I live in Linz.", "I moved to Graz.")
    file = tmp_path / "all.jsonl.gz"
    assert ana.json("export", str(file))["rows"]["memories"]
    assert gzip.decompress(file.read_bytes())
    (tmp_path / "other").mkdir()
    other = Terminal(tmp_path / "other")
    assert other.json("import", str(file))["format"] == "credenda"
    assert other.values() == ["Graz"]
    assert [one["value"] for one in other.json("history", "user", "residence")] == ["Linz", "Graz"]


def test_an_import_reads_what_waits_when_too_much_does_and_goes_on(
    ana: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "QUEUED_JOBS", 100)
    monkeypatch.setattr(importing, "PATIENCE_STEPS", 0)
    file = tmp_path / "notes.txt"
    file.write_text("\n\n".join(f"Note number {number}." for number in range(250)), "utf-8")
    report = ana.json("import", str(file))
    assert (report["turns"], report["skipped"]) == (250, 0)
    assert ana.json("stats")["pending_extractions"] == 0


def test_a_folder_of_transcripts_is_imported_and_what_is_held_goes_to_another_memory(
    ana: Terminal, tmp_path: Path
) -> None:
    folder = tmp_path / "projects" / "-home-ana"
    folder.mkdir(parents=True)
    line = (
        '{"type": "user", "sessionId": "s", "uuid": "u", "timestamp": "2026-01-05T09:00:00Z", "message": {"content": '
    )
    (folder / "s.jsonl").write_text(line + '"I live in Linz."}}\n{broken\n', "utf-8")
    shown = ana.text("import", str(tmp_path / "projects"))
    assert "claude-code" in shown
    assert "note: -home-ana/s.jsonl, line 2: not JSON" in shown
    graph = tmp_path / "memory.jsonl"
    assert ana.json("export", str(graph), "--format", "mcp-memory")["rows"]["observations"] == 1
    assert '"observations": ["I live in Linz."]' in graph.read_text("utf-8")


def test_an_imported_conversation_is_believed_when_the_command_returns(ana: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text(
        '{"conv": "c", "speakers": ["user", "assistant"], "sessions": [{"id": "s1", "time": "2026-03-01T10:00:00Z",'
        ' "turns": [{"id": "t1", "speaker": "user", "text": "I live in Linz."},'
        ' {"id": "t2", "speaker": "assistant", "text": "Noted."}]}]}\n',
        "utf-8",
    )
    report = ana.json("import", str(file), "--format", "conversation")
    assert (report["conversations"], report["turns"]) == (1, 2)
    assert [(one["value"], one["valid_from"]) for one in ana.held()] == [("Linz", "2026-03-01T10:00:00Z")]
    assert "already stored  2" in ana.text("import", str(file))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed(shell: str, ana: Terminal) -> None:
    assert "_CREDENDA_COMPLETE" in ana.text("completion", shell)


def test_options_of_the_program_may_stand_behind_the_command(ana: Terminal) -> None:
    result = ana.run("stats", "--json")
    assert result.stdout.startswith("{")


def test_a_long_hit_is_shown_by_its_beginning(ana: Terminal) -> None:
    ana.remember(f"The saffron story: {'on and on ' * 90}until the end.")
    shown = ana.text("search", "saffron story")
    assert "The saffron story" in shown
    assert "…" in shown
    assert len(shown.splitlines()) < 10
    assert len(ana.json("search", "saffron story")["hits"][0]["text"]) > 600


def test_a_context_says_what_counted_it(ana: Terminal, tmp_path: Path) -> None:
    ana.text("remember", "I live in Linz.")
    assert ana.json("context", "Where do I live?")["counted_by"] == "estimate"
    file = tmp_path / "tokenizer.json"
    model = {"type": "WordLevel", "vocab": {"<?>": 0}, "unk_token": "<?>"}
    file.write_text(json.dumps({"version": "1.0", "pre_tokenizer": {"type": "Whitespace"}, "model": model}))
    told = ana.json("context", "Where do I live?", "--tokenizer", str(file), "--tokens", "60")
    assert told["counted_by"].endswith("/tokenizer.json")
    assert 0 < told["tokens"] <= 60
    assert "tokens counted by  estimate" in ana.text("stats")
