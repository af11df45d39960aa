"""Take back, and what is refused: what a person wrote is never thrown away."""

from __future__ import annotations

from collections.abc import Callable

from reprise.domain.deltas import TextDelta
from reprise.domain.events import Outcome
from reprise.domain.failures import FailureKind
from reprise.domain.turns import Finished
from support.bridge import OTHER, BridgeStage, said, stopped, waiting
from support.engine import HANG, FakeTools, calls, fails, pong, says, texts

Play = Callable[..., None]
HALF = [TextDelta("half"), HANG]
BROKEN = fails(FailureKind.SERVER, TextDelta("half"))


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
    """B13, F48: refused with the reason; the text given to `resend` stays."""

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
