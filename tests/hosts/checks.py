"""What holds in every host."""

from __future__ import annotations

from .rig import ASKED, SAID, SEARCH, VALUE, Ring, list_calls


def check_hooks(ring: Ring, host: str) -> None:
    """The hooks ran in both sessions, without an error."""
    events = list_calls(ring, host)
    assert events.count("UserPromptSubmit") == 2, events
    assert events.count("Stop") == 2, events


def check_recall(ring: Ring) -> None:
    """What was said in the first session stands in the first request of the second, and came by a hook."""
    assert ring.first, f"no request with {SAID!r}"
    assert ring.second, f"no request with {ASKED!r}"
    told = [turn for turn in ring.second[0].conversation.turns if turn.text not in ring.recalled]
    assert not [turn for turn in told if SAID in turn.text], "the host itself goes on with the first session"
    assert [text for text in ring.recalled if VALUE in text], ring.second[0].conversation.turns
    assert not [turn for turn in ring.first[0].conversation.turns if "Recalled data" in turn.text]


def check_tools(ring: Ring, *, at_once: bool) -> None:
    """The tools are offered, `at_once` in the first request; the one that the model calls answers it."""
    for request in (ring.first[0], ring.second[0]) if at_once else (ring.second[-1],):
        assert [name for name in request.conversation.tools if name.endswith(SEARCH)], request.conversation.tools
    last = ring.second[-1].conversation.turns
    assert [turn for turn in last if turn.who == "call" and turn.text.endswith(SEARCH)], last
    assert VALUE in next(turn.text for turn in reversed(last) if turn.who == "result")


def check_status(ring: Ring) -> None:
    """The status is "ok" only after a hook has run."""
    assert (ring.fresh["ok"], ring.fresh["hooks_ran_at"]) == (False, None)
    assert ring.fresh["next_step"]
    assert ring.used["ok"]
    assert ring.used["hooks_ran_at"]
    assert (ring.used["missing"], ring.used["changed"], ring.used["next_step"]) == ([], [], "")


def check_removal(ring: Ring, *, changed_by_host: frozenset[str] = frozenset()) -> None:
    """Nothing of ours stays, what was there before is as it was, and with all that the host wrote it is so again.

    A file that the host itself has changed has nothing of ours in it.
    """
    assert ring.written
    ours = [path for path in ring.written if path in ring.removed and "credenda" in path]
    assert not ours
    for path, content in ring.before.items():
        if path in changed_by_host:
            assert b"credenda" not in (ring.removed[path] or b"").replace(path.encode(), b""), path
        else:
            assert ring.removed[path] == content, path
    assert ring.again == ring.removed
