"""The settings sheet: pages at the left, the page at the right, changes apply at once."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from reprise.bridge.preferences import Preferences
from reprise.domain.ports import Catalog
from reprise.ui.controls import Button, Kind, Text
from reprise.ui.language import tr
from reprise.ui.overlay import Sheet
from reprise.ui.painting import box
from reprise.ui.settings.form import FormPage
from reprise.ui.settings.nav import NavButton
from reprise.ui.settings.pages import AppearancePage, ModelPage
from reprise.ui.settings.retry_page import RetryPage
from reprise.ui.style import Appearance
from reprise.ui.theme import Type

WIDTH, HEIGHT, NAV, NARROW, TIGHT = 880, 640, 200, 720, 400


class SettingsSheet(Sheet):
    """In-window, never modal.

    Signals:
        key_entered(str): a key for this run only.
    """

    key_entered = Signal(str)

    def __init__(self, look: Appearance, window: QWidget, preferences: Preferences, catalog: Catalog) -> None:
        super().__init__(look, window, "settingsDialog")
        self.setAccessibleName(tr("Settings"))
        self.model_page = ModelPage(look, preferences)
        self.model_page.key_entered.connect(self.key_entered)
        self.appearance_page = AppearancePage(look)
        self.retry_page = RetryPage(look, preferences, catalog)
        self._nav = QWidget(self)
        self._links = QVBoxLayout(self._nav)
        self._heading = Text(look, tr("Settings"), Type.TITLE, parent=self._nav)
        self._links.addWidget(self._heading)
        self._stack = QStackedWidget(self)
        self._title = Text(look, "", Type.H2, parent=self)
        self._close = Button(look, kind=Kind.ICON, icon="close", parent=self)
        self._close.setObjectName("closeSettings")
        self._close.setAccessibleName(tr("Close"))
        self._close.clicked.connect(self.close_sheet)
        self._said = Text(look, tr("Changes apply at once."), Type.SMALL, "muted", parent=self)
        self._restore = Button(look, tr("Restore defaults"), kind=Kind.PLAIN, quiet=True, parent=self)
        self._restore.clicked.connect(self.retry_page.restore)
        self._done = Button(look, tr("Done"), kind=Kind.PRIMARY, parent=self)
        self._done.setObjectName("doneButton")
        self._done.clicked.connect(self.close_sheet)
        self._group = QButtonGroup(self)
        self._pages: list[FormPage] = [self.model_page, self.appearance_page, self.retry_page]
        self._buttons: list[NavButton] = []
        for place, (page, icon) in enumerate(zip(self._pages, ("model", "sun", "retry"), strict=True)):
            button = NavButton(look, page.title, icon, self._nav)
            self._group.addButton(button, place)
            self._links.addWidget(button)
            self._buttons.append(button)
            self._stack.addWidget(_scrolled(page))
        self._links.addStretch(1)
        self._group.idClicked.connect(self.show_page)
        self._outer = QHBoxLayout(self)
        self._outer.setContentsMargins(0, 0, 0, 0)
        self._outer.setSpacing(0)
        self._right = QVBoxLayout()
        self._head = QHBoxLayout()
        self._head.addWidget(self._title, 1)
        self._head.addWidget(self._close)
        self._foot = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._foot.addWidget(self._said)
        self._foot.addStretch(1)
        self._foot.addWidget(self._restore)
        self._foot.addWidget(self._done)
        self._right.addLayout(self._head)
        self._middle = QVBoxLayout()
        self._middle.addWidget(self._stack)
        self._right.addLayout(self._middle, 1)
        self._right.addLayout(self._foot)
        self._outer.addWidget(self._nav)
        self._outer.addLayout(self._right, 1)
        look.changed.connect(self._restyle)
        self._restyle()
        self.show_page(0)

    def show_page(self, place: int) -> None:
        """0 the model, 1 the look, 2 the retries."""
        self._stack.setCurrentIndex(place)
        self._buttons[place].setChecked(True)
        self._title.setText(self._pages[place].title)
        self._restore.setVisible(self._pages[place] is self.retry_page)

    def open_sheet(self) -> None:
        """Open with what is in force."""
        self.model_page.read()
        self.retry_page.read()
        super().open_sheet()

    def first_focus(self) -> QWidget:
        return self._buttons[self._stack.currentIndex()]

    def wanted(self, area: QRect) -> QRect:
        px = self._look.theme.px
        side = px(16 if area.width() >= px(TIGHT) else 4)
        width = min(px(WIDTH), area.width() - 2 * side)
        height = min(px(HEIGHT), area.height() - 2 * side)
        return QRect((area.width() - width) // 2, (area.height() - height) // 2, width, height)

    def arrange(self) -> None:
        super().arrange()
        px = self._look.theme.px
        narrow = self.width() < px(NARROW)
        self._nav.setFixedWidth(px(48 if narrow else NAV))
        self._heading.setVisible(not narrow)
        self._said.setVisible(not narrow)
        for button in self._buttons:
            button.set_narrow(narrow)
        side = px(16 if narrow else 32)
        # The cross stands on the corner, not on the text's edge; the pages' scroll bar has 12 px of what is beside it.
        beside = min(px(18), side - px(12))
        self._right.setContentsMargins(side, px(18), beside, px(18))
        self._head.setContentsMargins(0, 0, px(18) - beside, 0)
        self._middle.setContentsMargins(0, 0, side - px(12) - beside, 0)
        self._foot.setContentsMargins(0, 0, side - beside, 0)
        room = self.width() - self._nav.width() - 2 * side - self._foot.spacing()
        fits = self._restore.sizeHint().width() + self._done.sizeHint().width() <= room
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._foot.setDirection(across if fits else down)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        radius = theme.px(12)
        box(painter, self.rect(), radius, theme.color("page"), theme.color("border_strong"))
        shape = QPainterPath()
        shape.addRoundedRect(self.rect().adjusted(1, 1, -1, -1), radius - 1, radius - 1)
        painter.setClipPath(shape)
        nav = self._nav.geometry()
        painter.fillRect(nav, theme.color("sidebar"))
        painter.fillRect(nav.right(), 0, 1, self.height(), theme.color("border"))
        painter.end()

    def _restyle(self) -> None:
        px = self._look.theme.px
        self._links.setContentsMargins(px(8), px(22), px(9), px(8))
        self._links.setSpacing(0)
        self._heading.setContentsMargins(px(12), 0, 0, px(14))
        self._right.setSpacing(px(10))
        self._foot.setSpacing(px(8))
        self.arrange()


def _scrolled(page: FormPage) -> QScrollArea:
    area = QScrollArea()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.viewport().setAutoFillBackground(False)
    page.setAutoFillBackground(False)
    area.setWidget(page)
    return area
