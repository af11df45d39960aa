"""The menus over a message."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from reprise.ui.timeline import Timeline
from reprise.ui.timeline.code import CodeBlock
from reprise.ui.timeline.item import MessageAction
from support import timeline as make

REPLY = "See [the docs](https://docs.example/a) for **more**.\n\n```\nx = 1\n```"
WHOLE = ["Select message", "Select all", "Copy message", "Answer again"]


@pytest.fixture
def view(qtbot: QtBot) -> Timeline:
    timeline = make.make()
    qtbot.addWidget(timeline)
    again = MessageAction("regenerate", "regenerate", "Answer again")
    timeline.set_items([make.prompt("p", "Why is that?"), replace(make.reply("r", REPLY), actions=(again,))])
    QGuiApplication.clipboard().clear()
    return timeline


def _open(view: Timeline, at: QPoint, reason: QContextMenuEvent.Reason = QContextMenuEvent.Reason.Mouse) -> QMenu:
    event = QContextMenuEvent(reason, at, view.viewport().mapToGlobal(at))
    QApplication.sendEvent(view.viewport(), event)
    assert view.context_menu.menu is not None
    return view.context_menu.menu


def _names(menu: QMenu, *, enabled: bool = True) -> list[str]:
    return [
        action.text().split("\t")[0]
        for action in menu.actions()
        if not action.isSeparator() and action.isEnabled() is enabled
    ]


def _run(menu: QMenu, name: str) -> None:
    next(action for action in menu.actions() if action.text().split("\t")[0] == name).trigger()
    menu.close()


def _over(view: Timeline, text: str, x: float) -> QPoint:
    placed = next(placed for placed in view.scroller.placed if text in placed.block.words)
    return QPoint(round(view.column_left + x), placed.top + 10)


def test_over_text_the_menu_offers_the_selection_the_message_and_everything(view: Timeline) -> None:
    """Issue point 4: Copy, Copy as Markdown, Copy message, Select all; what cannot work now is disabled."""
    menu = _open(view, _over(view, "See the docs", 300))
    assert _names(menu) == WHOLE
    assert _names(menu, enabled=False) == ["Copy", "Copy as Markdown"]
    _run(menu, "Select message")
    assert view.selecting.text() == "See the docs for more.\n\nx = 1"
    menu = _open(view, _over(view, "See the docs", 300))
    assert _names(menu) == ["Copy", "Copy as Markdown", *WHOLE]
    _run(menu, "Copy")
    assert make.copied(view) == "See the docs for more.\n\nx = 1"
    _run(_open(view, _over(view, "See the docs", 300)), "Copy as Markdown")
    assert make.copied(view) == REPLY
    _run(_open(view, _over(view, "See the docs", 300)), "Select all")
    assert view.selecting.text() == "Why is that?\n\nSee the docs for more.\n\nx = 1"


def test_copy_message_gives_its_source_whatever_is_selected(view: Timeline, qtbot: QtBot) -> None:
    view.selecting.select_message(0)
    with qtbot.waitSignal(view.copied) as caught:
        _run(_open(view, _over(view, "See the docs", 300)), "Copy message")
    assert caught.args == ["message"]
    assert make.copied(view) == REPLY
    assert view.selecting.text() == "Why is that?"


def test_over_a_link_and_over_code_they_can_be_copied(view: Timeline) -> None:
    """What is under the pointer comes with the menu: the address, the code byte for byte."""
    placed = next(placed for placed in view.scroller.placed if "See the docs" in placed.block.words)
    menu = _open(view, _over(view, "See the docs", placed.block.caret(6)[0]))
    assert _names(menu) == ["Copy link", *WHOLE]
    _run(menu, "Copy link")
    assert make.copied(view) == "https://docs.example/a"
    code = next(placed for placed in view.scroller.placed if isinstance(placed.block, CodeBlock))
    menu = _open(view, QPoint(view.column_left + 60, code.top + 45))
    assert _names(menu) == ["Copy code", *WHOLE]
    _run(menu, "Copy code")
    assert make.copied(view) == "x = 1"


def test_the_menu_key_opens_the_menu_of_the_focused_message(view: Timeline) -> None:
    """UX 6: everything the mouse can reach."""
    view.focus.choose(0, by_key=True)
    menu = _open(view, QPoint(5, 5), QContextMenuEvent.Reason.Keyboard)
    assert _names(menu) == WHOLE[:3]
    _run(menu, "Select message")
    assert view.selecting.text() == "Why is that?"


def test_enter_opens_the_actions_of_the_focused_message(view: Timeline, qtbot: QtBot) -> None:
    """Issue point 7: Enter opens actions; one of them is chosen with the keys."""
    view.focus.choose(1, by_key=True)
    qtbot.keyClick(view, Qt.Key.Key_Return)
    menu = view.context_menu.menu
    assert menu is not None
    assert _names(menu) == ["Copy message", "Answer again"]
    with qtbot.waitSignal(view.action_wanted) as caught:
        for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return):
            QTest.keyClick(menu, key)
    assert caught.args == ["r", "regenerate"]
    assert view.context_menu.menu is None


def test_enter_brings_the_focused_message_into_view_first(view: Timeline, qtbot: QtBot) -> None:
    view.set_items([make.prompt(f"m{at}", f"Message {at}.") for at in range(60)])
    view.focus.choose(3, by_key=True)
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert view.focus.rect(3) is not None
    menu = view.context_menu.menu
    assert menu is not None
    _run(menu, "Copy message")
    assert make.copied(view) == "Message 3."


def test_the_versions_beside_a_message_are_in_its_menu(view: Timeline, qtbot: QtBot) -> None:
    """N1: the first one has none before it."""
    view.set_items([make.prompt("p", "Why?"), replace(make.reply("r", "So."), place=(1, 2))])
    menu = _open(view, _over(view, "So.", 30))
    assert _names(menu, enabled=False) == ["Copy", "Copy as Markdown", "Previous version"]
    with qtbot.waitSignal(view.branch_wanted) as caught:
        _run(menu, "Next version")
    assert caught.args == ["r", 1]


def test_a_menu_that_closes_leaves_nothing_behind(view: Timeline, qtbot: QtBot) -> None:
    for _ in range(3):
        _open(view, _over(view, "See the docs", 300)).close()
    qtbot.waitUntil(lambda: not view.findChildren(QMenu))
