"""A message that waits is edited in the composer and stored in its place, and no text is lost on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from reprise.domain.sessions import Delivery, Queued
from support.engine import FaultyLog
from support.window import WindowStage, press, stop, texts, visible

pytestmark = pytest.mark.slow_callbacks
HANG = {"hang": True}
SLOW = ["one", {"wait": 5}, "."]
Act = Callable[..., None]


def composed(stage: WindowStage) -> str:
    """What is written in the composer."""
    return stage.window.page.composer.text()


def waiting(stage: WindowStage) -> list[str]:
    """What the lines about queued messages say."""
    said = [each.text() for each in visible(stage, "trayText")]
    return [line for line in said if not line.startswith("Editing")]


async def queued(stage: WindowStage, *messages: str, draft: str = "a draft") -> None:
    """A turn runs, these messages wait for it, and something else is being written."""
    await stage.send("go")
    for text in messages:
        await stage.send(text)
    stage.window.page.composer.set_text(draft)


async def edit(stage: WindowStage, text: str, at: int = 0) -> None:
    """Press the pencil of a message and write something else."""
    visible(stage, "editQueuedButton")[at].click()
    stage.window.page.composer.set_text(text)
    await stage.drain()


async def enter(stage: WindowStage, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Press Enter."""
    QTest.keyClick(stage.window.page.composer.editor, Qt.Key.Key_Return, modifier)
    await stage.drain()


def on_disk(stage: WindowStage, history: Any) -> list[tuple[str, Delivery]]:
    """The queue as it is stored."""
    found = [entry.data for entry in history.queue]
    return [(each.message.text, each.delivery) for each in found if isinstance(each, Queued)]


def test_a_queued_message_is_edited_in_its_place(act: Act) -> None:
    """I5: Enter stores it where it was, and the draft is there again; nothing is sent."""

    async def scene(stage: WindowStage) -> None:
        await queued(stage, "b", "c")
        visible(stage, "editQueuedButton")[0].click()
        assert composed(stage) == "b"
        assert "Editing a message that waits." in visible(stage, "trayText")[0].text()
        assert waiting(stage) == ["Next: b", "Next: c"]
        stage.window.page.composer.set_text("B")
        await enter(stage)
        assert waiting(stage) == ["Next: B", "Next: c"]
        assert composed(stage) == "a draft"
        assert not visible(stage, "cancelEditButton")
        history = await stage.stage.history(stage.conversation)
        assert on_disk(stage, history) == [("B", Delivery.STEER), ("c", Delivery.STEER)]

    act(scene, [HANG])


def test_enter_keeps_when_it_is_delivered_and_alt_enter_changes_it(act: Act) -> None:
    """I4: a steer follows up then, and a follow-up steers; the tray says which."""

    async def scene(stage: WindowStage) -> None:
        await queued(stage, "b", "c")
        await edit(stage, "B")
        assert visible(stage, "trayText")[0].text().endswith("sends it after this reply.")
        await enter(stage, Qt.KeyboardModifier.AltModifier)
        assert waiting(stage) == ["Next: c", "After this reply: B"]
        await edit(stage, "BB", at=1)
        assert visible(stage, "trayText")[0].text().endswith("sends it next.")
        await enter(stage)
        assert waiting(stage) == ["Next: c", "After this reply: BB"]
        await edit(stage, "BBB", at=1)
        await enter(stage, Qt.KeyboardModifier.AltModifier)
        assert waiting(stage) == ["Next: BBB", "Next: c"]

    act(scene, [HANG])


@pytest.mark.parametrize("way", ["Esc", "the cross"])
def test_an_edit_that_is_given_up_leaves_the_message_and_the_turn_alone(act: Act, way: str) -> None:
    """D7, I5: the edit is innermost; the next Esc stops the turn."""

    async def scene(stage: WindowStage) -> None:
        await queued(stage, "b")
        await edit(stage, "B")
        hint = stage.window.page.composer.hint
        assert hint.text() == "Esc gives up the edit"
        await (stop(stage) if way == "Esc" else press(stage, "cancelEditButton"))
        assert stage.conversation.is_busy
        assert hint.text() == "Esc stops"
        assert (composed(stage), waiting(stage)) == ("a draft", ["Next: b"])
        assert [draft.text for draft in (await stage.stage.store.drafts.load()).values()] == ["a draft"]
        await stop(stage)
        assert not stage.conversation.is_busy
        assert composed(stage) == "b\n\na draft"

    act(scene, [HANG])


