"""A timeline to test, and short ways to fill it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtGui import QGuiApplication, QImage, QPixmap

from reprise.domain.messages import Message, Part, Role, TextPart, ThinkingPart, user_message
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.timeline import Timeline, TimelineItem
from support import corpus

RESOURCES = Path(__file__).resolve().parents[2] / "resources"


def blank_icon(name: str, token: str, px: int) -> QPixmap:
    """An icon of the right size that shows nothing."""
    pixmap = QPixmap(px, px)
    pixmap.fill("transparent")
    return pixmap


def make(width: int = 920, height: int = 640, scheme: Scheme = Scheme.LIGHT, zoom: float = 1.0) -> Timeline:
    """An empty timeline of this size, shown."""
    timeline = Timeline(load_theme(RESOURCES, scheme, zoom), blank_icon)
    timeline.resize(width, height)
    timeline.show()
    return timeline


def reply(key: str, text: str, *, thinking: str = "", more: tuple[Part, ...] = (), **rest: object) -> TimelineItem:
    """A model's message."""
    parts: tuple[Part, ...] = (ThinkingPart(thinking),) if thinking else ()
    message = Message(Role.ASSISTANT, (*parts, TextPart(text), *more))
    return TimelineItem(key, message, label="Model", **rest)  # type: ignore[arg-type]


def prompt(key: str, text: str) -> TimelineItem:
    """A prompt."""
    return TimelineItem(key, user_message(text))


def conversation(count: int) -> list[TimelineItem]:
    """`count` messages of the corpus, prompts and replies in turn."""
    return [(reply if at % 2 else prompt)(f"m{at}", corpus.message(at)) for at in range(count)]


def spin(milliseconds: int = 0) -> None:
    """Let the event loop run for a while."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def copied(timeline: Timeline) -> str:
    """What is on the clipboard once all that was copied is collected."""
    while timeline.clipboard.copier.is_busy:
        spin()
    return QGuiApplication.clipboard().text()


def settled(timeline: Timeline) -> QImage:
    """The page's picture once what is in view is read to its end and every code block there has its colours."""
    timeline.viewport().grab()
    while not (timeline.reader.is_idle and timeline.highlighter.is_idle):
        spin()
    spin()  # a scroll bar that has come takes its place
    return timeline.viewport().grab().toImage()


def on_screen(timeline: Timeline) -> QImage:
    """What the window shows once colours are there, not what painting it anew would give."""
    spin()
    while not timeline.highlighter.is_idle:
        spin()
    spin()
    return timeline.screen().grabWindow(timeline.winId()).toImage().copy(timeline.viewport().geometry())
