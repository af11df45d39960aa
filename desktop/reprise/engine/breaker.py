"""A provider that is down is asked by one session at a time: its outage belongs to all of them (behaviour N6)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from reprise.domain.failures import Failure, FailureKind
from reprise.domain.ports import Clock
from reprise.domain.retry import STAGGER_S, WaitReason

OPENS_AFTER = 3
"""So many failures in a row, of more than one session, are an outage: one failure may be a session's own."""

OVER_S = 1e-3
"""Less than this is no wait: one may end a hair before the moment it was for."""

_DOWN = frozenset({FailureKind.NETWORK, FailureKind.TIMEOUT, FailureKind.SERVER, FailureKind.OVERLOADED})


@dataclass(frozen=True, slots=True)
class _Behind:
    """A session whose retry is due and that waits for another one's; `step_s` is the wait of its own schedule."""

    freed: asyncio.Future[None]
    step_s: float


@dataclass(slots=True)
class _Outage:
    """Failures in a row, and once they are an outage who tries (`probe`, not before `due_at`) and who waits."""

    failures: int = 0
    sessions: set[str] = field(default_factory=set)
    newest: Failure | None = None
    failed_at: float = 0.0
    probe: str | None = None
    due_at: float = 0.0
    row: dict[str, _Behind] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        return self.failures >= OPENS_AFTER and len(self.sessions) > 1


class Breaker:
    """Who of all sessions may retry at each provider and key (``Route.limits``); only automatic retries ask.

    While a provider is down the first session whose retry is due is the probe, and stays it until it is answered or
    its round ends; the others stand in a row. An answer lets them go 2 s apart. A probe that gives up, is stopped or
    goes is followed by who has waited longest.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._outages: dict[str, _Outage] = {}
        self._released: dict[str, dict[str, float]] = {}

    def failed(self, limits: str, session: str, failure: Failure) -> None:
        """A request failed. Whoever says how long to wait is there; of what is not the provider's nothing follows."""
        if failure.kind is FailureKind.RATE_LIMIT or failure.retry_after_s is not None:
            self.answered(limits)
        elif failure.kind in _DOWN:
            outage = self._outages.setdefault(limits, _Outage())
            outage.failures += 1
            outage.sessions.add(session)
            outage.newest = failure
            outage.failed_at = self._clock.now()

    def answered(self, limits: str) -> None:
        """The provider is there: who stands in the row goes, the first at once and the others 2 s apart."""
        outage = self._outages.pop(limits, None)
        if outage is not None and outage.row:
            places = self._released.setdefault(limits, {})
            for place, (session, behind) in enumerate(outage.row.items()):
                places[session] = self._clock.now() + STAGGER_S * place
                _free(behind)

    def obstacle(self, limits: str, session: str) -> tuple[WaitReason, float | None] | None:
        """Why a session's retry that is due has to wait, and until when if that is known; None = it goes now.

        During an outage it is the probe from then on, unless another session is.
        """
        places = self._released.get(limits, {})
        if (due_at := places.get(session)) is not None:
            if due_at - self._clock.now() > OVER_S:
                return WaitReason.TURN, due_at
            self._forget_place(limits, session)
        outage = self._outages.get(limits)
        if outage is None or not outage.is_open:
            return None
        if outage.probe is None:
            outage.probe, outage.due_at = session, self._clock.now()
        if outage.probe != session:
            return WaitReason.PROBE, None
        return (WaitReason.RETRY, outage.due_at) if outage.due_at - self._clock.now() > OVER_S else None

    def newest(self, limits: str) -> Failure | None:
        """The newest failure of an outage that goes on; None when there is none."""
        outage = self._outages.get(limits)
        return None if outage is None else outage.newest

    def line_up(self, limits: str, session: str, step_s: float) -> asyncio.Future[None]:
        """Stand in the row behind the probe; done once `obstacle` is to be asked again.

        Who follows a probe waits `step_s`, the wait of its own schedule, from the newest failure on.
        """
        freed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        outage = self._outages.get(limits)
        if outage is None or outage.probe in (None, session):
            freed.set_result(None)
        else:
            outage.row[session] = _Behind(freed, max(step_s, STAGGER_S))
        return freed

    def step_out(self, limits: str, session: str) -> None:
        """Leave the row; the probe, or a place to go at, is kept."""
        if (outage := self._outages.get(limits)) is not None:
            outage.row.pop(session, None)

    def leave(self, limits: str, session: str) -> None:
        """A session's round is over, however it ended: it asks for nothing any more."""
        self._forget_place(limits, session)
        self.step_out(limits, session)
        outage = self._outages.get(limits)
        if outage is None or outage.probe != session:
            return
        outage.probe = next(iter(outage.row), None)
        if outage.probe is not None:
            behind = outage.row.pop(outage.probe)
            outage.due_at = outage.failed_at + behind.step_s
            _free(behind)

    def _forget_place(self, limits: str, session: str) -> None:
        places = self._released.get(limits, {})
        places.pop(session, None)
        if not places:
            self._released.pop(limits, None)


def _free(behind: _Behind) -> None:
    if not behind.freed.done():
        behind.freed.set_result(None)
