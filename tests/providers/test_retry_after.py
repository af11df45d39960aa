"""How long a provider asks to wait."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprise.providers.retry_after import LONGEST_S, from_body, from_headers

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def http_date(seconds: float) -> str:
    return format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "asked_s"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": " 7 "}, 7),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "0"}, 0),
        ({"retry-after": "86400"}, 86400),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": http_date(30)}, 30),
        ({"retry-after": http_date(-30)}, None),
        ({"retry-after": "Sun, 99 Foo 2026 12:00:00 GMT"}, None),
        ({"retry-after": (NOW + timedelta(seconds=9)).isoformat()}, 9),
        # A server with a clock of its own counts from its own date.
        ({"retry-after": http_date(3630), "date": http_date(3600)}, 30),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after-ms": "later", "retry-after": "2"}, 2),
        ({"x-ratelimit-reset": "20"}, 20),
        ({"x-ratelimit-reset": "6m0s"}, 360),
        ({"x-ratelimit-reset": "120ms"}, 0.12),
        ({"x-ratelimit-reset": "1h2m3.5s"}, 3723.5),
        ({"x-ratelimit-reset": str(int(NOW.timestamp()) + 12)}, 12),
        ({"x-ratelimit-reset": str((int(NOW.timestamp()) + 12) * 1000)}, 12),
        ({"x-ratelimit-reset": str(int(NOW.timestamp()) - 12)}, None),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, 1),
        (
            {
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-reset-tokens": "9s",
                "x-ratelimit-remaining-requests": "5",
                "x-ratelimit-remaining-tokens": "0",
            },
            9,
        ),
        ({"anthropic-ratelimit-tokens-reset": (NOW + timedelta(seconds=8)).isoformat()}, 8),
        ({"retry-after": "3", "x-ratelimit-reset": "20"}, 3),
        ({}, None),
    ],
)
def test_headers_in_every_form(headers: dict[str, str], asked_s: float | None) -> None:
    """D3, F7: the most exact form wins, what cannot be read says nothing, 0 means now."""
    assert from_headers(headers, NOW) == (None if asked_s is None else pytest.approx(asked_s))


def test_rate_limit_headers_are_left_out_where_no_limit_was_hit() -> None:
    """D3: good replies carry them as well."""
    assert from_headers({"x-ratelimit-reset": "20"}, NOW, limits=False) is None


@pytest.mark.parametrize(
    ("body", "asked_s"),
    [
        ([{"error": {"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "26s"}]}}], 26),
        ({"error": {"details": [{"@type": "x/QuotaFailure"}, {"@type": "x/RetryInfo", "retryDelay": "1.5s"}]}}, 1.5),
        ({"error": {"details": [{"@type": "x/RetryInfo", "retryDelay": {"seconds": 3, "nanos": 500000000}}]}}, 3.5),
        ({"error": {"details": [{"@type": "x/RetryInfo", "retryDelay": "soon"}]}}, None),
        ({"error": {"metadata": {"headers": {"Retry-After": "7"}}}}, 7),
        ({"error": "Slow down"}, None),
        ([], None),
        (None, None),
        ("7", None),
    ],
)
def test_bodies_that_name_a_delay(body: Any, asked_s: float | None) -> None:
    """D3: Google's RetryInfo, in an array too, and headers that a gateway wrapped."""
    assert from_body(body) == asked_s


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-reset", "date"]), st.text()))
def test_any_header_gives_a_wait_from_zero_or_none(headers: dict[str, str]) -> None:
    """Never negative, never endless, never an exception."""
    asked_s = from_headers(headers, NOW)
    assert asked_s is None or 0 <= asked_s < float("inf")


@pytest.mark.parametrize("name", ["retry-after", "retry-after-ms", "x-ratelimit-reset"])
def test_nobody_is_asked_to_wait_longer_than_a_year(name: str) -> None:
    """D3: a wait beyond any date is nonsense, and still a reason to ask."""
    assert from_headers({name: "86400000000000"}, NOW) == LONGEST_S


def test_a_body_is_held_to_a_year_too() -> None:
    """D3."""
    detail = {"@type": "google.rpc.RetryInfo", "retryDelay": "99999999999s"}
    assert from_body({"error": {"details": [detail]}}) == LONGEST_S
