"""Feeds a conversation's history to the timeline: its end at once, what is older bit by bit."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from reprise.bridge.conversation import Conversation
from reprise.domain.messages import Role
from reprise.ui.shown_items import ShownItems
from reprise.ui.timeline import Timeline
from reprise.ui.timeline_items import Telling

FEW = 3
"""More fresh messages than this come from a history that was read, not from a turn that goes on."""

AT_ONCE = 64
"""Entries that are made into items at a time: a few milliseconds."""


class HistoryFeed(QObject):
    """Keeps the timeline's messages those of one conversation's branch.

    Args:
        timeline: Where they are shown.
        telling: What is told of a conversation beside its history.
    """

    def __init__(self, timeline: Timeline, telling: Callable[[Conversation], Telling]) -> None:
        super().__init__(timeline)
        self._timeline = timeline
        self._telling = telling
        self._conversation: Conversation | None = None
        self._shown = ShownItems()
        self._knows_places = True
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.timeout.connect(self._go_back)

    @property
    def is_empty(self) -> bool:
        """Whether no message is shown."""
        return not self._shown.items

    def show(self, conversation: Conversation) -> None:
        """Show the end of another conversation, or of this one anew; what is older follows."""
        self._conversation = conversation
        self._knows_places = conversation.reading.is_whole
        self._shown.begin(conversation.history, self._telling(conversation), AT_ONCE)
        self._timeline.set_items(self._shown.items)
        self._rest.start(0)

    def update(self) -> bool:
        """Show what the history is now; False when that is another one, to be shown from its end."""
        conversation = self._conversation
        if conversation is None:
            return False
        change = self._shown.update(conversation.history, self._telling(conversation))
        if change is None:
            return False
        start, known = change
        items = self._shown.items[start:]
        fresh = items[len(known) :]
        if len(fresh) > FEW:
            return False
        stays = [item.key for item in items[: len(known)]] == [item.key for item in known]
        if stays and len(fresh) == 1 and fresh[0].message.role is Role.ASSISTANT and self._timeline.has_reply:
            self._timeline.update_items(items[: len(known)], start)
            self._timeline.finish_reply(fresh[0])
        elif items != known:
            self._timeline.update_items(items, start)
        return True

    def extend(self) -> None:
        """More of what is older may be there."""
        if not self._rest.isActive():
            self._rest.start(0)

    def _go_back(self) -> None:
        conversation = self._conversation
        # First what is at the end: what is not told yet may be there already.
        if conversation is None or not self.update():
            return
        telling = self._telling(conversation)
        if not self._knows_places and conversation.reading.is_whole:
            self._knows_places = True
            start = self._shown.place(conversation.reading.forked(), telling)
            if start is not None:
                self._timeline.update_items(self._shown.items[start:], start)
        if older := self._shown.older(conversation.history, telling, AT_ONCE):
            self._timeline.prepend_items(older)
        if not self._shown.reaches_back:
            self._rest.start(0)