def test_a_message_that_is_delivered_meanwhile_leaves_its_edit_as_a_draft(act: Act) -> None:
    """I5: it went out as it was; what was typed stays, ahead of the draft, and a sentence says so."""

    async def scene(stage: WindowStage) -> None:
        await queued(stage, "b")
        await edit(stage, "B")
        await stage.clock.advance(5)
        assert await texts(stage) == ["go", "one.", "b"]
        assert composed(stage) == "B\n\na draft"
        assert visible(stage, "composerNote")[0].text() == "That message was delivered as it was. Your text stays here."
        assert not visible(stage, "trayText")
        draft = (await stage.stage.store.drafts.load())[stage.conversation.session_id]
        assert draft.text == "B\n\na draft"

    act(scene, SLOW, [HANG])


def test_stop_gives_the_message_and_its_edit_back(act: Act) -> None:
    """D11, F112: neither is lost; an edit that changed nothing is not there twice."""

    async def scene(stage: WindowStage) -> None:
        for text, back in (("B", "b\n\nB\n\na draft"), ("b", "b\n\na draft")):
            await queued(stage, "b")
            await edit(stage, text)
            stage.conversation.stop()
            await stage.drain()
            assert composed(stage) == back
            assert not visible(stage, "trayText")

    act(scene, [HANG], [HANG])


def test_a_message_that_is_taken_out_while_it_is_edited_leaves_the_edit_as_a_draft(act: Act) -> None:
    """I5: the cross on its line; what was typed is not what was not to be sent."""

    async def scene(stage: WindowStage) -> None:
        await queued(stage, "b")
        await edit(stage, "B")
        await press(stage, "removeQueuedButton")
        assert composed(stage) == "B\n\na draft"
        assert "Your text stays here." in visible(stage, "composerNote")[0].text()

    act(scene, [HANG])


def test_an_edit_is_there_again_after_another_chat_was_shown(act: Act) -> None:
    """UX 4: per session; it is stored in the chat it is of."""

    async def scene(stage: WindowStage) -> None:
        await queued(stage, "b")
        first = stage.conversation.session_id
        await edit(stage, "B")
        stage.library.new_chat()
        assert (composed(stage), visible(stage, "trayText")) == ("", [])
        stage.library.open(first)
        await stage.drain()
        assert composed(stage) == "B"
        assert "Editing a message that waits." in visible(stage, "trayText")[0].text()
        await enter(stage)
        assert (composed(stage), waiting(stage)) == ("a draft", ["Next: B"])

    act(scene, [HANG])


def test_an_edit_whose_message_is_delivered_out_of_sight_is_a_draft_when_its_chat_is_shown(act: Act) -> None:
    """UX 4, I5: the sentence is said where it belongs, once it can be read."""

    async def scene(stage: WindowStage) -> None:
        await queued(stage, "b")
        first = stage.conversation.session_id
        await edit(stage, "B")
        stage.library.new_chat()
        await stage.clock.advance(5)
        assert (composed(stage), stage.find("composerNote").text()) == ("", "")
        stage.library.open(first)
        await stage.drain()
        assert composed(stage) == "B\n\na draft"
        assert "Your text stays here." in visible(stage, "composerNote")[0].text()

    act(scene, SLOW, [HANG])


def test_an_edit_of_another_message_waits_for_this_one(act: Act) -> None:
    """B9: never overwrite text being typed."""

    async def scene(stage: WindowStage) -> None:
        await queued(stage, "b", "c")
        await edit(stage, "B")
        visible(stage, "editQueuedButton")[1].click()
        assert composed(stage) == "B"
        assert "its text stays here" in visible(stage, "composerNote")[0].text()

    act(scene, [HANG])


