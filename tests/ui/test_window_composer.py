"""The composer never eats text, and Enter and Esc mean what they should."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from reprise.domain.ports import Draft
from reprise.domain.turns import Finished
from reprise.ui.composer import Composer
from reprise.ui.style import Appearance
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.window_state import WindowState
from support.window import WindowStage

pytestmark = pytest.mark.slow_callbacks
HANG = {"hang": True}
LIMITED = {"fail": {"kind": "rate_limit", "status": 429, "message": "slow down"}}


def test_enter_sends_and_the_text_goes_only_once_it_is_stored(act: Callable[..., None]) -> None:
    """I1, L1: Enter sends; the composer clears on prompt_stored."""

    async def scene(stage: WindowStage) -> None:
        editor = stage.window.page.composer.editor
        QTest.keyClicks(editor, "hello")
        QTest.keyClick(editor, Qt.Key.Key_Return)
        assert editor.toPlainText() == "hello"
        await stage.drain()
        assert editor.toPlainText() == ""
        assert [message.text for message in await stage.stage.stored(stage.conversation)] == ["hello", "fine"]

    act(scene, ["fine"])


def test_shift_enter_is_a_new_line(act: Callable[..., None]) -> None:
    """I1."""

    async def scene(stage: WindowStage) -> None:
        editor = stage.window.page.composer.editor
        QTest.keyClicks(editor, "one")
        QTest.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        QTest.keyClicks(editor, "two")
        assert editor.toPlainText() == "one\ntwo"
        assert not stage.conversation.is_busy

    act(scene)


def test_blank_text_is_not_sent(act: Callable[..., None]) -> None:
    """I1: blank input is ignored, and Send is disabled."""

    async def scene(stage: WindowStage) -> None:
        composer = stage.window.page.composer
        QTest.keyClicks(composer.editor, "   ")
        QTest.keyClick(composer.editor, Qt.Key.Key_Return)
        assert not composer.button.isEnabled()
        assert not stage.conversation.is_busy

    act(scene)


def test_neither_enter_sends_nor_esc_stops_while_an_input_method_composes(act: Callable[..., None]) -> None:
    """D7: the composition comes first."""

    async def scene(stage: WindowStage) -> None:
        editor = stage.window.page.composer.editor
        await stage.send("go")
        assert stage.conversation.is_busy
        QApplication.sendEvent(editor, QInputMethodEvent("にほ", []))
        QTest.keyClick(editor, Qt.Key.Key_Escape)
        stage.window.deeds.escape()
        await stage.drain()
        assert stage.conversation.is_busy
        commit = QInputMethodEvent("", [])
        commit.setCommitString("日本")
        QApplication.sendEvent(editor, commit)
        assert editor.toPlainText() == "日本"
        QTest.keyClick(editor, Qt.Key.Key_Escape)
        await stage.drain()
        assert isinstance(stage.conversation.state, Finished)

    act(scene, ["partial", HANG])


def test_enter_does_not_send_a_composition(act: Callable[..., None]) -> None:
    """I1, D7."""

    async def scene(stage: WindowStage) -> None:
        editor = stage.window.page.composer.editor
        QTest.keyClicks(editor, "text")
        QApplication.sendEvent(editor, QInputMethodEvent("ni", []))
        QTest.keyClick(editor, Qt.Key.Key_Return)
        await stage.drain()
        assert not stage.conversation.is_busy
        assert not stage.conversation.is_stored

    act(scene)


def test_an_edit_stays_while_a_reply_streams_and_says_why(act: Callable[..., None]) -> None:
    """B13: another version of a prompt is not sent while a turn runs; its text stays."""

    async def scene(stage: WindowStage) -> None:
        composer = stage.window.page.composer
        await stage.send("go")
        stage.window.deeds._view.edit_last()
        composer.set_text("go on")
        stage.conversation.regenerate()
        await stage.drain()
        QTest.keyClick(composer.editor, Qt.Key.Key_Return)
        await stage.drain()
        assert composer.text() == "go on"
        assert "stays here" in stage.find("composerNote").text()

    act(scene, ["fine"], ["partial", HANG])


def test_what_was_typed_after_send_is_not_eaten(act: Callable[..., None]) -> None:
    """ux section 4: it clears only if the text is unchanged."""

    async def scene(stage: WindowStage) -> None:
        composer = stage.window.page.composer
        composer.set_text("hello")
        composer.button.click()
        QTest.keyClicks(composer.editor, " more")
        await stage.drain()
        assert composer.text() == "hello more"

    act(scene, ["fine"])


def test_undo_brings_a_sent_text_back(act: Callable[..., None]) -> None:
    """ux section 4: undo history survives sending."""

    async def scene(stage: WindowStage) -> None:
        composer = stage.window.page.composer
        QTest.keyClicks(composer.editor, "hello")
        QTest.keyClick(composer.editor, Qt.Key.Key_Return)
        await stage.drain()
        assert composer.text() == ""
        stage.window.commands.action("undo").trigger()
        assert composer.text() == "hello"

    act(scene, ["fine"])


def test_a_refused_text_stays(act: Callable[..., None]) -> None:
    """send_refused keeps the text and says why."""

    async def scene(stage: WindowStage) -> None:
        stage.catalog.chosen = None
        await stage.send("hello")
        assert stage.window.page.composer.text() == "hello"
        assert stage.find("composerNote").text() == "No model is chosen. This processor has no AVX."

    act(scene)


def test_a_refused_text_that_nobody_typed_is_in_the_composer(act: Callable[..., None]) -> None:
    """A prompt from the command line that nobody can answer is there to be sent again, and kept as a draft."""

    async def scene(stage: WindowStage) -> None:
        stage.catalog.chosen = None
        composer = stage.window.page.composer
        typed_in = stage.conversation.session_id
        composer.set_text("half an idea")
        begun = stage.library.begin("hello")
        await stage.drain()
        assert composer.text() == "hello"
        assert stage.find("composerNote").text() == "No model is chosen. This processor has no AVX."
        assert (await stage.stage.store.drafts.load())[begun.session_id].text == "hello"
        stage.library.new_chat()
        assert stage.conversation.session_id == typed_in
        assert composer.text() == "half an idea"
        assert not begun.send("other words")
        stage.library.new_chat()
        assert composer.text() == "hello"

    act(scene)


def test_a_text_refused_out_of_sight_waits_in_its_own_chat(act: Callable[..., None]) -> None:
    """Neither the text nor the sentence is put into the chat that is shown instead."""

    async def scene(stage: WindowStage) -> None:
        stage.catalog.chosen = None
        composer = stage.window.page.composer
        begun = stage.library.add_chat()
        stage.library.new_chat()
        shown = stage.conversation
        assert shown is not begun
        assert not begun.send("hello")
        assert composer.text() == ""
        assert stage.find("composerNote").text() == ""
        stage.library.new_chat()
        assert stage.conversation is begun
        assert composer.text() == "hello"

    act(scene)


def test_what_is_typed_before_there_is_a_session_goes_behind_its_draft(qapp: object, resources: Path) -> None:
    """Rule 7: the composer is there at the first paint, the sessions come later; nothing is overwritten."""
    composer = Composer(Appearance(resources, load_theme(resources, Scheme.LIGHT), WindowState(None)))
    saved: list[tuple[str, object]] = []
    composer.draft_changed.connect(lambda session, draft: saved.append((session, draft)))
    QTest.keyClicks(composer.editor, "early words")
    composer.show_session("new", Draft("an old draft", 3))
    assert composer.text() == "an old draft\n\nearly words"
    composer.flush_draft()
    assert saved == [("new", Draft("an old draft\n\nearly words", 25))]
    composer.show_session("other", None)
    assert composer.text() == ""


def test_the_button_is_stop_while_streaming_and_send_during_a_countdown(act: Callable[..., None]) -> None:
    """ux section 3."""

    async def scene(stage: WindowStage) -> None:
        composer = stage.window.page.composer
        await stage.send("go")
        assert stage.conversation.retry_manager.is_counting
        assert not composer.stops
        assert composer.button.accessibleName() == "Send"
        await stage.clock.advance(5)
        assert composer.stops
        assert composer.button.accessibleName() == "Stop"
        assert not composer.hint.isHidden()
        composer.button.click()
        await stage.drain()
        assert not stage.conversation.is_busy

    act(scene, [LIMITED], ["partial", HANG])


def test_a_draft_is_kept_per_session_and_across_lives(act: Callable[..., None]) -> None:
    """ux section 4: text and cursor, per session."""

    async def scene(stage: WindowStage) -> None:
        composer = stage.window.page.composer
        await stage.send("first")
        first = stage.conversation.session_id
        QTest.keyClicks(composer.editor, "unsent")
        QTest.keyClick(composer.editor, Qt.Key.Key_Left)
        stage.library.new_chat()
        await stage.drain()
        assert composer.text() == ""
        drafts = await stage.stage.store.drafts.load()
        assert (drafts[first].text, drafts[first].cursor) == ("unsent", 5)
        stage.library.open(first)
        await stage.drain()
        assert composer.text() == "unsent"
        assert composer.editor.textCursor().position() == 5

    act(scene, ["fine"])


def test_the_composer_grows_by_a_line_to_four_tenths_of_the_window(act: Callable[..., None]) -> None:
    """ux section 1, tokens section 4."""

    async def scene(stage: WindowStage) -> None:
        composer = stage.window.page.composer
        assert composer.height() == 48
        composer.set_text("1\n2")
        two = composer.height()
        composer.set_text("1\n2\n3")
        assert composer.height() == two + 22
        composer.set_text("\n" * 60)
        assert composer.height() <= 0.4 * stage.window.height()

    act(scene)
