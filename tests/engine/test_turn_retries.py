"""The retry story of a turn: its budget, and what is on disk after each outcome."""

from __future__ import annotations

from collections.abc import Callable

from reprise.domain.deltas import TextDelta
from reprise.domain.events import (
    AttemptFailed,
    AttemptStarted,
    Outcome,
    RetryScheduled,
    RetryStarted,
    TurnFinished,
    TurnStarted,
)
from reprise.domain.failures import FailureKind
from reprise.domain.messages import ModelRef, user_message
from reprise.domain.retry import PolicyName, policy
from reprise.domain.sessions import AttemptState
from support.engine import (
    MODEL,
    SESSION,
    EngineStage,
    FakeTools,
    ScriptedProvider,
    calls,
    ending,
    fails,
    lost,
    pong,
    says,
    shown_retries,
    texts,
)

Play = Callable[..., None]


def test_two_failures_and_a_success_leave_one_prompt_and_one_reply(play: Play) -> None:
    """R3, R4, L2, R27, F22: three requests, exactly two messages on disk, the prompt's text unchanged."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(lost("fail-1"), lost("fail-2"), says("ok"))
        events = await stage.send(stage.turn(provider, 0.01, 0.01, 0.01), "hello")
        assert ending(events) == TurnFinished(Outcome.COMPLETED)
        assert len(provider.requests) == 3
        assert texts(await stage.stored()) == [("user", "hello"), ("assistant", "ok")]
        assert len((await stage.history()).branch) == 2

    play(scene)


def test_an_exhausted_turn_is_pending_and_a_manual_retry_completes_it(play: Play) -> None:
    """R2, R12, B2, R4: one delay is two requests; Retry then adds the reply and no second prompt."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(lost("fail-1"), lost("fail-2"), says("ok"))
        events = await stage.send(stage.turn(provider, 0.01), "hold-me")
        end = ending(events)
        assert end.outcome is Outcome.FAILED
        assert end.pending is not None
        assert (end.pending.text, end.pending.retry, end.pending.retries) == ("hold-me", 1, 1)
        assert len(provider.requests) == 2
        history = await stage.history()
        assert history.session.pending
        assert texts(await stage.stored()) == [("user", "hold-me")]

        assert ending(await stage.retry(stage.turn(provider, 0.01))) == TurnFinished(Outcome.COMPLETED)
        assert texts(await stage.stored()) == [("user", "hold-me"), ("assistant", "ok")]
        assert not (await stage.history()).session.pending

    play(scene)


def test_the_budget_starts_again_after_a_completed_round(play: Play) -> None:
    """R5, F5, D4: a round the model answered restarts the count and the waits."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(lost(), calls("ping"), lost(), says("done"))
        tools = FakeTools(ping=pong)
        events = await stage.send(stage.turn(provider, 5.0, 10.0, 15.0, tools=tools), "hold-me")
        assert ending(events).outcome is Outcome.COMPLETED
        assert stage.gate.waits == [5.0, 5.0]
        assert shown_retries(events) == ["1/3", "1/3"]

    play(scene)


def test_failures_without_progress_share_one_budget(play: Play) -> None:
    """R6: consecutive failures of one round wait longer each time."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(lost(), lost(), says("done"))
        events = await stage.send(stage.turn(provider, 5.0, 10.0, 15.0), "hold-me")
        assert ending(events).outcome is Outcome.COMPLETED
        assert stage.gate.waits == [5.0, 10.0]
        assert shown_retries(events) == ["1/3", "2/3"]

    play(scene)


def test_deltas_alone_are_no_progress(play: Play) -> None:
    """R5: an attempt that only streamed goes on counting."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(fails(FailureKind.NETWORK, TextDelta("Hal")), lost(), says("done"))
        await stage.send(stage.turn(provider, 5.0, 10.0))
        assert stage.gate.waits == [5.0, 10.0]

    play(scene)


def test_a_failed_attempt_stays_in_the_log_and_leaves_the_context(play: Play) -> None:
    """R25, R26, D5, F13: the log holds the failed attempt, the branch and the next request hold none of it."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(fails(FailureKind.SERVER, TextDelta("temporary"), words="HTTP 503"), says("ok"))
        events = await stage.send(stage.turn(provider, 0.0), "hi")
        assert ending(events).outcome is Outcome.COMPLETED
        (failed,) = await stage.attempts()
        assert failed.state is AttemptState.FAILED
        assert failed.failure is not None
        assert failed.failure.message == "HTTP 503"
        assert "".join(getattr(part, "text", "") for part in failed.parts) == "temporary"
        assert texts(await stage.stored()) == [("user", "hi"), ("assistant", "ok")]
        assert [texts(request.messages) for request in provider.requests] == [[("user", "hi")], [("user", "hi")]]

    play(scene)


