"""The frame: commands, Esc ladder, sidebar, palette, settings, notices."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QWidget

from reprise.bridge.session_row import Mark
from reprise.ui.boot_banner import Notice
from reprise.ui.commands import Command, Menu
from support.engine import FakeTools, pong
from support.window import ABSENT, LARGE, SMALL, WindowStage

pytestmark = pytest.mark.slow_callbacks
HANG = {"hang": True}


def test_no_two_commands_share_a_shortcut(act: Callable[..., None]) -> None:
    """ux section 3: one registry; taking a shortcut twice is refused."""

    async def scene(stage: WindowStage) -> None:
        keys = [key for command in stage.window.commands for key in command.shortcuts]
        assert len(keys) == len(set(keys))
        with pytest.raises(ValueError, match="taken"):
            stage.window.commands.add(Command("other", Menu.FILE, lambda: "Other", lambda: None, ("Ctrl+N",)))

    act(scene)


def test_a_disabled_command_says_why(act: Callable[..., None]) -> None:
    """ux section 3."""

    async def scene(stage: WindowStage) -> None:
        for command in stage.window.commands:
            action = stage.window.commands.action(command.id)
            assert action.objectName() == command.object_name
            if not action.isEnabled():
                assert "\n" in action.toolTip()
        assert stage.window.commands.action("retry").objectName() == "actionRetry"

    act(scene)


def test_the_last_reply_that_says_something_is_copied(act: Callable[..., None]) -> None:
    """Edit > Copy Last Reply: calls alone are no text, and while nothing was said it is off."""

    async def scene(stage: WindowStage) -> None:
        copy = stage.window.commands.action("copyLastReply")
        assert not copy.isEnabled()
        await stage.send("hello")
        await stage.send("go on")
        assert stage.find("approvalCard").isVisible()  # behind a reply that is a call and nothing else
        assert copy.isEnabled()
        copy.trigger()
        assert QGuiApplication.clipboard().text() == "a *word*"
        stage.conversation.stop()
        await stage.drain()

    act(scene, ["a *word*"], [{"tool_call": {"name": "look", "arguments": {}}}], tools=FakeTools(look=pong))


def test_the_last_reply_is_copied_whatever_failed_or_was_stopped_behind_it(act: Callable[..., None]) -> None:
    """F46: what an attempt left is no reply."""

    async def scene(stage: WindowStage) -> None:
        copy = stage.window.commands.action("copyLastReply")
        await stage.send("hello")
        for text in ("refused", "stopped"):
            await stage.send(text)
            stage.conversation.stop()
            await stage.drain()
            assert stage.conversation.pending is not None
            copy.trigger()
            assert QGuiApplication.clipboard().text() == "the answer"
            QGuiApplication.clipboard().clear()

    refused = {"fail": {"kind": "bad_request", "status": 400, "message": "no"}}
    act(scene, ["the answer"], ["a broken", refused], ["a half", HANG])


def test_the_menus_open_from_the_keyboard(act: Callable[..., None]) -> None:
    """ux section 3: a pleasure from the keyboard alone."""

    async def scene(stage: WindowStage) -> None:
        QTest.keyClick(stage.window, Qt.Key.Key_F10)
        menu = stage.window.findChild(QWidget, "mainMenu")
        assert menu is not None
        assert menu.isVisible()
        QTest.keyClick(menu, Qt.Key.Key_Escape)
        assert not menu.isVisible()

    act(scene)


def test_esc_closes_the_sheet_before_it_stops_the_turn(act: Callable[..., None]) -> None:
    """D7: innermost first, one rung a press."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        stage.window.commands.action("palette").trigger()
        QTest.keyClick(stage.find("paletteField"), Qt.Key.Key_Escape)
        await stage.drain()
        assert not stage.find("palette").is_open
        assert stage.conversation.is_busy
        QTest.keyClick(stage.window.page.composer.editor, Qt.Key.Key_Escape)
        await stage.drain()
        assert not stage.conversation.is_busy

    act(scene, ["words", HANG])


