"""Stop: at once, recorded whole, pending afterwards, and never masked or repeated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

import pytest

from reprise.domain.deltas import Delta, TextDelta
from reprise.domain.events import DeltaArrived, Outcome, RetryScheduled
from reprise.domain.messages import TextPart, ToolCallPart, user_message
from reprise.domain.models import CompletionRequest
from reprise.domain.ports import HoldResult
from reprise.domain.sessions import AttemptState
from support.engine import (
    HANG,
    SESSION,
    EngineStage,
    FakeTools,
    FaultyLog,
    ScriptedProvider,
    SleepingGate,
    calls,
    ending,
    lost,
    pong,
    says,
    texts,
)

Play = Callable[..., None]


def test_stopping_a_silent_request_leaves_the_prompt_alone_on_the_branch_and_pending(play: Play) -> None:
    """C1, C2, D6, B1: before the first byte; the cancel reaches who awaits, the context is the prompt alone."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider([HANG])
        await stage.stopped(stage.turn(provider, 5.0), provider, "cancel-me")
        assert provider.closed == 1
        history = await stage.history()
        assert history.session.pending
        assert texts(await stage.stored()) == [("user", "cancel-me")]
        (attempt,) = await stage.attempts()
        assert (attempt.state, attempt.parts, attempt.failure) == (AttemptState.STOPPED, (), None)

        again = ScriptedProvider(says("ok"))
        assert ending(await stage.retry(stage.turn(again))).outcome is Outcome.COMPLETED
        assert texts(again.requests[0].messages) == [("user", "cancel-me")]

    play(scene)


def test_a_cancel_reaches_the_stream_and_whoever_awaits_the_turn(play: Play) -> None:
    """C2, F34: the innermost wait ends with CancelledError, and so does the awaiter; neither becomes an error."""

    async def scene(stage: EngineStage) -> None:
        ended_by: list[str] = []
        started = asyncio.Event()

        async def wait_for_ever() -> None:
            started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                ended_by.append("cancel")
                raise

        task = asyncio.create_task(stage.send(stage.turn(ScriptedProvider([wait_for_ever]), 5.0)))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()
        assert ended_by == ["cancel"]

    play(scene)


def test_a_cancel_while_the_prompt_is_being_stored_sends_nothing(play: Play) -> None:
    """F44, L1: the prompt is whole on disk, and no request is made."""

    async def scene(stage: EngineStage) -> None:
        log = FaultyLog(stage.store.log, hold={"open_turn"})
        provider = ScriptedProvider(says("never"))
        task = asyncio.create_task(anext(stage.turn(provider, log=log).run(SESSION, user_message("hello"))))
        await log.entered.wait()
        task.cancel()
        await asyncio.sleep(0)
        log.release.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert provider.requests == []
        assert texts(await stage.stored()) == [("user", "hello")]

    play(scene)


def test_stopping_in_mid_stream_keeps_what_arrived_beside_the_branch(play: Play) -> None:
    """C1, D5, L14: the partial is in the log, the branch is the prompt alone."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider([TextDelta("Half a "), TextDelta("sentence"), HANG])
        await stage.stopped(stage.turn(provider, 5.0), provider)
        (attempt,) = await stage.attempts()
        assert attempt.state is AttemptState.STOPPED
        assert attempt.parts == (TextPart("Half a sentence"),)
        assert attempt.ended_at == stage.clock.utc()
        assert texts(await stage.stored()) == [("user", "hello")]

    play(scene)


def test_closing_the_turns_events_stops_it_like_a_cancel(play: Play) -> None:
    """D6, F53: a consumer that leaves closes the connection, and the partial is recorded."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider([TextDelta("Half"), HANG])
        events = stage.turn(provider).run(SESSION, user_message("hello"))
        async for event in events:
            if isinstance(event, DeltaArrived):
                break
        await events.aclose()
        assert provider.closed == 1
        (attempt,) = await stage.attempts()
        assert (attempt.state, attempt.parts) == (AttemptState.STOPPED, (TextPart("Half"),))

    play(scene)


