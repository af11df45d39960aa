"""Menus made of the registry: behind the header's "more" button everywhere, and a menu bar on macOS only."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from reprise.ui.commands import Commands, Menu, menu_title

ASIDE_CHARS = 60


def make_menu(parent: QWidget, title: str = "") -> QMenu:
    """A menu with rounded corners that shows the tooltips of its entries (they say why one is disabled)."""
    menu = QMenu(title, parent)
    menu.setWindowFlags(menu.windowFlags() | Qt.WindowType.FramelessWindowHint | Qt.WindowType.NoDropShadowWindowHint)
    menu.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
    menu.setToolTipsVisible(True)
    return menu


def fill(menu: QMenu, commands: Commands, which: Menu) -> QMenu:
    """Put the commands of one menu into `menu`, separated by group, and keep them true whenever it opens."""
    group: int | None = None
    for command in commands.of(which):
        if group is not None and command.group != group:
            menu.addSeparator()
        group = command.group
        menu.addAction(commands.action(command.id))
    menu.aboutToShow.connect(commands.refresh)
    return menu


def main_menu(parent: QWidget, commands: Commands) -> QMenu:
    """All menus as one popup with a submenu each."""
    menu = make_menu(parent)
    menu.setObjectName("mainMenu")
    menu.setAccessibleName(menu_title(Menu.FILE).replace("&", ""))
    for which in Menu:
        child = fill(make_menu(menu, menu_title(which)), commands, which)
        child.setObjectName(f"{which.value}Menu")
        menu.addMenu(child)
    return menu


def menu_bar(commands: Commands) -> QMenuBar:
    """The system-wide menu bar of macOS, without a parent so that every window shares it."""
    bar = QMenuBar()
    for which in Menu:
        fill(bar.addMenu(menu_title(which)), commands, which)
    return bar


def add_choice(menu: QMenu, text: str, aside: str, *, enabled: bool, checked: bool) -> QAction:
    """A checkable entry with a second text at its trailing edge; a long one is cut there, and whole in the tooltip."""
    metrics = menu.fontMetrics()
    short = metrics.elidedText(aside, Qt.TextElideMode.ElideRight, ASIDE_CHARS * metrics.averageCharWidth())
    action = menu.addAction(f"{text}\t{short}" if short else text)
    action.setCheckable(True)
    action.setChecked(checked)
    action.setEnabled(enabled)
    action.setToolTip(aside)
    return action
