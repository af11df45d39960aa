"""The reply of one attempt as it comes in: its parts and its times."""

from __future__ import annotations

from reprise.domain.deltas import Delta, Partial
from reprise.domain.messages import Message, ModelRef, Part, ReplyInfo, Role, Usage
from reprise.domain.ports import Clock


class Reply:
    """Times count from the request, which is made right after this."""

    def __init__(self, model: ModelRef, clock: Clock) -> None:
        self._model = model
        self._clock = clock
        self._partial = Partial()
        self._started_at = clock.now()
        self._first_at: float | None = None
        self._last_at: float | None = None

    def take(self, delta: Delta) -> None:
        """Take in one delta."""
        self._last_at = self._clock.now()
        if self._first_at is None:
            self._first_at = self._last_at
        self._partial.append(delta)

    @property
    def is_empty(self) -> bool:
        """True while nothing was written."""
        return self._partial.is_empty

    @property
    def usage(self) -> Usage | None:
        """The provider's count, if it named one."""
        return self._partial.usage

    def parts(self) -> tuple[Part, ...]:
        """What has arrived."""
        return self._partial.parts()

    def message(self) -> Message:
        """The reply as a message."""
        info = ReplyInfo(
            self._model,
            self._partial.finish_reason,
            self._partial.usage,
            None if self._first_at is None else self._first_at - self._started_at,
            None if self._last_at is None else self._last_at - self._started_at,
        )
        return Message(Role.ASSISTANT, self.parts(), info)