def test_the_sidebar_groups_by_day_and_shows_one_state(act: Callable[..., None]) -> None:
    """ux section 1."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("first")
        await stage.clock.jump(86_400)
        stage.library.new_chat()
        await stage.send("second")
        sessions = stage.window.sidebar.list.sessions
        texts = [sessions.data(sessions.index(row)) for row in range(sessions.rowCount())]
        assert texts == ["Today", "second", "Yesterday", "first"]
        assert len(sessions.places(Mark.STREAMING)) == 1
        assert stage.window.sidebar.list.breathes == stage.window.look.moves
        stage.window.hide()
        assert not stage.window.sidebar.list.breathes
        stage.window.show()
        stage.window.deeds.escape()
        await stage.drain()
        assert not stage.window.sidebar.list.breathes
        assert len(sessions.places(Mark.PENDING)) == 1

    act(scene, ["fine"], ["words", HANG])


def test_pressing_a_row_opens_its_session(act: Callable[..., None]) -> None:
    """ux section 1."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("first")
        first = stage.conversation.session_id
        stage.window.commands.action("newChat").trigger()
        assert stage.conversation.session_id != first
        rows = stage.window.sidebar.list
        where = rows.visualRect(rows.sessions.index_of(first)).center()
        QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=where)
        await stage.drain()
        assert stage.conversation.session_id == first
        assert stage.window.header.title.text() == "first"

    act(scene, ["fine"])


