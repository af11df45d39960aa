"""The append-only log as values: entries, sessions, branches, and what is pending."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import takewhile
from typing import Any

from reprise.domain.failures import Failure
from reprise.domain.lines import one_line, shortened
from reprise.domain.messages import Message, ModelRef, Part, Role, TextPart, ThinkingPart


class AttemptState(StrEnum):
    """`OPEN` while its request runs; `INTERRUPTED` when the program died under it (set at the next start)."""

    OPEN = "open"
    FAILED = "failed"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a round that did not (yet) become a message.

    `number` counts the requests of this round from 1. `parts` is what arrived. `retry_at` (UTC) is set while a
    scheduled retry waits, so that the countdown goes on after a restart (behaviour D8); `retry` and `retries`
    are that schedule's "n of N". `failure` is set only when `state` is `FAILED`. `goes_on_from` is the entry whose
    text `parts` begins with, when this attempt went on from a cut reply or an earlier attempt.
    """

    model: ModelRef
    number: int = 1
    state: AttemptState = AttemptState.OPEN
    parts: tuple[Part, ...] = ()
    failure: Failure | None = None
    ended_at: datetime | None = None
    retry: int = 0
    retries: int = 0
    retry_at: datetime | None = None
    goes_on_from: str | None = None


@dataclass(frozen=True, slots=True)
class ModelChange:
    """From here on the branch is answered by `model`; `fallback_from` is whom it stands in for, if it does (D13)."""

    model: ModelRef
    fallback_from: ModelRef | None = None


@dataclass(frozen=True, slots=True)
class ParamsChange:
    """From here on the branch has these settings of its own: plain values under the keys of the settings.

    None takes a setting of its own back. One of them only a branch has: `shortening.LEFT_OUT`.
    """

    values: Mapping[str, Any] = field(hash=False)


class Delivery(StrEnum):
    """When a message sent while a turn runs is delivered (behaviour I4)."""

    STEER = "steer"
    FOLLOW_UP = "follow_up"


@dataclass(frozen=True, slots=True)
class Queued:
    """A message that waits for its delivery. It hangs beside the branch and is never the leaf."""

    message: Message
    delivery: Delivery = Delivery.STEER


@dataclass(frozen=True, slots=True)
class Notice:
    """A line from the program itself; never part of what is pending (behaviour L25)."""

    text: str


EntryData = Message | Attempt | ModelChange | ParamsChange | Notice | Queued


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of the log. `parent` is None at the root; `at` is UTC. An attempt is never the leaf."""

    id: str
    session: str
    parent: str | None
    at: datetime
    data: EntryData


@dataclass(frozen=True, slots=True)
class Session:
    """One stored conversation as lists show it.

    `pending` and `retry_at` are derived from the log, never stored (behaviour D8): `retry_at` (UTC) is when the retry
    of what is pending is due, past or not; None when none is scheduled. `forked_from` is the session this one was
    forked from.
    """

    id: str
    title: str
    leaf: str | None
    created_at: datetime
    updated_at: datetime
    model: ModelRef | None = None
    pending: bool = False
    retry_at: datetime | None = None
    forked_from: str | None = None


def branch(entries: Mapping[str, Entry], leaf: str | None) -> tuple[Entry, ...]:
    """The path root -> `leaf`. Raises KeyError for an unknown id and ValueError for a loop."""
    path: list[Entry] = []
    while leaf is not None:
        entry = entries[leaf]
        path.append(entry)
        if len(path) > len(entries):
            raise ValueError(f"entry {entry.id} is its own ancestor")
        leaf = entry.parent
    path.reverse()
    return tuple(path)


def up_to(path: Iterable[Entry], last: Entry) -> tuple[Entry, ...]:
    """The part of a branch that ends with `last`, an entry of it."""
    return (*takewhile(lambda entry: entry.id != last.id, path), last)


def messages(path: Iterable[Entry]) -> tuple[Message, ...]:
    """The messages of a branch, in order."""
    return tuple(entry.data for entry in path if isinstance(entry.data, Message))


def answered_entry(path: Sequence[Entry]) -> Entry | None:
    """The user or tool message at the end of a branch that still waits for a reply (behaviour B1), else None."""
    for entry in reversed(path):
        if isinstance(entry.data, Message):
            return entry if entry.data.role in (Role.USER, Role.TOOL) else None
    return None


def newest_partial(attempts: Sequence[Entry]) -> Entry | None:
    """The newest attempt under an entry that said something, else None.

    What it said stays with the prompt until a later attempt says something itself (behaviour D5).
    """
    for entry in reversed(attempts):
        if isinstance(entry.data, Attempt) and entry.data.parts:
            return entry
    return None


def prompt_entry(path: Sequence[Entry]) -> Entry | None:
    """The newest user message of a branch: the prompt of its last turn."""
    for entry in reversed(path):
        if isinstance(entry.data, Message) and entry.data.role is Role.USER:
            return entry
    return None


def model_of(path: Sequence[Entry]) -> ModelRef | None:
    """Who answers at the end of a branch: its newest model change or reply decides (behaviour B8)."""
    for entry in reversed(path):
        match entry.data:
            case ModelChange(model=model):
                return model
            case Message(reply=reply) if reply is not None:
                return reply.model
    return None


def stands_in_for(path: Sequence[Entry], model: ModelRef) -> ModelRef | None:
    """Whom `model` stands in for since a fallback in the last turn of a branch, if it does (behaviour D13)."""
    for entry in reversed(path):
        if isinstance(entry.data, Message) and entry.data.role is Role.USER:
            break
        if isinstance(entry.data, ModelChange):
            return entry.data.fallback_from if entry.data.model == model else None
    return None


def params_of(path: Iterable[Entry]) -> dict[str, Any]:
    """The settings of its own that a branch has: its changes, one over the other (behaviour B8)."""
    values: dict[str, Any] = {}
    for entry in path:
        if isinstance(entry.data, ParamsChange):
            values |= entry.data.values
    return {key: value for key, value in values.items() if value is not None}


def readable_parts(parts: Iterable[Part]) -> tuple[Part, ...]:
    """What can be kept, or gone on from: text and reasoning. A call that was not answered is neither (D12)."""
    return tuple(part for part in parts if isinstance(part, TextPart | ThinkingPart))


def title_of(text: str, limit: int = 60) -> str:
    """A session's title: the first line of its first prompt with something on it, control characters left out."""
    for line in text.splitlines():
        if words := one_line(line):
            return shortened(words, limit)
    return "New chat"
