"""The keyboard over the timeline: scrolling, selecting, copying."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

if TYPE_CHECKING:
    from reprise.ui.timeline.view import Timeline

STEP = 40
"""Pixels of one arrow key or one notch's line, not zoomed."""

_OVERLAP = 44  # of a page that stays in view


class Keys:
    """What the keys do while the timeline has the focus."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    def press(self, event: QKeyEvent) -> bool:
        """Do what a key is for; False when it is for nothing here."""
        timeline = self._timeline
        page = timeline.viewport().height() - timeline.sheet.px(_OVERLAP)
        steps = {
            Qt.Key.Key_Up: -STEP,
            Qt.Key.Key_Down: STEP,
            Qt.Key.Key_PageUp: -page,
            Qt.Key.Key_PageDown: page,
        }
        key = Qt.Key(event.key())
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if control and key is Qt.Key.Key_C:
            timeline.selecting.copy_selection()
        elif control and key is Qt.Key.Key_A:
            timeline.selecting.select_message()
        elif key in steps and not control:
            timeline.scroll_by(steps[key])
        elif key is Qt.Key.Key_Home:
            timeline.jump_to_start()
        elif key is Qt.Key.Key_End:
            timeline.jump_to_latest()
        else:
            return False
        return True
