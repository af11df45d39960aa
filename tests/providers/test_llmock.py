"""Against a server written by others that breaks on purpose."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from reprise.domain.deltas import Partial
from reprise.domain.failures import Failure, FailureKind
from reprise.domain.messages import ModelRef, user_message
from reprise.domain.models import CompletionRequest
from reprise.providers.endpoint import Endpoint, Timeouts
from reprise.providers.openai_compatible import OpenAICompatible
from support.breaker import Breaker, running
from support.replies import take


@pytest.fixture(scope="module")
def server() -> Iterator[Breaker]:
    with running() as breaker:
        yield breaker


@pytest.fixture
def breaker(server: Breaker) -> Breaker:
    server.reset()
    return server


REQUEST = CompletionRequest(ModelRef("own", "gpt-4o"), (user_message("Tell me of the sea, at some length."),))


def ask(breaker: Breaker, times: int = 1, **timeouts: float) -> list[tuple[Partial, Failure | None]]:
    async def main() -> list[tuple[Partial, Failure | None]]:
        provider = OpenAICompatible(Endpoint(breaker.url, "sk-test"), timeouts=Timeouts(**timeouts), environ={})
        try:
            return [await take(provider, REQUEST) for _ in range(times)]
        finally:
            await provider.aclose()

    return asyncio.run(main())


def test_a_good_reply(breaker: Breaker) -> None:
    """Text, finish and counts, over one kept connection."""
    breaker.will("reply", text="The sea is wide.", times=None)
    for partial, failure in ask(breaker, times=2):
        assert failure is None
        assert partial.text == "The sea is wide."
        assert partial.finish_reason == "stop"
        assert partial.usage is not None
        assert partial.usage.output


def test_a_rate_limit_names_its_wait_and_then_lets_through(breaker: Breaker) -> None:
    """D3: 429 with Retry-After."""
    breaker.will("fail", status=429, retry_after=2)
    (_, failure), (partial, none) = ask(breaker, times=2)
    assert failure is not None
    assert (failure.kind, failure.retry_after_s, failure.status) == (FailureKind.RATE_LIMIT, 2, 429)
    assert failure.retryable
    assert none is None
    assert partial.text


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, "bad_request", False),
        (401, "auth", False),
        (403, "auth", False),
        (404, "bad_request", False),
        (500, "server", True),
        (502, "server", True),
        (503, "server", True),
        (529, "overloaded", True),
    ],
)
def test_statuses(breaker: Breaker, status: int, kind: str, retryable: bool) -> None:
    """D1: the server's own error bodies."""
    breaker.will("fail", status=status)
    ((_, failure),) = ask(breaker)
    assert failure is not None
    assert (failure.status, failure.retryable) == (status, retryable)
    assert failure.kind == kind or (status == 503 and failure.kind is FailureKind.OVERLOADED)
    assert failure.message


def test_a_context_overflow_is_never_retried(breaker: Breaker) -> None:
    words = "This model's maximum context length was exceeded."
    breaker.will("fail", status=400, code="context_length_exceeded", message=words)
    ((_, failure),) = ask(breaker)
    assert failure is not None
    assert (failure.kind, failure.retryable) == (FailureKind.CONTEXT_LENGTH, False)


def test_a_connection_that_breaks_keeps_the_partial(breaker: Breaker) -> None:
    """F59, D5."""
    breaker.breaks("disconnect")
    ((partial, failure),) = ask(breaker)
    assert failure is not None
    assert (failure.kind, failure.retryable) == (FailureKind.NETWORK, True)
    assert partial.text


def test_a_stream_that_ends_early_is_a_failure(breaker: Breaker) -> None:
    """D10, F54."""
    breaker.breaks("truncate")
    ((partial, failure),) = ask(breaker)
    assert failure is not None
    assert (failure.kind, failure.retryable) == (FailureKind.PROTOCOL, True)
    assert partial.text


def test_a_damaged_event_is_a_failure(breaker: Breaker) -> None:
    breaker.breaks("malformed")
    ((partial, failure),) = ask(breaker)
    assert failure is not None
    assert (failure.kind, failure.retryable) == (FailureKind.PROTOCOL, True)
    assert partial.text


def test_a_stall_runs_into_the_idle_limit(breaker: Breaker) -> None:
    """P2, F65."""
    breaker.breaks("stall", stall_seconds=2.0)
    ((partial, failure),) = ask(breaker, idle_s=0.3)
    assert failure is not None
    assert (failure.kind, failure.retryable) == (FailureKind.TIMEOUT, True)
    assert partial.text


def test_a_slow_first_token_is_waited_for(breaker: Breaker) -> None:
    """F65: the first byte has its own, longer limit."""
    breaker.will("slow_first_token", seconds=0.5)
    ((partial, failure),) = ask(breaker, idle_s=0.2)
    assert failure is None
    assert partial.text
