"""What the retry schedules are called, and what one comes to in a line."""

from __future__ import annotations

from reprise.domain.retry import PolicyName, RetryPolicy
from reprise.ui.language import counted, duration, tr

_LISTED = 4
_PLAIN_S = 100
"""Waits that are all shorter are a row of numbers with one unit behind it."""


def schedule_names() -> list[tuple[str, str]]:
    """The schedules there are, as (value, name), in the order they are offered in."""
    return [
        (PolicyName.STEADY.value, tr("Steady")),
        (PolicyName.EXPONENTIAL.value, tr("Exponential")),
        (PolicyName.CUSTOM.value, tr("Custom")),
        (PolicyName.OFF.value, tr("Off")),
    ]


def sum_of(policy: RetryPolicy) -> str:
    """Count and sum (behaviour D2): "10 retries over 6 min 20 s"."""
    if not policy.schedule:
        return tr("No retries by itself")
    total = duration(sum(policy.schedule))
    count = counted(policy.retries, tr("1 retry"), tr("{n} retries"))
    form = tr("{count} over at most {total}") if policy.jitter else tr("{count} over {total}")
    return form.format(count=count, total=total)


def preview_of(policy: RetryPolicy) -> str:
    """The waits and what they come to, in one line: "5, 10, 15 … 80 s: 10 retries over 6 min 20 s"."""
    if not policy.schedule:
        return sum_of(policy)
    return tr("{waits}: {sum}").format(waits=_waits(policy.schedule), sum=sum_of(policy))


def _waits(schedule: tuple[float, ...]) -> str:
    first = schedule if len(schedule) <= _LISTED else schedule[: _LISTED - 1]
    if max(schedule) < _PLAIN_S:
        *before, last = [str(round(wait)) for wait in (*first, *schedule[len(first) :][-1:])]
        last = tr("{s} s").format(s=last)
    else:
        *before, last = [duration(wait) for wait in (*first, *schedule[len(first) :][-1:])]
    return f"{', '.join(before)} … {last}" if len(first) < len(schedule) else ", ".join([*before, last])
