"""Why an attempt did not finish, as a typed value made at the wire; past the wire nobody reads an error string."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

AFTER_CAP_S = 120.0
"""A Retry-After longer than this is asked about, never waited for silently (behaviour D3)."""


class FailureKind(StrEnum):
    """The classes of behaviour D1, and `STORAGE`: our own disk refused a write (never retried by itself)."""

    AUTH = "auth"
    BAD_REQUEST = "bad_request"
    QUOTA = "quota"
    CONTEXT_LENGTH = "context_length"
    CONTENT_FILTER = "content_filter"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    SERVER = "server"
    NETWORK = "network"
    TIMEOUT = "timeout"
    PROTOCOL = "protocol"
    UNKNOWN = "unknown"
    BUG = "bug"
    STORAGE = "storage"


RETRYABLE_KINDS = frozenset(
    {
        FailureKind.RATE_LIMIT,
        FailureKind.OVERLOADED,
        FailureKind.SERVER,
        FailureKind.NETWORK,
        FailureKind.TIMEOUT,
        FailureKind.PROTOCOL,
        FailureKind.UNKNOWN,
    }
)

BUG_TYPES = (TypeError, AttributeError, NameError, AssertionError, LookupError)
"""Exceptions of our own making: never retried, offered as a report (behaviour D1)."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt did not finish.

    `message` and `provider_detail` are the provider's words (never a key); `retryable` says whether an automatic
    retry may be scheduled, whatever policy is in force; `retry_after_s` is the wait the provider asked for.
    """

    kind: FailureKind
    message: str
    retryable: bool
    retry_after_s: float | None = None
    status: int | None = None
    request_id: str | None = None
    provider_detail: str | None = None


def failure_fields(failure: Failure) -> dict[str, str | float | bool | None]:
    """A failure as JSON values, by the names it is stored and printed under: none of them may ever change.

    Without `provider_detail`, which is for the log and the window only.
    """
    return {
        "kind": failure.kind.value,
        "message": failure.message,
        "retryable": failure.retryable,
        "retry_after_s": failure.retry_after_s,
        "status": failure.status,
        "request_id": failure.request_id,
    }


class CompletionError(Exception):
    """Raised by a provider's stream: it carries the failure and nothing else is to be read from it."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def is_retryable(
    kind: FailureKind,
    *,
    should_retry: bool | None = None,
    retry_after_s: float | None = None,
    after_cap_s: float = AFTER_CAP_S,
) -> bool:
    """Whether a failure of `kind` may be retried (behaviour D1).

    `should_retry` is the provider's own word (`x-should-retry`); its no wins, and so does a Retry-After over the cap.
    """
    if should_retry is False or (retry_after_s is not None and retry_after_s > after_cap_s):
        return False
    return kind in RETRYABLE_KINDS


def failure_from_exception(error: BaseException) -> Failure:
    """The failure an exception stands for: a provider's own, one of our bugs, or unknown (retryable)."""
    if isinstance(error, CompletionError):
        return error.failure
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    kind = FailureKind.BUG if isinstance(error, BUG_TYPES) else FailureKind.UNKNOWN
    return Failure(kind, words, is_retryable(kind))


# Behaviour R22: the thirty texts that mean "try again"; ".?" stands for at most one character between.
_RETRYABLE_TEXT = re.compile(
    r"overloaded|provider.?returned.?error|rate.?limit|too many requests|429|500|502|503|504"
    r"|service.?unavailable|server.?error|internal.?error|network.?error|connection.?error"
    r"|connection.?refused|connection.?lost|websocket.?closed|websocket.?error|other side closed|fetch failed"
    r"|upstream.?connect|reset before headers|socket hang up|ended without|stream ended before message_stop"
    r"|http2 request did not get a response|timed? out|timeout|terminated|retry delay",
    re.IGNORECASE,
)


def is_retryable_text(message: str) -> bool:
    """Whether the words alone promise that another try may work (behaviour R22, R23).

    The last resort, for a message without status or type that fits no row of the providers' tables.
    """
    return _RETRYABLE_TEXT.search(message) is not None
