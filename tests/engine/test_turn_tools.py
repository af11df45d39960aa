"""Tool rounds: calls run together, results are kept one by one, and the round limit asks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from reprise.domain.events import (
    Answer,
    Outcome,
    RoundCompleted,
    RoundLimitAnswered,
    RoundLimitAsked,
    ToolCallStarted,
    ToolResultRecorded,
    TurnFinished,
)
from reprise.domain.failures import FailureKind
from reprise.domain.messages import Message, ToolCallPart, ToolResultPart
from reprise.domain.sessions import Entry
from support.engine import (
    EngineStage,
    FakeTools,
    FaultyLog,
    ScriptedProvider,
    ScriptedQuestions,
    calls,
    ending,
    fails,
    lost,
    pong,
    says,
    texts,
)

Play = Callable[..., None]


def result_of(entry: Entry) -> ToolResultPart:
    assert isinstance(entry.data, Message)
    (part,) = entry.data.parts
    assert isinstance(part, ToolResultPart)
    return part


def test_a_tool_rounds_events_come_in_order(play: Play) -> None:
    """L3, L8: the message, its usage, every call, then every result."""

    async def scene(stage: EngineStage) -> None:
        events = await stage.send(
            stage.turn(ScriptedProvider(calls("ping", "ping"), says("done")), tools=FakeTools(ping=pong))
        )
        names = [type(event).__name__ for event in events]
        assert names[names.index("RoundCompleted") : names.index("AttemptStarted", 2)] == [
            "RoundCompleted",
            "UsageReported",
            "ToolCallStarted",
            "ToolCallStarted",
            "ToolResultRecorded",
            "ToolResultRecorded",
        ]
        assert ending(events) == TurnFinished(Outcome.COMPLETED)

    play(scene)


def test_calls_run_together_and_results_are_shown_in_call_order(play: Play) -> None:
    """L8, L10, F71: the slow first call does not hold the second, and comes first all the same."""

    async def scene(stage: EngineStage) -> None:
        fast_done = asyncio.Event()

        async def slow(call: ToolCallPart) -> str:
            await fast_done.wait()
            return "slow"

        async def fast(call: ToolCallPart) -> str:
            fast_done.set()
            return "fast"

        provider = ScriptedProvider(calls("slow", "fast"), says("done"))
        events = await stage.send(stage.turn(provider, tools=FakeTools(slow=slow, fast=fast)))
        shown = [result_of(event.entry).text for event in events if isinstance(event, ToolResultRecorded)]
        assert shown == ["slow", "fast"]
        branch = [part for message in await stage.stored() for part in message.parts]
        assert [part.text for part in branch if isinstance(part, ToolResultPart)] == ["fast", "slow"]
        sent = [part for message in provider.requests[1].messages for part in message.parts]
        assert [part.text for part in sent if isinstance(part, ToolResultPart)] == ["slow", "fast"]

    play(scene)


def test_a_retry_goes_on_from_the_recorded_results_and_runs_no_tool_twice(play: Play) -> None:
    """R7, F20, D12: the next attempt is sent the result; the tool ran once."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(calls("ping"), lost(), says("done"))
        tools = FakeTools(ping=pong)
        events = await stage.send(stage.turn(provider, 5.0, tools=tools))
        assert ending(events).outcome is Outcome.COMPLETED
        assert tools.ran == ["ping"]
        assert [message.role for message in provider.requests[2].messages] == ["user", "assistant", "tool"]

    play(scene)


