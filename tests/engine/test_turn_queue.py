"""Messages sent while a turn runs: steers join it between its rounds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reprise.domain.events import Answer, Outcome, Steered, TurnFinished, TurnStarted
from reprise.domain.failures import FailureKind
from reprise.domain.messages import user_message
from reprise.domain.sessions import Entry, Queued
from support.engine import (
    SESSION,
    EngineStage,
    FakeQueue,
    FakeTools,
    FaultyLog,
    ScriptedProvider,
    ScriptedQuestions,
    calls,
    ending,
    lost,
    pong,
    says,
    texts,
)

Play = Callable[..., None]


async def queued(stage: EngineStage, *words: str) -> list[Entry]:
    """Messages in the queue of a session with one turn in it."""
    if not await stage.store.log.branch(SESSION):
        await stage.send(stage.turn(ScriptedProvider(says("ok"))), "before")
    return [await stage.store.log.queue(SESSION, Queued(user_message(text))) for text in words]


def test_a_steer_joins_the_turn_behind_the_whole_batch_and_before_the_next_request(play: Play) -> None:
    """I4, F110: every result is recorded first; the request holds calls, results, then the message."""

    async def scene(stage: EngineStage) -> None:
        queue = FakeQueue(await queued(stage, "rather this"))
        provider = ScriptedProvider(calls("ping", "ping"), says("done"))
        events = await stage.send(stage.turn(provider, tools=FakeTools(ping=pong), queue=queue), "look")
        names = [type(event).__name__ for event in events]
        assert names[names.index("Steered") - 1 : names.index("Steered") + 2] == [
            "ToolResultRecorded",
            "Steered",
            "AttemptStarted",
        ]
        roles = [message.role for message in provider.requests[1].messages]
        assert roles[-5:] == ["user", "assistant", "tool", "tool", "user"]
        assert provider.requests[1].messages[-1].text == "rather this"
        assert ending(events) == TurnFinished(Outcome.COMPLETED)
        history = await stage.history()
        assert history.queue == ()
        assert texts(await stage.stored())[-2:] == [("user", "rather this"), ("assistant", "done")]

    play(scene)


def test_all_that_is_to_join_joins_in_order(play: Play) -> None:
    """I4: as many messages as the queue hands out, each an entry of its own."""

    async def scene(stage: EngineStage) -> None:
        queue = FakeQueue(await queued(stage, "one", "two"), await queued(stage, "three"))
        provider = ScriptedProvider(calls("ping"), calls("ping"), says("done"))
        events = await stage.send(stage.turn(provider, tools=FakeTools(ping=pong), queue=queue), "look")
        joined = [event.entry.data for event in events if isinstance(event, Steered)]
        assert joined == [user_message("one"), user_message("two"), user_message("three")]
        assert provider.requests[1].messages[-1].text == "one\n\ntwo"

    play(scene)


def test_a_turn_that_fails_behind_a_steer_is_pending_with_it(play: Play) -> None:
    """B1, I4: it is the newest message of the user, and Retry answers it."""

    async def scene(stage: EngineStage) -> None:
        queue = FakeQueue(await queued(stage, "rather this"))
        tools = FakeTools(ping=pong)
        end = ending(
            await stage.send(stage.turn(ScriptedProvider(calls("ping"), lost()), tools=tools, queue=queue), "look")
        )
        assert end.pending is not None
        assert (end.pending.text, end.pending.after_tools) == ("rather this", False)
        events = await stage.retry(stage.turn(ScriptedProvider(says("done")), tools=tools))
        assert isinstance(events[0], TurnStarted)
        assert events[0].prompt.data == user_message("rather this")
        assert tools.ran == ["ping"]

    play(scene)


def test_a_turn_without_tools_leaves_the_queue_alone(play: Play) -> None:
    """I4: there is no next request to join; a retry and a continuation are no new one."""

    async def scene(stage: EngineStage) -> None:
        queue = FakeQueue(await queued(stage, "later"))
        provider = ScriptedProvider(lost(), says("Once ", finish="length"), says("more"))
        await stage.send(stage.turn(provider, 5.0, queue=queue, auto_continue=1), "look")
        assert [entry.data for entry in queue.steers()] == [Queued(user_message("later"))]
        assert len((await stage.history()).queue) == 1

    play(scene)


def test_a_stop_at_the_round_limit_leaves_the_queue_alone_and_continue_delivers(play: Play) -> None:
    """D15, D11: the question comes first."""

    async def scene(stage: EngineStage) -> None:
        queue, tools = FakeQueue(await queued(stage, "rather this")), FakeTools(ping=pong)
        turn = stage.turn(ScriptedProvider(calls("ping")), tools=tools, queue=queue, max_rounds=1)
        assert ending(await stage.send(turn, "look")).outcome is Outcome.STOPPED
        assert len((await stage.history()).queue) == 1

        questions = ScriptedQuestions(Answer.CONTINUE)
        provider = ScriptedProvider(calls("ping"), says("done"))
        turn = stage.turn(provider, tools=tools, queue=queue, max_rounds=1, questions=questions)
        assert ending(await stage.retry(turn)).outcome is Outcome.COMPLETED
        assert (await stage.history()).queue == ()

    play(scene)


def test_a_steer_that_cannot_be_stored_stays_in_the_queue(play: Play) -> None:
    """I6, L21: the turn ends pending behind its results, with the disk's failure."""

    async def scene(stage: EngineStage) -> None:
        queue, tools = FakeQueue(await queued(stage, "rather this")), FakeTools(ping=pong)
        await stage.send(stage.turn(ScriptedProvider(lost())), "look")
        log = FaultyLog(stage.store.log, refuse={"open_turn"})
        end = ending(await stage.retry(stage.turn(ScriptedProvider(calls("ping")), tools=tools, queue=queue, log=log)))
        assert end.failure is not None
        assert end.failure.kind is FailureKind.STORAGE
        assert end.pending is not None
        assert end.pending.after_tools
        assert len((await stage.history()).queue) == 1

    play(scene)


@pytest.mark.parametrize("with_beside", [False, True])
def test_a_queued_message_or_an_edited_one_begins_a_turn(play: Play, with_beside: bool) -> None:
    """I4, B9: taken off the queue in the same write; beside an earlier prompt it is its sibling."""

    async def scene(stage: EngineStage) -> None:
        (waiting,) = await queued(stage, "next")
        first = (await stage.history()).branch[0]
        provider = ScriptedProvider(says("done"))
        run = stage.turn(provider).run(
            SESSION, user_message("next"), beside=first.id if with_beside else None, queued=waiting.id
        )
        await stage.follow(run)
        history = await stage.history()
        assert history.queue == ()
        before = [] if with_beside else [("user", "before"), ("assistant", "ok")]
        assert texts(await stage.stored()) == [*before, ("user", "next"), ("assistant", "done")]

    play(scene)
