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


class _Shown(QObject):
    happened = Signal()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show:
            self.happened.emit()
        return False


async def until_shown(widget: QWidget) -> None:
    """Wait until a widget is shown; returns at once when it is."""
    if widget.isHidden():
        watcher = _Shown(widget)
        widget.installEventFilter(watcher)
        await until(watcher.happened)
        widget.removeEventFilter(watcher)
