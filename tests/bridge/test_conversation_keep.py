"""Keep, Continue and Take back: what a model said, and what a person wrote, is never thrown away."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reprise.bridge.conversation import Conversation
from reprise.domain.deltas import TextDelta, ThinkingDelta, ToolCallDelta
from reprise.domain.events import Outcome
from reprise.domain.failures import FailureKind
from reprise.domain.messages import Message, TextPart
from reprise.domain.sessions import Attempt, ModelChange
from reprise.domain.turns import Finished
from support.bridge import OTHER, BridgeStage, end_of, recorder, said, waiting
from support.engine import HANG, FakeTools, FaultyLog, calls, fails, pong, says, texts
from support.qt import Recorder

Play = Callable[..., None]
HALF = [TextDelta("half"), HANG]
BROKEN = fails(FailureKind.SERVER, TextDelta("half"))


async def stopped(stage: BridgeStage, text: str = "hello") -> Conversation:
    """A chat whose only turn was stopped."""
    chat = stage.chat()
    await stage.send(chat, text)
    chat.stop()
    await stage.clock.drain()
    return chat


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


def test_take_back_gives_the_prompt_back_and_it_leaves_the_branch(play: Play) -> None:
    """D6, B10: nothing is deleted; the next prompt is its sibling."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat, "first")
        await stage.send(chat, "second")
        chat.stop()
        await stage.clock.drain()
        prompt = chat.history.branch[-1].id
        told = said(chat)
        chat.take_back()
        await stage.clock.drain()
        assert told.seen == [("returned", "second")]
        assert (chat.pending, chat.is_busy) == (None, False)
        assert texts(await stage.stored(chat)) == [("user", "first"), ("assistant", "one")]
        await stage.assert_memory_equals_disk(chat)
        await stage.send(chat, "other")
        newest = chat.history.branch[2].id
        assert chat.siblings(newest) == (prompt, newest)
        assert chat.state == Finished(Outcome.COMPLETED)

    play(scene, says("one"), HALF, says("two"))


def test_take_back_of_the_first_prompt_leaves_an_empty_chat(play: Play) -> None:
    """B6: null is empty; the chat can be used as before."""

    async def scene(stage: BridgeStage) -> None:
        chat = await stopped(stage)
        chat.take_back()
        await stage.clock.drain()
        assert chat.history.branch == ()
        await stage.assert_memory_equals_disk(chat)
        await stage.send(chat, "again")
        assert texts(await stage.stored(chat)) == [("user", "again"), ("assistant", "ok")]
        await stage.assert_memory_equals_disk(chat)

    play(scene, [HANG], says("ok"))


def test_take_back_brings_the_queue_along_behind_the_prompt(play: Play) -> None:
    """I5, D6: a failed turn with queued messages; one text, in the order of writing."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        told = said(chat)
        await stage.send(chat, "prompt")
        for text in ("b", "c"):
            assert chat.send(text)
            await stage.clock.drain()
        await stage.clock.advance(5)
        assert waiting(chat) == ["b", "c"]
        chat.take_back()
        await stage.clock.drain()
        assert [entry for entry in told.seen if entry[0] == "returned"] == [("returned", "prompt\n\nb\n\nc")]
        assert (await stage.history(chat)).queue == ()
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(), fails(), delays=(5.0,))


def test_take_back_shows_an_older_prompt_that_is_pending_again(play: Play) -> None:
    """B1, B5: two prompts in a row; taking the newer one back leaves the older one to retry."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        for text in ("older", "newer"):
            await stage.send(chat, text)
            chat.stop()
            await stage.clock.drain()
        chat.take_back()
        await stage.clock.drain()
        assert chat.pending is not None
        assert chat.pending.text == "older"

    play(scene, [HANG], [HANG])


def test_a_prompt_whose_tools_ran_can_be_taken_back(play: Play) -> None:
    """L19: pending behind its results; the whole turn leaves the branch."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        told = said(chat)
        await stage.send(chat)
        chat.stop()
        await stage.clock.drain()
        assert chat.pending is not None
        assert chat.pending.after_tools
        chat.take_back()
        await stage.clock.drain()
        assert ("returned", "hello") in told.seen
        assert chat.history.branch == ()
        await stage.assert_memory_equals_disk(chat)

    play(scene, calls("ping"), tools=FakeTools(ping=pong))


def test_nothing_is_kept_taken_back_or_gone_on_from_while_a_reply_streams(play: Play) -> None:
    """B13: refused with the reason; the text given to `resend` stays."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat)
        told = said(chat)
        prompt = chat.history.branch[0].id
        chat.keep()
        chat.go_on()
        chat.take_back()
        chat.regenerate()
        chat.retry_with(OTHER)
        chat.retry_after(1)
        assert not chat.resend(prompt, "other")
        assert told.seen == [("refused", "A reply is still on its way in this chat.")] * 7
        assert (chat.can_keep, chat.can_go_on) == (False, False)
        assert chat.regenerate_blocked() == "A reply is still on its way in this chat."
        chat.stop()
        await stage.clock.drain()

    play(scene, HALF)


def test_take_back_during_a_countdown_is_refused_with_the_reason(play: Play) -> None:
    """B13: Esc first; the card then offers it."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat)
        told = said(chat)
        chat.take_back()
        assert told.seen == [("refused", "A retry is counting down in this chat: cancel it first.")]
        assert chat.retry_manager.is_counting
        chat.stop()
        await stage.clock.drain()

    play(scene, fails())


def test_nothing_is_done_once_the_chat_is_closing(play: Play) -> None:
    """B13: every command says so."""

    async def scene(stage: BridgeStage) -> None:
        chat = await stopped(stage)
        await chat.close()
        told = said(chat)
        for command in (chat.keep, chat.go_on, chat.take_back, chat.regenerate, chat.retry):
            command()
        await stage.clock.drain()
        assert told.seen == [("refused", "This chat is being closed.")] * 5
        assert not chat.is_busy

    play(scene, HALF)


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
