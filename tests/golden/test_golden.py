"""The golden replay: decisions and evidence are as committed, and a change of one of them is noticed."""

from dataclasses import replace

import pytest

from . import hashes, product, told
from .reasons import UnknownReason, kind_of
from .replays import chunk_names, replay, sampled

SAMPLED = [name for name in chunk_names() if sampled(name)]
PARTS = sorted({name.split("/")[0] for name in SAMPLED})


@pytest.mark.parametrize("part", PARTS)
def test_decisions_and_evidence_are_as_committed(part: str) -> None:
    names = [name for name in SAMPLED if name.split("/")[0] == part]
    wanted = hashes.load_exceptions()
    found = {name: hashes.chunk_hash(replay(name), wanted) for name in names}
    differ = hashes.differing(found, hashes.load_hashes(), names)
    assert not differ, f"see python tests/golden/replay.py --only {differ[0]} --compare OLD_DUMP"


def test_every_chunk_has_a_committed_hash() -> None:
    assert sorted(hashes.load_hashes()) == sorted(chunk_names())


def test_every_wanted_difference_says_why() -> None:
    assert all(one.why.strip() and one.before != one.after for one in hashes.load_exceptions().values())


def test_one_claim_with_another_confidence_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    name, real = "stories/hand/00001", told.read
    changed: list[str] = []

    def other(extractor: object, turn: product.Turn) -> list[product.Claim]:
        claims = real(extractor, turn)
        if claims and not changed:
            changed.append(turn.event.text)
            return [replace(claims[0], confidence=0.61), *claims[1:]]
        return claims

    monkeypatch.setattr(told, "read", other)
    found = hashes.chunk_hash(replay(name), {})
    assert changed
    assert found != hashes.load_hashes()[name]


def test_a_wanted_difference_keeps_the_hash_and_another_does_not() -> None:
    old, new, other = '{"value":"Graz"}', '{"value":"Linz"}', '{"value":"Bonn"}'
    wanted = {"a:1": hashes.Wanted(hashes.digest(old), hashes.digest(new), "a spelling")}
    before = hashes.chunk_hash([("a:1", old), ("a:2", old)], {})
    assert hashes.chunk_hash([("a:1", new), ("a:2", old)], wanted) == before
    assert hashes.chunk_hash([("a:1", other), ("a:2", old)], wanted) != before
    assert hashes.chunk_hash([("a:1", new), ("a:2", new)], wanted) != before


def test_a_reason_without_a_row_says_where_to_add_one() -> None:
    with pytest.raises(UnknownReason, match=r"reasons\.toml covers the reason 'as the wind blows'"):
        kind_of("as the wind blows")


def test_a_reason_is_known_by_its_text_and_its_detail() -> None:
    assert kind_of("restated") == "confirmed"
    assert kind_of("“not a; b” replaces “c”, which was true until then (k2-662711)") == "changed"
    assert (
        kind_of("“a” replaces “b”, which was true until then; a new state of the same kind (c; d)") == "changed+state"
    )
