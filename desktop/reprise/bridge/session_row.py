"""A session as a list shows it. Apart from the library, because the sidebar is painted before that is imported."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reprise.domain.sessions import Session


class Mark(StrEnum):
    """What a row says about its session; the first that holds wins, in this order."""

    ASKS = "asks"
    STREAMING = "streaming"
    COUNTDOWN = "countdown"
    PENDING = "pending"
    UNREAD = "unread"
    DRAFT = "draft"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session as the sidebar shows it; `seconds_left` is set while its retry counts down.

    A wait without them is for the network, or (`is_behind`) for another session's retry (behaviour N6).
    """

    session: Session
    mark: Mark = Mark.NONE
    seconds_left: int | None = None
    is_behind: bool = False
