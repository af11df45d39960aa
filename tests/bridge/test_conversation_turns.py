"""A conversation's turns: what is stored before what is sent, what is told in which order, and what is refused."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from reprise.bridge.signals import until
from reprise.domain.deltas import TextDelta
from reprise.domain.events import DeltaArrived, Outcome, RetryStarted, TurnEvent, TurnFinished, TurnStarted
from reprise.domain.failures import FailureKind
from reprise.domain.turns import Finished, Idle, Streaming
from support.bridge import MODEL, OTHER, BridgeStage, end_of, recorder, waiting
from support.engine import HANG, FaultyLog, says, texts
from support.qt import Recorder

Play = Callable[..., None]


def test_a_turn_that_succeeds_leaves_a_prompt_and_a_reply(play: Play) -> None:
    """L2, L21: stored, and memory equals disk; then nothing is pending (B2)."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "Hi there")]
        assert heard.names() == ["started", "stored", "attempt", "round", "finished"]
        assert chat.state == Finished(Outcome.COMPLETED)
        assert (chat.pending, chat.partial, chat.is_busy, chat.waiting_since) == (None, None, False, None)
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("Hi ", "there"))


def test_the_prompt_is_stored_before_anything_is_sent(play: Play) -> None:
    """L1, L14: at the time of the request the prompt is on disk, and the composer was told."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)

        async def look() -> None:
            assert texts(await stage.stored(chat)) == [("user", "hello")]
            assert heard.names() == ["started", "stored", "attempt"]

        stage.provider._replies.append([look, TextDelta("seen")])
        await stage.send(chat)
        assert end_of(heard).outcome is Outcome.COMPLETED

    play(scene)


def test_a_new_chat_is_stored_with_its_first_prompt_and_named_after_it(play: Play) -> None:
    """Issue point 8: the title is the first line of the first prompt."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        titles = Recorder(title=chat.title_changed)
        assert (chat.is_stored, chat.is_loaded, chat.title) == (False, True, "New chat")
        assert await stage.store.sessions.list() == ()
        await stage.send(chat, "Three colours\nplease")
        assert (chat.is_stored, chat.title) == (True, "Three colours")
        assert titles.seen == [("title", "Three colours")]
        (listed,) = await stage.store.sessions.list()
        assert (listed.id, listed.title, listed.model) == (chat.session_id, "Three colours", MODEL)

    play(scene, says("red"))


def test_what_streams_is_in_the_partial_before_it_is_told(play: Play) -> None:
    """L4, and the promise that properties are up to date before their signal."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        seen: list[tuple[object, str]] = []
        chat.delta_arrived.connect(lambda delta: seen.append((delta, chat.partial.text if chat.partial else "gone")))
        await stage.send(chat)
        assert seen[:2] == [(TextDelta("a"), "a"), (TextDelta("b"), "ab")]
        assert isinstance(chat.state, Streaming)
        assert chat.waiting_since == stage.clock.now()
        chat.stop()
        await stage.clock.drain()

    play(scene, [TextDelta("a"), TextDelta("b"), HANG])


def test_waiting_since_moves_with_every_byte(play: Play) -> None:
    """Waiting 7 s: counted by the Clock from the request, then from the last delta."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        began = stage.clock.now()

        async def late() -> None:
            await stage.clock.sleep_until(began + 7)

        stage.provider._replies.append([late, TextDelta("late"), HANG])
        await stage.send(chat)
        assert chat.waiting_since == began
        await stage.clock.advance(10)
        assert chat.waiting_since == began + 7
        chat.stop()
        await stage.clock.drain()
        assert chat.waiting_since is None

    play(scene)


def test_a_second_text_is_refused_until_the_first_is_on_disk_and_queued_from_then_on(play: Play) -> None:
    """L20, I4: one turn per session, from Send on; the reason is a sentence, and Enter twice is one message."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        assert chat.send("first")
        assert chat.is_busy
        assert not chat.send("second")
        assert not chat.send("first")
        await stage.clock.drain()
        assert chat.send("third")
        assert not chat.send("third")
        await stage.clock.drain()
        ((_, text, failure),) = [entry for entry in heard.seen if entry[0] == "refused"]
        assert (text, failure.message) == ("second", "The message before this one is still being stored.")
        assert [entry[1] for entry in heard.seen if entry[0] == "stored"] == ["first", "third"]
        assert len(stage.provider.requests) == 1
        assert texts(await stage.stored(chat)) == [("user", "first")]
        assert waiting(chat) == ["third"]
        chat.stop()
        await stage.clock.drain()

    play(scene, [HANG])


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_blank_text_is_refused(play: Play, text: str) -> None:
    """Nothing to send is nothing stored."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        assert not chat.send(text)
        assert heard.names() == ["refused"]
        assert not chat.is_busy

    play(scene)


def test_without_a_model_sending_is_refused_until_there_is_one(play: Play) -> None:
    """The built-in model may come later than the first prompt."""

    async def scene(stage: BridgeStage) -> None:
        provider = stage.catalog.providers.pop(MODEL)
        chat = stage.chat()
        heard = recorder(chat)
        assert chat.model is None
        assert not chat.send("hello")
        assert heard.names() == ["refused"]
        stage.catalog.providers[MODEL] = provider
        assert chat.model == MODEL
        await stage.send(chat)
        assert end_of(heard).outcome is Outcome.COMPLETED

    play(scene, says("hi"))