def test_no_delays_mean_one_attempt(play: Play) -> None:
    """R2, R24: with retries off a retryable failure ends the turn at once, pending."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(lost())
        events = await stage.send(stage.turn(provider, policy=policy(PolicyName.OFF)))
        assert ending(events).outcome is Outcome.FAILED
        assert stage.gate.waits == []
        assert (await stage.history()).session.pending

    play(scene)


def test_a_failure_that_is_not_retryable_ends_the_turn_at_once(play: Play) -> None:
    """R24, D1: no wait, no second request; the turn is pending with the provider's failure."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(fails(FailureKind.AUTH, retryable=False, words="wrong key"))
        end = ending(await stage.send(stage.turn(provider, 5.0)))
        assert end.failure is not None
        assert (end.outcome, end.failure.kind, end.failure.message) == (Outcome.FAILED, FailureKind.AUTH, "wrong key")
        assert end.pending is not None
        assert (end.pending.text, end.pending.retry) == ("hello", 0)
        assert len(provider.requests) == 1

    play(scene)


def test_an_exception_of_our_own_making_is_never_retried(play: Play) -> None:
    """D1: a TypeError below the port is a bug; the attempt says so, and nothing waits."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider([TextDelta("Hal"), TypeError("unexpected None")])
        end = ending(await stage.send(stage.turn(provider, 5.0)))
        assert end.failure is not None
        assert end.failure.kind is FailureKind.BUG
        assert len(provider.requests) == 1
        (attempt,) = await stage.attempts()
        assert attempt.failure == end.failure

    play(scene)


def test_an_empty_completion_is_a_failure_and_retries(play: Play) -> None:
    """L12, F54: white space alone is nothing written."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(says(" \n"), says(), says("ok"))
        events = await stage.send(stage.turn(provider, 5.0, 10.0))
        failures = [event.failure for event in events if isinstance(event, AttemptFailed)]
        assert [failure.kind for failure in failures] == [FailureKind.PROTOCOL] * 2
        assert ending(events).outcome is Outcome.COMPLETED

    play(scene)


def test_thirty_outages_between_tool_rounds_end_at_the_round_limit(play: Play) -> None:
    """R6b, D4, T1: each waits the first delay under a budget of two; the round limit bounds the turn."""

    async def scene(stage: EngineStage) -> None:
        replies = [reply for _ in range(30) for reply in (lost(), calls("ping"))]
        tools = FakeTools(ping=pong)
        end = ending(await stage.send(stage.turn(ScriptedProvider(*replies), 5.0, 10.0, tools=tools, max_rounds=30)))
        assert stage.gate.waits == [5.0] * 30
        assert len(tools.ran) == 30
        assert end.outcome is Outcome.STOPPED
        assert end.pending is not None
        assert end.pending.after_tools

    play(scene)


def test_the_events_of_a_retried_turn_come_in_order(play: Play) -> None:
    """L3: start, attempt, failure, schedule, retry, attempt, deltas, the message, its usage, the end."""

    async def scene(stage: EngineStage) -> None:
        events = await stage.send(stage.turn(ScriptedProvider(lost(), says("ok")), 5.0))
        assert [type(event).__name__ for event in events] == [
            "TurnStarted",
            "AttemptStarted",
            "AttemptFailed",
            "RetryScheduled",
            "RetryStarted",
            "AttemptStarted",
            "DeltaArrived",
            "DeltaArrived",
            "RoundCompleted",
            "UsageReported",
            "TurnFinished",
        ]
        attempts = [(event.round, event.attempt) for event in events if isinstance(event, AttemptStarted)]
        assert attempts == [(1, 1), (1, 2)]

    play(scene)


def test_the_scheduled_event_carries_the_stored_attempt(play: Play) -> None:
    """D5, D8: what the banner shows and what the log holds are the same entry."""

    async def scene(stage: EngineStage) -> None:
        events = await stage.send(stage.turn(ScriptedProvider(lost(), says("ok")), 5.0))
        (scheduled,) = [event for event in events if isinstance(event, RetryScheduled)]
        (failed,) = [event for event in events if isinstance(event, AttemptFailed)]
        assert scheduled.attempt == failed.entry
        assert scheduled.pending.failure == failed.failure

    play(scene)


