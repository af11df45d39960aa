"""The window: it lays out sidebar, header and page, and hands everything else on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QApplication, QWidget

from reprise.ui.deeds import WindowDeeds
from reprise.ui.header import Header
from reprise.ui.language import tr
from reprise.ui.page import Page
from reprise.ui.painting import mirrored
from reprise.ui.sidebar import Sidebar
from reprise.ui.style import Appearance
from reprise.ui.theme import Theme
from reprise.ui.window_state import DEFAULT_SIZE, SMALLEST, WindowState

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenu, QMenuBar

    from reprise.bridge.library import Library
    from reprise.bridge.preferences import Preferences
    from reprise.domain.ports import Catalog, Clock
    from reprise.ui.boot_banner import BootBanner, Notice
    from reprise.ui.commands import Commands
    from reprise.ui.session_deeds import SessionDeeds
    from reprise.ui.toast import Toast
    from reprise.ui.turn_deeds import TurnDeeds

SIDEBAR_NEEDS, NEEDS = 720, 280


class MainWindow(QWidget):
    """Paints its frame at once; `attach` fills it when the rest of the program is there.

    Signals:
        closing(): the person wants to leave; the window stays until `shut` is called.
        key_entered(str): a key for this run, from Settings or from a pending card (whose turn is retried right after).
    """

    notices: BootBanner  # these from `complete` on
    commands: Commands
    turns: TurnDeeds
    sessions: SessionDeeds
    closing = Signal()
    key_entered = Signal(str)

    def __init__(self, resources: Path, theme: Theme, state: Path | None = None) -> None:
        """`theme` holds until the state file or the system says otherwise; `state` is state.ini."""
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("Reprise")
        self.setAccessibleName("Reprise")
        self._state = WindowState(state)
        self.look = Appearance(resources, theme, self._state, self)
        self._icon = resources / "icons" / "reprise-app.svg"
        self._limit()
        self.look.changed.connect(self._limit)
        self._shutting = False
        self._sidebar_open = self._state.sidebar_open
        self._sidebar_over = False
        self.sidebar = Sidebar(self.look, self)
        self.header = Header(self.look, self)
        self.page = Page(self.look, self)
        self._scrim = _SidebarScrim(self.look, self)
        self._scrim.pressed.connect(self.close_sidebar_over)
        self.sidebar.raise_()
        self.deeds = WindowDeeds(self)
        self._menu: QMenu | None = None
        self._toast: Toast | None = None
        self._bar: QMenuBar | None = None
        self.header.toggle.clicked.connect(self.toggle_sidebar)
        self.header.set_title(tr("New chat"))
        self.header.set_models((), None)
        self.look.changed.connect(self._arrange)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._focus_changed)
        for before, after in (
            (self.sidebar.settings, self.header.toggle),
            (self.header.toggle, self.header.picker),
            (self.header.picker, self.header.more),
        ):
            QWidget.setTabOrder(before, after)
        geometry = self._state.geometry
        if geometry is not None:
            self.setGeometry(geometry)
        else:
            self.resize(DEFAULT_SIZE)
        if self._state.maximized:
            self.setWindowState(Qt.WindowState.WindowMaximized)
        self.page.composer.editor.setFocus()

    def complete(self) -> None:
        """Add what need not be in the first paint: commands, menus, the empty page. Does nothing the second time."""
        from PySide6.QtGui import QIcon

        from reprise.ui.boot_banner import BootBanner
        from reprise.ui.commands import Commands
        from reprise.ui.menus import main_menu, menu_bar
        from reprise.ui.session_deeds import SessionDeeds
        from reprise.ui.turn_deeds import TurnDeeds
        from reprise.ui.window_commands import commands_of

        if self._menu is not None:
            return
        self.setWindowIcon(QIcon(str(self._icon)))
        self.notices = BootBanner(self.look, self)
        self.notices.installEventFilter(self)
        self.commands = Commands(self, self.look)
        self.turns = TurnDeeds(self)
        self.sessions = SessionDeeds(self)
        self.commands.add(*commands_of(self.deeds, self.look, self.turns, self.sessions))
        self._menu = main_menu(self, self.commands)
        self._bar = menu_bar(self.commands) if sys.platform == "darwin" else None
        self.header.more.clicked.connect(self.open_menu)
        self.sidebar.new_chat_wanted.connect(self.commands.action("newChat").trigger)
        self.sidebar.settings_wanted.connect(self.commands.action("settings").trigger)
        self.page.add_banner()
        self.page.add_first_run().own_model_wanted.connect(self.commands.action("settings").trigger)
        self.page.order_tabs(self.header.more)

    def attach(self, library: Library, preferences: Preferences, catalog: Catalog, clock: Clock) -> None:
        """Fill the window: sessions, conversation, settings. Call once, after the first paint."""
        self.complete()
        self.deeds.attach(library, preferences, catalog, clock)
        self.sidebar.attach(library, lambda: clock.utc().astimezone().date())
        self.sidebar.session_wanted.connect(self.close_sidebar_over)
        self.sidebar.menu_wanted.connect(self.sessions.open_menu)
        self.page.order_tabs(self.header.more)
        self._arrange()

    def add_notice(self, notice: Notice) -> None:
        """Say a sentence about trouble in the bar under the header (object ``bootBanner``)."""
        self.notices.add(notice)
        self._arrange()

    def toast(self, sentence: str, action: str, run: Callable[[], None]) -> None:
        """Say a sentence for some seconds, with one thing to do about it."""
        if self._toast is None:
            from reprise.ui.toast import Toast

            self._toast = Toast(self.look, self)
        self._toast.say(sentence, action, run)
        self._arrange()

    def come_forward(self) -> None:
        """Show the window before all others, as far as the desktop lets it."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        if QGuiApplication.platformName() != "offscreen":  # which has nothing to raise and says so
            self.raise_()
            self.activateWindow()

    def set_builtin_state(self, kind: str, done: int = 0, total: int = 0, sentence: str = "") -> None:
        """How the built-in model is; see `FirstRun.set_builtin_state`. The picker asks the catalog again."""
        self.page.first_run.set_builtin_state(kind, done, total, sentence)
        self.deeds.models_changed()

    def shut(self) -> None:
        """Close for good, without asking anybody."""
        self._shutting = True
        self.page.composer.let_go()
        self.close()

    def toggle_sidebar(self) -> None:
        """Open or close the sidebar; where there is no room beside the page it lies over it."""
        if self.width() < self.look.theme.px(SIDEBAR_NEEDS):
            self._sidebar_over = not self._sidebar_over
        else:
            self._sidebar_open = not self._sidebar_open
            self._state.keep(sidebar=self._sidebar_open)
        self._arrange()
        if self._sidebar_over:
            self.sidebar.new_chat.setFocus(Qt.FocusReason.OtherFocusReason)
        elif self.sidebar.isHidden():
            self.page.composer.editor.setFocus()
        self._refresh()

    def close_sidebar_over(self, *_: object) -> None:
        """Take the sidebar away where it lies over the page."""
        if self._sidebar_over:
            self.toggle_sidebar()

    @property
    def sidebar_over(self) -> bool:
        """True while the sidebar lies over the page."""
        return self._sidebar_over

    def open_menu(self) -> None:
        """Open the menus under the header's button."""
        if self._menu is None:
            return
        more = self.header.more
        corner = more.mapToGlobal(QPoint(more.width() - self._menu.sizeHint().width(), more.height() + 2))
        self._menu.popup(corner)
        self._menu.setActiveAction(self._menu.actions()[0])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.deeds.escape()
            return
        super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.WindowStateChange:
            self._refresh()

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Show, QEvent.Type.Hide, QEvent.Type.LayoutRequest):
            self._arrange()
        return False

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._keep_state()
        if self._shutting:
            event.accept()
            return
        self.page.composer.flush_draft()
        event.ignore()
        self.closing.emit()

    def _keep_state(self) -> None:
        full = self.isMaximized() or self.isFullScreen()
        self._state.keep(maximized=self.isMaximized(), sidebar=self._sidebar_open)
        self._state.keep(geometry=self.normalGeometry() if full else self.geometry())
        self._state.sync()

    def _focus_changed(self, _old: object, new: object) -> None:
        if isinstance(new, QWidget) and new.window() is self:
            self._refresh()

    def _refresh(self) -> None:
        if self._menu is not None:
            self.commands.refresh()

    def _limit(self) -> None:
        """No smaller than what a button with its words needs at this zoom, unless the screen is."""
        needs = SMALLEST.expandedTo(QSize(self.look.theme.px(NEEDS), 0))
        self.setMinimumSize(needs.boundedTo(self.screen().availableSize()))

    def _arrange(self) -> None:
        px = self.look.theme.px
        narrow = self.width() < px(SIDEBAR_NEEDS)
        if not narrow:
            self._sidebar_over = False
        shown = self._sidebar_over if narrow else self._sidebar_open
        self.sidebar.setVisible(shown)
        self._scrim.setVisible(narrow and shown)
        beside = self.sidebar.width() if shown and not narrow else 0
        left = self._mirrored(QRect(0, 0, self.sidebar.width(), self.height()))
        self.sidebar.setGeometry(left)
        self._scrim.setGeometry(self.rect())
        width = self.width() - beside
        head = self.header.height()
        self.header.setGeometry(self._mirrored(QRect(beside, 0, width, head)))
        if self._menu is not None and not self.notices.isHidden():
            height = max(px(44), self.notices.height_for(width))
            self.notices.setGeometry(self._mirrored(QRect(beside, head, width, height)))
            head += height
        self.page.setGeometry(self._mirrored(QRect(beside, head, width, max(0, self.height() - head))))
        if self._toast is not None:
            size = self._toast.sizeHint()
            place = QRect(0, 0, size.width(), size.height())
            middle = beside + width // 2
            place.moveCenter(QPoint(middle, self.page.y() + self.page.composer.y() - px(16) - size.height() // 2))
            self._toast.setGeometry(self._mirrored(place))

    def _mirrored(self, rect: QRect) -> QRect:
        return mirrored(rect, self.width(), self.isLeftToRight())


class _SidebarScrim(QWidget):
    pressed = Signal()

    def __init__(self, look: Appearance, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self.hide()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.pressed.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._look.theme.color("scrim"))
        painter.end()
