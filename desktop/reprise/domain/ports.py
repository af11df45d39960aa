"""The ports: what the engine and the bridge need, as Protocols; `app/compose.py` plugs the drivers in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from reprise.domain.deltas import Delta
from reprise.domain.events import Answer
from reprise.domain.messages import Message, ModelRef, ToolCallPart, ToolResultPart
from reprise.domain.models import CompletionRequest, ModelInfo, Route, ToolSpec
from reprise.domain.retry import PendingRetry
from reprise.domain.sessions import Attempt, Entry, EntryData, Queued, Session
from reprise.domain.tree import Node


class Clock(Protocol):
    """The only source of time for gates, flushes, ceilings and "waiting 7 s"."""

    def now(self) -> float:
        """Seconds that also run during sleep; only differences mean anything."""

    def utc(self) -> datetime:
        """The wall clock, time-zone aware, for what is stored."""

    async def sleep_until(self, due_at: float) -> None:
        """Return at or after `due_at` (as `now` counts); never sleeps over 0.5 s in one piece."""


class CompletionProvider(Protocol):
    """A service that completes."""

    def stream(self, request: CompletionRequest) -> AsyncIterator[Delta]:
        """The reply's deltas as they arrive.

        Raises CompletionError for anything that went wrong, after the deltas that arrived. Closing the iterator
        (or cancelling the task) closes the connection at once. A stream that ends without raising is complete.
        """


class LogError(Exception):
    """The log could not be read or written; `str(error)` is a sentence for a person."""


class Log(Protocol):
    """The append-only log, as the engine writes it.

    Each call is one transaction, shielded from cancellation: it is done or not done, never half. All but
    `append_chunks` raise LogError.
    """

    async def branch(self, session: str) -> tuple[Entry, ...]:
        """The active branch, root to leaf, attempts left out; empty for an unknown session."""

    async def open_turn(
        self, session: str, message: Message, model: ModelRef, *, beside: str | None = None, queued: str | None = None
    ) -> Entry:
        """Append the prompt under the leaf and make it the leaf; creates the session when it is new.

        With `beside` it becomes a sibling of that prompt instead (behaviour B9); `queued` is taken off the queue.
        """

    async def open_attempt(self, session: str, parent: str, attempt: Attempt) -> Entry:
        """Append an open attempt under the entry it answers; the leaf stays."""

    def append_chunks(self, attempt: str, delta: Delta) -> None:
        """Buffer what arrived for an open attempt; it is on disk within 150 ms of the Clock."""

    async def fail_attempt(self, entry: Entry, attempt: Attempt) -> Entry:
        """Fold the chunks away and complete the attempt as failed or stopped, with its parts."""

    async def finish_round(self, entry: Entry, message: Message, *, under: str | None = None) -> Entry:
        """Put the message in the open attempt's place: delete attempt and chunks, append, move the leaf.

        It is appended under the entry the attempt hangs under, or under `under`, which stands behind that one with no
        message in between (a model change, a notice).
        """

    async def keep(self, attempt: Entry, message: Message, *, under: str | None = None) -> Entry:
        """Append what an ended attempt said as the reply, as `finish_round` does; the attempt stays (behaviour D5)."""

    async def record_result(self, session: str, parent: str, result: ToolResultPart) -> Entry:
        """Append one tool's result under `parent` and make it the leaf."""

    async def reschedule(self, entry: Entry, retry_at: datetime | None, *, retry: int | None = None) -> Entry:
        """Move or clear the time an attempt's retry is due; with `retry`, which n of its schedule that is.

        0 is of no schedule: the user chose the time, and the retry has a full budget (behaviour R12).
        """

    async def append(self, session: str, data: EntryData, *, under: str | None = None) -> Entry:
        """Append a change or a notice under the leaf and make it the leaf.

        With `under` it is appended there, and the leaf moves only if it stood there.
        """

    async def move_leaf(self, session: str, entry: str | None) -> None:
        """Stand at `entry` (None = before the first). Deletes nothing; an unknown id is a LogError.

        The session's model becomes that of the branch there (behaviour B8).
        """

    async def queue(self, session: str, queued: Queued) -> Entry:
        """Keep a message for its delivery; the leaf stays."""

    async def requeue(self, entry: Entry, queued: Queued) -> Entry:
        """Change a queued message in its place."""

    async def unqueue(self, *entries: Entry) -> None:
        """Take messages off the queue, all of them or none; one that is delivered already stays on its branch."""


class HoldResult(StrEnum):
    """How a wait ended."""

    ELAPSED = "elapsed"
    NOW = "now"
    CANCELLED = "cancelled"


class RetryGate(Protocol):
    """Where a scheduled retry waits."""

    async def hold(self, pending: PendingRetry, ready: Coroutine[Any, Any, None] | None = None) -> HoldResult:
        """Wait until ``pending.due_at``, or until `ready` has ended, or until somebody decides.

        One of the two is set. Cancelling the task ends the wait, and `ready`, at once.
        """


