"""Where a session stands, read off its log: what is pending, and what can be kept, gone on from or given back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from reprise.domain.failures import RETRYABLE_KINDS
from reprise.domain.messages import Message, ModelRef, Part, ReplyInfo, Role
from reprise.domain.ports import Clock, History
from reprise.domain.retry import LONGEST_WAIT_S, PendingRetry
from reprise.domain.sessions import (
    Attempt,
    AttemptState,
    Entry,
    ModelChange,
    answered_entry,
    newest_partial,
    prompt_entry,
    readable_parts,
    stands_in_for,
)

KEPT = "stopped"
"""The finish reason of a partial that was kept as the reply (behaviour D5)."""


def pending_in(history: History, clock: Clock) -> PendingRetry | None:
    """What is pending in a session (behaviour B1, D8); None when nothing is.

    ``due_at`` is set when a retry is scheduled and not yet due: one whose time has passed is never fired unasked.
    """
    answers = answered_entry(history.branch)
    if answers is None or not isinstance(answers.data, Message):
        return None
    prompt = prompt_entry(history.branch)
    text = prompt.data.text if prompt is not None and isinstance(prompt.data, Message) else ""
    pending = PendingRetry(text, after_tools=answers.data.role is Role.TOOL)
    attempts = history.attempts.get(answers.id, ())
    if not attempts or not isinstance(attempt := attempts[-1].data, Attempt):
        return pending
    due_s = _seconds_until(attempt.retry_at, clock)
    pending = pending.waiting_until(None if due_s is None else clock.now() + due_s)
    if attempt.state is not AttemptState.FAILED:
        return pending
    return replace(
        pending,
        failure=attempt.failure,
        retry=attempt.retry,
        retries=attempt.retries,
        ask_s=_asked_s(attempt, clock),
    )


def is_answering(history: History) -> bool:
    """Whether an attempt runs: what it says is in no message yet."""
    attempts = (entry.data for under in history.attempts.values() for entry in under)
    return any(isinstance(attempt, Attempt) and attempt.state is AttemptState.OPEN for attempt in attempts)


def keepable(history: History) -> Entry | None:
    """The attempt whose words stand under what is pending: they can be kept, or gone on from (behaviour D5)."""
    answers = answered_entry(history.branch)
    if answers is None:
        return None
    partial = newest_partial(history.attempts.get(answers.id, ()))
    if partial is None or not isinstance(partial.data, Attempt) or partial.data.state is AttemptState.OPEN:
        return None
    return partial if _says_something(readable_parts(partial.data.parts)) else None


def unfinished_reply(branch: Sequence[Entry]) -> Entry | None:
    """The reply at the end of a branch if it stops short: cut at the output limit, or a partial that was kept (D9)."""
    entry = _last_message(branch)
    if entry is None or not isinstance(message := entry.data, Message) or (reply := message.reply) is None:
        return None
    stops_short = reply.is_cut or reply.finish_reason == KEPT
    return entry if stops_short and _says_something(readable_parts(message.parts)) else None


def unfinished(history: History) -> Entry | None:
    """What can be gone on from: the words under what is pending, else a reply that stops short."""
    return keepable(history) or unfinished_reply(history.branch)


def reply_in(branch: Sequence[Entry], id_: str | None = None) -> Entry | None:
    """A reply of a branch, or (None) its last message if that is one."""
    entry = _last_message(branch) if id_ is None else find(branch, id_)
    is_reply = entry is not None and isinstance(entry.data, Message) and entry.data.role is Role.ASSISTANT
    return entry if is_reply else None


def prompt_in(branch: Sequence[Entry], id_: str) -> Entry | None:
    """A prompt of a branch."""
    entry = find(branch, id_)
    is_prompt = entry is not None and isinstance(entry.data, Message) and entry.data.role is Role.USER
    return entry if is_prompt else None


def find(entries: Sequence[Entry], id_: str) -> Entry | None:
    """An entry by its id; what is looked for stands near the end as a rule."""
    return next((entry for entry in reversed(entries) if entry.id == id_), None)


def switched_from(branch: Sequence[Entry]) -> tuple[ModelRef, ModelRef] | None:
    """The fallback that answers at the end of a branch, and whom it stands in for (behaviour D13); else None."""
    for entry in reversed(branch):
        match entry.data:
            case ModelChange(model, before) | Message(reply=ReplyInfo(model=model, fallback_from=before)):
                return None if before is None else (model, before)
    return None


def kept_reply(attempt: Attempt, branch: Sequence[Entry]) -> Message:
    """What an attempt at the end of `branch` said, as the reply (behaviour D5)."""
    before = stands_in_for(branch, attempt.model)
    info = ReplyInfo(attempt.model, KEPT, fallback_from=before, goes_on_from=attempt.goes_on_from)
    return Message(Role.ASSISTANT, readable_parts(attempt.parts), info)


def _last_message(branch: Sequence[Entry]) -> Entry | None:
    return next((entry for entry in reversed(branch) if isinstance(entry.data, Message)), None)


def _says_something(parts: Sequence[Part]) -> bool:
    message = Message(Role.ASSISTANT, tuple(parts))
    return bool(message.text.strip() or message.thinking.strip())


def _asked_s(attempt: Attempt, clock: Clock) -> float | None:
    """What is left of a wait over the cap that the provider asked for (behaviour D3)."""
    failure = attempt.failure
    if failure is None or failure.retryable or failure.kind not in RETRYABLE_KINDS:
        return None
    if failure.retry_after_s is None or attempt.ended_at is None:
        return None
    left_s = failure.retry_after_s - (clock.utc() - attempt.ended_at).total_seconds()
    return left_s if left_s > 0 else None


def _seconds_until(moment: datetime | None, clock: Clock) -> float | None:
    left_s = 0.0 if moment is None else (moment - clock.utc()).total_seconds()
    # Further ahead than anybody may schedule: the computer's clock was wrong then, and nothing counts for years.
    return left_s if 0 < left_s <= LONGEST_WAIT_S else None
