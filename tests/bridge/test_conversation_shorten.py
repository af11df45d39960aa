"""A chat that became too long: its first messages stay out of requests, and nothing of them is lost."""

from __future__ import annotations

from collections.abc import Callable

from reprise.bridge.conversation import Conversation
from reprise.domain.failures import FailureKind
from reprise.domain.sessions import ParamsChange
from reprise.domain.shortening import LEFT_OUT
from support.bridge import BridgeStage, answered, said, shown
from support.engine import HANG, FaultyLog, fails, says, texts
from support.qt import Recorder

Play = Callable[..., None]
TOO_LONG = fails(FailureKind.CONTEXT_LENGTH, retryable=False, words="maximum context length is 8192 tokens")


async def too_long(stage: BridgeStage, turns: int = 2) -> Conversation:
    """A chat whose prompt after so many turns did not fit."""
    chat = await answered(stage, "a")
    for text in "bcdef"[: turns - 1]:
        await stage.send(chat, text)
    await stage.send(chat, "too much")
    assert chat.pending is not None
    return chat


def sent(stage: BridgeStage, request: int = -1) -> list[tuple[str, str]]:
    """What a request held."""
    return texts(stage.provider.requests[request].messages)


def test_shortening_is_recorded_and_retries_at_once(play: Play) -> None:
    """N4, B8: the branch says so, the request is shorter, and memory equals disk."""

    async def scene(stage: BridgeStage) -> None:
        chat = await too_long(stage)
        assert [(way.left_out, way.messages) for way in chat.shortenings()] == [(2, 3), (4, 1)]
        chat.shorten(2)
        await stage.clock.drain()
        assert sent(stage) == [("user", "b"), ("assistant", "two"), ("user", "too much")]
        assert shown(chat) == ["a", "one", "b", "two", "too much", "three"]
        assert (chat.pending, chat.left_out) == (None, 2)
        changes = [entry.data for entry in chat.history.branch if isinstance(entry.data, ParamsChange)]
        assert changes == [ParamsChange({LEFT_OUT: 2})]
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("one"), says("two"), TOO_LONG, says("three"))


def test_later_turns_are_sent_shortened_too_and_after_a_restart(play: Play) -> None:
    """N4, B8: from then on, on this branch and in every fork of it."""

    async def scene(stage: BridgeStage) -> None:
        chat = await too_long(stage)
        chat.shorten(4)
        await stage.clock.drain()
        again = await stage.reopened(chat.session_id)
        assert again.left_out == 4
        await stage.send(again, "more")
        assert sent(stage) == [("user", "too much"), ("assistant", "three"), ("user", "more")]
        fork = await stage.store.sessions.fork(chat.session_id, again.history.branch[-1].id)
        copy = await stage.reopened(fork.id)
        assert copy.left_out == 4
        await stage.send(copy, "there")
        assert sent(stage)[0] == ("user", "too much")

    play(scene, says("one"), says("two"), TOO_LONG, says("three"), says("four"), says("five"))


def test_all_is_sent_again_with_one_word(play: Play) -> None:
    """N4: reversible; the history is told to be another, so that the notice goes."""

    async def scene(stage: BridgeStage) -> None:
        chat = await too_long(stage)
        chat.shorten(4)
        await stage.clock.drain()
        heard = Recorder(history=chat.history_changed)
        chat.send_all()
        assert chat.left_out == 0
        assert heard.seen
        await stage.clock.drain()
        await stage.assert_memory_equals_disk(chat)
        entries = len(chat.history.branch)
        chat.send_all()
        await stage.clock.drain()
        assert len(chat.history.branch) == entries
        await stage.send(chat, "more")
        assert [text for _, text in sent(stage)] == ["a", "one", "b", "two", "too much", "three", "more"]

    play(scene, says("one"), says("two"), TOO_LONG, says("three"), says("four"))


def test_all_is_sent_again_from_the_next_turn_on_when_one_runs(play: Play) -> None:
    """B8, B13: the word is kept and recorded behind the turn."""

    async def scene(stage: BridgeStage) -> None:
        chat = await too_long(stage)
        chat.shorten(4)
        await stage.clock.drain()
        assert chat.is_busy
        chat.send_all()
        assert chat.left_out == 0
        chat.stop()
        await stage.clock.drain()
        assert chat.history.branch[-1].data == ParamsChange({LEFT_OUT: None})
        await stage.assert_memory_equals_disk(chat)
        chat.retry()
        await stage.clock.drain()
        assert len(sent(stage)) == 5

    play(scene, says("one"), says("two"), TOO_LONG, [HANG], says("three"))


def test_a_shorter_request_that_is_still_too_long_offers_less_again(play: Play) -> None:
    """N4: until the prompt stands alone; then another model is what is left."""

    async def scene(stage: BridgeStage) -> None:
        chat = await too_long(stage)
        chat.shorten(2)
        await stage.clock.drain()
        assert [way.left_out for way in chat.shortenings()] == [4]
        chat.shorten(4)
        await stage.clock.drain()
        assert (chat.shortenings(), chat.left_out) == ((), 4)
        assert chat.pending is not None
        assert shown(chat) == ["a", "one", "b", "two", "too much"]

    play(scene, says("one"), says("two"), TOO_LONG, TOO_LONG, TOO_LONG)


def test_nothing_is_shortened_where_nothing_is_pending(play: Play) -> None:
    """B13: refused, and nothing is chosen."""

    async def scene(stage: BridgeStage) -> None:
        chat = await answered(stage)
        told = said(chat)
        chat.shorten(1)
        await stage.clock.drain()
        assert told.seen == [("refused", "There is nothing to retry in this chat.")]
        assert (chat.left_out, chat.shortenings()) == (0, ())
        assert len(stage.provider.requests) == 1

    play(scene, says("one"))


def test_shortening_during_a_countdown_ends_the_wait(play: Play) -> None:
    """N4: as another model does."""

    async def scene(stage: BridgeStage) -> None:
        chat = await answered(stage, "a")
        await stage.send(chat, "b")
        assert chat.retry_manager.is_counting
        chat.shorten(2)
        await stage.clock.drain()
        assert sent(stage) == [("user", "b")]
        assert not chat.retry_manager.is_counting
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("one"), fails(), says("two"))


def test_another_branch_is_sent_as_it_says_itself(play: Play) -> None:
    """B8: a setting of the branch, not of the window."""

    async def scene(stage: BridgeStage) -> None:
        chat = await too_long(stage)
        chat.shorten(4)
        await stage.clock.drain()
        first = chat.history.branch[2]
        chat.resend(first.id, "B")
        await stage.clock.drain()
        assert sent(stage) == [("user", "a"), ("assistant", "one"), ("user", "B")]
        assert chat.left_out == 0
        chat.step_branch(chat.history.branch[2].id, -1)
        await stage.clock.drain()
        assert chat.left_out == 4
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("one"), says("two"), TOO_LONG, says("three"), says("four"))


def test_a_shortening_that_cannot_be_stored_sends_nothing(play: Play) -> None:
    """L1, B8: the turn stays pending with the reason, and the whole chat is still there."""

    async def scene(stage: BridgeStage) -> None:
        chat = await too_long(stage)
        requests = len(stage.provider.requests)
        chat.shorten(4)
        await stage.clock.drain()
        assert len(stage.provider.requests) == requests
        assert chat.pending is not None
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("one"), says("two"), TOO_LONG, wrap=lambda log: FaultyLog(log, refuse={"append"}))
