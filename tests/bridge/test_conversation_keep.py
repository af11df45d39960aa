"""Keep, Continue and Take back: what a model said, and what a person wrote, is never thrown away."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reprise.domain.deltas import TextDelta, ThinkingDelta, ToolCallDelta
from reprise.domain.events import Outcome
from reprise.domain.failures import FailureKind
from reprise.domain.messages import Message, TextPart
from reprise.domain.sessions import Attempt, ModelChange
from reprise.domain.turns import Finished
from support.bridge import OTHER, BridgeStage, end_of, recorder, said, stopped
from support.engine import HANG, FaultyLog, fails, says, texts
from support.qt import Recorder

Play = Callable[..., None]
HALF = [TextDelta("half"), HANG]
BROKEN = fails(FailureKind.SERVER, TextDelta("half"))


def test_keep_makes_a_stopped_partial_the_reply(play: Play) -> None:
    """D5: finish reason `stopped`; the attempt stays in the log, nothing is pending, and the next turn sees it."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat)
        assert not chat.can_keep
        chat.stop()
        await stage.clock.drain()
        assert chat.can_keep
        states = Recorder(state=chat.state_changed, pending=chat.retry_manager.pending_changed)
        chat.keep()
        await stage.clock.drain()
        stored = await stage.stored(chat)
        assert texts(stored) == [("user", "hello"), ("assistant", "half")]
        assert stored[1].reply is not None
        assert stored[1].reply.finish_reason == "stopped"
        assert (chat.pending, chat.can_keep) == (None, False)
        assert states.seen == [("pending", None), ("state", Finished(Outcome.STOPPED, None))]
        assert len(await stage.attempts(chat)) == 1
        await stage.assert_memory_equals_disk(chat)
        await stage.send(chat, "more")
        assert [message.text for message in stage.provider.requests[-1].messages] == ["hello", "half", "more"]

    play(scene, HALF, says("ok"))


def test_keep_during_a_countdown_ends_the_wait(play: Play) -> None:
    """D5: offered during the wait, too; no request follows, and no scheduled time is left behind."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        assert chat.can_keep
        chat.keep()
        chat.keep()
        await stage.clock.drain()
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "half")]
        assert heard.names()[-2:] == ["cancelled", "finished"]
        assert (chat.is_busy, chat.pending) == (False, None)
        await stage.clock.advance(60)
        assert len(stage.provider.requests) == 1
        assert [attempt.retry_at for attempt in await stage.attempts(chat)] == [None]
        await stage.assert_memory_equals_disk(chat)

    play(scene, BROKEN)


def test_keep_takes_the_words_of_the_newest_attempt_that_said_something(play: Play) -> None:
    """D5: a retry that failed before its first word takes nothing away."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat)
        await stage.clock.advance(5)
        assert not chat.is_busy
        chat.keep()
        await stage.clock.drain()
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "half")]

    play(scene, BROKEN, fails(), delays=(5.0,))


def test_a_kept_reply_stands_behind_a_change_of_the_model(play: Play) -> None:
    """B6, P10: the change stays on the branch, and so counts for what follows."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        chat = await stopped(stage)
        chat.choose_model(OTHER)
        await stage.clock.drain()
        chat.keep()
        await stage.clock.drain()
        kinds = [type(entry.data) for entry in chat.history.branch]
        assert kinds == [Message, ModelChange, Message]
        assert chat.model == OTHER
        await stage.assert_memory_equals_disk(chat)

    play(scene, HALF)


@pytest.mark.parametrize("reply", [[HANG], [TextDelta(" \n"), HANG], [ToolCallDelta(0, "1", "ping"), HANG]])
def test_there_is_nothing_to_keep_or_to_go_on_from_when_nothing_was_said(play: Play, reply: list[object]) -> None:
    """B13: both commands say so, and nothing changes."""

    async def scene(stage: BridgeStage) -> None:
        chat = await stopped(stage)
        told = said(chat)
        assert (chat.can_keep, chat.can_go_on) == (False, False)
        history = chat.history
        chat.keep()
        chat.go_on()
        await stage.clock.drain()
        assert told.seen == [("refused", "There is nothing to keep."), ("refused", "There is nothing to go on from.")]
        assert chat.history is history

    play(scene, reply)


def test_keep_that_cannot_be_stored_leaves_the_turn_pending(play: Play) -> None:
    """S13: said, and as before."""

    async def scene(stage: BridgeStage) -> None:
        chat = await stopped(stage)
        told = said(chat)
        chat.keep()
        await stage.clock.drain()
        assert told.seen == [("problem", "The disk is full.")]
        assert chat.pending is not None
        assert chat.can_keep
        await stage.assert_memory_equals_disk(chat)

    play(scene, HALF, wrap=lambda log: FaultyLog(log, refuse={"keep"}))


def test_continue_goes_on_from_a_stopped_partial(play: Play) -> None:
    """D5, N8: one reply with all of it; who shows deltas sees the whole."""

    async def scene(stage: BridgeStage) -> None:
        chat = await stopped(stage)
        assert chat.can_go_on
        seen: list[str] = []
        chat.delta_arrived.connect(lambda _: seen.append(chat.partial.text if chat.partial else ""))
        chat.go_on()
        await stage.clock.drain()
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "half and the rest")]
        assert (seen[0], seen[-1]) == ("half", "half and the rest")
        assert chat.pending is None
        await stage.assert_memory_equals_disk(chat)

    play(scene, HALF, says(" and the rest"))


def test_continue_during_a_countdown_ends_the_wait_and_goes_on_at_once(play: Play) -> None:
    """D5: no second request of the old schedule, and a full budget for the new one."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat)
        assert chat.retry_manager.is_counting
        chat.go_on()
        await stage.clock.drain()
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "half and the rest")]
        await stage.clock.advance(60)
        assert len(stage.provider.requests) == 2
        await stage.assert_memory_equals_disk(chat)

    play(scene, BROKEN, says(" and the rest"))


