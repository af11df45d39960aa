"""Streams into anything that shows text, at a pace, and measures what that costs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QEventLoop, QObject, Qt, QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextBrowser, QWidget

from reprise.domain.deltas import TextDelta
from support import corpus
from support import timeline as make

FRAME_MS = 16
RATE = 500
PUMP_MS = 4


@dataclass(frozen=True)
class Cost:
    """What one stream cost: CPU microseconds per token, paint events per second, and how late a 4 ms timer came (s)."""

    cpu_us: float
    paints_s: float
    lag_p99_s: float = 0.0
    lag_max_s: float = 0.0


class _Paints(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() is QEvent.Type.Paint
        return False


class Sink:
    """Something that shows a stream: `widget` is painted, `feed` takes a token."""

    def __init__(self, widget: QWidget, painted: QWidget, feed: Callable[[str], None]) -> None:
        self.widget, self.painted, self.feed = widget, painted, feed


class _Buffered(QObject):
    """The same pace for the baselines: tokens wait for one flush a frame."""

    def __init__(self, show: Callable[[str], None], parent: QObject) -> None:
        super().__init__(parent)
        self._show = show
        self._waiting: list[str] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._flush)

    def feed(self, token: str) -> None:
        self._waiting.append(token)
        if not self._timer.isActive():
            self._timer.start(FRAME_MS)

    def _flush(self) -> None:
        text = "".join(self._waiting)
        self._waiting.clear()
        self._show(text)


def ours(messages: int, preload: str) -> Sink:
    """Our timeline with a conversation above the reply."""
    timeline = make.make(1000, 800)
    # The colours' one-time cost is not a token's: code is in view first.
    timeline.set_items([*make.conversation(messages), make.reply("code", "```python\npass\n```")])
    make.settled(timeline)
    timeline.begin_reply("live", "Model")
    timeline.feed(TextDelta(preload))
    return Sink(timeline, timeline.viewport(), lambda token: timeline.feed(TextDelta(token)))


def plain(preload: str) -> Sink:
    """Plain text, appended."""
    editor = QPlainTextEdit()
    editor.setUndoRedoEnabled(False)
    font = editor.font()
    font.setPixelSize(15)
    editor.setFont(font)
    editor.resize(1000, 800)
    editor.show()

    def show(text: str) -> None:
        cursor = QTextCursor(editor.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(text)
        editor.verticalScrollBar().setValue(editor.verticalScrollBar().maximum())

    show(preload)
    return Sink(editor, editor.viewport(), _Buffered(show, editor).feed)


def naive(preload: str) -> Sink:
    """The whole Markdown anew for every token."""
    browser = QTextBrowser()
    browser.document().setUndoRedoEnabled(False)
    browser.resize(1000, 800)
    browser.show()
    text = [preload]

    def show(token: str) -> None:
        text.append(token)
        browser.setMarkdown("".join(text))
        browser.verticalScrollBar().setValue(browser.verticalScrollBar().maximum())

    show("")
    return Sink(browser, browser.viewport(), show)


def stream(sink: Sink, tokens: list[str], *, rate: int = RATE, limit_s: float = 60.0) -> Cost:
    """Feed `tokens` at `rate` a second (0: as fast as they are taken) and measure."""
    make.spin(150)
    paints = _Paints()
    sink.painted.installEventFilter(paints)
    loop = QEventLoop()
    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    done = 0
    lags: list[float] = []
    last = time.perf_counter()
    began, cpu = time.perf_counter(), time.process_time()

    def pump() -> None:
        nonlocal done, last
        now = time.perf_counter()
        lags.append(max(0.0, now - last - PUMP_MS / 1000))
        last = now
        passed = now - began
        due = min(len(tokens), int(passed * rate) + 1 if rate else done + 1)
        while done < due:
            sink.feed(tokens[done])
            done += 1
        if done == len(tokens) or passed > limit_s:
            loop.quit()

    timer.timeout.connect(pump)
    timer.start(PUMP_MS if rate else 0)
    loop.exec()
    timer.stop()
    make.spin(FRAME_MS + 4)
    wall, spent = time.perf_counter() - began, time.process_time() - cpu
    sink.painted.removeEventFilter(paints)
    sink.widget.close()
    sink.widget.deleteLater()
    late = sorted(lags)
    return Cost(spent / max(1, done) * 1e6, paints.count / wall, late[int(len(late) * 0.99)], late[-1])


def reply_tokens(count: int, live: int) -> tuple[str, list[str]]:
    """A reply of `count` tokens: the text before the last `live` ones, and those."""
    tokens = corpus.tokens(corpus.reply(count * 4))
    return "".join(tokens[:-live]), tokens[-live:]
