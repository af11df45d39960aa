"""Another model answers once the retries are used up: once, visibly, behind the same prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from reprise.domain.deltas import TextDelta
from reprise.domain.events import (
    AttemptFailed,
    AttemptStarted,
    ModelSwitched,
    Outcome,
    TurnFinished,
)
from reprise.domain.failures import FailureKind
from reprise.domain.messages import Message
from reprise.domain.models import Route
from reprise.domain.retry import RetryPolicy
from reprise.domain.sessions import ModelChange, model_of
from reprise.engine.progress import Answerer
from support.engine import (
    HANG,
    MODEL,
    OTHER,
    EngineStage,
    FakeTools,
    FaultyLog,
    Reply,
    ScriptedProvider,
    answerer,
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


def spare(*replies: Reply, policy: RetryPolicy | None = None) -> Callable[[], Answerer]:
    provider = ScriptedProvider(*replies)
    return lambda: answerer(provider, OTHER, policy=policy)


def names(events: list[object]) -> list[str]:
    return [type(event).__name__ for event in events]


def test_the_fallback_answers_the_same_prompt_once_retries_are_used_up(play: Play) -> None:
    """D13, R28, R30: one user message, one switch in the log, and the reply says whom its model stood in for."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(lost(), lost())
        events = await stage.send(stage.turn(provider, 5.0, fallback=spare(says("ok"))), "hi")
        assert ending(events) == TurnFinished(Outcome.COMPLETED)
        assert texts(await stage.stored()) == [("user", "hi"), ("assistant", "ok")]
        branch = (await stage.history()).branch
        assert branch[1].data == ModelChange(OTHER, fallback_from=MODEL)
        reply = branch[2].data
        assert isinstance(reply, Message)
        assert reply.reply is not None
        assert (reply.reply.model, reply.reply.fallback_from) == (OTHER, MODEL)
        (switched,) = [event for event in events if isinstance(event, ModelSwitched)]
        assert switched == ModelSwitched(branch[1], MODEL, OTHER)

    play(scene)


def test_the_switch_follows_the_last_failure_and_attempt_numbers_go_on(play: Play) -> None:
    """D13, L3."""

    async def scene(stage: EngineStage) -> None:
        events = await stage.send(stage.turn(ScriptedProvider(lost(), lost()), 5.0, fallback=spare(says("ok"))))
        after = names(list(events))
        last = len(after) - 1 - after[::-1].index("AttemptFailed")
        assert after[last : last + 3] == ["AttemptFailed", "ModelSwitched", "AttemptStarted"]
        assert [event.attempt for event in events if isinstance(event, AttemptStarted)] == [1, 2, 3]
        assert [attempt.model for attempt in await stage.attempts()] == [MODEL, MODEL]

    play(scene)


def test_the_fallback_has_a_full_budget_and_is_not_left_again(play: Play) -> None:
    """D13, R31: "1/2" again; when it is exhausted too the turn fails, pending, with the fallback's failure."""

    async def scene(stage: EngineStage) -> None:
        policy = RetryPolicy((5.0, 10.0))
        fallback = spare(*[lost("second")] * 3, says("never"), policy=policy)
        turn = stage.turn(ScriptedProvider(*[lost("first")] * 3), policy=policy, fallback=fallback)
        events = await stage.send(turn, "hi")
        assert shown_retries(events) == ["1/2", "2/2", "1/2", "2/2"]
        end = ending(events)
        assert end.outcome is Outcome.FAILED
        assert end.failure is not None
        assert end.failure.message == "RuntimeError: second"
        assert end.pending is not None
        assert len([event for event in events if isinstance(event, ModelSwitched)]) == 1
        assert texts(await stage.stored()) == [("user", "hi")]
        assert model_of((await stage.history()).branch) == OTHER

    play(scene)


def test_the_fallback_is_asked_again_by_its_own_policy(play: Play) -> None:
    """D2, D13: its provider's schedule, its cap on what the provider may ask for and its ceiling."""

    async def scene(stage: EngineStage) -> None:
        own = RetryPolicy((1.0, 2.0, 3.0), after_cap_s=60.0)
        limited = fails(FailureKind.RATE_LIMIT, retry_after_s=90.0)
        fallback = spare(lost(), lost(), limited, policy=own)
        events = await stage.send(stage.turn(ScriptedProvider(lost(), lost()), 5.0, fallback=fallback))
        assert shown_retries(events) == ["1/1", "1/3", "2/3"]
        assert stage.gate.waits == [5.0, 1.0, 2.0]
        pending = ending(events).pending
        assert pending is not None
        assert (pending.ask_s, pending.retries) == (90.0, 3)

    play(scene)


@pytest.mark.parametrize(
    ("reply", "policy"),
    [
        (fails(FailureKind.AUTH, retryable=False), RetryPolicy((5.0,))),
        (lost(), RetryPolicy(())),
        (lost(), RetryPolicy((5.0,), ceiling_s=1.0)),
        (fails(FailureKind.RATE_LIMIT, retryable=False, retry_after_s=9000.0), RetryPolicy((5.0,))),
    ],
    ids=["not retryable", "off", "ceiling", "asks"],
)
def test_only_used_up_retries_switch(play: Play, reply: Reply, policy: RetryPolicy) -> None:
    """D13, R28, D2: never for what a retry would not mend, nor when none is wanted."""

    async def scene(stage: EngineStage) -> None:
        events = await stage.send(stage.turn(ScriptedProvider(reply), policy=policy, fallback=spare(says("never"))))
        assert ending(events).outcome is Outcome.FAILED
        assert not any(isinstance(event, ModelSwitched) for event in events)

    play(scene)