def test_the_palette_runs_what_a_few_letters_find(act: Callable[..., None]) -> None:
    """ux section 3, picture 09."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("Trip to Lyon in October")
        session = stage.conversation.session_id
        stage.library.new_chat()
        stage.window.commands.action("palette").trigger()
        field = stage.find("paletteField")
        QTest.keyClicks(field, "lyon")
        QTest.keyClick(field, Qt.Key.Key_Return)
        await stage.drain()
        assert stage.conversation.session_id == session
        stage.window.commands.action("palette").trigger()
        QTest.keyClicks(field, "zoom in")
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert stage.window.look.theme.zoom == 1.1

    act(scene, ["fine"])


def test_settings_apply_at_once_and_say_what_is_refused(act: Callable[..., None]) -> None:
    """D2, D17, picture 08."""

    async def scene(stage: WindowStage) -> None:
        stage.window.commands.action("settings").trigger()
        sheet = stage.find("settingsDialog")
        assert sheet.is_open
        assert sheet.retry_page.chart.summary() == "10 retries over 6 min 20 s"
        sheet.retry_page.policy._choose("exponential")
        await stage.drain()
        assert stage.preferences.value("retry.policy") == "exponential"
        assert sheet.retry_page.chart.summary() == "5 retries over 31 s"
        sheet.retry_page.restore()
        await stage.drain()
        assert stage.preferences.value("retry.policy") == "steady"
        keys: list[str] = []
        stage.window.key_entered.connect(keys.append)
        sheet.model_page.key.setText("$MY_KEY")
        sheet.model_page.key.editingFinished.emit()
        sheet.model_page.address.setText("http://127.0.0.1:9")
        sheet.model_page.address.editingFinished.emit()
        await stage.drain()
        assert stage.preferences.value("provider.key") == "$MY_KEY"
        assert stage.preferences.value("chat.provider") == "own"
        sheet.model_page.key.setText("sk-secret")
        sheet.model_page.key.editingFinished.emit()
        assert keys == ["sk-secret"]
        assert stage.preferences.value("provider.key") == "$MY_KEY"
        sheet.model_page.key.setText("$not a name")
        sheet.model_page.key.editingFinished.emit()
        await stage.drain()
        assert "environment variable" in sheet.model_page._key_row.problem
        QTest.keyClick(sheet.first_focus(), Qt.Key.Key_Escape)
        assert not sheet.is_open

    act(scene)


def test_the_picker_offers_models_and_says_why_one_cannot_be_chosen(act: Callable[..., None]) -> None:
    """P10, issue point 3: the entry is shown disabled with the reason."""

    async def scene(stage: WindowStage) -> None:
        header = stage.window.header
        assert header.picker.text() == "Mistral Small 3.2"
        header.open_picker()
        actions = {action.text().split("\t")[0]: action for action in header._menu.actions()}
        absent = next(info for info in stage.catalog.models() if info.ref == ABSENT)
        assert not actions[absent.label].isEnabled()
        assert actions[absent.label].toolTip() == absent.unavailable
        actions["Qwen3 32B"].trigger()
        header._menu.close()
        await stage.drain()
        assert stage.conversation.model == LARGE
        assert header.picker.text() == "Qwen3 32B"
        assert stage.catalog.default() == SMALL

    act(scene)


def test_a_renamed_chat_has_its_title_everywhere(act: Callable[..., None]) -> None:
    """The rename key edits the title in its place."""

    async def scene(stage: WindowStage) -> None:
        assert not stage.window.commands.action("rename").isEnabled()
        await stage.send("first")
        stage.window.commands.action("rename").trigger()
        field = stage.find("titleEditor")
        QTest.keyClicks(field, "Better")
        QTest.keyClick(field, Qt.Key.Key_Return)
        await stage.drain()
        assert stage.window.header.title.text() == "Better"
        assert stage.window.windowTitle() == "Better - Reprise"

    act(scene, ["fine"])


def test_a_starter_fills_the_composer_and_goes_out(act: Callable[..., None]) -> None:
    """ux section 1: three starters that it does well."""

    async def scene(stage: WindowStage) -> None:
        assert stage.window.page.first_run.isVisible()
        stage.find("starter3").click()
        assert stage.window.page.composer.text().startswith("Summarise")
        assert not stage.conversation.is_busy
        stage.find("starter1").click()
        await stage.drain()
        assert len(await stage.stage.stored(stage.conversation)) == 2
        assert not stage.window.page.first_run.isVisible()

    act(scene, ["fine"])


def test_the_built_in_model_tells_how_far_it_is(act: Callable[..., None]) -> None:
    """Issue point 3: bytes on disk of a known size."""

    async def scene(stage: WindowStage) -> None:
        stage.window.set_builtin_state("fetching", 62_000_000, 92_000_000)
        assert stage.find("builtinSize").text() == "62 of 92 MB"
        stage.window.set_builtin_state("unavailable", 0, 0, "This processor has no AVX.")
        assert stage.find("builtinSentence").text() == "This processor has no AVX."

    act(scene)


def test_notices_are_shown_one_after_another(act: Callable[..., None]) -> None:
    """Issue, bad input: each a sentence in the window."""

    async def scene(stage: WindowStage) -> None:
        done: list[str] = []
        stage.window.add_notice(Notice("The data folder is a file.", (("Open", lambda: done.append("x")),)))
        stage.window.add_notice(Notice("The address is malformed."))
        assert stage.find("bootBanner").isVisible()
        assert stage.find("bootBannerText").text() == "The data folder is a file."
        assert stage.window.page.y() > stage.window.header.height()
        next(b for b in stage.find("bootBanner").findChildren(QAbstractButton) if b.text() == "Open").click()
        stage.find("dismissBootBanner").click()
        assert stage.find("bootBannerText").text() == "The address is malformed."
        stage.find("dismissBootBanner").click()
        assert not stage.find("bootBanner").isVisible()
        assert done == ["x"]

    act(scene)


def test_alt_f_opens_the_menus_from_the_composer(act: Callable[..., None]) -> None:
    """The letter is not typed."""

    async def scene(stage: WindowStage) -> None:
        editor = stage.window.page.composer.editor
        QTest.keyClick(editor, Qt.Key.Key_F, Qt.KeyboardModifier.AltModifier)
        menu = stage.window.findChild(QWidget, "mainMenu")
        assert menu is not None
        assert menu.isVisible()
        assert editor.toPlainText() == ""
        menu.hide()

    act(scene)


def test_the_round_limit_is_asked_in_the_timeline_and_esc_is_stop(act: Callable[..., None]) -> None:
    """D7, D15."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        card = stage.find("approvalCard")
        assert card.isVisible()
        assert stage.window.page.composer.stops
        QTest.keyClick(stage.window.page.composer.editor, Qt.Key.Key_Escape)
        await stage.drain()
        assert stage.conversation.question_rounds is None
        assert not stage.conversation.is_busy

    act(scene, [{"tool_call": {"name": "look", "arguments": {}}}], ["done"], tools=FakeTools(look=pong))