def test_an_edit_that_the_disk_refuses_stays(act: Act) -> None:
    """I6: it can be sent again, and the message is what it was."""

    async def scene(stage: WindowStage) -> None:
        await queued(stage, "b")
        await edit(stage, "B")
        await enter(stage)
        assert (composed(stage), waiting(stage)) == ("B", ["Next: b"])
        refused.clear()
        await enter(stage)
        assert (composed(stage), waiting(stage)) == ("a draft", ["Next: B"])

    refused = {"requeue"}
    act(scene, [HANG], wrap=lambda log: FaultyLog(log, refuse=refused))


def test_what_is_typed_on_while_an_edit_is_stored_is_edited_still(act: Act) -> None:
    """I5: what was sent is in the queue, and what was not is in the composer."""

    async def scene(stage: WindowStage) -> None:
        await queued(stage, "b")
        await edit(stage, "B")
        QTest.keyClick(stage.window.page.composer.editor, Qt.Key.Key_Return)
        QTest.keyClicks(stage.window.page.composer.editor, "!")
        await stage.drain()
        assert (composed(stage), waiting(stage)) == ("B!", ["Next: B"])
        await enter(stage)
        assert (composed(stage), waiting(stage)) == ("a draft", ["Next: B!"])

    act(scene, [HANG])


def test_an_edit_that_is_sent_twice_ends_with_the_second(act: Act) -> None:
    """I6: until that one is stored it is the composer's, for the disk may refuse it yet."""

    async def scene(stage: WindowStage) -> None:
        composer, seen = stage.window.page.composer, []
        await queued(stage, "b")
        await edit(stage, "B")
        stage.conversation.queue.edited.connect(lambda _, text: seen.append((text, composer.is_editing)))
        QTest.keyClick(composer.editor, Qt.Key.Key_Return)
        QTest.keyClicks(composer.editor, "!")
        await enter(stage)
        assert seen == [("B", True), ("B!", False)]
        assert (composed(stage), waiting(stage)) == ("a draft", ["Next: B!"])

    act(scene, [HANG])


def test_a_crash_during_an_edit_loses_neither_the_message_nor_the_edit(act: Act) -> None:
    """F112, L1: at every moment the disk has both, and the draft."""

    async def scene(stage: WindowStage) -> None:
        await queued(stage, "b")
        await edit(stage, "B")
        stage.window.page.composer.flush_draft()
        await stage.drain()
        history = await stage.stage.history(stage.conversation)
        assert on_disk(stage, history) == [("b", Delivery.STEER)]
        drafts = await stage.stage.store.drafts.load()
        assert {draft.text for draft in drafts.values()} == {"B", "a draft"}

    act(scene, [HANG])


def test_a_draft_that_says_what_an_edit_says_is_a_draft_still(act: Act) -> None:
    """B9, UX 4: the edit goes with what was stored; the draft beside it stays, in the composer and on disk."""

    async def scene(stage: WindowStage) -> None:
        composer = stage.window.page.composer
        await stage.send("go")
        composer.set_text("go on")
        stage.window.deeds._view.edit_last()
        composer.set_text("go on")
        await enter(stage)
        assert await texts(stage) == ["go on", "fine"]
        assert composed(stage) == "go on"
        assert not composer.is_editing
        assert (await stage.stage.store.drafts.load())[stage.conversation.session_id].text == "go on"

    act(scene, ["fine"], ["fine"])


def test_an_edit_that_was_refused_is_not_taken_for_a_text_sent_later(act: Act) -> None:
    """B9: the same words out of the draft are another text; the edit stays as it is, and the draft is not filled."""

    async def scene(stage: WindowStage) -> None:
        composer, session = stage.window.page.composer, stage.conversation.session_id
        await stage.send("go")
        refused.add("open_turn")
        stage.window.deeds._view.edit_last()
        composer.set_text("go on")
        await enter(stage)
        assert (composed(stage), composer.is_editing) == ("go on", True)
        assert visible(stage, "composerNote")[0].text() == "The disk is full."
        refused.clear()
        assert stage.conversation.send("go on")
        await stage.drain()
        assert await texts(stage) == ["go", "fine", "go on", "fine"]
        assert (composed(stage), composer.is_editing) == ("go on", True)
        await press(stage, "cancelEditButton")
        assert composed(stage) == ""
        assert session not in await stage.stage.store.drafts.load()

    refused: set[str] = set()
    act(scene, ["fine"], ["fine"], wrap=lambda log: FaultyLog(log, refuse=refused))
