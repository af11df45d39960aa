"""Exceptions as the failures they stand for."""

from __future__ import annotations

import logging

from reprise.domain.failures import Failure, FailureKind, failure_from_exception
from reprise.domain.ports import LogError

logger = logging.getLogger("reprise.engine")


def failure_of(error: Exception) -> Failure:
    """Why an attempt ended with `error`."""
    if isinstance(error, LogError):
        return storage_failure(error)
    failure = failure_from_exception(error)
    if failure.kind is FailureKind.BUG:
        logger.error("an attempt ended with a bug", exc_info=error)
    return failure


def storage_failure(error: LogError, behind: Failure | None = None) -> Failure:
    """Our own disk refused; `behind` is the provider's failure that was to be recorded (behaviour D19)."""
    detail = None if behind is None or behind.kind is FailureKind.STORAGE else behind.message
    return Failure(FailureKind.STORAGE, str(error), retryable=False, provider_detail=detail)
