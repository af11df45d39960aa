"""A provider that is down is tried by one session at a time, and by nobody's schedule but its own."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from reprise.domain.events import Outcome
from reprise.domain.failures import Failure, FailureKind
from reprise.domain.ports import HoldResult
from reprise.domain.retry import RetryPolicy, WaitReason
from reprise.domain.sessions import Attempt
from support.crowd import DOWN, Crowd
from support.engine import EngineStage

Scene = Callable[[Crowd], Coroutine[Any, Any, None]]
Play = Callable[..., None]


@pytest.fixture
def down(play: Play) -> Play:
    """Plays a scene in a crowd whose sessions fell one after the other: their own retries are due at 5, 6, 7 ..."""

    def run(scene: Scene, *names: str, size: int = 3, policy: RetryPolicy | None = None) -> None:
        async def whole(stage: EngineStage) -> None:
            crowd = Crowd(stage.store, stage.clock, size, policy)
            try:
                await crowd.fall(*names)
                crowd.sent.clear()
                await scene(crowd)
            finally:
                await crowd.close()

        play(whole)

    return run


def waiting(crowd: Crowd) -> dict[str, tuple[WaitReason, float | None]]:
    """Why each session waits, and until when after the start."""
    found = {}
    for name, member in crowd.members.items():
        if (pending := member.gate.pending) is not None:
            found[name] = (pending.reason, None if pending.due_at is None else pending.due_at - 1000.0)
    return found


BEHIND = (WaitReason.PROBE, None)


def test_one_session_tries_for_all_and_its_failure_moves_the_others_behind_its_next_try(down: Play) -> None:
    """N6: three failures in a row of several sessions; the first whose own time comes tries."""

    async def scene(crowd: Crowd) -> None:
        await crowd.clock.advance(5.0)
        assert crowd.sent == [(5.0, "a")]
        assert waiting(crowd) == {"b": BEHIND, "c": BEHIND}
        await crowd["a"].answer(DOWN)
        assert waiting(crowd) == {"a": (WaitReason.RETRY, 18.0), "b": BEHIND, "c": BEHIND}
        await crowd.clock.advance(9.5)
        assert crowd.sent == [(5.0, "a")]
        await crowd.clock.advance(0.5)
        assert crowd.sent == [(5.0, "a"), (18.0, "a")]

    down(scene)


def test_an_answer_lets_the_others_go_two_seconds_apart(down: Play) -> None:
    """N6, D3: in the order in which they came to wait, with the retry that was theirs."""

    async def scene(crowd: Crowd) -> None:
        await crowd.clock.advance(5.0)
        await crowd["a"].answer("ok")
        assert crowd.sent == [(5.0, "a"), (8.0, "b")]
        assert waiting(crowd) == {"c": (WaitReason.TURN, 10.0)}
        await crowd.clock.advance(2.0)
        assert crowd.sent[-1] == (10.0, "c")
        assert [(wait.retry, wait.retries) for wait in crowd["c"].waits] == [(1, 3)] * 3

    down(scene)


def test_the_first_word_is_an_answer(down: Play) -> None:
    """N6: nobody waits for the end of a long reply to know that the provider is there."""

    async def scene(crowd: Crowd) -> None:
        await crowd.clock.advance(5.0)
        crowd.holds.breaker.answered("test")
        await crowd.clock.drain()
        assert crowd["a"].is_asking
        assert crowd.sent == [(5.0, "a"), (8.0, "b")]

    down(scene)


def test_a_session_alone_keeps_its_schedule(down: Play) -> None:
    """N6, R1: however often it fails, its waits are those of the policy."""

    async def scene(crowd: Crowd) -> None:
        crowd.answers = DOWN
        await crowd.clock.advance(60.0)
        assert [at for at, _ in crowd.sent] == [5.0, 15.0, 35.0]
        assert {wait.reason for wait in crowd["a"].waits} == {WaitReason.RETRY}

    down(scene, "a", size=1)


def test_two_failures_hold_nobody(down: Play) -> None:
    """N6: they may be the sessions' own."""

    async def scene(crowd: Crowd) -> None:
        await crowd.clock.advance(6.0)
        assert crowd.sent == [(5.0, "a"), (6.0, "b")]

    down(scene, size=2)


