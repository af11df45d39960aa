"""The text that is on its way to the disk."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from reprise.domain.failures import Failure


@dataclass(frozen=True, slots=True)
class Sending:
    """A text for the queue, for the place of the prompt `beside`, or to be the next prompt.

    Two of them may say the same and are two all the same.
    """

    text: str
    beside: str | None = None
    is_queued: bool = False


class Outbox(QObject):
    """At most one text of a conversation; it leaves as stored or as refused, and stays its sender's until then.

    Signals:
        text_stored(str): a text is on disk, as a prompt or in the queue.
        text_refused(str, Failure): a text was not taken.
        version_stored(str), version_refused(str, Failure): the same of another version of a prompt, by that one's id.
    """

    text_stored = Signal(str)
    text_refused = Signal(str, object)
    version_stored = Signal(str)
    version_refused = Signal(str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._sending: Sending | None = None

    @property
    def is_empty(self) -> bool:
        """True when nothing is on its way."""
        return self._sending is None

    def holds(self, text: str, beside: str | None) -> bool:
        """Whether this very text is on its way: Enter was pressed again before the composer could be emptied."""
        return self._sending is not None and (self._sending.text, self._sending.beside) == (text, beside)

    def put(self, sending: Sending) -> None:
        """It is on its way now."""
        self._sending = sending

    def take_prompt(self) -> Sending | None:
        """Take out what a turn was begun for; None when that was begun for something else."""
        sending = self._sending
        if sending is None or sending.is_queued:
            return None
        self._sending = None
        return sending

    def take_queued(self) -> None:
        """Take out what was for the queue: it has arrived there, or it cannot."""
        if self._sending is not None and self._sending.is_queued:
            self._sending = None

    def tell_stored(self, sending: Sending) -> None:
        """It is on disk."""
        if sending.beside is None:
            self.text_stored.emit(sending.text)
        else:
            self.version_stored.emit(sending.beside)

    def refuse(self, sending: Sending, failure: Failure) -> None:
        """It was not taken."""
        if sending.beside is None:
            self.text_refused.emit(sending.text, failure)
        else:
            self.version_refused.emit(sending.beside, failure)
