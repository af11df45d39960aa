"""When to try again: the schedules, Retry-After, jitter, the ceiling."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprise.domain.failures import Failure, FailureKind
from reprise.domain.retry import (
    EXPONENTIAL_RETRIES,
    STEADY_RETRIES,
    Ask,
    Decision,
    GiveUp,
    GiveUpReason,
    PolicyName,
    RetryPolicy,
    Wait,
    backoff_s,
    exponential_schedule,
    policy,
    steady_schedule,
)

LOST = Failure(FailureKind.NETWORK, "connection lost", True)


def busy(retry_after_s: float, *, retryable: bool = True) -> Failure:
    return Failure(FailureKind.RATE_LIMIT, "slow down", retryable, retry_after_s)


def decide(schedule: RetryPolicy, failure: Failure, retry: int, waited_s: float = 0.0) -> Decision:
    return schedule.decide(failure, retry, waited_s, Random(1))


def test_the_steady_schedule() -> None:
    """R1: 5, 10, 15, 20, then ten more each; ten retries by default; none for zero or less."""
    assert STEADY_RETRIES == 10
    assert steady_schedule(0) == ()
    assert steady_schedule(-3) == ()
    assert steady_schedule(4) == (5.0, 10.0, 15.0, 20.0)
    ten = steady_schedule(10)
    assert ten[:4] == (5.0, 10.0, 15.0, 20.0)
    assert ten[4:] == (30.0, 40.0, 50.0, 60.0, 70.0, 80.0)
    assert ten == policy(PolicyName.STEADY).schedule
    assert policy(PolicyName.STEADY).retries == 10


@pytest.mark.parametrize(
    ("retry", "base_s", "cap_s", "expected"),
    [
        (1, 1.0, 60.0, 1.0),
        (2, 1.0, 60.0, 2.0),
        (9, 1.0, 60.0, 60.0),
        (0, 1.0, 60.0, 1.0),
        (11, 0.001, float("inf"), 1.024),
        (12, 0.001, float("inf"), 1.024),
    ],
)
def test_the_backoff_grows_and_caps(retry: int, base_s: float, cap_s: float, expected: float) -> None:
    """R21: doubles from the base, never over the cap, exponent at most ten, retry 0 as retry 1."""
    assert backoff_s(retry, base_s, cap_s) == pytest.approx(expected)


def test_the_exponential_defaults() -> None:
    """R20, D2: five retries, base 1 s, cap 60 s."""
    assert EXPONENTIAL_RETRIES == 5
    assert policy(PolicyName.EXPONENTIAL).schedule == (1.0, 2.0, 4.0, 8.0, 16.0)
    assert exponential_schedule(9)[-2:] == (60.0, 60.0)


def test_max_retries_counts_under_every_policy_and_base_and_cap_only_under_two() -> None:
    """D17."""
    assert policy(PolicyName.STEADY, max_retries=2, base_s=9.0, cap_s=1.0).schedule == (5.0, 10.0)
    assert policy(PolicyName.EXPONENTIAL, max_retries=2).schedule == (1.0, 2.0)
    assert policy(PolicyName.CUSTOM, max_retries=3, base_s=3.0, cap_s=7.0).schedule == (3.0, 6.0, 7.0)
    assert policy(PolicyName.OFF, max_retries=9).schedule == ()


@given(st.integers(1, 500), st.integers(0, 40))
def test_backoff_never_passes_the_cap(retry: int, cap_s: int) -> None:
    """F6: however long the run of failures."""
    assert backoff_s(retry, 1.0, float(cap_s)) <= cap_s


def test_each_failure_waits_its_step_until_the_schedule_ends() -> None:
    """R2, R6: attempts are one more than the delays."""
    schedule = RetryPolicy((5.0, 10.0))
    assert decide(schedule, LOST, 1) == Wait(5.0)
    assert decide(schedule, LOST, 2) == Wait(10.0)
    assert decide(schedule, LOST, 3) == GiveUp(GiveUpReason.EXHAUSTED)


def test_off_and_not_retryable_give_up_at_once() -> None:
    """R24."""
    assert decide(RetryPolicy(()), LOST, 1) == GiveUp(GiveUpReason.OFF)
    wrong_key = Failure(FailureKind.AUTH, "wrong key", False)
    assert decide(RetryPolicy((5.0,)), wrong_key, 1) == GiveUp(GiveUpReason.NOT_RETRYABLE)


def test_retry_after_wins_over_the_schedule() -> None:
    """D3: retry 1 waits exactly that long; a later one the larger of it and the schedule's previous step."""
    schedule = RetryPolicy((5.0, 10.0, 15.0))
    assert decide(schedule, busy(3.0), 1) == Wait(3.0, asked_by_provider=True)
    assert decide(schedule, busy(0.0), 1) == Wait(0.0, asked_by_provider=True)
    assert decide(schedule, busy(3.0), 2) == Wait(5.0, asked_by_provider=True)
    assert decide(schedule, busy(42.0), 3) == Wait(42.0, asked_by_provider=True)


