"""Run on an X server: ``select`` selects words in a timeline and stays, ``paste`` middle-clicks into the composer.

Each prints one line: what it selected, what came into the composer.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QPoint, QSocketNotifier, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "desktop"))

from reprise.ui.composer import Composer
from reprise.ui.style import Appearance
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.window_state import WindowState
from support import timeline as make

LEFT, MIDDLE = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton


def select() -> None:
    """Drag over a message, say what is selected, and keep it until there is nothing more to read."""
    timeline = make.make()
    timeline.set_items([make.prompt("p", "Words to paste \u4e2d\u6587"), make.reply("r", "Others.")])
    placed = timeline.scroller.placed[0]
    start = QPoint(timeline.column_left + 2, placed.top + 10)
    port = timeline.viewport()
    QTest.mousePress(port, LEFT, pos=start)
    QTest.mouseMove(port, start + QPoint(600, 0))
    QTest.mouseRelease(port, LEFT, pos=start + QPoint(600, 0))
    print(timeline.selecting.text(), flush=True)
    over = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read)
    over.activated.connect(QApplication.quit)
    QApplication.exec()


def paste() -> None:
    """Press the middle button in an empty composer, and say what is in it then."""
    holder = QWidget()
    look = Appearance(make.RESOURCES, load_theme(make.RESOURCES, Scheme.LIGHT), WindowState(None), holder)
    composer = Composer(look, holder)
    composer.setFixedWidth(400)
    holder.show()
    QTest.qWaitForWindowExposed(holder)
    QTest.mouseClick(composer.editor.viewport(), MIDDLE, pos=QPoint(5, 5))
    print(composer.text(), flush=True)


if __name__ == "__main__":
    app = QApplication([])
    {"select": select, "paste": paste}[sys.argv[1]]()
