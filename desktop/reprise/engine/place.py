"""Where a round's reply goes, and the reply once it is there."""

from __future__ import annotations

from dataclasses import dataclass

from reprise.domain.events import UsageReported
from reprise.domain.messages import Message, ToolCallPart
from reprise.domain.models import ToolSpec
from reprise.domain.sessions import Entry
from reprise.engine.reply import SoFar, so_far


@dataclass(frozen=True, slots=True)
class Place:
    """Where a round's reply goes.

    Its attempts hang under `answers`, the user or tool message that it answers. It is appended under `under`, which
    stands behind that one with no message in between (None = whatever stands there last on the branch). `stands` is
    the leaf that it takes the place of (None = `under`). It begins with what `before` says.
    """

    answers: Entry
    under: str | None = None
    stands: str | None = None
    before: SoFar | None = None


@dataclass(frozen=True, slots=True)
class Completed:
    """A reply that is on disk as `entry`.

    `calls` are those to be run now: none when no tool was offered (behaviour D16) or the reply was cut (D9).
    """

    entry: Entry
    message: Message
    usage: UsageReported
    calls: tuple[ToolCallPart, ...]
    specs: tuple[ToolSpec, ...]
    place: Place

    @property
    def is_cut(self) -> bool:
        """The reply stopped at the output limit."""
        return self.message.reply is not None and self.message.reply.is_cut

    def rest(self) -> Place | None:
        """Where the reply goes on (behaviour D9): the rest and it are one reply, beside it. None = it said nothing."""
        before = so_far(self.entry)
        if before is None:
            return None
        return Place(self.place.answers, self.entry.parent, self.entry.id, before)
