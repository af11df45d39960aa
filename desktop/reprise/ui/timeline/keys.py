"""The keyboard over the timeline: going through the messages, scrolling, selecting, copying."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from reprise.ui.timeline.caret import Caret, Unit

if TYPE_CHECKING:
    from reprise.ui.timeline.view import Timeline

COPY_KEYS, MARKDOWN_KEYS, ALL_KEYS = "Ctrl+C", "Ctrl+Shift+Alt+C", "Ctrl+A"
"""How menus show what the timeline does with its keys."""

_OVERLAP = 44  # of a page that stays in view
_SHIFT = Qt.KeyboardModifier.ShiftModifier
_CONTROL = Qt.KeyboardModifier.ControlModifier
_ALT = Qt.KeyboardModifier.AltModifier
_DIRECTIONS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Home: -1}
_DIRECTIONS |= {Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1, Qt.Key.Key_End: 1}
_SIDEWAYS = (Qt.Key.Key_Left, Qt.Key.Key_Right)
_ACROSS = (Qt.Key.Key_Up, Qt.Key.Key_Down)


class Keys:
    """What the keys do while the timeline has the focus.

    Attributes:
        caret: The end of the selection that the keys move.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self.caret = Caret(timeline)

    def press(self, event: QKeyEvent) -> bool:
        """Do what a key is for; False when it is for nothing here."""
        key = Qt.Key(event.key())
        held = event.modifiers() & (_SHIFT | _CONTROL | _ALT)
        if held & _SHIFT and not held & _ALT and key in _DIRECTIONS:
            return self._extend(key, by_more=bool(held & _CONTROL))
        if held & _CONTROL:
            return self._command(key, held)
        return not held and self._go(key)

    def _extend(self, key: Qt.Key, *, by_more: bool) -> bool:
        if key in _SIDEWAYS:
            unit = Unit.WORD if by_more else Unit.CHARACTER
            # A cursor goes the way its arrow points: where the text is read from the right, back is to the right.
            by = _DIRECTIONS[key] * (1 if self._timeline.isLeftToRight() else -1)
        elif key in _ACROSS:
            unit, by = Unit.BLOCK if by_more else Unit.LINE, _DIRECTIONS[key]
        else:
            unit, by = Unit.ALL if by_more else Unit.LINE_END, _DIRECTIONS[key]
        self.caret.extend(unit, by)
        self._timeline.primary.offer()
        return True

    def _command(self, key: Qt.Key, held: Qt.KeyboardModifier) -> bool:
        timeline = self._timeline
        if key is Qt.Key.Key_C and held == _CONTROL:
            timeline.copy_selection()
        elif key is Qt.Key.Key_C and held == _CONTROL | _SHIFT | _ALT:
            timeline.copy_markdown()
        elif key is Qt.Key.Key_A and held == _CONTROL:
            timeline.select_all()
        elif key is Qt.Key.Key_Home:
            timeline.jump_to_start()
        elif key is Qt.Key.Key_End:
            timeline.jump_to_latest()
        else:
            return False
        return True

    def _go(self, key: Qt.Key) -> bool:
        timeline = self._timeline
        page = timeline.viewport().height() - timeline.sheet.px(_OVERLAP)
        match key:
            case Qt.Key.Key_Up | Qt.Key.Key_Down:
                timeline.focus.go(_DIRECTIONS[key])
            case Qt.Key.Key_PageUp | Qt.Key.Key_PageDown:
                timeline.scroll_by(page if key is Qt.Key.Key_PageDown else -page)
            case Qt.Key.Key_Home:
                timeline.jump_to_start()
            case Qt.Key.Key_End:
                timeline.jump_to_latest()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                timeline.context_menu.open_actions()
            case Qt.Key.Key_Escape if timeline.selecting.has_extent:
                timeline.selecting.select(None)
            case _:
                return False
        return True
