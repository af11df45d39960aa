"""How long a provider asks to wait, in every form it is said (behaviour D3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

_NUMBER = re.compile(r"\d{1,15}(\.\d{1,15})?|\.\d{1,15}")
_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")
_EPOCH_MS = 1e11
"""A plain number from here on is a time in milliseconds, from `_EPOCH_S` on one in seconds since 1970."""
_EPOCH_S = 1e8
LONGEST_S = 366 * 86_400.0
"""Nobody waits longer than a year: what is asked beyond it is asked as a year, whatever nonsense it was."""


def from_headers(headers: Mapping[str, str], now: datetime, *, limits: bool = True) -> float | None:
    """Seconds to wait by the headers (lower-case names), or None.

    ``retry-after-ms`` wins over ``retry-after``, which wins over ``x-ratelimit-reset*`` and ``*-reset`` dates. What is
    negative, past or unreadable says nothing; 0 means now. Dates count from the response's own ``date`` when it has
    one. `limits` off leaves the rate-limit headers out.
    """
    asked_s = _from_headers(headers, _date(headers.get("date", "")) or now, limits=limits)
    return None if asked_s is None else min(asked_s, LONGEST_S)


def _from_headers(headers: Mapping[str, str], now: datetime, *, limits: bool) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    if (text := headers.get("retry-after")) is not None and (asked_s := _wait(text, now)) is not None:
        return asked_s
    return _from_limits(headers, now) if limits else None


def from_body(body: Any) -> float | None:
    """Seconds to wait by an error body: Google's RetryInfo, or headers a gateway wrapped into it; else None."""
    asked_s = _from_body(body)
    return None if asked_s is None else min(asked_s, LONGEST_S)


def _from_body(body: Any) -> float | None:
    match body:
        case list():
            return next((asked_s for item in body[:20] if (asked_s := _from_body(item)) is not None), None)
        case {"error": dict() | list() as inner}:
            return _from_body(inner)
        case {"metadata": {"headers": dict() as wrapped}}:
            return from_headers({str(k).lower(): str(v) for k, v in wrapped.items()}, datetime.now(UTC))
        case {"details": list() as details}:
            return next((asked_s for item in details[:50] if (asked_s := _retry_info(item)) is not None), None)
        case _:
            return None


def _retry_info(detail: Any) -> float | None:
    match detail:
        case {"@type": str() as kind, "retryDelay": str() as text} if kind.endswith("RetryInfo"):
            return _duration(text)
        case {"@type": str() as kind, "retryDelay": dict() as parts} if kind.endswith("RetryInfo"):
            seconds, nanos = _number(str(parts.get("seconds", 0))), _number(str(parts.get("nanos", 0)))
            return None if seconds is None or nanos is None else seconds + nanos / 1e9
        case _:
            return None


def _from_limits(headers: Mapping[str, str], now: datetime) -> float | None:
    """The reset of the limit that is used up; without that word, the nearest reset."""
    resets: dict[str, float] = {}
    for name, text in headers.items():
        if "ratelimit" in name and "reset" in name and (asked_s := _reset(text, now)) is not None:
            resets[name] = asked_s
    used_up = [
        wait for name, wait in resets.items() if headers.get(name.replace("reset", "remaining"), "").strip() == "0"
    ]
    return max(used_up) if used_up else min(resets.values(), default=None)


def _reset(text: str, now: datetime) -> float | None:
    number = _number(text)
    if number is None:
        return _wait(text, now) if _duration(text) is None else _duration(text)
    if number >= _EPOCH_MS:
        number /= 1000
    elif number < _EPOCH_S:
        return number
    left_s = number - now.timestamp()
    return left_s if left_s >= 0 else None


def _wait(text: str, now: datetime) -> float | None:
    number = _number(text)
    if number is not None:
        return number
    date = _date(text)
    if date is None:
        return None
    left_s = (date - now).total_seconds()
    return left_s if left_s >= 0 else None


def _number(text: str) -> float | None:
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def _duration(text: str) -> float | None:
    """Seconds of ``26s``, ``1.5s``, ``6m0s``, ``1h2m3s`` or ``120ms``."""
    text = text.strip()
    found = _DURATION.fullmatch(text) if len(text) <= 40 else None
    if found is None or not text:
        return None
    days, hours, minutes, seconds, milliseconds = (float(piece or 0) for piece in found.groups())
    return days * 86400 + hours * 3600 + minutes * 60 + seconds + milliseconds / 1000


def _date(text: str) -> datetime | None:
    """An HTTP date or an ISO one; a date without a zone is UTC."""
    text = text.strip()
    if not 8 <= len(text) <= 60:
        return None
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, IndexError, TypeError):
        try:
            date = datetime.fromisoformat(text)
        except ValueError:
            return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
