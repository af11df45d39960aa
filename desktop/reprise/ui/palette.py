"""The command palette: every command that works now, then the chats, found by a few letters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from reprise.ui.commands import Commands, plain
from reprise.ui.controls import Glyph, Text
from reprise.ui.fuzzy import match
from reprise.ui.keycaps import KeyCaps
from reprise.ui.language import tr
from reprise.ui.overlay import Sheet
from reprise.ui.painting import rule
from reprise.ui.palette_rows import PaletteDelegate, Role
from reprise.ui.style import Appearance
from reprise.ui.theme import Type

WIDTH, TOP, MOST_ROWS, MOST_CHATS = 600, 104, 9, 30


@dataclass(frozen=True, slots=True)
class Chat:
    """A session the palette can open."""

    id: str
    title: str
    day: str


@dataclass(frozen=True, slots=True)
class Found:
    """One row: what it says, which letters matched, and what it does."""

    text: str
    places: tuple[int, ...]
    icon: str
    run: Callable[[], None]
    shortcut: str = ""
    aside: str = ""


class Palette(Sheet):
    """A field and a list; Up and Down move, Enter runs, Esc leaves."""

    def __init__(
        self,
        look: Appearance,
        window: QWidget,
        commands: Commands,
        chats: Callable[[], list[Chat]],
        open_chat: Callable[[str], None],
    ) -> None:
        super().__init__(look, window, "palette")
        self._commands, self._chats, self._open_chat = commands, chats, open_chat
        self.setAccessibleName(tr("Command palette"))
        self._column = QVBoxLayout(self)
        self._column.setSpacing(0)
        self._top = QWidget(self)
        self._head = QHBoxLayout(self._top)
        self.field = QLineEdit(self)
        self.field.setObjectName("paletteField")
        self.field.setProperty("bare", True)
        self.field.setAccessibleName(tr("Command or chat"))
        self.field.textChanged.connect(self._search)
        self.field.installEventFilter(self)
        self._head.addWidget(Glyph(look, "search", "muted", 18, self))
        self._head.addWidget(self.field, 1)
        self._head.addWidget(KeyCaps(look, "Esc", self))
        self.list = QListWidget(self)
        self.list.setObjectName("paletteList")
        self.list.setAccessibleName(tr("Results"))
        self.list.setFrameShape(QListWidget.Shape.NoFrame)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.list.setMouseTracking(True)
        self.list.viewport().setAutoFillBackground(False)
        self.list.setItemDelegate(PaletteDelegate(look, self.list))
        self.list.itemClicked.connect(self._run)
        self.list.itemEntered.connect(self._hover)
        self._help = Text(look, tr("Enter runs it, Up and Down choose"), Type.SMALL, "muted", parent=self)
        self._column.addWidget(self._top)
        self._column.addWidget(self.list, 1)
        self._column.addWidget(self._help)
        self._rows: list[Found | str] = []
        self._restyle()
        look.changed.connect(self._restyle)

    def open_sheet(self) -> None:
        """Open with an empty field and everything that can be done now."""
        self.field.clear()
        self._commands.refresh()
        self._search("")
        super().open_sheet()

    def first_focus(self) -> QWidget:
        return self.field

    def wanted(self, area: QRect) -> QRect:
        px = self._look.theme.px
        width = min(px(WIDTH), area.width() - 2 * px(16))
        top = min(px(TOP), max(px(16), area.height() // 7))
        rows = sum(px(30) if isinstance(row, str) else px(36) for row in self._rows[: MOST_ROWS + 2])
        height = px(52) + px(16) + max(px(36), min(rows, px(36) * MOST_ROWS)) + px(35)
        return QRect((area.width() - width) // 2, top, width, min(height, area.height() - top - px(16)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and event.type() == QEvent.Type.Resize:
            said = tr("Type a command or the title of a chat")
            fits = self.field.fontMetrics().horizontalAdvance(said) <= self.field.width() - self._look.theme.px(8)
            self.field.setPlaceholderText(said if fits else self.field.accessibleName())
        if watched is self.field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            match event.key():
                case Qt.Key.Key_Down | Qt.Key.Key_Tab:
                    self._move(1)
                    return True
                case Qt.Key.Key_Up | Qt.Key.Key_Backtab:
                    self._move(-1)
                    return True
                case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                    if (item := self.list.currentItem()) is not None:
                        self._run(item)
                    return True
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        px = self._look.theme.px
        painter = QPainter(self)
        color = self._look.theme.color("border")
        rule(painter, 1, self.width() - 1, px(51), color)
        rule(painter, 1, self.width() - 1, self.height() - px(36), color)
        painter.end()

    def _search(self, query: str) -> None:
        found: list[tuple[int, Found]] = []
        for command in self._commands:
            action = self._commands.action(command.id)
            if not command.in_palette or not action.isEnabled():
                continue
            text = plain(command.text()).rstrip(".…")
            if (hit := match(query, text)) is not None:
                icon = command.icon or "chevron-right"
                found.append((hit[0], Found(text, hit[1], icon, action.trigger, command.keys, command.aside())))
        chats: list[tuple[int, Found]] = []
        for chat in self._chats():
            if (hit := match(query, chat.title)) is not None:
                chat_row = Found(chat.title, hit[1], "file", partial(self._open_chat, chat.id), aside=chat.day)
                chats.append((hit[0], chat_row))
        if query.strip():
            found.sort(key=lambda pair: -pair[0])
            chats.sort(key=lambda pair: -pair[0])
        self._rows = [row for _, row in found]
        if chats:
            self._rows += [tr("Chats"), *(row for _, row in chats[:MOST_CHATS])]
        if not self._rows:
            self._rows = [tr("Nothing found")]
        self.list.clear()
        for row in self._rows:
            item = QListWidgetItem(row if isinstance(row, str) else row.text)
            item.setData(Role.FOUND, row)
            if isinstance(row, str):
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(item)
        self._move(1, start=-1)
        if self.is_open:
            self.arrange()

    def _move(self, by: int, start: int | None = None) -> None:
        place = self.list.currentRow() if start is None else start
        count = len(self._rows)
        for _ in range(count):
            place = (place + by) % count
            if not isinstance(self._rows[place], str):
                self.list.setCurrentRow(place)
                return

    def _hover(self, item: QListWidgetItem) -> None:
        if item.flags() & Qt.ItemFlag.ItemIsSelectable:
            self.list.setCurrentItem(item)

    def _run(self, item: QListWidgetItem) -> None:
        row = item.data(Role.FOUND)
        if isinstance(row, Found):
            self.close_sheet()  # first, so that the command sees the focus where it was
            row.run()

    def _restyle(self) -> None:
        px = self._look.theme.px
        self._head.setContentsMargins(px(20), 0, px(16), 0)
        self._head.setSpacing(px(12))
        self.field.setFont(self._look.theme.font(Type.BODY))
        self._top.setFixedHeight(px(51))
        self._column.setContentsMargins(1, 1, 1, 1)
        self.list.setStyleSheet(f"QListWidget {{ background: transparent; padding: {px(7)}px 0; }}")
        self._help.setContentsMargins(px(20), 0, px(20), 0)
        self._help.setFixedHeight(px(35))
