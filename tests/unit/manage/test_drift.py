"""Which words are claims about code, and what drift says of them."""

import pytest

from credenda.manage.code_outline import Manifest, parse_outline
from credenda.manage.drift import (
    CodeClaim,
    CodeIndex,
    check_claim,
    compute_drift_score,
    decide_drift,
    extract_code_claims,
)
from credenda.model.report import DriftFinding, DriftLevel


def claims(text: str) -> list[tuple[str, str]]:
    return [(claim.kind, claim.what) for claim in extract_code_claims(text)]


@pytest.mark.requirement("E-078")
@pytest.mark.parametrize(
    "text",
    [
        "The docs are at https://example.com/src/app.py and http://x.io/a/b.toml.",
        "See docs.python.org/3/library/ast.html for it.",
        "GET /api/users returns everyone, and POST /admin/accounts makes one.",
        "The endpoint /orders/list.json is public.",
        "/v1/search and /api/users/42 are routes.",
        "Logs are in /var/log/<name>/app.log.",
        "Home is /home/USERNAME/project/a.py.",
        "Reports go to out/YYYY/report.md.",
        "The page is src/pages/{slug}/index.ts.",
        "It is kept under $HOME/project/a.py and ~/project/b.py.",
        "Put it into path/to/file.py.",
        "Sources are src/**/*.py.",
        "We removed src/old/app.py.",
        "I will add src/new/app.py tomorrow.",
        "src/old.py no longer exists.",
        "He and/or she work 24/7 on TCP/IP.",
        "I use Node.js and Vue.js with asp.net.",
        "Write to ana@example.com.",
        "It depends on the weather, and make sure to eat.",
        "I live in Linz. My sister is a nurse.",
        "The meeting is on 3/4/2026 at 10.30.",
    ],
)
def test_what_is_no_claim_about_code(text: str) -> None:
    assert claims(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The reader is in src/app/config.py:42.", [("path", "src/app/config.py")]),
        ("Open `/srv/shop/app.py`, please.", [("path", "/srv/shop/app.py")]),
        ("The file config.py holds it.", [("file", "config.py")]),
        ("`app/run.py::Shop::close` closes it.", [("name", "app/run.py::Shop.close")]),
        ("credenda.write.apply.apply() files it.", [("name", "credenda.write.apply.apply")]),
        ("The function read_all is slow.", [("name", "read_all")]),
        ("Run `npm run build` and `make test` first.", [("command", "build"), ("command", "test")]),
        ("The project depends on `numpy`.", [("dependency", "numpy")]),
        ("click is in pyproject.toml.", [("dependency", "click")]),
    ],
)
def test_what_is_one(text: str, found: list[tuple[str, str]]) -> None:
    assert [one for one in claims(text) if one != ("file", "pyproject.toml")] == found


SOURCE = """
def go(): ...
class Shop:
    size = 1
    def close(self): self.done = 1
class Odd(Base): ...
value = make()
"""


def landscape(*, whole: bool = True) -> CodeIndex:
    land = CodeIndex(exists=lambda path: None if not path.startswith("/srv/shop") else path == "/srv/shop/app.py")
    land.add_paths(["app.py", "pkg", "pkg/__init__.py", "pkg/mod.py", "src/x/y.ts"])
    land.add_file("pkg/mod.py", parse_outline("a.py", SOURCE))
    land.add_manifest(Manifest(path="package.json", dependencies=(("left-pad", "1"),), commands=(("npm", "build"),)))
    land.whole = whole
    return land


JUDGED = [
    ("path", "/srv/shop/app.py", None),
    ("path", "/srv/shop/gone.py", ("path-dead", "error")),
    ("path", "/etc/passwd.txt", None),
    ("path", "pkg/mod.py", None),
    ("path", "x/y.ts", None),
    ("path", "./pkg/mod.py", None),
    ("path", "../elsewhere/a.py", None),
    ("path", "pkg/none.py", ("path-missing", "warning")),
    ("file", "mod.py", None),
    ("file", "none.py", ("file-unknown", "info")),
    ("name", "pkg.mod.go", None),
    ("name", "pkg.mod.Shop.close", None),
    ("name", "pkg.mod.Shop.done", None),
    ("name", "pkg.mod.Odd.anything", None),
    ("name", "pkg.mod.value.anything", None),
    ("name", "pkg.mod.gone", ("name-dead", "error")),
    ("name", "pkg.mod.Shop.gone", ("name-dead", "error")),
    ("name", "Shop.close", None),
    ("name", "Shop.gone", ("name-dead", "error")),
    ("name", "numpy.array", None),
    ("name", "pkg/mod.py::go", None),
    ("name", "pkg/mod.py::gone", ("name-dead", "error")),
    ("name", "close", None),
    ("name", "gone_name", ("name-unknown", "info")),
    ("dependency", "Left_Pad", None),
    ("dependency", "gone", ("dependency-missing", "warning")),
]


@pytest.mark.requirement("E-071", "E-078")
@pytest.mark.parametrize(("kind", "what", "expected"), JUDGED)
def test_a_claim_is_held_against_the_code(kind: str, what: str, expected: tuple[str, str] | None) -> None:
    verdict = check_claim(CodeClaim(kind=kind, what=what), landscape())  # type: ignore[arg-type]
    assert (verdict and (verdict.code, verdict.level)) == expected


def test_commands_are_looked_for_where_they_are_named() -> None:
    def judged(what: str, runner: str) -> str | None:
        verdict = check_claim(CodeClaim(kind="command", what=what, runner=runner), landscape())
        return verdict and verdict.code

    assert [judged("build", "npm"), judged("gone", "npm"), judged("gone", "make")] == [None, "command-missing", None]


def test_what_was_not_read_whole_is_not_called_missing() -> None:
    land = landscape(whole=False)
    relative = CodeClaim(kind="path", what="pkg/none.py")
    dead = CodeClaim(kind="path", what="/srv/shop/gone.py")
    assert check_claim(relative, land) is None
    assert check_claim(dead, land) is not None


def finding(level: DriftLevel, memory: str = "m1") -> DriftFinding:
    return DriftFinding(code="x", level=level, memory_id=memory, what="y", where="z")


@pytest.mark.requirement("E-076")
def test_the_score_is_a_hundred_less_the_costs() -> None:
    assert compute_drift_score([]) == 100
    assert compute_drift_score([finding("error"), finding("warning"), finding("info")]) == 86
    assert compute_drift_score([finding("error")] * 11) == 0


@pytest.mark.requirement("D-030")
def test_only_errors_are_acted_upon_and_each_memory_once() -> None:
    found = [finding("warning", "m1"), finding("error", "m2"), finding("error", "m2"), finding("info", "m3")]
    assert [(change.memory_id, change.status) for change in decide_drift(found)] == [("m2", "invalidated")]
