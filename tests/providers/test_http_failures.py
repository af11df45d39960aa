"""Responses and in-stream errors as typed failures."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprise.domain.failures import Failure, FailureKind
from reprise.providers.http_failures import Exchange, failure_in_stream, failure_of_finish, failure_of_response
from reprise.providers.provider_words import redact, words_of

URL = "https://host/v1/chat/completions"
KEY = "sk-verysecret-123"


def response(status: int, body: Any = b"", **headers: str) -> Failure:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return failure_of_response(Exchange(URL, status=status, headers=names, secrets=(KEY,)), raw)


def in_stream(value: Any) -> Failure:
    return failure_in_stream(Exchange(URL, status=200, headers={}), value)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, {"error": {"type": "insufficient_quota", "message": "You exceeded your current quota"}}, "quota"),
        (429, {"error": {"message": "You exceeded your current quota, please check your billing."}}, "quota"),
        (429, {"error": {"message": "Rate limit reached. Limit 500, used 503."}}, "rate_limit"),
        (429, {"error": {"code": "1308", "message": "5-hour limit"}}, "quota"),
        (400, {"error": {"message": "This model's maximum context length is 8192 tokens."}}, "context_length"),
        (400, {"error": {"type": "exceed_context_size_error", "n_ctx": 512}}, "context_length"),
        (500, {"error": "the request exceeds the available context size"}, "context_length"),
        (400, {"error": {"message": "Your credit balance is too low"}}, "quota"),
        (400, {"error": {"status": "INVALID_ARGUMENT", "message": "API key not valid", "code": 400}}, "auth"),
        (400, {"error": {"code": "content_filter", "message": "filtered"}}, "content_filter"),
        (400, {"error": {"message": "max_tokens 15000 is over 4096"}}, "bad_request"),
        (500, {"error": {"message": "image input is not supported"}}, "bad_request"),
        (500, {"error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded"),
        (503, {"error": "The servers are currently busy."}, "overloaded"),
        (401, {"error": {"message": "timeout 500 503"}}, "auth"),
        (404, {"error": {"message": "model not found, request req_500503"}}, "bad_request"),
        (408, {"error": "idle"}, "timeout"),
        (529, b"", "overloaded"),
    ],
)
def test_class_comes_from_code_and_status_before_words(status: int, body: Any, kind: str) -> None:
    """D1, R33, R40, R41, R43, F2, F3, F4, design rule 12: digits inside words decide nothing."""
    assert response(status, body).kind == kind


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "Bad thing"}}, "Bad thing"),
        ({"error": "Bad thing"}, "Bad thing"),
        ({"message": "Bad thing"}, "Bad thing"),
        ({"detail": "Bad thing"}, "Bad thing"),
        ({"detail": [{"loc": ["body", "x"], "msg": "required"}, {"msg": "also"}]}, "body.x: required; also"),
        ([{"error": {"message": "Bad thing"}}], "Bad thing"),
        ({"errors": [{"message": "one"}, {"message": "two"}]}, "one; two"),
        ({"errors": ["one", "two"]}, "one; two"),
        ({"object": "error", "message": "Bad thing", "code": 400}, "Bad thing"),
        ({"error": {"message": '{"error": {"message": "inner"}}'}}, "inner"),
        ({"error": {"error": {"message": "Bad thing"}}}, "Bad thing"),
        ({"error": "invalid", "error_description": "Bad thing"}, "Bad thing"),
        ({"base_resp": {"status_code": 1008, "status_msg": "Bad thing"}}, "Bad thing"),
        ({"error": {"code": "some_code"}}, "some_code"),
        (b"plain words", "plain words"),
        (b'data: {"error":{"message":"Bad thing"}}\n\n', "Bad thing"),
        (b"<html><title>502</title></html>", "400 Bad Request"),
        (b"\xef\xbb\xbf<!DOCTYPE html>", "400 Bad Request"),
        (b"", "400 Bad Request"),
        ({}, "400 Bad Request"),
        ({"error": None}, "400 Bad Request"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        ({"error": {"message": "line\nbreak\x00\ud83d"}}, "line break \ufffd"),
    ],
)
def test_the_providers_words_out_of_every_shape(body: Any, message: str) -> None:
    """Words, never markup, never nothing."""
    assert response(400, body).message == message


def test_words_are_cut_at_500_characters() -> None:
    """P4."""
    message = response(400, {"error": "x" * 5000}).message
    assert len(message) == 500
    assert message.endswith("…")


def test_404_shows_method_and_address() -> None:
    failure = response(404, b"404 page not found")
    assert failure.message == f"POST {URL} answered 404 Not Found: 404 page not found"
    assert not failure.retryable


def test_a_redirect_names_the_place() -> None:
    """Not followed, and the key stays here."""
    failure = response(307, location="/v1/chat/completions/")
    assert "/v1/chat/completions/" in failure.message
    assert (failure.kind, failure.retryable) == (FailureKind.BAD_REQUEST, False)


def test_the_key_never_comes_back() -> None:
    """A server that echoes the key, anywhere, does not bring it into a message."""
    failure = response(401, {"error": {"message": f"bad key {KEY}", "code": KEY}}, x_request_id=KEY)
    assert KEY not in repr(failure)
    assert redact('"a\\"b" a%22b x', ['a"b', "x"]) == '"[key]" [key] [key]'
    assert redact("an EMPTY word", ["EMPT"]) == "an EMPTY word"


def test_request_ids_and_details_are_kept() -> None:
    """N9, F15: what support asks for."""
    failure = response(500, {"error": {"message": "m", "type": "server_error"}}, x_request_id="req_1")
    assert (failure.request_id, failure.provider_detail, failure.status) == ("req_1", "server_error", 500)
    assert response(500, {"error": {"message": "m"}, "request_id": "req_2"}).request_id == "req_2"


@pytest.mark.parametrize(
    ("status", "headers", "retryable", "retry_after_s"),
    [
        (500, {"x_should_retry": "false"}, False, None),
        (429, {"x_should_retry": "false", "retry_after": "3"}, False, 3),
        (400, {"x_should_retry": "true"}, False, None),
        (429, {"retry_after": "120"}, True, 120),
        (429, {"retry_after": "121"}, False, 121),
        (503, {"retry_after": "5"}, True, 5),
        (500, {"x_ratelimit_reset": "5"}, True, None),
        (429, {"x_ratelimit_reset": "5"}, True, 5),
    ],
)
def test_what_the_headers_say_about_trying_again(
    status: int, headers: dict[str, str], retryable: bool, retry_after_s: float | None
) -> None:
    """D1, D3."""
    failure = response(status, b"", **headers)
    assert (failure.retryable, failure.retry_after_s) == (retryable, retry_after_s)


@pytest.mark.parametrize(
    ("value", "kind", "status"),
    [
        ({"error": {"code": 429, "message": "Rate limit"}}, "rate_limit", 429),
        ({"error": {"code": "502", "message": "Upstream lost"}}, "server", 502),
        ({"error": {"type": "overloaded_error", "message": "x"}}, "overloaded", None),
        (
            {"error": {"type": "invalid_request_error", "message": "maximum context length is 9"}},
            "context_length",
            None,
        ),
        ({"error": {"type": "invalid_request_error", "message": "no such thing"}}, "bad_request", None),
        ({"error": "model runner has unexpectedly stopped"}, "server", None),
        ({"error": "something odd"}, "server", None),
        ("something odd", "server", None),
        ({"error": {}, "type": "error"}, "server", None),
        ({"error": {"type": "insufficient_quota"}}, "quota", None),
        ({"error": {"status": "RESOURCE_EXHAUSTED", "message": "slow"}}, "rate_limit", None),
        ({"error": "invalid api key"}, "auth", None),
    ],
)
def test_errors_inside_a_stream(value: Any, kind: str, status: int | None) -> None:
    """D1: the same classes as by status; what fits nothing is the server's, retryable."""
    failure = in_stream(value)
    assert (failure.kind, failure.status) == (kind, status)
    assert failure.message


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("stop", None),
        ("length", None),
        ("eos_token", None),
        ("MALFORMED_FUNCTION_CALL", None),
        ("content_filter", "content_filter"),
        ("SAFETY", "content_filter"),
        ("error", "server"),
        ("network_error", "network"),
    ],
)
def test_finish_words(reason: str, kind: str | None) -> None:
    """F16, L17: an unknown word is a normal end."""
    failure = failure_of_finish(Exchange(URL), reason)
    assert (failure and failure.kind) == kind
    assert failure is None or reason in failure.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "code", "type", "details", "metadata", "detail", "status", "loc"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.integers(300, 599), st.binary(max_size=60) | JSON.map(lambda v: json.dumps(v).encode()))
def test_any_response_is_one_failure_with_words(status: int, body: bytes) -> None:
    """D1: never an exception, never empty words."""
    failure = response(status, body)
    assert failure.message
    assert failure.kind is not FailureKind.BUG


@settings(deadline=None)
@given(JSON)
def test_any_error_value_is_one_failure_with_words(value: Any) -> None:
    """Whatever shape it has."""
    assert in_stream(value).message
    words_of(value)