def test_a_second_cancel_while_the_first_is_recorded_changes_nothing(play: Play) -> None:
    """C4, F30: the recording goes to its end through any number of cancels."""

    async def scene(stage: EngineStage) -> None:
        log = FaultyLog(stage.store.log, hold={"fail_attempt"})
        provider = ScriptedProvider([TextDelta("Half"), HANG])
        task = asyncio.create_task(stage.send(stage.turn(provider, log=log), "cancel-me"))
        await provider.hanging.wait()
        task.cancel()
        await log.entered.wait()
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
        assert not task.done()
        log.release.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        (attempt,) = await stage.attempts()
        assert (attempt.state, attempt.parts) == (AttemptState.STOPPED, (TextPart("Half"),))
        assert (await stage.history()).session.pending
        assert texts(await stage.stored()) == [("user", "cancel-me")]

    play(scene)


def test_a_stop_is_never_retried(play: Play) -> None:
    """R11: one request, nothing scheduled."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider([HANG], says("never"))
        await stage.stopped(stage.turn(provider, 5.0, 5.0), provider)
        await stage.clock.advance(60.0)
        assert len(provider.requests) == 1
        assert not any(isinstance(event, RetryScheduled) for event in stage.events)

    play(scene)


def test_a_cancel_while_the_attempt_is_being_opened_still_closes_it(play: Play) -> None:
    """F44, C10: no attempt stays open because the stop came early."""

    async def scene(stage: EngineStage) -> None:
        log = FaultyLog(stage.store.log, hold={"open_attempt"})
        provider = ScriptedProvider(says("never"))
        task = asyncio.create_task(stage.send(stage.turn(provider, log=log)))
        await log.entered.wait()
        task.cancel()
        await asyncio.sleep(0)
        log.release.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert provider.requests == []
        assert [attempt.state for attempt in await stage.attempts()] == [AttemptState.STOPPED]

    play(scene)


def test_a_cancel_while_the_reply_is_being_stored_does_not_undo_it(play: Play) -> None:
    """C2: success is not masked; the reply is on the branch and nothing is pending."""

    async def scene(stage: EngineStage) -> None:
        log = FaultyLog(stage.store.log, hold={"finish_round"})
        task = asyncio.create_task(stage.send(stage.turn(ScriptedProvider(says("ok")), log=log)))
        await log.entered.wait()
        task.cancel()
        await asyncio.sleep(0)
        log.release.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert texts(await stage.stored()) == [("user", "hello"), ("assistant", "ok")]
        assert await stage.attempts() == []
        assert not (await stage.history()).session.pending

    play(scene)


def test_a_cancel_that_the_provider_turns_into_an_error_stays_a_stop(play: Play) -> None:
    """C2, C11: it is recorded as stopped, and no retry is scheduled."""

    class Stubborn(ScriptedProvider):
        async def stream(self, request: CompletionRequest) -> AsyncGenerator[Delta, None]:
            try:
                async for delta in super().stream(request):
                    yield delta
            except asyncio.CancelledError as cancel:
                raise ConnectionError("the stream was cancelled") from cancel

    async def scene(stage: EngineStage) -> None:
        provider = Stubborn([TextDelta("Half"), HANG])
        await stage.stopped(stage.turn(provider, 5.0), provider)
        (attempt,) = await stage.attempts()
        assert (attempt.state, attempt.failure) == (AttemptState.STOPPED, None)

    play(scene)


def test_stopping_the_task_during_the_wait_leaves_nothing_scheduled(play: Play) -> None:
    """C3, R32: no further request; the failed attempt stays, its due time goes."""

    async def scene(stage: EngineStage) -> None:
        gate = SleepingGate(stage.clock)
        provider = ScriptedProvider(lost(), says("never"))
        task = asyncio.create_task(stage.send(stage.turn(provider, 5.0, gate=gate)))
        await gate.waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await stage.clock.advance(60.0)
        assert len(provider.requests) == 1
        (attempt,) = await stage.attempts()
        assert (attempt.state, attempt.retry_at) == (AttemptState.FAILED, None)

    play(scene)


def test_closing_the_program_during_the_wait_keeps_the_retry_scheduled(play: Play) -> None:
    """D8: the countdown goes on at the next start, so its due time stays on disk."""

    async def scene(stage: EngineStage) -> None:
        gate = SleepingGate(stage.clock)
        turn = stage.turn(ScriptedProvider(lost()), 300.0, gate=gate)
        task = asyncio.create_task(stage.send(turn))
        await gate.waiting.wait()
        turn.closing = True
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        (attempt,) = await stage.attempts()
        assert attempt.retry_at is not None

    play(scene)


def test_closing_the_program_in_mid_stream_interrupts_the_attempt(play: Play) -> None:
    """D8: it was not the user who stopped it; what arrived is kept all the same."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider([TextDelta("Half"), HANG])
        turn = stage.turn(provider)
        turn.closing = True
        await stage.stopped(turn, provider)
        (attempt,) = await stage.attempts()
        assert (attempt.state, attempt.parts) == (AttemptState.INTERRUPTED, (TextPart("Half"),))

    play(scene)