def test_failures_that_are_not_the_providers_absence_hold_nobody(play: Play) -> None:
    """N6: only those of kinds network, timeout, server and overloaded are counted."""

    async def scene(stage: EngineStage) -> None:
        crowd = Crowd(stage.store, stage.clock)
        for name in crowd.members:
            await crowd[name].send()
            await crowd[name].answer(Failure(FailureKind.PROTOCOL, "cut", True))
        await crowd.clock.advance(5.0)
        assert [name for _, name in crowd.sent] == ["a", "b", "c"] * 2
        await crowd.close()

    play(scene)


def test_a_success_between_begins_the_count_anew(play: Play) -> None:
    """N6: failures count in a row."""

    async def scene(stage: EngineStage) -> None:
        crowd = Crowd(stage.store, stage.clock)
        await crowd.fall("a", "b")
        await crowd["c"].send()
        await crowd["c"].answer("ok")
        await crowd["c"].send()
        await crowd["c"].answer(DOWN)
        await crowd.clock.advance(5.0)
        assert [name for _, name in crowd.sent] == ["a", "b", "c", "c", "a", "b", "c"]
        await crowd.close()

    play(scene)


def test_a_new_prompt_goes_out_at_once_and_its_retry_waits(down: Play) -> None:
    """N6: the user acts; only what follows by itself is shared."""

    async def scene(crowd: Crowd) -> None:
        await crowd.clock.advance(2.0)
        await crowd["d"].send()
        assert crowd.sent == [(5.0, "a"), (5.0, "d")]
        await crowd["d"].answer(DOWN)
        await crowd.clock.advance(10.0)
        assert waiting(crowd)["d"] == BEHIND
        assert len(crowd.sent) == 2

    down(scene, "a", "b", "c", size=4)


def test_retry_now_is_never_held_and_its_success_ends_the_wait_of_all(down: Play) -> None:
    """N6, N4: for one that waits behind another, and for the one that tries."""

    async def scene(crowd: Crowd) -> None:
        await crowd.clock.advance(4.0)
        await crowd["a"].answer(DOWN)
        await crowd["b"].decide(HoldResult.NOW)
        assert crowd.sent == [(5.0, "a"), (7.0, "b")]
        await crowd["b"].answer("ok")
        assert crowd.sent[2:] == [(7.0, "c")]
        assert waiting(crowd) == {"a": (WaitReason.RETRY, 17.0)}

    down(scene)


def test_the_users_own_retry_of_a_pending_turn_is_not_held_and_one_by_itself_is(down: Play) -> None:
    """N6, R12."""

    async def scene(crowd: Crowd) -> None:
        for name in ("b", "c"):
            await crowd[name].decide(HoldResult.CANCELLED)
        await crowd.clock.advance(2.0)
        await crowd["b"].retry()
        await crowd["c"].retry(at_once=False)
        assert crowd.sent == [(5.0, "a"), (5.0, "b")]
        assert waiting(crowd) == {"c": BEHIND}
        pending = crowd["c"].gate.pending
        assert pending is not None
        assert pending.failure == DOWN

    down(scene)


@pytest.mark.parametrize("how", ["stop", "cancel"])
def test_whoever_no_longer_tries_is_followed_by_who_waited_longest(down: Play, how: str) -> None:
    """N6, C3: a probe that was stopped on the wire, or whose wait was cancelled; no later than its own step allows."""

    async def scene(crowd: Crowd) -> None:
        await crowd.clock.advance(4.0)
        if how == "stop":
            await crowd["a"].stop()
            assert crowd.sent == [(5.0, "a"), (7.0, "b")]
        else:
            await crowd["a"].answer(DOWN)
            await crowd["a"].decide(HoldResult.CANCELLED)
            assert waiting(crowd) == {"b": (WaitReason.RETRY, 12.0), "c": BEHIND}
            await crowd.clock.advance(5.0)
            assert crowd.sent == [(5.0, "a"), (12.0, "b")]
        assert waiting(crowd) == {"c": BEHIND}

    down(scene)


def test_who_follows_a_probe_that_gave_up_waits_its_own_step(down: Play) -> None:
    """N6: one after the other, never one request right behind another that failed."""

    async def scene(crowd: Crowd) -> None:
        await crowd.clock.advance(5.0)
        await crowd["a"].answer(DOWN)
        assert waiting(crowd) == {"b": (WaitReason.RETRY, 13.0), "c": BEHIND}
        crowd.answers = DOWN
        await crowd.clock.advance(40.0)
        assert crowd.sent == [(5.0, "a"), (13.0, "b"), (18.0, "c")]
        assert all(member.end is not None and member.end.outcome is Outcome.FAILED for member in crowd.members.values())

    down(scene, policy=RetryPolicy((5.0,)))