@pytest.mark.parametrize(
    "fallback", [None, lambda: None, lambda: answerer(ScriptedProvider(), MODEL)], ids=["unset", "unusable", "itself"]
)
def test_without_another_model_the_original_failure_stands(
    play: Play, fallback: Callable[[], Answerer | None] | None
) -> None:
    """R28."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(lost("one"), lost("two"))
        end = ending(await stage.send(stage.turn(provider, 5.0, fallback=fallback)))
        assert end.outcome is Outcome.FAILED
        assert end.failure is not None
        assert end.failure.message == "RuntimeError: two"

    play(scene)


def test_the_fallback_goes_on_behind_tools_that_ran(play: Play) -> None:
    """D13, D12: no tool runs twice; the rounds after it are the fallback's too, in the same turn."""

    async def scene(stage: EngineStage) -> None:
        tools = FakeTools(ping=pong)
        turn = stage.turn(
            ScriptedProvider(calls("ping"), lost(), lost()),
            5.0,
            tools=tools,
            fallback=spare(calls("ping"), lost(), says("ok")),
        )
        assert ending(await stage.send(turn)).outcome is Outcome.COMPLETED
        assert tools.ran == ["ping", "ping"]
        roles = [message.role for message in await stage.stored()]
        assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
        infos = [message.reply for message in await stage.stored() if message.reply is not None]
        assert [info.fallback_from for info in infos] == [None, MODEL, MODEL]
        assert [info.model for info in infos] == [MODEL, OTHER, OTHER]

    play(scene)


def test_a_retry_of_the_turn_by_the_fallback_still_says_whom_it_stands_in_for(play: Play) -> None:
    """D13: it is the same turn, in another life; the next turn is the model's own."""

    async def scene(stage: EngineStage) -> None:
        await stage.send(stage.turn(ScriptedProvider(lost(), lost()), 5.0, fallback=spare(lost(), lost())))
        provider = ScriptedProvider(says("ok"), says("more"))
        await stage.retry(stage.turn(provider, 5.0, model=OTHER))
        await stage.send(stage.turn(provider, 5.0, model=OTHER), "next")
        infos = [message.reply for message in await stage.stored() if message.reply is not None]
        assert [info.fallback_from for info in infos] == [MODEL, None]

    play(scene)


def test_a_retry_by_the_first_model_stands_in_for_nobody(play: Play) -> None:
    """D13, N7: one click back to it."""

    async def scene(stage: EngineStage) -> None:
        await stage.send(stage.turn(ScriptedProvider(lost(), lost()), 5.0, fallback=spare(lost(), lost())))
        await stage.retry(stage.turn(ScriptedProvider(says("ok")), 5.0))
        (info,) = [message.reply for message in await stage.stored() if message.reply is not None]
        assert (info.model, info.fallback_from) == (MODEL, None)

    play(scene)


def test_limits_of_the_first_provider_do_not_hold_the_fallback(play: Play) -> None:
    """D3, D13: unless they are its own too."""

    async def scene(stage: EngineStage) -> None:
        busy = fails(FailureKind.RATE_LIMIT, retry_after_s=60.0)
        await stage.send(stage.turn(ScriptedProvider(busy, busy), 5.0, fallback=spare(says("ok"))))
        assert stage.gate.waits == [60.0]
        shared = ScriptedProvider(says("ok"))
        fallback = lambda: answerer(shared, OTHER, route=Route(MODEL.provider))  # noqa: E731
        await stage.send(stage.turn(ScriptedProvider(busy, busy), 5.0, fallback=fallback), "again")
        assert stage.gate.waits == [60.0, 60.0, 60.0]

    play(scene)


def test_a_switch_that_cannot_be_stored_ends_the_turn_pending(play: Play) -> None:
    """D19: with the disk's failure, the provider's under Details; the fallback is not asked."""

    async def scene(stage: EngineStage) -> None:
        log = FaultyLog(stage.store.log, refuse={"append"})
        end = ending(
            await stage.send(
                stage.turn(ScriptedProvider(lost(), lost("gone")), 5.0, log=log, fallback=spare(says("never")))
            )
        )
        assert end.failure is not None
        assert (end.failure.kind, end.failure.provider_detail) == (FailureKind.STORAGE, "RuntimeError: gone")
        assert end.pending is not None

    play(scene)


def test_stopping_the_fallback_leaves_the_turn_pending_with_the_switch_in_the_log(play: Play) -> None:
    """D6, D13, R29."""

    async def scene(stage: EngineStage) -> None:
        second = ScriptedProvider([TextDelta("Half"), HANG])
        turn = stage.turn(ScriptedProvider(lost(), lost()), 5.0, fallback=lambda: answerer(second, OTHER))
        task = asyncio.create_task(stage.send(turn))
        await second.hanging.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        history = await stage.history()
        assert history.session.pending
        assert model_of(history.branch) == OTHER
        assert [attempt.model for attempt in await stage.attempts()] == [MODEL, MODEL, OTHER]
        assert len([event for event in stage.events if isinstance(event, AttemptFailed)]) == 2

    play(scene)
