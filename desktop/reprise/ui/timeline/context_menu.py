"""The menus over a message: what can be done with the selection, with what is under the pointer, with the message."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from reprise.ui.language import shortcut_text
from reprise.ui.menus import make_menu
from reprise.ui.timeline.block import Block, tr
from reprise.ui.timeline.code import CodeBlock
from reprise.ui.timeline.keys import ALL_KEYS, COPY_KEYS, MARKDOWN_KEYS
from reprise.ui.timeline.table import TableBlock
from reprise.ui.timeline.table_copy import as_csv, as_markdown

if TYPE_CHECKING:
    from reprise.ui.timeline.view import Timeline


class ContextMenu:
    """Makes a menu each time one is wanted."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self.menu: QMenu | None = None

    def open_at(self, at: QPoint) -> None:
        """The menu of the point of the viewport where the right button went down."""
        timeline = self._timeline
        timeline.pointer.hover(QPointF(at))
        pointer = timeline.pointer
        link = pointer.hit.value if pointer.hit is not None and pointer.hit.kind == "link" else ""
        if pointer.message >= 0:
            timeline.focus.choose(pointer.message, by_key=False)
        self._open(self._made(pointer.message, link, pointer.block), at)

    def open_focused(self) -> None:
        """The menu of the focused message: the menu key."""
        timeline = self._timeline
        timeline.focus.reveal()
        self._open(self._made(timeline.focus.message, "", None), self._corner())

    def open_actions(self) -> None:
        """What can be done with the focused message alone: Enter."""
        timeline = self._timeline
        timeline.focus.reveal()
        menu = self._empty()
        self._add_actions(menu, timeline.focus.message)
        self._open(menu, self._corner())

    def _corner(self) -> QPoint:
        """Inside the focused message's upper corner, or where that comes into view."""
        timeline = self._timeline
        rect = timeline.focus.rect(timeline.focus.message)
        top = 0.0 if rect is None else max(0.0, rect.top())
        inset = timeline.sheet.inset
        return QPoint(timeline.column_left + inset, round(top) + inset)

    def _empty(self) -> QMenu:
        menu = make_menu(self._timeline)
        menu.setObjectName("messageMenu")
        return menu

    def _open(self, menu: QMenu, at: QPoint) -> None:
        if not menu.actions():
            menu.deleteLater()
            return
        self.menu = menu
        menu.aboutToHide.connect(partial(self._closed, menu))
        menu.popup(self._timeline.viewport().mapToGlobal(at))

    def _closed(self, menu: QMenu) -> None:
        menu.deleteLater()
        if self.menu is menu:
            self.menu = None

    def _made(self, message: int, link: str, block: Block | None) -> QMenu:
        timeline, menu = self._timeline, self._empty()
        selected = timeline.selecting.has_extent
        for text, keys, run in (
            (tr("Copy"), COPY_KEYS, timeline.copy_selection),
            (tr("Copy as Markdown"), MARKDOWN_KEYS, timeline.copy_markdown),
        ):
            _with_keys(menu.addAction(text, run), keys).setEnabled(selected)
        if link:
            menu.addAction(tr("Copy link"), lambda: timeline.clipboard.put(link, "link"))
        if isinstance(block, CodeBlock):
            text = block.text
            menu.addAction(tr("Copy code"), lambda: timeline.clipboard.put(text, "code"))
        elif isinstance(block, TableBlock):
            self._add_table(menu, message, block.first)
        menu.addSeparator()
        if message >= 0:
            whole = menu.addAction(tr("Select message"), lambda: timeline.selecting.select_message(message))
            _with_keys(whole, ALL_KEYS)
        menu.addAction(tr("Select all"), timeline.selecting.select_all).setEnabled(message >= 0)
        menu.addSeparator()
        self._add_actions(menu, message)
        return menu

    def _add_table(self, menu: QMenu, message: int, table: TableBlock) -> None:
        """Copying all of a table, of which only a part may be in view; CSV only where no column is left out."""
        timeline, key = self._timeline, self._timeline.key_of(message)
        if not table.leaf.more:
            menu.addAction(tr("Copy table as CSV"), partial(timeline.clipboard.table, key, as_csv(table.place)))
        menu.addAction(tr("Copy table as Markdown"), partial(timeline.clipboard.table, key, as_markdown(table.place)))

    def _add_actions(self, menu: QMenu, message: int) -> None:
        """The same as the buttons below the message."""
        timeline = self._timeline
        item = timeline.item(message)
        if item is None:
            return
        key = item.key
        if item.message.text:
            menu.addAction(tr("Copy message"), lambda: timeline.clipboard.put(item.message.text, "message"))
        for action in item.actions:
            menu.addAction(action.tip, partial(timeline.action_wanted.emit, key, action.name))
        if item.place is not None:
            number, count = item.place
            menu.addSeparator()
            before = menu.addAction(tr("Previous version"), partial(timeline.branch_wanted.emit, key, -1))
            after = menu.addAction(tr("Next version"), partial(timeline.branch_wanted.emit, key, 1))
            before.setEnabled(number > 1)
            after.setEnabled(number < count)


def _with_keys(action: QAction, keys: str) -> QAction:
    # Behind a tab a menu shows keys that are no shortcut: the timeline takes them itself.
    action.setText(f"{action.text()}\t{shortcut_text(keys)}")
    return action