def test_a_scheduled_retry_says_which_how_long_and_why_and_the_first_message_ends_it(play: Play) -> None:
    """R47: attempt, budget, delay and cause at the start; the success is the round's message, not the turn's end."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(lost("one"), calls("ping"), lost("two"), says("done"))
        began = stage.clock.now()
        events = await stage.send(stage.turn(provider, 5.0, 10.0, tools=FakeTools(ping=pong)))
        told = [event.pending for event in events if isinstance(event, RetryScheduled)]
        assert [(pending.retry, pending.retries, (pending.due_at or 0.0) - began) for pending in told] == [
            (1, 2, 5.0),
            (1, 2, 10.0),
        ]
        assert [pending.failure and pending.failure.message for pending in told] == [
            "RuntimeError: one",
            "RuntimeError: two",
        ]
        names = [type(event).__name__ for event in events]
        assert names.index("RetryStarted") < names.index("RoundCompleted") < names.index("ToolCallStarted")

    play(scene)


def test_a_manual_retry_has_a_full_budget_and_says_it_goes_on(play: Play) -> None:
    """R12: after a budget is used up, Retry starts at "1/2" again, under the same prompt."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(lost(), lost(), lost(), lost(), says("ok"))
        await stage.send(stage.turn(provider, 5.0, 10.0))
        events = await stage.retry(stage.turn(provider, 5.0, 10.0))
        assert shown_retries(events) == ["1/2"]
        (started,) = [event for event in events if isinstance(event, TurnStarted)]
        assert started.resumed
        assert started.prompt == (await stage.history()).branch[0]

    play(scene)


def test_a_turn_that_goes_on_in_its_schedule_has_what_is_left_of_its_budget(play: Play) -> None:
    """D8: retry 2 of 3 of an earlier life is followed by "3/3"; the next round has a full budget (R6)."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(lost(), calls("ping"), lost(), says("ok"))
        await stage.store.log.open_turn(SESSION, user_message("hi"), MODEL)
        turn = stage.turn(provider, 5.0, 10.0, 15.0, tools=FakeTools(ping=pong))
        events = await stage.follow(turn.resume(SESSION, retry=2))
        assert shown_retries(events) == ["3/3", "1/3"]
        assert stage.gate.waits == [15.0, 5.0]
        assert [event.retry for event in events if isinstance(event, RetryStarted)] == [3, 1]
        assert [attempt.number for attempt in await stage.attempts()] == [3, 1]
        assert ending(events).outcome is Outcome.COMPLETED

    play(scene)


def test_every_attempt_and_reply_names_the_model_that_was_in_force(play: Play) -> None:
    """P10, N4: a retry with another model is that model's; the failed attempt stays the first one's."""

    async def scene(stage: EngineStage) -> None:
        other = ModelRef("test", "other")
        provider = ScriptedProvider(lost(), says("ok"))
        await stage.send(stage.turn(provider))
        await stage.follow(stage.turn(provider, model=other).resume(SESSION))
        assert [attempt.model for attempt in await stage.attempts()] == [MODEL]
        reply = (await stage.stored())[-1].reply
        assert reply is not None
        assert reply.model == other
        assert [request.model for request in provider.requests] == [MODEL, other]

    play(scene)


def test_retry_with_nothing_pending_does_nothing(play: Play) -> None:
    """B3, B1: no event and no request after a reply, nor in an unknown session."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(says("ok"))
        turn = stage.turn(provider, 5.0)
        assert await stage.retry(turn) == []
        await stage.send(turn)
        assert await stage.retry(turn) == []
        assert len(provider.requests) == 1

    play(scene)


def test_a_new_prompt_after_a_pending_one_follows_it(play: Play) -> None:
    """B5, D6: both prompts stay in the log; the request holds them as one message."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(lost(), says("ok"))
        await stage.send(stage.turn(provider), "first")
        await stage.send(stage.turn(provider), "second")
        assert texts(await stage.stored()) == [("user", "first"), ("user", "second"), ("assistant", "ok")]
        assert texts(provider.requests[-1].messages) == [("user", "first\n\nsecond")]
        assert not (await stage.history()).session.pending

    play(scene)