def test_a_stop_that_cannot_be_recorded_is_still_a_stop(play: Play, caplog: pytest.LogCaptureFixture) -> None:
    """L16: the disk's refusal does not mask the cancel."""

    async def scene(stage: EngineStage) -> None:
        log = FaultyLog(stage.store.log, refuse={"fail_attempt"})
        provider = ScriptedProvider([HANG])
        await stage.stopped(stage.turn(provider, log=log), provider)

    play(scene)
    assert "could not be recorded" in caplog.text


def test_stopping_while_a_tool_runs_keeps_the_finished_calls(play: Play, caplog: pytest.LogCaptureFixture) -> None:
    """C7, C8, D12, F20, L14: what landed is on disk and is never run again; the hanging call leaves no trace."""

    async def scene(stage: EngineStage) -> None:
        hanging = asyncio.Event()
        ended_by: list[str] = []

        async def hang(call: ToolCallPart) -> str:
            hanging.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                ended_by.append("cancel")
                raise
            return "never"

        # The leaf stands at the result already, so it is not moved either.
        log = FaultyLog(stage.store.log, refuse={"move_leaf"})
        tools = FakeTools(ping=pong, hang=hang)
        turn = stage.turn(ScriptedProvider(calls("ping", "hang")), tools=tools, log=log)
        task = asyncio.create_task(stage.send(turn))
        await hanging.wait()
        await stage.clock.drain()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended_by == ["cancel"]
        assert [message.role for message in await stage.stored()] == ["user", "assistant", "tool"]
        assert (await stage.history()).session.pending

        provider = ScriptedProvider(says("done"))
        assert ending(await stage.retry(stage.turn(provider, tools=tools))).outcome is Outcome.COMPLETED
        sent = provider.requests[0].messages
        assert [message.role for message in sent] == ["user", "assistant", "tool"]
        assert [call.name for call in sent[1].tool_calls] == ["ping"]
        assert tools.ran == ["ping", "hang"]

    play(scene)
    assert caplog.text == ""


def test_stopping_before_any_result_takes_the_calls_off_the_branch(play: Play) -> None:
    """L15, B1: a batch with no result is dropped, so the prompt is pending again."""

    async def scene(stage: EngineStage) -> None:
        hanging = asyncio.Event()

        async def hang(call: ToolCallPart) -> str:
            hanging.set()
            await asyncio.Event().wait()
            return "never"

        turn = stage.turn(ScriptedProvider(calls("hang")), tools=FakeTools(hang=hang))
        task = asyncio.create_task(stage.send(turn))
        await hanging.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert texts(await stage.stored()) == [("user", "hello")]
        assert (await stage.history()).session.pending

    play(scene)


def test_a_retry_that_was_brought_forward_counts_down_no_more_when_its_calls_are_taken_back(play: Play) -> None:
    """D8, L15: the branch ends at the failed attempt again, whose time the user did not wait for."""

    async def scene(stage: EngineStage) -> None:
        hanging = asyncio.Event()

        async def hang(call: ToolCallPart) -> str:
            hanging.set()
            await asyncio.Event().wait()
            return "never"

        stage.gate = type(stage.gate)(stage.clock, HoldResult.NOW)
        turn = stage.turn(ScriptedProvider(lost(), calls("hang")), 300.0, tools=FakeTools(hang=hang))
        task = asyncio.create_task(stage.send(turn))
        await hanging.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        session = (await stage.history()).session
        assert session.pending
        assert session.retry_at == stage.clock.utc()

    play(scene)


def test_a_result_that_landed_is_recorded_even_when_the_stop_comes_meanwhile(play: Play) -> None:
    """C8: the tool has run, so its result must not be lost."""

    async def scene(stage: EngineStage) -> None:
        log = FaultyLog(stage.store.log, hold={"record_result"})
        turn = stage.turn(ScriptedProvider(calls("ping", "ping")), tools=FakeTools(ping=pong), log=log)
        task = asyncio.create_task(stage.send(turn))
        await log.entered.wait()
        task.cancel()
        await asyncio.sleep(0)
        log.release.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [message.role for message in await stage.stored()] == ["user", "assistant", "tool", "tool"]

    play(scene)