def test_a_prompt_that_cannot_be_stored_is_the_composers_again(play: Play) -> None:
    """L1, S13, L20: nothing was sent, nothing is half stored, and the window says why."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        assert heard.names() == ["refused"]
        _, text, failure = heard.seen[0]
        assert (text, failure.kind, failure.message) == ("hello", FailureKind.STORAGE, "The disk is full.")
        assert (chat.is_busy, chat.is_stored, chat.state) == (False, False, Idle())
        assert stage.provider.requests == []
        assert await stage.store.sessions.list() == ()

    play(scene, says("never"), wrap=lambda log: FaultyLog(log, refuse={"open_turn"}))


def test_a_model_without_a_provider_keeps_the_prompt_and_is_pending_with_the_reason(play: Play) -> None:
    """L1, P9: nothing is lost because a key is missing; nothing is retried by itself."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        chat.choose_model(OTHER)
        await stage.send(chat)
        finished = end_of(heard)
        assert finished.failure is not None
        assert (finished.outcome, finished.failure.kind) == (Outcome.FAILED, FailureKind.AUTH)
        assert chat.pending is not None
        assert chat.pending.text == "hello"
        assert texts(await stage.stored(chat)) == [("user", "hello")]
        await stage.assert_memory_equals_disk(chat)

    play(scene)


def test_a_bug_in_the_engine_is_logged_and_told_and_never_lost(play: Play, caplog: pytest.LogCaptureFixture) -> None:
    """L23: a turn that throws still ends, pending, with a report to copy."""

    def broken(_: object) -> object:
        raise KeyError("no such setting")

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        object.__setattr__(stage.services, "parameters", broken)
        chat.stop()
        await stage.clock.drain()
        chat.retry()
        await stage.clock.drain()
        finished = end_of(heard)
        assert finished.failure is not None
        assert (finished.outcome, finished.failure.kind) == (Outcome.FAILED, FailureKind.BUG)
        assert finished.pending is not None
        assert not chat.is_busy
        assert any("bug" in record.message for record in caplog.records)

    with caplog.at_level(logging.ERROR, "reprise"):
        play(scene, [HANG])


def test_listeners_may_leave_at_any_time_and_may_raise(play: Play, caplog: pytest.LogCaptureFixture) -> None:
    """D19: one that leaves inside its callback, one that raises, and the one behind them hears everything."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        once: list[TurnEvent] = []
        always: list[TurnEvent] = []

        def leaving(event: TurnEvent) -> None:
            once.append(event)
            leave()

        def raising(event: TurnEvent) -> None:
            raise ValueError("not my day")

        leave = chat.subscribe(leaving)
        chat.subscribe(raising)
        chat.subscribe(always.append)
        await stage.send(chat)
        leave()
        assert [type(event) for event in once] == [TurnStarted]
        assert isinstance(always[0], TurnStarted)
        assert isinstance(always[-1], TurnFinished)
        assert next(event.delta for event in always if isinstance(event, DeltaArrived)) == TextDelta("hi")
        assert not any(isinstance(event, RetryStarted) for event in always)
        assert end_of_turn(chat.state)

    with caplog.at_level(logging.ERROR, "reprise"):
        play(scene, says("hi"))


def end_of_turn(state: object) -> bool:
    return state == Finished(Outcome.COMPLETED)


def test_a_slot_that_raises_changes_no_outcome(play: Play, qtbot: QtBot) -> None:
    """D19, for the signals themselves."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()

        def raising(*_: object) -> None:
            raise ValueError("not my day")

        for signal in (chat.turn_started, chat.state_changed, chat.delta_arrived, chat.turn_finished):
            signal.connect(raising)
        heard = recorder(chat)
        with qtbot.capture_exceptions() as raised:
            await stage.send(chat)
        assert len(raised) >= 4
        assert end_of(heard).outcome is Outcome.COMPLETED
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("hi"))


def test_whoever_hears_of_the_end_may_send_at_once(play: Play) -> None:
    """A queue sends its next message from the slot of `turn_finished`."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        queue = ["second"]
        chat.turn_finished.connect(lambda _: queue and chat.send(queue.pop()))
        await stage.send(chat, "first")
        assert [text for _, text in texts(await stage.stored(chat))] == ["first", "one", "second", "two"]
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("one"), says("two"))


def test_two_sessions_stream_at_the_same_time(play: Play) -> None:
    """N10: neither waits for the other, and stopping one leaves the other alone."""

    async def scene(stage: BridgeStage) -> None:
        first, second = stage.chat(), stage.chat()
        gate = asyncio.Event()
        stage.provider._replies += [[TextDelta("one"), HANG], [gate.wait, TextDelta("two")]]
        await stage.send(first, "a")
        await stage.send(second, "b")
        assert first.is_busy
        assert second.is_busy
        first.stop()
        await stage.clock.drain()
        assert (first.is_busy, second.is_busy) == (False, True)
        gate.set()
        await stage.clock.drain()
        assert texts(await stage.stored(first)) == [("user", "a")]
        assert texts(await stage.stored(second)) == [("user", "b"), ("assistant", "two")]

    play(scene)


def test_a_flood_of_deltas_lets_the_window_breathe(play: Play) -> None:
    """Design section 3: a provider that never waits does not hold the thread (the fixture fails it over 50 ms)."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        assert chat.send("flood")
        await until(chat.turn_finished)
        await stage.clock.drain()
        assert len(chat.history.branch) == 2

    play(scene, [TextDelta("word ")] * 20_000)
