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
    """F25, R40, R43: texts are data, each with the string it was met with; all tables together agree with the row."""
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
    """D1: R40, R41, R42, R43, then the texts of R22, else unknown and not retryable (R23, R33, F1, F2, F3, F4)."""
    assert kind_of_words(text) == (kind, retryable)


@pytest.mark.parametrize(
    "text",
    [
        "GoUsageLimitError",
        "FreeUsageLimitError",
        "Monthly usage limit reached",
        "your available balance is 0",
        "insufficient_quota",
        "out of budget",
        "quota exceeded",
        "billing is not set up",
        "subscription_sharing_usage_limit_exceeded",
        "subscription_sharing_user_usage_limit_exceeded",
        '{"code": 1308, "message": "429 too many requests"}',
        "429 rate limit: Monthly usage limit reached, server_busy",
    ],
)
def test_an_empty_account_is_never_asked_again_whatever_else_the_words_say(text: str) -> None:
    """R40: checked first."""
    assert kind_of_words(text) == (FailureKind.QUOTA, False)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 520, 524])
def test_a_status_in_words_counts_as_a_whole_token_only(status: int) -> None:
    """R41: not inside an id, a version or a number."""
    kind, retryable = kind_of_words(f"upstream said {status}, sorry")
    assert retryable
    assert kind is not FailureKind.UNKNOWN
    for inside in (f"req_{status}a", f"{status}00", f"1{status}", f"v1.{status}", f"a-{status}-b"):
        assert kind_of_words(f"unknown trouble {inside}")[0] is FailureKind.UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        "server_busy",
        "the servers are currently busy",
        "we are currently experiencing high demand",
        "the model is at capacity",
        "the service is temporarily unavailable",
        "provider returned an error",
        "exceeded request buffer limit while retrying upstream",
        "unable to forward upstream",
        "upstream request failed",
        "upstream_stream_read_error",
        "the stream was interrupted",
        "http/2 stream failed",
        "connection closed",
        "request to http://host/v1 failed, reason: it went away",
        "getaddrinfo failed",
        "ENOTFOUND",
        "EAI_AGAIN",
        "read ECONNRESET",
        "connect ECONNABORTED",
        "connect ECONNREFUSED",
        "connect ETIMEDOUT",
        "write EPIPE",
        "connection reset by peer",
        "the socket connection was closed",
        "websocket connection limit reached",
        "stream ended before a terminal response event",
        "stream disconnected before completion",
        "it was cut short after the reply had begun",
        "pending stream has been canceled",
        "you can retry your request",
        "try your request again",
        "please retry your request",
        "ResourceExhausted",
        "subscription_sharing_usage_unavailable",
        "subscription_sharing_user_unavailable",
    ],
)
def test_each_text_of_a_passing_trouble_is_retried(text: str) -> None:
    """R42: whatever the case, and never by the texts of last resort alone."""
    for words in (text, text.upper()):
        kind, retryable = kind_of_words(words)
        assert retryable
        assert kind is not FailureKind.UNKNOWN


@pytest.mark.parametrize("text", ["theECONNRESETs", "SEPIPED", "rate the limit"])
def test_a_code_inside_a_word_is_no_passing_trouble(text: str) -> None:
    """R42: whole tokens."""
    assert kind_of_words(text) == (FailureKind.UNKNOWN, False)


@pytest.mark.parametrize(
    "text",
    [
        "rate limit reached: too many tokens per minute",
        "too many requests: too many tokens",
        "Throttling error: too many tokens, please wait",
        "Service unavailable: too many tokens in flight",
    ],
)
def test_words_of_a_limit_are_no_overflow(text: str) -> None:
    """R43, F4: a limit passes by waiting, and nothing is to be made shorter."""
    kind, retryable = kind_of_words(text)
    assert retryable
    assert kind is not FailureKind.CONTEXT_LENGTH


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
    """D1, R45: the status itself, as a number."""
    assert kind_of_status(status) is kind


def test_codes_are_lower_case_and_in_one_table() -> None:
    """Codes are looked up in lower case, the decisive ones first."""
    assert all(code == code.lower() for table in (CODES, DECISIVE_CODES, FINISHES) for code in table)
    assert not CODES.keys() & DECISIVE_CODES.keys()
