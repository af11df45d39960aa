"""What the timeline says while a request is silent: whom it waits for, and how long no data came."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from reprise.bridge.conversation import Conversation
from reprise.domain.messages import ModelRef
from reprise.domain.ports import Clock
from reprise.ui.language import duration, tr
from reprise.ui.timeline import Timeline

WAIT_SHOWN_AFTER_S = 3
STALL_SHOWN_AFTER_S = 20


class Silence(QObject):
    """Looks at the shown conversation once a second while its request runs (ux section 2)."""

    def __init__(self, timeline: Timeline, clock: Clock, label: Callable[[ModelRef | None], str]) -> None:
        super().__init__(timeline)
        self._timeline, self._clock, self._label = timeline, clock, label
        self._conversation: Conversation | None = None
        self._is_shown = False
        self._tick = QTimer(self)  # asks the Clock; measures nothing itself
        self._tick.setInterval(1000)
        self._tick.timeout.connect(self._look)

    def watch(self, conversation: Conversation) -> None:
        """This one is shown, in the state it has now."""
        self._conversation = conversation
        if conversation.waiting_since is not None:
            self._tick.start()
        else:
            self._tick.stop()
            self.end()

    def end(self) -> None:
        """Something came, or nothing is waited for."""
        if self._is_shown:
            self._is_shown = False
            self._timeline.set_wait_text(None)

    def _look(self) -> None:
        conversation = self._conversation
        if conversation is None or conversation.waiting_since is None:
            return
        waited = int(self._clock.now() - conversation.waiting_since)
        partial = conversation.partial
        text: str | None = None
        if partial is None or partial.is_empty:
            if waited >= WAIT_SHOWN_AFTER_S:
                model = self._label(conversation.model)
                text = tr("Waiting for {model}, {wait}").format(model=model, wait=duration(waited))
        elif waited >= STALL_SHOWN_AFTER_S:
            text = tr("No data for {wait}. Stop keeps what is here.").format(wait=duration(waited))
        if text is not None or self._is_shown:
            self._is_shown = text is not None
            self._timeline.set_wait_text(text)
