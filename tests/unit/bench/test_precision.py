"""The benchmark of precision, on beliefs made up here."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import tables
from benchmarks.precision import load_cases, run_precision
from credenda import Invalid


def belief(name: str, content: str, **more: object) -> dict[str, object]:
    plain: dict[str, object] = {
        "_id": name,
        "user_id": "test-user",
        "type": "entity",
        "canonical_name": name,
        "aliases": [],
        "content": content,
        "scope": ["work"],
        "confidence": 0.9,
        "pinned": False,
    }
    return {**plain, **more}


BELIEFS = [
    belief("nomad", "Jobs are placed by Nomad, three servers.", aliases=["the scheduler"]),
    belief("vim", "Writes code in Vim.", superseded_by="helix"),
    belief("helix", "Writes code in Helix.", aliases=["editor"]),
    belief("paris", "Lives in Paris.", scope=["home"]),
    belief("tone", "Wants short answers.", type="preference", scope=["user:universal"], pinned=True),
    belief("budget", "Whether to buy or rent is open.", type="open_question", pinned=True),
    belief("secret", "Uses a secret editor.", user_id="other", aliases=["editor"]),
]


def case(name: str, query: str, **expect: dict[str, object]) -> dict[str, object]:
    return {"caseId": name, "category": "made up", "scope": ["work"], "query": query, "expect": expect}


def only(*names: str) -> dict[str, object]:
    return {"shouldOnlyInclude": list(names)}


def written(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def run(folder: Path, *cases: dict[str, object]) -> dict[str, Any]:
    beliefs, asked = written(folder / "b.jsonl", BELIEFS), written(folder / "c.jsonl", list(cases))
    return run_precision(beliefs, asked, note=lambda _: None)


def test_cases_pass_where_exactly_what_is_wanted_comes_back(tmp_path: Path) -> None:
    document = run(
        tmp_path,
        case("alias", "Where does the scheduler put batch jobs?", relevantBeliefs=only("nomad")),
        case("replaced", "Which editor do I use?", relevantBeliefs=only("helix")),
        case("other scope", "Which restaurants are good in Paris?", relevantBeliefs=only()),
        case("pinned", "", personaPrelude={"contains": ["short"]}, openQuestions={"mustInclude": ["budget"]}),
    )
    assert document["failed"] == []
    assert (document["n"], document["passed"], document["share"]) == (4, 4, 1.0)
    assert "all (none)" in tables.precision(document)


def test_what_is_missing_or_too_much_fails_and_is_listed(tmp_path: Path) -> None:
    document = run(
        tmp_path,
        case("missing", "Which editor do I use?", relevantBeliefs=only("helix", "paris")),
        case("too much", "Which editor do I use?", relevantBeliefs={"mustExclude": ["helix"]}),
        case("prelude", "", personaPrelude={"isNull": True}),
    )
    assert [one["case"] for one in document["failed"]] == ["missing", "too much", "prelude"]
    assert "FAILED too much: relevantBeliefs mustExclude; returned helix" in tables.precision(document)


def test_turns_of_a_session_are_asked_in_turn_and_may_add_names(tmp_path: Path) -> None:
    turns: list[dict[str, object]] = [
        {"turnIndex": 0, "scope": ["work"], "userMessage": "Tell me of hx.", "expect": {"relevantBeliefs": only()}},
        {
            "turnIndex": 1,
            "scope": ["work"],
            "userMessage": "Tell me of hx.",
            "expect": {"relevantBeliefs": only("helix")},
            "updateBeliefAtTurn": {"beliefId": "helix", "addAliases": ["hx"]},
        },
    ]
    beliefs = written(tmp_path / "b.jsonl", BELIEFS)
    sessions = written(tmp_path / "s.jsonl", [{"caseId": "talk", "turns": turns}])
    document = run_precision(beliefs, written(tmp_path / "c.jsonl", []), sessions, note=lambda _: None)
    assert (document["n"], document["failed"]) == (2, [])


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="not a file of cases"):
        load_cases(written(tmp_path / "c.jsonl", [{"question": "?"}]))
