"""Desktop notifications, through the desktop's portal where there is one, else through the system's tray."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import SLOT, QObject, Signal, Slot
from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusPendingCallWatcher
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QSystemTrayIcon

_SERVICE = "org.freedesktop.portal.Desktop"
_PATH = "/org/freedesktop/portal/desktop"
_INTERFACE = "org.freedesktop.portal.Notification"
_SHOWN_MS = 10_000


class Notifications(QObject):
    """Says that something happened in a chat. A newer word about the same chat takes the older one's place.

    The portal rather than the older notification service: its call takes text alone, which Python's D-Bus binding can
    send; and it works from inside a sandbox. Where the portal does not answer, or there is no session bus (another
    system, no desktop), the tray says it, for as long as it is said. Where neither is there, nothing is said: the
    sidebar's marks stay. No call waits for an answer.

    Signals:
        opened(str): the notification about this chat was pressed.
    """

    opened = Signal(str)

    def __init__(self, bus: QDBusConnection | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bus = QDBusConnection.sessionBus() if bus is None else bus
        self._tray: QSystemTrayIcon | None = None
        self._in_tray = ""
        self._calls: set[QDBusPendingCallWatcher] = set()
        if self._bus.isConnected():
            pressed = SLOT("portal_pressed(QString,QString,QVariantList)")
            # The stub asks for bytes, the binding for what SLOT makes.
            self._bus.connect(_SERVICE, _PATH, _INTERFACE, "ActionInvoked", self, pressed)  # type: ignore[call-overload]

    def show(self, session: str, title: str, words: str) -> None:
        """Say `words` about the chat called `title`; returns at once."""
        if not self._bus.isConnected():
            self._say_in_tray(session, title, words)
            return
        call = QDBusMessage.createMethodCall(_SERVICE, _PATH, _INTERFACE, "AddNotification")
        call.setArguments([session, content(title, words)])
        watcher = QDBusPendingCallWatcher(self._bus.asyncCall(call), self)
        self._calls.add(watcher)
        watcher.finished.connect(partial(self._answered, session, title, words))

    @Slot(str, str, list)
    def portal_pressed(self, session: str, _action: str, _parameters: list[Any]) -> None:
        """The desktop says that a notification was pressed. Another program's ids are none of ours."""
        self.opened.emit(session)

    def _answered(self, session: str, title: str, words: str, watcher: QDBusPendingCallWatcher) -> None:
        self._calls.discard(watcher)
        if watcher.isError():
            self._say_in_tray(session, title, words)
        watcher.deleteLater()

    def _say_in_tray(self, session: str, title: str, words: str) -> None:
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            return
        self._in_tray = session
        if self._tray is None:
            self._tray = QSystemTrayIcon(QGuiApplication.windowIcon(), self)
            self._tray.messageClicked.connect(self._tray_pressed)
        self._tray.show()
        self._tray.showMessage(title, words, QIcon(), _SHOWN_MS)

    def _tray_pressed(self) -> None:
        if self._tray is not None:
            self._tray.hide()
        self.opened.emit(self._in_tray)


def content(title: str, words: str) -> dict[str, str]:
    """A notification as the portal takes it; pressing it anywhere is its one action."""
    return {"title": title, "body": words, "default-action": "open"}
