"""The two movements there are: appearing in 120 ms, and nothing at all when the system asks for less motion."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from reprise.ui.style import Appearance

APPEAR_MS = 120


def appear(widget: QWidget, look: Appearance) -> None:
    """Show `widget`, fading it in unless motion is reduced."""
    if widget.isVisible():
        return
    widget.show()
    if not look.moves or not widget.window().isVisible():
        return
    from PySide6.QtCore import QEasingCurve, QPropertyAnimation  # nothing moves in the first paint
    from PySide6.QtWidgets import QGraphicsOpacityEffect

    effect = QGraphicsOpacityEffect(widget)
    widget.setGraphicsEffect(effect)
    fade = QPropertyAnimation(effect, b"opacity", widget)
    fade.setDuration(APPEAR_MS)
    fade.setStartValue(0.0)
    fade.setEndValue(1.0)
    fade.setEasingCurve(QEasingCurve.Type.OutCubic)
    # The effect goes with the animation: it would make every later paint of the widget a slow one.
    fade.finished.connect(lambda: widget.setGraphicsEffect(None))  # type: ignore[arg-type]
    fade.start(QPropertyAnimation.DeletionPolicy.DeleteWhenStopped)