def test_a_turn_that_fails_after_tools_is_pending_after_tools(play: Play) -> None:
    """B1, B3, L14: its text is the prompt's, and Retry goes on from the results."""

    async def scene(stage: EngineStage) -> None:
        tools = FakeTools(ping=pong)
        end = ending(await stage.send(stage.turn(ScriptedProvider(calls("ping"), lost()), tools=tools), "look"))
        assert end.pending is not None
        assert (end.pending.text, end.pending.after_tools) == ("look", True)
        provider = ScriptedProvider(says("done"))
        assert ending(await stage.retry(stage.turn(provider, tools=tools))).outcome is Outcome.COMPLETED
        assert tools.ran == ["ping"]
        assert [message.role for message in await stage.stored()] == ["user", "assistant", "tool", "assistant"]

    play(scene)


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("nope", "{}", "no tool called nope"),
        ("ping", '{"a": ', "not valid JSON"),
        ("ping", "[1]", "not a JSON object"),
        ("ping", "{}", "missing arguments: host"),
    ],
    ids=["unknown", "cut", "array", "missing"],
)
def test_a_call_that_cannot_run_is_an_error_result(play: Play, name: str, arguments: str, why: str) -> None:
    """L9, F63: nothing runs with arguments that do not parse, and the turn goes on."""

    async def scene(stage: EngineStage) -> None:
        tools = FakeTools(ping=pong)
        tools.schema = {"type": "object", "required": ["host"]}
        provider = ScriptedProvider(calls(name, arguments=arguments), says("done"))
        events = await stage.send(stage.turn(provider, tools=tools))
        (result,) = [result_of(event.entry) for event in events if isinstance(event, ToolResultRecorded)]
        assert result.is_error
        assert result.text.startswith("error:")
        assert why in result.text
        assert tools.ran == []
        assert ending(events).outcome is Outcome.COMPLETED

    play(scene)


def test_a_tool_that_raises_is_that_calls_error_result(play: Play) -> None:
    """L9, F70: the other call's result stands, and the turn goes on."""

    async def scene(stage: EngineStage) -> None:
        async def broken(call: ToolCallPart) -> str:
            raise OSError("no such device")

        provider = ScriptedProvider(calls("broken", "ping"), says("done"))
        events = await stage.send(stage.turn(provider, tools=FakeTools(broken=broken, ping=pong)))
        results = [result_of(event.entry).text for event in events if isinstance(event, ToolResultRecorded)]
        assert results == ["error: OSError: no such device", "pong"]
        assert ending(events).outcome is Outcome.COMPLETED

    play(scene)


def test_a_tool_that_cancels_itself_is_no_stop(play: Play) -> None:
    """C6: the call has an error result and the turn goes on."""

    async def scene(stage: EngineStage) -> None:
        async def given_up(call: ToolCallPart) -> str:
            raise asyncio.CancelledError

        events = await stage.send(
            stage.turn(ScriptedProvider(calls("wait"), says("done")), tools=FakeTools(wait=given_up))
        )
        (result,) = [result_of(event.entry) for event in events if isinstance(event, ToolResultRecorded)]
        assert result.text == "error: the call was cancelled"
        assert ending(events).outcome is Outcome.COMPLETED

    play(scene)


def test_an_error_result_says_so_whatever_the_tool_wrote(play: Play) -> None:
    """L9: the text starts with "error:" even when the tool left that out."""

    async def scene(stage: EngineStage) -> None:
        class Failing(FakeTools):
            async def run(self, call: ToolCallPart) -> ToolResultPart:
                return ToolResultPart(call.id, call.name, "not found", is_error=True)

        events = await stage.send(stage.turn(ScriptedProvider(calls("ping"), says("done")), tools=Failing(ping=pong)))
        (result,) = [result_of(event.entry) for event in events if isinstance(event, ToolResultRecorded)]
        assert (result.text, result.is_error) == ("error: not found", True)

    play(scene)


@pytest.mark.parametrize("tools", [None, FakeTools()], ids=["no runner", "no tools"])
def test_calls_nobody_offered_complete_the_turn_unrun(play: Play, tools: FakeTools | None) -> None:
    """D16: the calls are kept in the message, none runs, and no further request is made."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(calls("ping"))
        events = await stage.send(stage.turn(provider, tools=tools))
        assert ending(events) == TurnFinished(Outcome.COMPLETED)
        assert not any(isinstance(event, ToolCallStarted) for event in events)
        (completed,) = [event for event in events if isinstance(event, RoundCompleted)]
        assert not completed.runs_tools
        stored = await stage.stored()
        assert [call.name for call in stored[-1].tool_calls] == ["ping"]
        assert not (await stage.history()).session.pending

        later = ScriptedProvider(says("ok"))
        await stage.send(stage.turn(later), "and now?")
        assert texts(later.requests[0].messages) == [("user", "hello\n\nand now?")]

    play(scene)


def test_the_round_limit_asks_and_stop_leaves_the_turn_pending_with_its_results(play: Play) -> None:
    """D15, T1, L19: nobody there means Stop."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(calls("ping"), calls("ping"))
        events = await stage.send(stage.turn(provider, tools=FakeTools(ping=pong), max_rounds=2))
        asked = [event for event in events if isinstance(event, RoundLimitAsked | RoundLimitAnswered)]
        assert asked == [RoundLimitAsked(2), RoundLimitAnswered(2, Answer.STOP)]
        end = ending(events)
        assert end.outcome is Outcome.STOPPED
        assert end.pending is not None
        assert end.pending.after_tools
        assert (await stage.history()).session.pending

    play(scene)


