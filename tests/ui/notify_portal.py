"""Run under a session bus of its own: a stand-in for the desktop's portal, and the program's side of it.

Prints what the portal was told, presses it, and prints which chat was opened.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import ClassInfo, QObject, QTimer, Signal, Slot
from PySide6.QtDBus import QDBusAbstractAdaptor, QDBusConnection
from PySide6.QtWidgets import QApplication

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "desktop"))

from reprise.ui.notifications import Notifications

NAME = "org.freedesktop.portal"


@ClassInfo({"D-Bus Interface": f"{NAME}.Notification"})
class Portal(QDBusAbstractAdaptor):
    """Takes one notification and presses it."""

    ActionInvoked = Signal(str, str, list)

    @Slot(str, "QVariantMap")
    def AddNotification(self, key: str, content: dict[str, object]) -> None:
        print(key, sorted(content.items()), flush=True)
        self.ActionInvoked.emit(key, "open", [])


def main() -> int:
    """0 when the press came back."""
    app = QApplication([])
    bus = QDBusConnection.sessionBus()
    holder = QObject()
    portal = Portal(holder)
    if not bus.registerObject("/org/freedesktop/portal/desktop", holder) or not bus.registerService(f"{NAME}.Desktop"):
        print(bus.lastError().message())
        return 2
    del portal
    other = QDBusConnection.connectToBus(QDBusConnection.BusType.SessionBus, "other")
    notifications = Notifications(other)
    notifications.opened.connect(lambda session: (print("opened", session, flush=True), app.exit(0)))
    QTimer.singleShot(0, lambda: notifications.show("s1", "A title", "The reply is ready."))
    QTimer.singleShot(8000, lambda: app.exit(3))
    return app.exec()


if __name__ == "__main__":
    sys.exit(main())
