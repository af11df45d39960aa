"""What the rounds of a turn share: what they work with, and how far the turn is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from reprise.domain.failures import Failure
from reprise.domain.messages import Message, ModelRef, Role
from reprise.domain.models import Parameters, Route
from reprise.domain.ports import (
    Clock,
    CompletionProvider,
    Log,
    Questions,
    Queue,
    Reachability,
    RetryGate,
    ToolRunner,
)
from reprise.domain.retry import PendingRetry, RetryPolicy
from reprise.domain.sessions import Entry
from reprise.engine.holds import Holds


@dataclass(frozen=True, slots=True)
class Answerer:
    """A model, and all that it takes to ask it; `policy` says when it is asked again (behaviour D2, D13)."""

    model: ModelRef
    provider: CompletionProvider
    parameters: Parameters
    route: Route
    policy: RetryPolicy


@dataclass(frozen=True, slots=True)
class Setup:
    """What a turn works with.

    `max_rounds` tool rounds run before it asks (behaviour D15); without `questions` the answer is Stop.
    `auto_continue` is how often a reply cut at the output limit goes on by itself (D9). `fallback` says who answers
    once retries are exhausted (D13). `holds` are those of all sessions (D3); without `reachability` nothing is held
    offline (D14); `queue` has what joins the turn between its rounds (I4).
    """

    log: Log
    gate: RetryGate
    clock: Clock
    rng: Random
    tools: ToolRunner | None
    questions: Questions | None
    max_rounds: int
    auto_continue: int
    fallback: Callable[[], Answerer | None] | None
    holds: Holds
    reachability: Reachability | None
    queue: Queue | None


@dataclass(slots=True)
class Progress:
    """A turn under way.

    `waiting` is the user or tool message that waits for a reply, None behind a reply that is complete as it stands.
    `beside` is the reply that stands until this turn has another (behaviour D20): what is pending meanwhile is what was
    pending on its branch, `pending_beside`, mostly nothing. `leaf` is where the branch ended when the turn began.
    `returns_to` is where the leaf goes back to if the turn ends here: set while no call of the newest reply has a
    result (L15), and while a reply that called tools has replaced `beside` only in part.
    `fallback_from` is the model that `answerer` stands in for, `asked` who was asked so far (D13).
    `waited_s` is the turn's waiting so far, all rounds together (D4). `failed` is how many attempts of the first round
    failed before this life of the turn, and count against its budget. `at_once` lets the first request through whatever
    holds the others: the user asked for it by name. `by_itself` makes the first request a retry like those after it,
    which one session at a time tries while the provider is down (N6). `step_s` is the newest wait of its schedule.
    """

    session: str
    answerer: Answerer
    prompt: Entry
    waiting: Entry | None
    beside: Entry | None = None
    pending_beside: PendingRetry | None = None
    leaf: str | None = None
    returns_to: str | None = None
    fallback_from: ModelRef | None = None
    asked: set[ModelRef] = field(default_factory=set)
    waited_s: float = 0.0
    failed: int = 0
    at_once: bool = False
    by_itself: bool = False
    step_s: float = 0.0

    @property
    def is_waited_for(self) -> bool:
        """Whether the turn is pending when it ends here (behaviour B1, D9, D20)."""
        return self.waiting is not None and self.beside is None

    def retry(self, failure: Failure | None = None) -> PendingRetry:
        """The turn as another attempt goes on with it."""
        return retry_of(self.prompt, self.waiting, failure)

    @property
    def waiting_left_s(self) -> float:
        """How much longer the turn may wait, all waits together (behaviour D4)."""
        return max(0.0, self.answerer.policy.ceiling_s - self.waited_s)

    def pending(self, retry: PendingRetry) -> PendingRetry | None:
        """What is left pending when the turn ends here: `retry`, if the turn is."""
        return retry if self.is_waited_for else self.pending_beside if self.beside is not None else None

    def switched(self, answerer: Answerer, before: ModelRef) -> None:
        """`answerer` stands in for `before`."""
        self.answerer = answerer
        self.fallback_from = before
        self.asked.add(answerer.model)

    def called(self, stands: str) -> None:
        """A reply with calls took the place of the leaf `stands`."""
        self.returns_to = stands if self.beside is None else self.leaf

    def answered(self) -> None:
        """A reply is complete as it stands."""
        self.waiting = self.beside = self.returns_to = None

    def landed(self, result: Entry) -> None:
        """A call's result is on disk: from here on the turn goes on behind it (behaviour C8)."""
        self.waiting = result
        if self.beside is None:
            self.returns_to = None

    def steered(self, prompt: Entry) -> None:
        """The user's next message joined the turn: this branch is the one that goes on."""
        self.prompt = self.waiting = prompt
        self.beside = self.returns_to = None


def retry_of(prompt: Entry, waiting: Entry | None, failure: Failure | None = None) -> PendingRetry:
    """A retry of the turn of `prompt`, which goes on behind `waiting`."""
    return PendingRetry(
        prompt.data.text if isinstance(prompt.data, Message) else "",
        failure,
        after_tools=waiting is not None and isinstance(waiting.data, Message) and waiting.data.role is Role.TOOL,
    )
