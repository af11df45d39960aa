"""Branches in one conversation: regenerate, edit and resend, step; nothing is deleted, a failure changes nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reprise.domain.deltas import TextDelta
from reprise.domain.events import Outcome
from reprise.domain.turns import Finished
from support.bridge import BridgeStage, answered, end_of, recorder, said, shown
from support.engine import HANG, FaultyLog, fails, says
from support.qt import Recorder

Play = Callable[..., None]


def test_regenerate_adds_another_reply_beside_the_old_one(play: Play) -> None:
    """N1, B14: siblings under the same prompt; the new one is shown, and the old reply is not in its request."""

    async def scene(stage: BridgeStage) -> None:
        chat = await answered(stage)
        first = chat.history.branch[-1]
        besides: list[object] = []
        chat.turn_started.connect(lambda event: besides.append((event.beside, event.resumed)))
        assert chat.regenerate_blocked() is None
        chat.regenerate()
        await stage.clock.drain()
        assert shown(chat) == ["hello", "two"]
        second = chat.history.branch[-1].id
        assert chat.siblings(second) == chat.siblings(first.id) == (first.id, second)
        assert besides == [(first, True)]
        assert [message.text for message in stage.provider.requests[-1].messages] == ["hello"]
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("one"), says("two"))


@pytest.mark.parametrize("how", ["fails", "is stopped"])
def test_a_regenerate_that_comes_to_nothing_changes_nothing_and_is_told(play: Play, how: str) -> None:
    """D20: the old reply stays, nothing is pending, and the end says what happened."""

    async def scene(stage: BridgeStage) -> None:
        chat = await answered(stage)
        heard = recorder(chat)
        branch = chat.history.branch
        chat.regenerate()
        await stage.clock.drain()
        if how == "is stopped":
            assert chat.beside == branch[-1]
            chat.stop()
            await stage.clock.drain()
        finished = end_of(heard)
        assert (finished.outcome, finished.pending) == (
            Outcome.FAILED if how == "fails" else Outcome.STOPPED,
            None,
        )
        assert (finished.failure is not None) is (how == "fails")
        assert (chat.pending, chat.beside, chat.partial) == (None, None, None)
        assert chat.history.branch == branch
        assert chat.siblings(branch[-1].id) == (branch[-1].id,)
        assert len(await stage.attempts(chat)) == 1
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("one"), fails() if how == "fails" else [TextDelta("tw"), HANG], delays=())


def test_a_regenerate_whose_wait_is_cancelled_leaves_nothing_pending(play: Play) -> None:
    """D20, D7: Esc in its countdown; what was queued meanwhile is the composer's."""

    async def scene(stage: BridgeStage) -> None:
        chat = await answered(stage)
        told = said(chat)
        chat.regenerate()
        await stage.clock.drain()
        assert chat.retry_manager.is_counting
        assert chat.send("b")
        await stage.clock.drain()
        chat.stop()
        await stage.clock.drain()
        assert chat.pending is None
        assert shown(chat) == ["hello", "one"]
        assert ("returned", "b") in told.seen
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("one"), fails())


def test_an_earlier_reply_can_be_regenerated(play: Play) -> None:
    """N1: the branch then goes on from the new one; the rest is a step away."""

    async def scene(stage: BridgeStage) -> None:
        chat = await answered(stage, "a")
        await stage.send(chat, "b")
        first = chat.history.branch[1].id
        chat.regenerate(first)
        await stage.clock.drain()
        assert shown(chat) == ["a", "three"]
        assert [message.text for message in stage.provider.requests[-1].messages] == ["a"]
        await stage.assert_memory_equals_disk(chat)
        chat.step_branch(chat.history.branch[-1].id, -1)
        await stage.clock.drain()
        assert shown(chat) == ["a", "one", "b", "two"]
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("one"), says("two"), says("three"))


def test_regenerate_is_blocked_with_a_reason(play: Play) -> None:
    """B13, D20: without a reply, and while a prompt waits for one."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        told = said(chat)
        assert chat.regenerate_blocked() == "There is no reply to regenerate."
        chat.regenerate()
        await stage.send(chat, "a")
        chat.regenerate("unknown")
        chat.regenerate(chat.history.branch[0].id)
        await stage.send(chat, "b")
        chat.stop()
        await stage.clock.drain()
        reason = "The last message has no reply yet: retry it, or take it back."
        assert chat.regenerate_blocked() == reason
        chat.regenerate(chat.history.branch[1].id)
        await stage.clock.drain()
        refused = [entry[1] for entry in told.seen if entry[0] == "refused"]
        assert refused == [*["There is no reply to regenerate."] * 3, reason]
        assert len(stage.provider.requests) == 2

    play(scene, says("one"), [HANG])


def test_resend_makes_a_sibling_of_the_prompt(play: Play) -> None:
    """B9, N2: the edited text is another branch; what is told as stored is a version of that prompt."""

    async def scene(stage: BridgeStage) -> None:
        chat = await answered(stage, "a")
        await stage.send(chat, "b")
        prompt = chat.history.branch[0].id
        told = said(chat)
        assert chat.resend(prompt, "A")
        await stage.clock.drain()
        assert shown(chat) == ["A", "three"]
        assert told.seen == [("version_stored", prompt)]
        newer = chat.history.branch[0].id
        assert chat.siblings(newer) == (prompt, newer)
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("one"), says("two"), says("three"))


def test_resend_of_a_pending_prompt_leaves_its_partial_on_the_branch_it_was_on(play: Play) -> None:
    """B9: Edit at the pending card; nothing is kept as a reply, nothing is lost."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat, "a")
        chat.stop()
        await stage.clock.drain()
        prompt = chat.history.branch[0].id
        assert chat.resend(prompt, "A")
        await stage.clock.drain()
        assert shown(chat) == ["A", "one"]
        chat.step_branch(chat.history.branch[0].id, -1)
        await stage.clock.drain()
        assert shown(chat) == ["a"]
        assert chat.pending is not None
        assert chat.can_keep
        assert chat.state == Finished(Outcome.COMPLETED, chat.pending)
        await stage.assert_memory_equals_disk(chat)

    play(scene, [TextDelta("half"), HANG], says("one"))