class Reachability(Protocol):
    """Whether the system has a network (behaviour D14)."""

    @property
    def is_offline(self) -> bool:
        """True only while the system reports that there is none; False when it does not know."""

    async def back_online(self) -> None:
        """Return once `is_offline` is False."""


class Queue(Protocol):
    """The messages that wait for their delivery (behaviour I4)."""

    def steers(self) -> Sequence[Entry]:
        """What is to be delivered before the next request, in order; empty = nothing."""


class ToolRunner(Protocol):
    """The tools of a turn."""

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools offered with the next request; empty = none."""

    async def run(self, call: ToolCallPart) -> ToolResultPart:
        """Run one call. A failing tool is a result with `is_error`, never an exception."""


class Questions(Protocol):
    """Who answers the engine's questions."""

    async def round_limit(self, rounds: int) -> Answer:
        """Go on after `rounds` tool rounds? Nobody there means STOP."""


@dataclass(frozen=True, slots=True)
class History:
    """A session as it is opened: its active branch, and the attempts hanging under each entry of it, oldest first.

    `nodes` is the shape of all its branches, `queue` what waits for its delivery, oldest first.
    """

    session: Session
    branch: tuple[Entry, ...]
    attempts: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    nodes: tuple[Node, ...] = ()
    queue: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Slice:
    """A piece of a session that is read bit by bit: entries of its branch, oldest first, and the attempts under them.

    `nodes` goes on with the shape of all its branches, oldest first; `more_nodes` says that others follow them.
    """

    entries: tuple[Entry, ...]
    attempts: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    nodes: tuple[Node, ...] = ()
    more_nodes: bool = False


@dataclass(frozen=True, slots=True)
class Opening:
    """What is read first of a session: the end of its branch. However long that is, it costs no more but for an index.

    `newest` ends with the leaf and holds a prompt, if there is one; it goes on above its first entry unless that has
    no parent. `settings` are the changes of the session's own settings above it.
    """

    session: Session
    newest: Slice
    settings: tuple[Entry, ...] = ()
    queue: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """Unsent composer text and the cursor in it."""

    text: str
    cursor: int = 0


class Sessions(Protocol):
    """Reading and listing sessions. All raise LogError."""

    async def list(self) -> tuple[Session, ...]:
        """Every session, newest activity first."""

    async def load(self, session: str) -> History:
        """One session, whole. A damaged entry is left out and said in a Notice, never an exception."""

    async def limits_met(self, since: datetime) -> tuple[Entry, ...]:
        """The attempts begun since then that failed with a 429 or a Retry-After (behaviour D3), oldest first.

        One that cannot be read is left out.
        """

    async def open(self, session: str) -> Opening:
        """The end of a session; `older` reads the rest."""

    async def older(self, session: str, below: Entry | None, nodes_after: str | None) -> Slice:
        """The next piece, in the background: what stands above `below`, and the nodes behind that of this id.

        With None there is nothing of the one or the other.
        """

    async def rename(self, session: str, title: str) -> Session:
        """Give a session another title (1 to 64 characters after trimming)."""

    async def fork(self, session: str, entry: str | None) -> Session:
        """A new session with a copy of the branch root -> `entry` (None = of nothing), which records where it came
        from (behaviour B11). Asked again before anything was added to it, it is the same one (F78).
        """

    async def trash(self, session: str, moment: datetime | None) -> None:
        """Take a session out of the list, or (None) put it back; nothing of it is deleted."""


class Drafts(Protocol):
    """Unsent text per session; the key ``""`` is the new chat."""

    async def load(self) -> Mapping[str, Draft]:
        """Every draft."""

    async def save(self, session: str, draft: Draft | None) -> None:
        """Keep or forget one."""


@dataclass(frozen=True, slots=True)
class SettingsProblem:
    """Something in the settings that was set aside: the key and a sentence."""

    key: str
    sentence: str


class SettingsStore(Protocol):
    """The settings file, validated. Values are plain Python values under dotted keys (behaviour D17)."""

    def values(self) -> Mapping[str, Any]:
        """Every known key with its value in force: overrides of this run, then the file, then the default."""

    def problems(self) -> Sequence[SettingsProblem]:
        """What was set aside when the file was read."""

    async def write(self, key: str, value: Any) -> SettingsProblem | None:
        """Store one value, keeping comments and outside edits; a bad value is returned, not stored."""


class Catalog(Protocol):
    """The providers and models there are."""

    def models(self) -> tuple[ModelInfo, ...]:
        """What the picker offers, in order."""

    def default(self) -> ModelRef | None:
        """The model of a new chat."""

    def fallback(self) -> ModelRef | None:
        """Who answers when another model's retries are exhausted; None when nobody is set (behaviour D13)."""

    def route(self, ref: ModelRef) -> Route:
        """How `ref` is reached."""

    def provider(self, ref: ModelRef) -> CompletionProvider:
        """Who answers for `ref`. Raises CompletionError when there is none."""