def test_who_waits_behind_another_can_be_cancelled_and_is_not_asked_again(down: Play) -> None:
    """C3, N6: it stays pending with its own failure, and the row goes on without it."""

    async def scene(crowd: Crowd) -> None:
        await crowd.clock.advance(5.0)
        await crowd["b"].decide(HoldResult.CANCELLED)
        end = crowd["b"].end
        assert end is not None
        assert end.pending is not None
        assert (end.outcome, end.pending.failure, end.pending.retry) == (Outcome.STOPPED, DOWN, 1)
        await crowd["a"].answer("ok")
        await crowd.clock.advance(10.0)
        assert crowd.sent == [(5.0, "a"), (8.0, "c")]

    down(scene)


def test_waiting_behind_another_uses_the_ceiling_and_no_retry(down: Play) -> None:
    """D4, N6: at the ceiling the turn is pending, with nothing scheduled and no retry spent, also in the log."""

    async def scene(crowd: Crowd) -> None:
        await crowd.clock.advance(27.5)
        assert waiting(crowd) == {"b": BEHIND, "c": BEHIND}
        await crowd.clock.advance(1.0)
        end = crowd["b"].end
        assert end is not None
        assert end.pending is not None
        assert (end.outcome, end.failure) == (Outcome.FAILED, DOWN)
        assert (end.pending.retry, end.pending.retries, end.pending.due_at) == (0, 2, None)
        history = await crowd.store.sessions.load("b")
        assert history.session.retry_at is None
        ((last,),) = history.attempts.values()
        assert isinstance(last.data, Attempt)
        assert (last.data.retry, last.data.retries) == (0, 2)
        assert waiting(crowd) == {"c": BEHIND}
        assert crowd.sent == [(5.0, "a")]

    down(scene, policy=RetryPolicy((5.0, 10.0), ceiling_s=30.0))


def test_a_retry_after_ends_the_outage_and_holds_as_ever(down: Play) -> None:
    """N6, D3: whoever says how long to wait is there."""

    async def scene(crowd: Crowd) -> None:
        await crowd.clock.advance(4.0)
        await crowd["a"].answer(Failure(FailureKind.OVERLOADED, "busy", True, 20.0))
        assert waiting(crowd) == {
            "a": (WaitReason.RETRY, 27.0),
            "b": (WaitReason.LIMITS, 27.0),
            "c": (WaitReason.LIMITS, 29.0),
        }

    down(scene)


def test_a_restart_forgets_the_outage(down: Play) -> None:
    """N6, D8: nothing waits for a session of another life."""

    async def scene(crowd: Crowd) -> None:
        await crowd.clock.advance(5.0)
        await crowd.restart()
        await crowd["c"].retry(at_once=False, retry=1)
        assert crowd.sent == [(5.0, "a"), (8.0, "c")]

    down(scene)


def test_what_was_waited_in_another_life_counts_against_the_ceiling(down: Play) -> None:
    """D4: a retry of a schedule that another life began has what is left of it."""

    async def scene(crowd: Crowd) -> None:
        await crowd["a"].decide(HoldResult.CANCELLED)
        await crowd["a"].retry(retry=1, waited_s=21.0)
        await crowd["a"].answer(DOWN)
        end = crowd["a"].end
        assert end is not None
        assert (end.outcome, end.pending is not None) == (Outcome.FAILED, True)
        await crowd["a"].retry(retry=1, waited_s=20.0)
        await crowd["a"].answer(DOWN)
        assert waiting(crowd) == {"a": (WaitReason.RETRY, 11.0)}

    down(scene, "a", policy=RetryPolicy((5.0, 10.0), ceiling_s=30.0))


def test_going_offline_meanwhile_holds_the_probe_and_nobody_for_ever(down: Play) -> None:
    """N6, D14: when the network returns it tries, and the others go on behind it."""

    async def scene(crowd: Crowd) -> None:
        await crowd.clock.advance(5.0)
        crowd.network.set_offline(True)
        await crowd["a"].answer(Failure(FailureKind.NETWORK, "gone", True))
        assert waiting(crowd) == {"a": (WaitReason.OFFLINE, None), "b": BEHIND, "c": BEHIND}
        crowd.network.set_offline(False)
        await crowd.clock.drain()
        assert crowd.sent == [(5.0, "a"), (8.0, "a")]
        await crowd["a"].answer("ok")
        await crowd.clock.advance(2.0)
        assert [name for _, name in crowd.sent[2:]] == ["b", "c"]

    down(scene)
