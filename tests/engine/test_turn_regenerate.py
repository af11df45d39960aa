"""Another reply beside one that is there: it stands until the other is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from reprise.domain.deltas import TextDelta
from reprise.domain.events import Answer, ModelSwitched, Outcome, Steered, TurnFinished, TurnStarted
from reprise.domain.failures import FailureKind
from reprise.domain.messages import ToolCallPart, user_message
from reprise.domain.ports import HoldResult
from reprise.domain.sessions import AttemptState, ModelChange, Queued
from reprise.domain.tree import Tree, node_of
from support.engine import (
    HANG,
    MODEL,
    OTHER,
    SESSION,
    EngineStage,
    FakeQueue,
    FakeTools,
    FaultyLog,
    ScriptedGate,
    ScriptedProvider,
    ScriptedQuestions,
    SleepingGate,
    answerer,
    calls,
    ending,
    fails,
    lost,
    pong,
    says,
    texts,
)

Play = Callable[..., None]


async def answered(stage: EngineStage) -> str:
    """A prompt with a reply; where the branch ends."""
    await stage.send(stage.turn(ScriptedProvider(says("first"))))
    return (await stage.newest_reply()).id


def test_another_reply_is_a_sibling_and_the_leaf(play: Play) -> None:
    """B14, N1: under the same prompt; the first stays in the log, and the request holds the prompt alone."""

    async def scene(stage: EngineStage) -> None:
        await answered(stage)
        first = await stage.newest_reply()
        provider = ScriptedProvider(says("second"))
        events = await stage.regenerate(stage.turn(provider))
        assert events[0] == TurnStarted((await stage.history()).branch[0], resumed=True, beside=first)
        assert ending(events) == TurnFinished(Outcome.COMPLETED)
        assert texts(provider.requests[0].messages) == [("user", "hello")]
        second = await stage.newest_reply()
        assert second.parent == first.parent
        tree = Tree([node_of(entry) for entry in ((await stage.history()).branch[0], first, second)])
        assert tree.siblings(second.id) == (first.id, second.id)
        assert texts(await stage.stored()) == [("user", "hello"), ("assistant", "second")]

    play(scene)


def test_an_earlier_reply_has_a_sibling_too(play: Play) -> None:
    """B6, N1: the branch goes on from there; what followed stands on the other one."""

    async def scene(stage: EngineStage) -> None:
        await answered(stage)
        early = await stage.newest_reply()
        await stage.send(stage.turn(ScriptedProvider(says("more"))), "and then?")
        provider = ScriptedProvider(says("second"))
        events = await stage.follow(stage.turn(provider).regenerate(SESSION, early))
        assert isinstance(events[0], TurnStarted)
        assert events[0].prompt == (await stage.history()).branch[0]
        assert texts(provider.requests[0].messages) == [("user", "hello")]
        assert texts(await stage.stored()) == [("user", "hello"), ("assistant", "second")]

    play(scene)


@pytest.mark.parametrize("outcome", ["failed", "cancelled", "stopped", "stopped in the wait", "closed in the wait"])
def test_the_old_reply_stands_when_no_other_comes(play: Play, outcome: str) -> None:
    """D20: it is the leaf, nothing is pending or scheduled; the attempt is in the log."""

    async def scene(stage: EngineStage) -> None:
        leaf = await answered(stage)
        gate = SleepingGate(stage.clock)
        if outcome in ("failed", "cancelled"):
            stage.gate = ScriptedGate(stage.clock, HoldResult.CANCELLED)
            provider = ScriptedProvider(fails(FailureKind.SERVER, TextDelta("Half")))
            end = ending(await stage.regenerate(stage.turn(provider, *([5.0] if outcome == "cancelled" else []))))
            assert end.pending is None
            assert end.outcome is (Outcome.STOPPED if outcome == "cancelled" else Outcome.FAILED)
            assert (end.failure is None) is (outcome == "cancelled")
        else:
            in_wait = outcome != "stopped"
            half = TextDelta("Half")
            provider = ScriptedProvider(fails(FailureKind.SERVER, half) if in_wait else [half, HANG])
            turn = stage.turn(provider, 5.0, gate=gate)
            task = asyncio.create_task(stage.regenerate(turn))
            await (gate.waiting if in_wait else provider.hanging).wait()
            turn.closing = outcome.startswith("closed")
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        session = (await stage.history()).session
        assert (session.leaf, session.pending) == (leaf, False)
        (attempt,) = await stage.attempts()
        assert attempt.state is (AttemptState.STOPPED if outcome == "stopped" else AttemptState.FAILED)
        assert attempt.retry_at is None

    play(scene)


def test_it_is_retried_like_any_round(play: Play) -> None:
    """D20, R5."""

    async def scene(stage: EngineStage) -> None:
        await answered(stage)
        assert ending(await stage.regenerate(stage.turn(ScriptedProvider(lost(), says("second")), 5.0))).outcome is (
            Outcome.COMPLETED
        )
        assert stage.gate.waits == [5.0]
        assert (await stage.stored())[-1].text == "second"

    play(scene)


def test_a_fallback_answers_beside_too_and_a_failed_one_leaves_the_leaf(play: Play) -> None:
    """D13, D20: the switch is on the new reply's branch only."""

    async def scene(stage: EngineStage) -> None:
        leaf = await answered(stage)
        spare = ScriptedProvider(lost(), lost(), says("second"))
        options = {"fallback": lambda: answerer(spare, OTHER)}
        events = await stage.regenerate(stage.turn(ScriptedProvider(lost(), lost()), 5.0, **options))
        assert ending(events).outcome is Outcome.FAILED
        assert (await stage.history()).session.leaf == leaf

        events = await stage.regenerate(stage.turn(ScriptedProvider(lost(), lost()), 5.0, **options))
        assert any(isinstance(event, ModelSwitched) for event in events)
        kinds = [entry.data for entry in (await stage.history()).branch]
        assert kinds[1] == ModelChange(OTHER, fallback_from=MODEL)
        assert texts(await stage.stored()) == [("user", "hello"), ("assistant", "second")]

    play(scene)


