"""What a conversation knows of the turn that runs: its events, folded."""

from __future__ import annotations

from dataclasses import replace

from reprise.domain.deltas import Partial
from reprise.domain.events import (
    AttemptFailed,
    AttemptStarted,
    DeltaArrived,
    RoundCompleted,
    TurnEvent,
    TurnFinished,
    TurnStarted,
)
from reprise.domain.ports import Clock
from reprise.domain.retry import PendingRetry
from reprise.domain.sessions import Entry
from reprise.domain.turns import Finished, Idle, TurnState, advance


class TurnFold:
    """The state of the newest turn, the reply under construction, and since when nothing arrived."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.state: TurnState = Idle()
        self.partial: Partial | None = None
        self.waiting_since: float | None = None
        self.beside: Entry | None = None

    def take(self, event: TurnEvent) -> None:
        """Fold one event in."""
        self.state = advance(self.state, event)
        match event:
            case TurnStarted(beside=beside):
                self.beside = beside
            case AttemptStarted():
                self.partial = Partial()
                self.waiting_since = self._clock.now()
            case DeltaArrived(delta):
                if self.partial is not None:
                    self.partial.append(delta)
                self.waiting_since = self._clock.now()
            case RoundCompleted() | AttemptFailed():
                self.partial = self.waiting_since = None

    def end(self, event: TurnFinished) -> None:
        """The turn is over, from whatever state."""
        self.state = Finished(event.outcome, event.pending)
        self.partial = self.waiting_since = self.beside = None

    def rest(self, pending: PendingRetry | None) -> None:
        """Something was done to the log while no turn runs: this is what is pending now."""
        if isinstance(self.state, Finished):
            self.state = replace(self.state, pending=pending)
