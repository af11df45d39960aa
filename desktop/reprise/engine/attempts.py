"""The attempts of one round as the log has them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime

from reprise.domain.failures import Failure
from reprise.domain.messages import Message, Part
from reprise.domain.ports import Clock, Log
from reprise.domain.retry import PendingRetry
from reprise.domain.sessions import Attempt, AttemptState, Entry
from reprise.engine.settle import settle


class Attempts:
    """Of one round's attempts at most one is open, or has a retry scheduled.

    Every write goes to its end whatever cancels it meanwhile (behaviour C4). All raise LogError.
    """

    def __init__(self, log: Log, clock: Clock, answers: Entry) -> None:
        """They hang under the entry that they answer."""
        self._log = log
        self._clock = clock
        self._answers = answers
        self._open: tuple[Entry, Attempt] | None = None
        self._scheduled: Entry | None = None

    @property
    def is_open(self) -> bool:
        """True from `begin` until the attempt became a message, or ended."""
        return self._open is not None

    async def begin(self, attempt: Attempt) -> Entry:
        """Open one; a cancel meanwhile is raised once it is on disk."""
        self._scheduled = None
        answers = self._answers
        opened, cancel = await settle(self._log.open_attempt(answers.session, answers.id, attempt))
        self._open = opened, attempt
        _raise(cancel)
        return opened

    async def complete(self, message: Message, under: str) -> tuple[Entry, asyncio.CancelledError | None]:
        """Put the reply in the open attempt's place, under `under`.

        Once it is on disk a cancel no longer concerns this attempt (behaviour C2): it is handed back.
        """
        if self._open is None:
            raise RuntimeError("no attempt is open")
        opened, _ = self._open
        place = None if under == self._answers.id else under
        entry, cancel = await settle(self._log.finish_round(opened, message, under=place))
        self._open = None
        return entry, cancel

    async def end(
        self,
        state: AttemptState,
        parts: tuple[Part, ...] | None,
        failure: Failure | None = None,
        *,
        pending: PendingRetry | None = None,
        retry_at: datetime | None = None,
    ) -> Entry:
        """End the open attempt with what arrived (None = nothing was sent); a cancel meanwhile is raised afterwards.

        `pending` says which retry of how many follows, at `retry_at` if it is scheduled.
        """
        if self._open is None:
            raise RuntimeError("no attempt is open")
        (opened, attempt), self._open = self._open, None
        ended, cancel = await settle(
            self._log.fail_attempt(
                opened,
                replace(
                    attempt,
                    state=state,
                    parts=attempt.parts if parts is None else parts,
                    failure=failure,
                    ended_at=self._clock.utc(),
                    retry=0 if pending is None else pending.retry,
                    retries=0 if pending is None else pending.retries,
                    retry_at=retry_at,
                ),
            )
        )
        if retry_at is not None:
            self._scheduled = ended
        _raise(cancel)
        return ended

    @property
    def is_scheduled(self) -> bool:
        """True while a retry of the last attempt is scheduled."""
        return self._scheduled is not None

    async def unschedule(self, *, retry: int | None = None) -> None:
        """Take back the retry that is scheduled, if one is; with `retry` so many are spent now."""
        await self._reschedule(None, retry)

    async def bring_forward(self) -> None:
        """The retry that is scheduled begins now: it counts down no more, should the branch go back to it."""
        await self._reschedule(self._clock.utc())

    async def _reschedule(self, retry_at: datetime | None, retry: int | None = None) -> None:
        if self._scheduled is not None:
            scheduled, self._scheduled = self._scheduled, None
            _, cancel = await settle(self._log.reschedule(scheduled, retry_at, retry=retry))
            _raise(cancel)


def _raise(cancel: asyncio.CancelledError | None) -> None:
    if cancel is not None:
        raise cancel
