"""A row of buttons never runs out of its card."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from reprise.ui.flow import FlowRow


class Piece(QWidget):
    """100 by 28."""

    def sizeHint(self) -> QSize:
        return QSize(100, 28)


def _row(qtbot: QtBot, count: int = 5) -> tuple[QWidget, FlowRow, list[Piece]]:
    parent = QWidget()
    qtbot.addWidget(parent)
    pieces = [Piece(parent) for _ in range(count)]
    row = FlowRow(parent, pieces[-1])
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    for piece in pieces:
        row.addWidget(piece)
    return parent, row, pieces


@pytest.mark.parametrize("width", [110, 220, 330, 700])
@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_everything_stays_inside_and_apart(qtbot: QtBot, width: int, direction: Qt.LayoutDirection) -> None:
    """Mockups: 560 px and 200 % fonts lose nothing."""
    parent, row, pieces = _row(qtbot)
    parent.setLayoutDirection(direction)
    parent.resize(width, row.heightForWidth(width))
    parent.show()
    for piece in pieces:
        assert parent.rect().contains(piece.geometry())
    assert not any(
        one.geometry().intersects(other.geometry()) for at, one in enumerate(pieces) for other in pieces[at + 1 :]
    )


def test_the_trailing_one_stands_at_the_far_edge(qtbot: QtBot) -> None:
    """Details ends on the text edge."""
    parent, row, pieces = _row(qtbot)
    parent.resize(700, row.heightForWidth(700))
    parent.show()
    assert pieces[-1].geometry().right() == parent.rect().right()
    assert pieces[0].geometry().left() == 0


def test_what_is_hidden_takes_no_room(qtbot: QtBot) -> None:
    """A button that cannot be pressed now leaves no gap."""
    parent, row, pieces = _row(qtbot, 3)
    pieces[1].hide()
    parent.resize(700, row.heightForWidth(700))
    parent.show()
    assert pieces[2].isVisible()
    assert row.sizeHint().width() == 208