def test_retry_after_has_no_retries_of_its_own() -> None:
    """D3, R2: the schedule's length is the budget, whoever names the wait."""
    assert decide(RetryPolicy((5.0,)), busy(3.0), 2) == GiveUp(GiveUpReason.EXHAUSTED)
    assert decide(RetryPolicy(()), busy(3.0), 1) == GiveUp(GiveUpReason.OFF)


@pytest.mark.parametrize("retryable", [True, False])
def test_retry_after_over_the_cap_asks(retryable: bool) -> None:
    """D3: whether or not the wire already marked the failure as not retryable."""
    assert decide(RetryPolicy((5.0,)), busy(121.0, retryable=retryable), 1) == Ask(121.0)
    assert decide(RetryPolicy((5.0,)), busy(120.0), 1) == Wait(120.0, asked_by_provider=True)
    assert decide(RetryPolicy((5.0,), after_cap_s=10.0), busy(11.0), 1) == Ask(11.0)


def test_retry_after_on_a_failure_that_is_never_retried_asks_nothing() -> None:
    """D1: a quota does not come back by waiting."""
    spent = Failure(FailureKind.QUOTA, "insufficient_quota", False, retry_after_s=3600.0)
    assert decide(RetryPolicy((5.0,)), spent, 1) == GiveUp(GiveUpReason.NOT_RETRYABLE)


def test_the_ceiling_bounds_the_waiting_of_a_turn() -> None:
    """D4: the wait that would pass it is not made; one that just reaches it is."""
    schedule = RetryPolicy((5.0,), ceiling_s=1800.0)
    assert decide(schedule, LOST, 1, waited_s=1795.0) == Wait(5.0)
    assert decide(schedule, LOST, 1, waited_s=1795.5) == GiveUp(GiveUpReason.CEILING)


@given(st.integers(0, 2**32), st.integers(1, 3))
def test_jitter_shortens_a_wait_to_no_less_than_half(seed: int, retry: int) -> None:
    """D2: a factor of 0.5 to 1, never 0."""
    schedule = (5.0, 10.0, 15.0)
    decision = RetryPolicy(schedule, jitter=True).decide(LOST, retry, 0.0, Random(seed))
    assert isinstance(decision, Wait)
    assert schedule[retry - 1] * 0.5 <= decision.delay_s <= schedule[retry - 1]


def test_jitter_is_seeded_off_by_default_and_never_touches_retry_after() -> None:
    """D2."""
    jittered = RetryPolicy((5.0,), jitter=True)
    assert jittered.decide(LOST, 1, 0.0, Random(3)) == jittered.decide(LOST, 1, 0.0, Random(3))
    assert jittered.decide(LOST, 1, 0.0, Random(3)) != jittered.decide(LOST, 1, 0.0, Random(4))
    assert jittered.decide(busy(3.0), 1, 0.0, Random(3)) == Wait(3.0, asked_by_provider=True)
    assert not policy(PolicyName.STEADY).jitter
