"""A reply cut at the output limit is complete; at most two rounds go on by themselves, if that is set."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reprise.domain.deltas import FinishDelta, TextDelta, ToolCallDelta
from reprise.domain.events import Outcome, RoundCompleted, ToolCallStarted, Truncated, TurnFinished
from reprise.domain.failures import FailureKind
from reprise.domain.messages import TextPart
from reprise.domain.ports import HoldResult
from reprise.engine.context import GO_ON
from support.engine import (
    EngineStage,
    FakeTools,
    ScriptedGate,
    ScriptedProvider,
    calls,
    ending,
    fails,
    lost,
    pong,
    says,
    texts,
)

Play = Callable[..., None]


@pytest.mark.parametrize("word", ["length", "max_tokens", "max_output_tokens", "MAX_TOKENS"])
def test_a_cut_reply_completes_the_turn(play: Play, word: str) -> None:
    """D9, L13: whatever the provider calls it, the text is kept and nothing is pending."""

    async def scene(stage: EngineStage) -> None:
        events = await stage.send(stage.turn(ScriptedProvider(says("Once upon", finish=word))))
        assert [event for event in events if isinstance(event, Truncated)] == [Truncated(9)]
        assert ending(events) == TurnFinished(Outcome.COMPLETED)
        stored = await stage.stored()
        assert stored[-1].reply is not None
        assert stored[-1].reply.finish_reason == word
        assert not (await stage.history()).session.pending

    play(scene)


def test_the_calls_of_a_cut_reply_are_kept_and_not_run(play: Play) -> None:
    """D9, L18, F62: they may be incomplete."""

    async def scene(stage: EngineStage) -> None:
        tools = FakeTools(ping=pong)
        cut = [TextDelta("Writing."), ToolCallDelta(0, "1", "ping", '{"path": "/e'), FinishDelta("length")]
        events = await stage.send(stage.turn(ScriptedProvider(cut), tools=tools))
        assert ending(events) == TurnFinished(Outcome.COMPLETED)
        assert tools.ran == []
        assert not any(isinstance(event, ToolCallStarted) for event in events)
        assert [call.arguments for call in (await stage.stored())[-1].tool_calls] == ['{"path": "/e']

    play(scene)


def test_a_cut_reply_goes_on_by_itself_as_often_as_set(play: Play) -> None:
    """D9, L18: two continuations, then it ends; each is asked for with all that was said, and it is one reply."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(*[says(piece, finish="length") for piece in ("Once ", "upon ", "a t")])
        events = await stage.send(stage.turn(provider, auto_continue=2))
        assert [event for event in events if isinstance(event, Truncated)] == [
            Truncated(5, continued=True),
            Truncated(10, continued=True),
            Truncated(13),
        ]
        assert ending(events) == TurnFinished(Outcome.COMPLETED)
        assert texts(provider.requests[2].messages) == [
            ("user", "hello"),
            ("assistant", "Once upon "),
            ("user", GO_ON),
        ]
        assert texts(await stage.stored()) == [("user", "hello"), ("assistant", "Once upon a t")]

    play(scene)


def test_the_usage_of_a_cut_reply_follows_the_cut(play: Play) -> None:
    """L3: message, truncated, usage, in this order, also when the reply goes on."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(says("Once ", finish="length"), says("more"))
        names = [type(event).__name__ for event in await stage.send(stage.turn(provider, auto_continue=1))]
        first = names.index("RoundCompleted")
        assert names[first : first + 4] == ["RoundCompleted", "Truncated", "UsageReported", "AttemptStarted"]

    play(scene)


def test_a_continuation_that_fails_leaves_the_cut_reply_complete(play: Play) -> None:
    """D9, D8: the reply stands and nothing is pending; the failure is said."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(says("Once ", finish="length"), lost("gone"))
        end = ending(await stage.send(stage.turn(provider, auto_continue=1)))
        assert (end.outcome, end.pending) == (Outcome.FAILED, None)
        assert end.failure is not None
        assert not (await stage.history()).session.pending

    play(scene)


def test_a_continuation_is_retried_like_any_round(play: Play) -> None:
    """D9, R5: its budget is its own; cancelling its wait leaves nothing pending."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(says("Once ", finish="length"), lost(), says("more"))
        assert ending(await stage.send(stage.turn(provider, 5.0, auto_continue=1))).outcome is Outcome.COMPLETED
        assert stage.gate.waits == [5.0]

        stage.gate = ScriptedGate(stage.clock, HoldResult.CANCELLED)
        provider = ScriptedProvider(says("Once ", finish="length"), lost())
        end = ending(await stage.send(stage.turn(provider, 5.0, auto_continue=1), "again"))
        assert end == TurnFinished(Outcome.STOPPED)

    play(scene)


def test_an_automatic_continuation_is_one_reply_with_its_beginning(play: Play) -> None:
    """D9, L18: each round's message holds all of it, beside the one before; a failed one leaves the longest."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(
            says("Once ", finish="length"),
            says("upon ", finish="length"),
            fails(FailureKind.NETWORK, TextDelta("a ")),
        )
        events = await stage.send(stage.turn(provider, auto_continue=2))
        assert (ending(events).outcome, ending(events).pending) == (Outcome.FAILED, None)
        completed = [event.entry for event in events if isinstance(event, RoundCompleted)]
        assert len({entry.parent for entry in completed}) == 1
        assert texts(await stage.stored()) == [("user", "hello"), ("assistant", "Once upon ")]
        (attempt,) = await stage.attempts()
        assert attempt.parts == (TextPart("Once upon a "),)
        assert not (await stage.history()).session.pending

    play(scene)


def test_a_reply_cut_to_nothing_readable_does_not_go_on_by_itself(play: Play) -> None:
    """D9: there is nothing to go on from; it is complete as it stands."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(calls("ping", finish="length"))
        events = await stage.send(stage.turn(provider, auto_continue=2, tools=FakeTools(ping=pong)))
        assert ending(events) == TurnFinished(Outcome.COMPLETED)

    play(scene)
