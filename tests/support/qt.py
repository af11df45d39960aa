"""Watching signals from a test."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import SignalInstance


class Recorder:
    """Writes down the emissions of several signals, in order, as ``(name, *arguments)``."""

    def __init__(self, **signals: SignalInstance) -> None:
        self.seen: list[tuple[Any, ...]] = []
        for name, signal in signals.items():
            signal.connect(lambda *args, name=name: self.seen.append((name, *args)))

    def names(self) -> list[str]:
        """The names alone."""
        return [entry[0] for entry in self.seen]
