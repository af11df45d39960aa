"""The messages sent while a turn runs, until they are delivered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from reprise.bridge.live_history import LiveHistory
from reprise.bridge.side_writes import SideWrites
from reprise.bridge.standing import find
from reprise.domain.messages import Message, user_message
from reprise.domain.sessions import Delivery, Entry, Queued


class MessageQueue(QObject):
    """What waits for its delivery in one conversation (behaviour I4, I5); implements `ports.Queue` for its turns.

    Steers come before follow-ups, each in the order in which they were sent. A message that is taken out is gone from
    here at once, and from the disk only after its text was given back: a crash in between leaves it twice, never not
    at all.

    Signals:
        changed(): `entries` is another.
        edited(str, str): the message with this id is stored with this text.
        left(frozenset[str], bool): messages with these ids wait no more, and whether they were delivered; before
            `changed`.
        given_back(str): the text of a message that was taken out is the composer's.
        refused(str): a sentence: why nothing was done.
    """

    changed = Signal()
    edited = Signal(str, str)
    left = Signal(object, bool)
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
        self._changing: Counter[str] = Counter()
        self._handed_out: set[str] = set()
        self._told: tuple[Entry, ...] = ()
        self._known: set[str] = set()

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
        self._handed_out.difference_update(entry.id for entry in self._live.queued)

    def edit(self, id_: str, text: str, *, moves: bool = False) -> bool:
        """Change the text of a message in its place, and with `moves` when it is delivered: a steer follows up then.

        It is not delivered until that is stored (`edited`); until then the text is the caller's, who has it still if
        the disk refuses. False = not taken.
        """
        entry = self._waiting(id_)
        if entry is None:
            return False
        if not text.strip():
            self.refused.emit("There is nothing to send.")
            return False
        steers = _steers(entry) is not moves
        queued = Queued(user_message(text), Delivery.STEER if steers else Delivery.FOLLOW_UP)
        self._changing[id_] += 1
        self._writes.start(self._edit(entry, queued), "edit")
        return True

    def remove(self, id_: str) -> None:
        """Take a message out for good."""
        if (entry := self._waiting(id_)) is not None:
            self._leave([entry])

    def give_back_all(self, before: str = "") -> None:
        """Give every text back, joined by blank lines and behind `before` if that is not empty (behaviour I5, D11)."""
        entries = self.entries()
        texts = [before, *(message_of(entry).text for entry in entries)]
        self._leave(entries, "\n\n".join(text for text in texts if text))

    def look(self) -> None:
        """Tell `left` and `changed` of what did."""
        known, self._known = self._known, {entry.id for entry in self._live.queued} - self._leaving
        gone = known - self._known
        delivered = gone & self._handed_out
        self._handed_out -= delivered
        for ids in (delivered, gone - delivered):
            if ids:
                self.left.emit(frozenset(ids), ids is delivered)
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

    async def _edit(self, entry: Entry, queued: Queued) -> None:
        try:
            await self._live.requeue(entry, queued)
        finally:
            self._changing[entry.id] -= 1
        self.edited.emit(entry.id, queued.message.text)

    def _at_once(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        ready = [entry for entry in entries if not self._changing[entry.id]]
        ready = ready if self._mode() == "all" else ready[:1]
        self._handed_out.update(entry.id for entry in ready)
        return ready


def message_of(entry: Entry) -> Message:
    """The message that a queued entry holds."""
    if not isinstance(entry.data, Queued):
        raise ValueError(f"entry {entry.id} is no queued message")
    return entry.data.message


def _steers(entry: Entry) -> bool:
    return isinstance(entry.data, Queued) and entry.data.delivery is Delivery.STEER
