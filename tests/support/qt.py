"""Watching signals from a test."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QObject, Signal, SignalInstance
from PySide6.QtWidgets import QWidget

from reprise.bridge.signals import until


class Recorder:
    """Writes down the emissions of several signals, in order, as ``(name, *arguments)``."""

    def __init__(self, **signals: SignalInstance) -> None:
        self.seen: list[tuple[Any, ...]] = []
        for name, signal in signals.items():
            signal.connect(lambda *args, name=name: self.seen.append((name, *args)))

    def names(self) -> list[str]:
        """The names alone."""
        return [entry[0] for entry in self.seen]


class _Watcher(QObject):
    happened = Signal()

    def __init__(self, watched: QWidget, kind: QEvent.Type) -> None:
        super().__init__(watched)
        self._kind = kind
        watched.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == self._kind:
            self.happened.emit()
        return False


async def until_shown(widget: QWidget) -> None:
    """Wait until a widget is shown; returns at once when it is."""
    if widget.isHidden():
        await until(_Watcher(widget, QEvent.Type.Show).happened)


async def until_active(window: QWidget) -> None:
    """Wait until a window has the keyboard; returns at once when it has."""
    if not window.isActiveWindow():
        await until(_Watcher(window, QEvent.Type.WindowActivate).happened)
