"""One registry feeds menus, palette and cheat sheet, also with keys that the composer answers itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget

from reprise.ui.commands import Command, Menu
from reprise.ui.language import shortcut_text
from support.window import WindowStage

pytestmark = pytest.mark.slow_callbacks
HANG = {"hang": True}
SHOWN = [("send", "Send", "Return"), ("newLine", "New Line", "Shift+Return")]


def find_in_palette(stage: WindowStage, words: str) -> QWidget:
    """The palette's field with `words` in it, ready for Enter."""
    stage.window.commands.action("palette").trigger()
    field: QWidget = stage.find("paletteField")
    QTest.keyClicks(field, words)
    return field


@pytest.mark.parametrize(("id_", "name", "keys"), SHOWN)
def test_menu_palette_and_cheat_sheet_show_keys_of_the_composer(
    act: Callable[..., None], id_: str, name: str, keys: str
) -> None:
    """ux section 3: Chat has Send (Enter) and New line (Shift+Enter), and no action takes those keys."""

    async def scene(stage: WindowStage) -> None:
        stage.window.page.composer.set_text("hello")
        stage.window.deeds.open_menu()
        chat = stage.find("chatMenu", QMenu)
        entry = next(action for action in chat.actions() if action is stage.window.commands.action(id_))
        assert entry.text().replace("&", "") == f"{name}\t{shortcut_text(keys)}"
        assert entry.shortcuts() == []
        stage.find("mainMenu").hide()
        field = find_in_palette(stage, name)
        row = stage.find("palette")._rows[0]
        assert (row.text, row.shortcut) == (name, keys)
        QTest.keyClick(field, Qt.Key.Key_Escape)
        stage.window.commands.action("shortcuts").trigger()
        sheet = stage.find("shortcutsSheet")
        said = [child.accessibleName() or child.text() for child in sheet.findChildren(QWidget) if named(child)]
        assert said[said.index(name) + 1] == shortcut_text(keys)

    act(scene)


def named(widget: QWidget) -> bool:
    """Whether it is a text or key caps of the cheat sheet."""
    return type(widget).__name__ in ("Text", "KeyCaps")


def test_send_sends_what_is_written(act: Callable[..., None]) -> None:
    """ux section 3."""

    async def scene(stage: WindowStage) -> None:
        stage.window.page.composer.set_text("hello")
        QTest.keyClick(find_in_palette(stage, "send"), Qt.Key.Key_Return)
        await stage.drain()
        assert [message.text for message in await stage.stage.stored(stage.conversation)] == ["hello", "fine"]
        assert stage.window.page.composer.text() == ""

    act(scene, ["fine"])


def test_new_line_goes_where_the_cursor_is(act: Callable[..., None]) -> None:
    """ux section 3."""

    async def scene(stage: WindowStage) -> None:
        composer = stage.window.page.composer
        QTest.keyClicks(composer.editor, "one")
        QTest.keyClick(find_in_palette(stage, "new line"), Qt.Key.Key_Return)
        QTest.keyClicks(composer.editor, "two")
        assert composer.text() == "one\ntwo"
        assert composer.editor.hasFocus()
        assert not stage.conversation.is_busy

    act(scene)


@pytest.mark.parametrize(
    ("attempts", "text", "why"),
    [
        ([], "", "Nothing is written yet."),
        ([["words", HANG]], "", "Nothing is written yet."),
    ],
    ids=["blank", "blank while streaming"],
)
def test_send_is_off_with_the_reason_while_enter_would_keep_the_text(
    act: Callable[..., None], attempts: list[list[object]], text: str, why: str
) -> None:
    """ux section 3: an action that cannot work now says why, in the words Enter has."""

    async def scene(stage: WindowStage) -> None:
        if attempts:
            await stage.send("go")
        stage.window.page.composer.set_text(text)
        stage.window.commands.refresh()
        send = stage.window.commands.action("send")
        assert not send.isEnabled()
        assert why in send.toolTip()
        QTest.keyClick(stage.window.page.composer.editor, Qt.Key.Key_Return)
        assert stage.find("composerNote").text() == (send.statusTip() if text else "")
        stage.conversation.stop()
        await stage.drain()

    act(scene, *attempts)


def test_shown_keys_are_taken(act: Callable[..., None]) -> None:
    """A shortcut on Return would break the composer without a sign."""

    async def scene(stage: WindowStage) -> None:
        for keys in ({"shortcuts": ("Return",)}, {"shown_keys": "Ctrl+N"}):
            with pytest.raises(ValueError, match="taken"):
                stage.window.commands.add(Command("other", Menu.FILE, lambda: "Other", lambda: None, **keys))

    act(scene)