def test_continue_raises_the_limit_by_as_much_again(play: Play) -> None:
    """T1: the allowance grows by the limit each time."""

    async def scene(stage: EngineStage) -> None:
        questions = ScriptedQuestions(Answer.CONTINUE, Answer.CONTINUE)
        provider = ScriptedProvider(*[calls("ping")] * 5, says("done"))
        turn = stage.turn(provider, tools=FakeTools(ping=pong), max_rounds=2, questions=questions)
        assert ending(await stage.send(turn)).outcome is Outcome.COMPLETED
        assert questions.asked == [2, 4]

    play(scene)


def test_always_holds_for_the_turn_and_its_retries_only(play: Play) -> None:
    """T2, F24: no more asking in this turn, retries included; cleared before and after, so the next turn asks."""

    async def scene(stage: EngineStage) -> None:
        questions = ScriptedQuestions(Answer.ALWAYS, Answer.STOP)
        provider = ScriptedProvider(calls("ping"), lost(), calls("ping"), calls("ping"), says("done"), calls("ping"))
        turn = stage.turn(provider, 5.0, tools=FakeTools(ping=pong), max_rounds=1, questions=questions)
        assert ending(await stage.send(turn)).outcome is Outcome.COMPLETED
        assert questions.asked == [1]
        assert ending(await stage.send(turn, "again")).outcome is Outcome.STOPPED
        assert questions.asked == [1, 1]

    play(scene)


def test_a_manual_retry_after_the_limit_may_go_on_for_as_many_rounds(play: Play) -> None:
    """R12, D15: Retry is a yes to another full allowance."""

    async def scene(stage: EngineStage) -> None:
        tools = FakeTools(ping=pong)
        provider = ScriptedProvider(calls("ping"), calls("ping"), calls("ping"), says("done"))
        await stage.send(stage.turn(provider, tools=tools, max_rounds=2))
        assert ending(await stage.retry(stage.turn(provider, tools=tools, max_rounds=2))).outcome is Outcome.COMPLETED
        assert tools.ran == ["ping"] * 3

    play(scene)


def test_a_result_that_cannot_be_stored_ends_the_turn_pending(play: Play) -> None:
    """L21, S13: the failure is the disk's; what was on disk before is pending."""

    async def scene(stage: EngineStage) -> None:
        log = FaultyLog(stage.store.log, refuse={"record_result"})
        turn = stage.turn(ScriptedProvider(calls("ping", "ping")), 5.0, tools=FakeTools(ping=pong), log=log)
        end = ending(await stage.send(turn))
        assert end.failure is not None
        assert (end.outcome, end.failure.kind) == (Outcome.FAILED, FailureKind.STORAGE)
        assert end.pending is not None
        assert texts(await stage.stored()) == [("user", "hello")]
        assert (await stage.history()).session.pending

    play(scene)


def test_a_result_that_cannot_be_stored_ends_the_calls_that_still_run(play: Play) -> None:
    """L21: their results could not be kept either, so nothing waits for them; the cause is the disk's refusal."""

    async def scene(stage: EngineStage) -> None:
        async def hang(call: ToolCallPart) -> str:
            await asyncio.Event().wait()
            return "never"

        log = FaultyLog(stage.store.log, refuse={"record_result"})
        tools = FakeTools(ping=pong, hang=hang)
        end = ending(await stage.send(stage.turn(ScriptedProvider(calls("ping", "hang")), tools=tools, log=log)))
        assert end.failure is not None
        assert end.failure.kind is FailureKind.STORAGE

    play(scene)


def test_tools_are_offered_with_every_request(play: Play) -> None:
    """L9: the specs of the moment go along, so that a call can only be for what was offered."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(calls("ping"), fails(), says("done"))
        await stage.send(stage.turn(provider, 5.0, tools=FakeTools(ping=pong)))
        assert [[spec.name for spec in request.tools] for request in provider.requests] == [["ping"]] * 3

    play(scene)
