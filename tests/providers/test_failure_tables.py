"""The tables of codes and words, row by row."""

from __future__ import annotations

import pytest

from reprise.domain.failures import FailureKind, is_retryable_text
from reprise.providers.failure_tables import (
    BILLING,
    CODES,
    DECISIVE_CODES,
    FINISHES,
    KEY_REFUSED,
    MALFORMED,
    OVERFLOW,
    REFUSED,
    TRANSIENT,
    Words,
    kind_of_status,
)
from reprise.providers.http_failures import kind_of_words

ROWS = (*BILLING, *OVERFLOW, *MALFORMED, *TRANSIENT, *KEY_REFUSED, *REFUSED)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.met)
def test_every_row_holds_its_text(row: Words) -> None:
    """F25: texts are data, each with the string it was met with; all tables together agree with the row."""
    assert row.pattern.search(row.met)
    assert kind_of_words(row.met)[0] is row.kind


@pytest.mark.parametrize(
    ("text", "kind", "retryable"),
    [
        ("overloaded_error", FailureKind.OVERLOADED, True),
        ("Provider returned error: 429 Too Many Requests", FailureKind.RATE_LIMIT, True),
        ("rate limit exceeded", FailureKind.RATE_LIMIT, True),
        ("HTTP 503 Service Unavailable", FailureKind.SERVER, True),
        ("websocket closed", FailureKind.NETWORK, True),
        ("stream ended before message_stop", FailureKind.SERVER, True),
        ("socket hang up", FailureKind.NETWORK, True),
        ("reset before headers", FailureKind.NETWORK, True),
        ("Connection closed.", FailureKind.NETWORK, True),
        ("ECONNRESET", FailureKind.NETWORK, True),
        ("ETIMEDOUT", FailureKind.TIMEOUT, True),
        ("HTTP 529", FailureKind.OVERLOADED, True),
        ("bad request: missing field", FailureKind.BAD_REQUEST, False),
        ("Unauthorized", FailureKind.AUTH, False),
        ("model not found", FailureKind.BAD_REQUEST, False),
        ("the sky is green", FailureKind.UNKNOWN, False),
        ("", FailureKind.UNKNOWN, False),
        # Digits inside numbers and ids mean nothing (R33, R41, F2, design rule 12).
        ("prompt is too long: 215000 tokens > 200000", FailureKind.CONTEXT_LENGTH, False),
        ("quota exceeded after 503 requests", FailureKind.QUOTA, False),
        ("429 insufficient_quota: add credit", FailureKind.QUOTA, False),
        ("rate limit: too many tokens per minute", FailureKind.RATE_LIMIT, True),
    ],
)
def test_words_without_status_or_type(text: str, kind: FailureKind, retryable: bool) -> None:
    """D1: R40 to R43 first, then the texts of R22, else unknown and not retryable (R23, R33, F1 to F4)."""
    assert kind_of_words(text) == (kind, retryable)


def test_what_only_the_texts_of_last_resort_know_is_unknown_and_retryable() -> None:
    """D1, R22: these texts have the last word on what the tables do not know."""
    assert is_retryable_text("request req_a5030b failed")
    assert kind_of_words("request req_a5030b failed") == (FailureKind.UNKNOWN, True)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (307, FailureKind.BAD_REQUEST),
        (400, FailureKind.BAD_REQUEST),
        (401, FailureKind.AUTH),
        (402, FailureKind.QUOTA),
        (403, FailureKind.AUTH),
        (404, FailureKind.BAD_REQUEST),
        (408, FailureKind.TIMEOUT),
        (409, FailureKind.SERVER),
        (413, FailureKind.CONTEXT_LENGTH),
        (418, FailureKind.BAD_REQUEST),
        (422, FailureKind.BAD_REQUEST),
        (429, FailureKind.RATE_LIMIT),
        (500, FailureKind.SERVER),
        (502, FailureKind.SERVER),
        (503, FailureKind.SERVER),
        (504, FailureKind.TIMEOUT),
        (520, FailureKind.SERVER),
        (524, FailureKind.TIMEOUT),
        (529, FailureKind.OVERLOADED),
        (599, FailureKind.SERVER),
    ],
)
def test_status_classes(status: int, kind: FailureKind) -> None:
    """D1, R41, R45."""
    assert kind_of_status(status) is kind


def test_codes_are_lower_case_and_in_one_table() -> None:
    """Codes are looked up in lower case, the decisive ones first."""
    assert all(code == code.lower() for table in (CODES, DECISIVE_CODES, FINISHES) for code in table)
    assert not CODES.keys() & DECISIVE_CODES.keys()
