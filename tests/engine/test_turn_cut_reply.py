"""The rest of a cut reply: a whole one takes its place, or it stands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from reprise.domain.deltas import TextDelta
from reprise.domain.events import (
    Outcome,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from reprise.domain.failures import FailureKind
from reprise.domain.messages import Message, TextPart, ToolCallPart
from reprise.domain.ports import HoldResult
from reprise.engine.context import GO_ON
from support.engine import (
    HANG,
    SESSION,
    EngineStage,
    FakeTools,
    ScriptedGate,
    ScriptedProvider,
    calls,
    ending,
    fails,
    pong,
    says,
    texts,
)

Play = Callable[..., None]


def test_a_cut_reply_goes_on_beside_itself(play: Play) -> None:
    """D9, F58: the whole takes its place under the same prompt; the cut one stays in the log."""

    async def scene(stage: EngineStage) -> None:
        await stage.send(stage.turn(ScriptedProvider(says("Once upon", finish="length"))))
        cut = await stage.newest_reply()
        provider = ScriptedProvider(says(" a time"))
        events = await stage.go_on(stage.turn(provider))
        assert events[0] == TurnStarted((await stage.history()).branch[0], resumed=True, beside=cut)
        assert ending(events) == TurnFinished(Outcome.COMPLETED)
        assert [message.text for message in provider.requests[0].messages] == ["hello", "Once upon", GO_ON]
        whole = await stage.newest_reply()
        assert isinstance(whole.data, Message)
        assert whole.data.reply is not None
        assert (whole.data.text, whole.data.reply.goes_on_from, whole.parent) == (
            "Once upon a time",
            cut.id,
            cut.parent,
        )
        assert texts(await stage.stored()) == [("user", "hello"), ("assistant", "Once upon a time")]

    play(scene)


def test_a_retry_under_a_cut_reply_still_names_the_reply(play: Play) -> None:
    """D9, N1: so that the cut one is no alternative to the whole."""

    async def scene(stage: EngineStage) -> None:
        await stage.send(stage.turn(ScriptedProvider(says("Once ", finish="length"))))
        cut = await stage.newest_reply()
        provider = ScriptedProvider(fails(FailureKind.NETWORK, TextDelta("upon ")), says("a time"))
        await stage.go_on(stage.turn(provider, 5.0))
        assert [attempt.goes_on_from for attempt in await stage.attempts()] == [cut.id]
        (*_, whole) = await stage.stored()
        assert whole.reply is not None
        assert (whole.text, whole.reply.goes_on_from) == ("Once upon a time", cut.id)

    play(scene)


@pytest.mark.parametrize("outcome", ["failed", "cancelled", "stopped"])
def test_a_cut_reply_stands_when_its_rest_does_not_come(play: Play, outcome: str) -> None:
    """D9, D20: nothing is pending; what came of it is in the log, behind what it began with."""

    async def scene(stage: EngineStage) -> None:
        await stage.send(stage.turn(ScriptedProvider(says("Once ", finish="length"))))
        before = (await stage.history()).session.leaf
        if outcome == "stopped":
            provider = ScriptedProvider([TextDelta("upon"), HANG])
            task = asyncio.create_task(stage.go_on(stage.turn(provider)))
            await provider.hanging.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            stage.gate = ScriptedGate(stage.clock, HoldResult.CANCELLED)
            provider = ScriptedProvider(fails(FailureKind.NETWORK, TextDelta("upon")))
            end = ending(await stage.go_on(stage.turn(provider, *([5.0] if outcome == "cancelled" else []))))
            assert end.pending is None
            assert end.outcome is (Outcome.STOPPED if outcome == "cancelled" else Outcome.FAILED)
        session = (await stage.history()).session
        assert (session.leaf, session.pending) == (before, False)
        (attempt,) = await stage.attempts()
        assert (attempt.parts, attempt.retry_at) == ((TextPart("Once upon"),), None)

    play(scene)


def test_the_rest_may_call_tools(play: Play) -> None:
    """D12: those of the cut reply were not run and do not come back; the turn goes on behind the whole."""

    async def scene(stage: EngineStage) -> None:
        tools = FakeTools(ping=pong)
        cut = [TextDelta("Let me "), *calls("ping", finish="length")]
        await stage.send(stage.turn(ScriptedProvider(cut), tools=tools))
        provider = ScriptedProvider([TextDelta("look."), *calls("ping")], says("done"))
        events = await stage.go_on(stage.turn(provider, tools=tools))
        assert ending(events).outcome is Outcome.COMPLETED
        assert tools.ran == ["ping"]
        whole = (await stage.stored())[1]
        assert whole.parts == (TextPart("Let me look."), ToolCallPart("call-0-ping", "ping", "{}"))
        assert len([event for event in events if isinstance(event, ToolCallStarted)]) == 1

    play(scene)


def test_going_on_from_a_reply_that_is_not_there_does_nothing(play: Play) -> None:
    """B6: it is on another branch, or says nothing."""

    async def scene(stage: EngineStage) -> None:
        await stage.send(stage.turn(ScriptedProvider(says("Once ", finish="length"))))
        cut = await stage.newest_reply()
        await stage.store.log.move_leaf(SESSION, cut.parent)
        turn = stage.turn(ScriptedProvider())
        assert await stage.follow(turn.go_on(SESSION, cut)) == []
        assert await stage.follow(turn.regenerate(SESSION, cut)) == []

    play(scene)