def test_a_continue_that_fails_loses_nothing_and_goes_on_from_the_newest_words(play: Play) -> None:
    """D5: its attempt begins with what it went on from; after a restart of the wait it goes on likewise."""

    async def scene(stage: BridgeStage) -> None:
        chat = await stopped(stage)
        chat.go_on()
        await stage.clock.drain()
        assert chat.retry_manager.is_counting
        attempts = await stage.attempts(chat)
        assert attempts[-1].parts == (TextPart("half more"),)
        await chat.close()
        again = await stage.reopened(chat.session_id)
        assert again.retry_manager.is_counting
        await stage.clock.advance(5)
        assert texts(await stage.stored(again)) == [("user", "hello"), ("assistant", "half more and all")]
        await stage.assert_memory_equals_disk(again)

    play(scene, HALF, fails(FailureKind.SERVER, TextDelta(" more")), says(" and all"))


def test_continue_goes_on_from_a_reply_cut_at_the_output_limit(play: Play) -> None:
    """D9, F58: the cut reply stands meanwhile and is no alternative to the whole one afterwards."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        assert end_of(heard).outcome is Outcome.COMPLETED
        assert (chat.pending, chat.can_go_on, chat.can_keep) == (None, True, False)
        cut = chat.history.branch[-1]
        besides: list[object] = []
        chat.turn_started.connect(lambda event: besides.append((event.beside, chat.beside)))
        chat.go_on()
        await stage.clock.drain()
        assert besides == [(cut, cut)]
        assert chat.beside is None
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "one two")]
        whole = chat.history.branch[-1].id
        assert chat.siblings(whole) == (whole,)
        assert not chat.can_go_on
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("one", finish="length"), says(" two"))


def test_continue_goes_on_from_a_kept_partial(play: Play) -> None:
    """D5: kept today, gone on from tomorrow."""

    async def scene(stage: BridgeStage) -> None:
        chat = await stopped(stage)
        chat.keep()
        await stage.clock.drain()
        assert chat.can_go_on
        chat.go_on()
        await stage.clock.drain()
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "half and the rest")]
        await stage.assert_memory_equals_disk(chat)

    play(scene, HALF, says(" and the rest"))


def test_reasoning_alone_can_be_gone_on_from(play: Play) -> None:
    """D5: what was thought is part of the partial."""

    async def scene(stage: BridgeStage) -> None:
        chat = await stopped(stage)
        assert (chat.can_keep, chat.can_go_on) == (True, True)

    play(scene, [ThinkingDelta("hmm"), HANG])


def test_the_attempt_that_was_kept_stays_in_the_history(play: Play) -> None:
    """N9: "1 earlier attempt" still opens it."""

    async def scene(stage: BridgeStage) -> None:
        chat = await stopped(stage)
        chat.keep()
        await stage.clock.drain()
        ((attempt,),) = chat.history.attempts.values()
        assert isinstance(attempt.data, Attempt)
        assert attempt.data.parts == (TextPart("half"),)

    play(scene, HALF)


def test_what_a_stopped_continue_said_is_kept_whole_with_what_it_went_on_from(play: Play) -> None:
    """D5, N1: the kept reply holds the text of the first attempt and says so."""

    async def scene(stage: BridgeStage) -> None:
        chat = await stopped(stage)
        ((first,),) = chat.history.attempts.values()
        chat.go_on()
        await stage.clock.drain()
        chat.stop()
        await stage.clock.drain()
        chat.keep()
        await stage.clock.drain()
        stored = await stage.stored(chat)
        assert texts(stored) == [("user", "hello"), ("assistant", "half more")]
        assert stored[1].reply is not None
        assert stored[1].reply.goes_on_from == first.id
        await stage.assert_memory_equals_disk(chat)

    play(scene, HALF, [TextDelta(" more"), HANG])
