"""What the rounds of a turn share: what they work with, and how far the turn is."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from reprise.domain.failures import Failure
from reprise.domain.messages import Message, ModelRef, Role
from reprise.domain.models import Parameters
from reprise.domain.ports import Clock, CompletionProvider, Log, RetryGate, ToolRunner
from reprise.domain.retry import PendingRetry, RetryPolicy
from reprise.domain.sessions import Entry


@dataclass(frozen=True, slots=True)
class Setup:
    """What every round of a turn works with."""

    provider: CompletionProvider
    log: Log
    gate: RetryGate
    clock: Clock
    policy: RetryPolicy
    parameters: Parameters
    rng: Random
    tools: ToolRunner | None


@dataclass(slots=True)
class Progress:
    """A turn under way.

    `waiting` is the user or tool message that waits for a reply, None behind a reply that is complete as it stands.
    `falls_back` is set while no call of the newest reply has a result: if none comes, the branch returns to `waiting`
    (behaviour L15). `waited_s` is the turn's waiting so far, all rounds together (D4). `failed` is how many attempts of
    the first round failed before this life of the turn, and count against its budget.
    """

    session: str
    model: ModelRef
    prompt: Entry
    waiting: Entry | None
    falls_back: bool = False
    waited_s: float = 0.0
    failed: int = 0

    def retry(self, failure: Failure | None = None) -> PendingRetry:
        """The turn as another attempt goes on with it."""
        prompt, waiting = self.prompt.data, self.waiting
        return PendingRetry(
            prompt.text if isinstance(prompt, Message) else "",
            failure,
            after_tools=waiting is not None and isinstance(waiting.data, Message) and waiting.data.role is Role.TOOL,
        )

    def pending(self, failure: Failure | None = None) -> PendingRetry | None:
        """What is left pending when the turn ends here (behaviour B1, D9)."""
        return None if self.waiting is None else self.retry(failure)