def test_resend_refuses_what_it_cannot_do_and_the_text_stays(play: Play) -> None:
    """B13: blank, a reply, an unknown message, a disk that refuses."""

    async def scene(stage: BridgeStage) -> None:
        chat = await answered(stage)
        told = said(chat)
        prompt, reply = (entry.id for entry in chat.history.branch)
        assert not chat.resend(prompt, "  ")
        assert not chat.resend(reply, "x")
        assert not chat.resend("unknown", "x")
        assert told.names() == ["version_refused", "refused", "refused"]
        stage.provider._replies.append(says("never"))
        refused.add("open_turn")
        assert chat.resend(prompt, "edited")
        await stage.clock.drain()
        name, version_of, failure = told.seen[-1]
        assert (name, version_of, failure.message) == ("version_refused", prompt, "The disk is full.")
        assert (chat.is_busy, chat.pending) == (False, None)
        assert shown(chat) == ["hello", "one"]
        await stage.assert_memory_equals_disk(chat)

    refused: set[str] = set()
    play(scene, says("one"), wrap=lambda log: FaultyLog(log, refuse=refused))


def test_stepping_moves_to_where_each_branch_stood_last_and_back(play: Play) -> None:
    """N1, B6: 1 of 2, 2 of 2, and no further; the leaf moves, nothing is deleted."""

    async def scene(stage: BridgeStage) -> None:
        chat = await answered(stage, "a")
        await stage.send(chat, "b")
        first = chat.history.branch[0].id
        chat.resend(first, "A")
        await stage.clock.drain()
        newer = chat.history.branch[0].id
        changed = Recorder(changed=chat.history_changed)
        chat.step_branch(newer, 1)
        chat.step_branch("unknown", 1)
        await stage.clock.drain()
        assert changed.seen == []
        chat.step_branch(newer, -1)
        await stage.clock.drain()
        assert shown(chat) == ["a", "one", "b", "two"]
        await stage.assert_memory_equals_disk(chat)
        chat.step_branch(first, -1)
        chat.step_branch(first, 1)
        await stage.clock.drain()
        assert shown(chat) == ["A", "three"]
        await stage.assert_memory_equals_disk(chat)
        again = await stage.reopened(chat.session_id)
        assert again.siblings(newer) == (first, newer)

    play(scene, says("one"), says("two"), says("three"))


def test_stepping_is_refused_while_something_runs(play: Play) -> None:
    """B13, F39: while a reply streams, and while a retry counts down."""

    async def scene(stage: BridgeStage) -> None:
        chat = await answered(stage)
        chat.regenerate()
        await stage.clock.drain()
        newer = chat.history.branch[-1].id
        told = said(chat)
        await stage.send(chat, "b")
        chat.step_branch(newer, -1)
        await stage.clock.advance(0)
        chat.stop()
        await stage.clock.drain()
        await stage.send(chat, "c")
        chat.step_branch(newer, -1)
        chat.stop()
        await stage.clock.drain()
        assert [entry[1] for entry in told.seen if entry[0] == "refused"] == [
            "A reply is still on its way in this chat.",
            "A retry is counting down in this chat: cancel it first.",
        ]
        assert shown(chat)[:2] == ["hello", "two"]

    play(scene, says("one"), says("two"), [HANG], fails())


def test_a_step_that_cannot_be_stored_is_said_and_the_branch_stays(play: Play) -> None:
    """S13."""

    async def scene(stage: BridgeStage) -> None:
        chat = await answered(stage)
        chat.regenerate()
        await stage.clock.drain()
        told = said(chat)
        chat.step_branch(chat.history.branch[-1].id, -1)
        await stage.clock.drain()
        assert told.seen == [("problem", "The disk is full.")]
        assert shown(chat) == ["hello", "two"]
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("one"), says("two"), wrap=lambda log: FaultyLog(log, refuse={"move_leaf"}))
