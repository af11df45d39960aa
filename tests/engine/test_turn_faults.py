"""A disk that refuses and bugs of our own: the turn ends with a failure, nothing is left open, no cause is hidden."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reprise.domain.deltas import Delta, TextDelta
from reprise.domain.events import AttemptFailed, Outcome, TurnFinished
from reprise.domain.failures import FailureKind
from reprise.domain.messages import TextPart
from reprise.domain.ports import HoldResult, LogError
from reprise.domain.sessions import AttemptState
from support.engine import (
    EngineStage,
    FaultyLog,
    ScriptedGate,
    ScriptedProvider,
    Step,
    ending,
    fails,
    lost,
    says,
    texts,
)

Play = Callable[..., None]


def test_a_prompt_that_cannot_be_stored_is_not_sent(play: Play) -> None:
    """L1: the error reaches who sent it, and no request is made."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(says("never"))
        with pytest.raises(LogError):
            await stage.send(stage.turn(provider, log=FaultyLog(stage.store.log, refuse={"open_turn"})))
        assert provider.requests == []

    play(scene)


@pytest.mark.parametrize("call", ["branch", "open_attempt"])
def test_a_log_that_fails_before_the_request_ends_the_turn_pending(play: Play, call: str) -> None:
    """L21, D19: a storage failure, the prompt pending, no request."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(says("never"))
        end = ending(await stage.send(stage.turn(provider, 5.0, log=FaultyLog(stage.store.log, refuse={call}))))
        assert end.failure is not None
        assert (end.outcome, end.failure.kind, end.failure.message) == (
            Outcome.FAILED,
            FailureKind.STORAGE,
            "The disk is full.",
        )
        assert end.pending is not None
        assert end.pending.text == "hello"
        assert provider.requests == []
        assert (await stage.history()).session.pending

    play(scene)


def test_a_failure_that_cannot_be_stored_keeps_the_providers_words_as_detail(play: Play) -> None:
    """D19, L16: the turn ends pending with the disk's failure, the provider's under Details."""

    async def scene(stage: EngineStage) -> None:
        log = FaultyLog(stage.store.log, refuse={"fail_attempt"})
        end = ending(await stage.send(stage.turn(ScriptedProvider(fails(words="HTTP 503")), 5.0, log=log)))
        assert end.failure is not None
        assert (end.failure.kind, end.failure.provider_detail) == (FailureKind.STORAGE, "HTTP 503")
        assert end.pending is not None

    play(scene)


def test_a_reply_that_cannot_be_stored_stays_as_a_failed_attempt(play: Play) -> None:
    """L21, F72: nothing the model said is thrown away, and the message is not claimed to be there."""

    async def scene(stage: EngineStage) -> None:
        log = FaultyLog(stage.store.log, refuse={"finish_round"})
        events = await stage.send(stage.turn(ScriptedProvider(says("precious")), 5.0, log=log))
        (failed,) = [event for event in events if isinstance(event, AttemptFailed)]
        assert failed.failure.kind is FailureKind.STORAGE
        assert ending(events).failure == failed.failure
        (attempt,) = await stage.attempts()
        assert attempt.parts == (TextPart("precious"),)
        assert texts(await stage.stored()) == [("user", "hello")]

    play(scene)


def test_a_cancelled_wait_that_cannot_be_stored_ends_with_that_failure(play: Play) -> None:
    """D19: the disk still says that a retry is scheduled, so this is not passed over."""

    async def scene(stage: EngineStage) -> None:
        stage.gate = ScriptedGate(stage.clock, HoldResult.CANCELLED)
        log = FaultyLog(stage.store.log, refuse={"reschedule"})
        end = ending(await stage.send(stage.turn(ScriptedProvider(lost("gone")), 5.0, log=log)))
        assert end.failure is not None
        assert (end.failure.kind, end.failure.provider_detail) == (FailureKind.STORAGE, "RuntimeError: gone")

    play(scene)


def test_a_bug_in_the_turn_ends_it_as_failed_and_closes_the_attempt(
    play: Play, caplog: pytest.LogCaptureFixture
) -> None:
    """L23: an exception outside the stream still produces an end, and the log has no open attempt."""

    class BrokenPolicy:
        retries = 3

        def decide(self, *_: object) -> None:
            raise ZeroDivisionError("division by zero")

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider([TextDelta("Half"), *lost()])
        end = ending(await stage.send(stage.turn(provider, policy=BrokenPolicy())))
        assert end.failure is not None
        assert (end.outcome, end.failure.kind, end.failure.retryable) == (Outcome.FAILED, FailureKind.BUG, False)
        assert end.pending is not None
        (attempt,) = await stage.attempts()
        assert (attempt.state, attempt.failure) == (AttemptState.FAILED, end.failure)
        assert attempt.parts == (TextPart("Half"),)

    play(scene)
    assert "ZeroDivisionError" in caplog.text


def test_a_gate_that_breaks_does_not_break_the_turns_end(play: Play, caplog: pytest.LogCaptureFixture) -> None:
    """L23: the failed attempt is on disk already; the turn ends as failed."""

    class BrokenGate:
        async def hold(self, pending: object, ready: object = None) -> HoldResult:
            raise RuntimeError("no countdown today")

    async def scene(stage: EngineStage) -> None:
        end = ending(await stage.send(stage.turn(ScriptedProvider(lost()), 5.0, gate=BrokenGate())))
        assert end.failure is not None
        assert end.failure.kind is FailureKind.BUG
        assert [attempt.state for attempt in await stage.attempts()] == [AttemptState.FAILED]

    play(scene)
    assert "no countdown today" in caplog.text


def test_a_stream_that_cannot_be_closed_changes_nothing(play: Play, caplog: pytest.LogCaptureFixture) -> None:
    """F53, F50: the reply is complete; what its connection says afterwards is only logged."""

    class SourStream:
        """An iterator whose closing fails."""

        def __init__(self, steps: list[Step]) -> None:
            self._steps = list(steps)

        def __aiter__(self) -> SourStream:
            return self

        async def __anext__(self) -> Step:
            if not self._steps:
                raise StopAsyncIteration
            return self._steps.pop(0)

        async def aclose(self) -> None:
            raise OSError("bad descriptor")

    class Sour(ScriptedProvider):
        def stream(self, request: object) -> SourStream:  # type: ignore[override]
            return SourStream(list(says("ok")))

    async def scene(stage: EngineStage) -> None:
        assert ending(await stage.send(stage.turn(Sour()))) == TurnFinished(Outcome.COMPLETED)
        assert texts(await stage.stored()) == [("user", "hello"), ("assistant", "ok")]

    play(scene)
    assert "bad descriptor" in caplog.text


def test_every_delta_is_handed_on_and_to_the_log_as_it_came(play: Play) -> None:
    """L4, L5: nothing is held back to the end; the message is what the deltas built."""

    async def scene(stage: EngineStage) -> None:
        seen: list[Delta] = []

        class Spy(FaultyLog):
            def append_chunks(self, attempt: str, delta: Delta) -> None:
                seen.append(delta)
                stage.store.log.append_chunks(attempt, delta)

        reply = says("Hal", "lo")
        events = await stage.send(stage.turn(ScriptedProvider(reply), log=Spy(stage.store.log)))
        assert seen == reply
        assert [getattr(event, "delta", None) for event in events if hasattr(event, "delta")] == reply
        assert (await stage.stored())[-1].text == "Hallo"

    play(scene)
