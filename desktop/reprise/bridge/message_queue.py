"""The messages sent while a turn runs, until they are delivered."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from reprise.bridge.live_history import LiveHistory
from reprise.bridge.side_writes import SideWrites
from reprise.bridge.standing import find
from reprise.domain.messages import Message, user_message
from reprise.domain.ports import LogError
from reprise.domain.sessions import Delivery, Entry, Queued


class MessageQueue(QObject):
    """What waits for its delivery in one conversation (behaviour I4, I5); implements `ports.Queue` for its turns.

    Steers come before follow-ups, each in the order in which they were sent. A message that is taken out is gone from
    here at once, and from the disk only after its text was given back: a crash in between leaves it twice, never not
    at all.

    Signals:
        changed(): `entries` is another.
        given_back(str): the text of a message that was taken out is the composer's.
        refused(str): a sentence: why nothing was done.
    """

    changed = Signal()
    given_back = Signal(str)
    refused = Signal(str)

    def __init__(
        self, live: LiveHistory, writes: SideWrites, mode: Callable[[], str], parent: QObject | None = None
    ) -> None:
        """`mode` says how many are delivered at once: "one" or "all"."""
        super().__init__(parent)
        self._live = live
        self._writes = writes
        self._mode = mode
        self._leaving: set[str] = set()
        self._changing: set[str] = set()
        self._handed_out: set[str] = set()
        self._told: tuple[Entry, ...] = ()

    def entries(self) -> tuple[Entry, ...]:
        """What waits, in the order of delivery; each holds a `Queued`."""
        gone = self._leaving | self._handed_out
        waiting = [entry for entry in self._live.queued if entry.id not in gone]
        return tuple(sorted(waiting, key=lambda entry: not _steers(entry)))

    def steers(self) -> Sequence[Entry]:
        """What is delivered before the running turn's next request; from here on it cannot be taken out any more."""
        return self._at_once([entry for entry in self.entries() if _steers(entry)])

    def due(self) -> Sequence[Entry]:
        """What is delivered once the running turn has completed; from here on it cannot be taken out any more."""
        return self._at_once(self.entries())

    def hand_back(self) -> None:
        """The turn is over: what was handed out and not delivered waits again."""
        self._handed_out.clear()

    def edit(self, id_: str, text: str) -> None:
        """Change the text of a message in its place; it is not delivered until that is stored."""
        entry = self._waiting(id_)
        if entry is None:
            return
        if not text.strip():
            self.refused.emit("There is nothing to send.")
            return
        self._changing.add(id_)
        self._writes.start(self._edit(entry, text), "edit")

    def remove(self, id_: str) -> None:
        """Take a message out for good."""
        if (entry := self._waiting(id_)) is not None:
            self._leave([entry])

    def take(self, id_: str) -> None:
        """Take a message out and give its text back."""
        if (entry := self._waiting(id_)) is not None:
            self._leave([entry], text_of(entry))

    def give_back_all(self, before: str = "") -> None:
        """Give every text back, joined by blank lines and behind `before` if that is not empty (behaviour I5, D11)."""
        entries = self.entries()
        texts = [before, *(text_of(entry) for entry in entries)]
        self._leave(entries, "\n\n".join(text for text in texts if text))

    def look(self) -> None:
        """Tell `changed` if the queue did."""
        if (entries := self.entries()) != self._told:
            self._told = entries
            self.changed.emit()

    def _waiting(self, id_: str) -> Entry | None:
        entry = find(self.entries(), id_)
        if entry is None:
            self.refused.emit("That message is delivered already.")
        return entry

    def _leave(self, entries: Sequence[Entry], text: str = "") -> None:
        self._leaving.update(entry.id for entry in entries)
        self.look()
        if text:
            self.given_back.emit(text)
        if entries:
            self._writes.start(self._live.unqueue(*entries), "unqueue")

    async def _edit(self, entry: Entry, text: str) -> None:
        try:
            delivery = entry.data.delivery if isinstance(entry.data, Queued) else Delivery.STEER
            await self._live.requeue(entry, Queued(user_message(text), delivery))
        except LogError:
            self.given_back.emit(text)
            raise
        finally:
            self._changing.discard(entry.id)

    def _at_once(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        ready = [entry for entry in entries if entry.id not in self._changing]
        ready = ready if self._mode() == "all" else ready[:1]
        self._handed_out.update(entry.id for entry in ready)
        return ready


def message_of(entry: Entry) -> Message:
    """The message that a queued entry holds."""
    if not isinstance(entry.data, Queued):
        raise ValueError(f"entry {entry.id} is no queued message")
    return entry.data.message


def text_of(entry: Entry) -> str:
    """What a queued message says."""
    return message_of(entry).text


def _steers(entry: Entry) -> bool:
    return isinstance(entry.data, Queued) and entry.data.delivery is Delivery.STEER