@pytest.mark.parametrize("outcome", ["failed", "stopped at the limit", "stopped", "closed", "stopped in a tool"])
def test_the_old_reply_comes_back_when_the_other_ends_behind_its_tools(play: Play, outcome: str) -> None:
    """D20, C8: half of another reply does not stand in its place; the results stay in the log."""

    async def scene(stage: EngineStage) -> None:
        leaf = await answered(stage)
        hanging = asyncio.Event()

        async def hang(call: ToolCallPart) -> str:
            hanging.set()
            await asyncio.Event().wait()
            return "never"

        tools = FakeTools(ping=pong, hang=hang)
        match outcome:
            case "failed":
                provider = ScriptedProvider(calls("ping"), lost())
                end = ending(await stage.regenerate(stage.turn(provider, tools=tools)))
                assert (end.outcome, end.pending) == (Outcome.FAILED, None)
            case "stopped at the limit":
                turn = stage.turn(
                    ScriptedProvider(calls("ping")), tools=tools, max_rounds=1, questions=ScriptedQuestions(Answer.STOP)
                )
                assert ending(await stage.regenerate(turn)) == TurnFinished(Outcome.STOPPED)
            case _:
                provider = ScriptedProvider(calls("ping"), calls("hang") if "tool" in outcome else [HANG])
                turn = stage.turn(provider, tools=tools)
                turn.closing = outcome == "closed"
                task = asyncio.create_task(stage.regenerate(turn))
                await (hanging if "tool" in outcome else provider.hanging).wait()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
        session = (await stage.history()).session
        assert (session.leaf, session.pending) == (leaf, False)
        assert tools.ran[0] == "ping"

    play(scene)


def test_a_second_stop_while_the_first_is_recorded_still_brings_the_old_reply_back(play: Play) -> None:
    """C4, D20."""

    async def scene(stage: EngineStage) -> None:
        leaf = await answered(stage)
        log = FaultyLog(stage.store.log, hold={"fail_attempt"})
        provider = ScriptedProvider(calls("ping"), [HANG])
        task = asyncio.create_task(stage.regenerate(stage.turn(provider, tools=FakeTools(ping=pong), log=log)))
        await provider.hanging.wait()
        task.cancel()
        await log.entered.wait()
        task.cancel()
        await asyncio.sleep(0)
        log.release.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await stage.history()).session.leaf == leaf

    play(scene)


def test_tools_of_the_other_reply_run_and_it_completes_on_its_own_branch(play: Play) -> None:
    """B14, D12."""

    async def scene(stage: EngineStage) -> None:
        await answered(stage)
        provider = ScriptedProvider(calls("ping"), says("second"))
        await stage.regenerate(stage.turn(provider, tools=FakeTools(ping=pong)))
        assert [message.role for message in await stage.stored()] == ["user", "assistant", "tool", "assistant"]
        assert [message.role for message in provider.requests[1].messages] == ["user", "assistant", "tool"]

    play(scene)


def test_a_message_that_joins_the_other_reply_keeps_its_branch(play: Play) -> None:
    """I4, L1: what the user sent meanwhile is never put aside; the turn is pending there when it fails."""

    async def scene(stage: EngineStage) -> None:
        await answered(stage)
        queued = await stage.store.log.queue(SESSION, Queued(user_message("and this?")))
        turn = stage.turn(
            ScriptedProvider(calls("ping"), lost()), tools=FakeTools(ping=pong), queue=FakeQueue([queued])
        )
        events = await stage.regenerate(turn)
        assert any(isinstance(event, Steered) for event in events)
        end = ending(events)
        assert end.pending is not None
        assert end.pending.text == "and this?"
        assert [message.role for message in await stage.stored()] == ["user", "assistant", "tool", "user"]
        assert (await stage.history()).session.pending

    play(scene)


def test_what_was_pending_beside_is_pending_again(play: Play) -> None:
    """B1, D20: a turn that fails behind its tools may have another first reply; if it gets none, it waits as before."""

    async def scene(stage: EngineStage) -> None:
        tools = FakeTools(ping=pong)
        await stage.send(stage.turn(ScriptedProvider(calls("ping"), lost()), tools=tools), "look")
        leaf = (await stage.history()).session.leaf
        end = ending(await stage.regenerate(stage.turn(ScriptedProvider(lost()), tools=tools)))
        assert end.pending is not None
        assert (end.pending.text, end.pending.after_tools) == ("look", True)
        session = (await stage.history()).session
        assert (session.leaf, session.pending) == (leaf, True)

    play(scene)
