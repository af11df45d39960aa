"""A response's status, headers and body, or an error inside a stream, as a typed failure (behaviour D1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from reprise.domain.failures import AFTER_CAP_S, Failure, FailureKind, is_retryable, is_retryable_text
from reprise.providers import retry_after
from reprise.providers.failure_tables import (
    BILLING,
    CODES,
    DECISIVE_CODES,
    FINISHES,
    KEY_REFUSED,
    MALFORMED,
    NOT_OVERFLOW,
    OVERFLOW,
    REFUSED,
    TOO_LARGE,
    TRANSIENT,
    Words,
    kind_of_status,
)
from reprise.providers.provider_words import ProviderWords, clean, json_or_none, redact, words_of, words_of_body

_REQUEST_IDS = (
    "x-request-id",
    "request-id",
    "x-openai-request-id",
    "apim-request-id",
    "x-ms-request-id",
    "x-amzn-requestid",
)
_LIMITED = (FailureKind.RATE_LIMIT, FailureKind.OVERLOADED)


@dataclass(frozen=True, slots=True)
class Exchange:
    """What is known of a request when something goes wrong with it; `url` is shown, so it carries no key.

    `headers` have lower-case names and are those of the response, once there is one.
    """

    url: str
    method: str = "POST"
    status: int | None = None
    headers: Mapping[str, str] | None = None
    secrets: tuple[str, ...] = ()
    after_cap_s: float = AFTER_CAP_S

    @property
    def request_id(self) -> str | None:
        """What the provider calls this request."""
        headers = self.headers or {}
        found = next((headers[name] for name in _REQUEST_IDS if headers.get(name)), None)
        return redact(clean(found)[:200], self.secrets) if found else None

    def failure(
        self,
        kind: FailureKind,
        message: str,
        *,
        detail: str | None = None,
        retry_after_s: float | None = None,
        should_retry: bool | None = None,
        status: int | None = None,
        request_id: str | None = None,
    ) -> Failure:
        """A failure of this request, its words free of keys; a 2xx status is no news about it and left out."""
        retryable = is_retryable(
            kind, should_retry=should_retry, retry_after_s=retry_after_s, after_cap_s=self.after_cap_s
        )
        return Failure(
            kind,
            redact(clean(message), self.secrets),
            retryable,
            retry_after_s,
            status or (self.status if (self.status or 0) >= HTTPStatus.MULTIPLE_CHOICES else None),
            self.request_id or (redact(clean(request_id), self.secrets) if request_id else None),
            redact(clean(detail), self.secrets) if detail else None,
        )


def failure_of_response(exchange: Exchange, body: bytes) -> Failure:
    """The failure that a response without a 2xx status stands for; `body` may be cut or empty."""
    status = exchange.status or 0
    headers = exchange.headers or {}
    words = words_of_body(body)
    named_s = retry_after.from_body(json_or_none(body))
    kind = _kind_of_response(status, words, named_s)
    # Rate-limit headers stand on good replies too; they name a wait only where a limit was hit.
    asked_s = retry_after.from_headers(headers, datetime.now(UTC), limits=kind in _LIMITED)
    should_retry = {"true": True, "false": False}.get(headers.get("x-should-retry", "").strip().lower())
    return exchange.failure(
        kind,
        _message_of_response(exchange, status, headers, words),
        detail=words.detail,
        retry_after_s=named_s if asked_s is None else asked_s,
        should_retry=should_retry,
        request_id=words.request_id,
    )


def _message_of_response(exchange: Exchange, status: int, headers: Mapping[str, str], words: ProviderWords) -> str:
    name = status_name(status)
    if 300 <= status < 400:
        location = clean(headers.get("location", "")) or "an unnamed place"
        return f"{name}: {exchange.url} moved to {location}; the key is not sent there. Change the address."
    if status == HTTPStatus.NOT_FOUND:
        return f"{exchange.method} {exchange.url} answered {name}{': ' + words.message if words.message else ''}"
    return words.message or name


def status_name(status: int) -> str:
    """``502 Bad Gateway``, or the bare number for one that has no name."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _kind_of_response(status: int, words: ProviderWords, named_s: float | None) -> FailureKind:
    """By code, then by status; words only make it more exact, and never by their digits (design rule 12)."""
    if (decisive := _by_codes(words.codes, DECISIVE_CODES)) is not None:
        return decisive
    kind = kind_of_status(status)
    if status in (400, 413, 422, 500) and (found := overflow(words.message)) is not None:
        return found
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        if TOO_LARGE.search(words.message):
            return FailureKind.CONTEXT_LENGTH
        # "Quota" beside a named delay is a rate limit (a quota per minute).
        if named_s is None and _by_words(words.message, BILLING) is not None:
            return FailureKind.QUOTA
    if status in (400, 403) and _by_words(words.message, BILLING) is not None:
        return FailureKind.QUOTA
    if status == HTTPStatus.BAD_REQUEST and FailureKind.AUTH in (
        _by_codes(words.codes, CODES),
        _by_words(words.message, KEY_REFUSED),
    ):
        return FailureKind.AUTH
    if status >= 500:
        if _by_words(words.message, MALFORMED) is not None:
            return FailureKind.BAD_REQUEST
        overloaded = _by_codes(words.codes, CODES) is FailureKind.OVERLOADED
        if overloaded or (status == 503 and _by_words(words.message, TRANSIENT) is FailureKind.OVERLOADED):
            return FailureKind.OVERLOADED
    return kind


def failure_in_stream(exchange: Exchange, value: Any) -> Failure:
    """The failure an error object or string stands for that came with a 2xx status.

    Gateways that have begun to stream report this way; passed over, it would look like an empty or cut reply.
    """
    words = words_of(value)
    named_s = retry_after.from_body(value)
    kind = _kind_in_stream(words, named_s)
    message = words.message or "The server reported an error without saying which."
    return exchange.failure(
        kind,
        message,
        detail=words.detail,
        retry_after_s=named_s,
        status=words.status,
        request_id=words.request_id,
    )


def _kind_in_stream(words: ProviderWords, named_s: float | None) -> FailureKind:
    if (decisive := _by_codes(words.codes, DECISIVE_CODES)) is not None:
        return decisive
    if words.status is not None:
        return _kind_of_response(words.status, words, named_s)
    by_code = _by_codes(words.codes, CODES)
    if by_code in (None, FailureKind.BAD_REQUEST, FailureKind.SERVER):
        if (found := overflow(words.message)) is not None:
            return found
        if _by_words(words.message, MALFORMED) is not None:
            return FailureKind.BAD_REQUEST
    if by_code is FailureKind.RATE_LIMIT and TOO_LARGE.search(words.message):
        return FailureKind.CONTEXT_LENGTH
    if by_code is not None:
        return by_code
    kind, _ = kind_of_words(words.message)
    # Inside a stream, what fits nothing is the server's own failure (behaviour D1).
    return FailureKind.SERVER if kind is FailureKind.UNKNOWN else kind


def failure_of_finish(exchange: Exchange, reason: str) -> Failure | None:
    """The failure a finish word stands for, None for a normal end (behaviour F16)."""
    kind = FINISHES.get(reason.lower())
    if kind is None:
        return None
    if kind is FailureKind.CONTENT_FILTER:
        return exchange.failure(kind, f"The provider's filter stopped the reply ({reason}).")
    return exchange.failure(kind, f"The provider gave the reply up ({reason}).")


def overflow(message: str) -> FailureKind | None:
    """`CONTEXT_LENGTH` when the words say that the prompt does not fit (behaviour R43)."""
    if NOT_OVERFLOW.search(message) and not TOO_LARGE.search(message):
        return None
    return _by_words(message, OVERFLOW)


def kind_of_words(message: str) -> tuple[FailureKind, bool]:
    """Class and retryability of words that came with neither a status nor a type (behaviour D1, R40 to R43, R22).

    What fits nothing is unknown; then only the texts of R22 can still make it retryable.
    """
    kind = (
        _by_words(message, BILLING)
        or overflow(message)
        or _by_words(message, (*MALFORMED, *TRANSIENT, *KEY_REFUSED, *REFUSED))
    )
    if kind is not None:
        return kind, is_retryable(kind)
    return FailureKind.UNKNOWN, is_retryable_text(message)


def _by_codes(codes: Iterable[str], table: Mapping[str, FailureKind]) -> FailureKind | None:
    return next((table[code] for code in codes if code in table), None)


def _by_words(message: str, rows: Iterable[Words]) -> FailureKind | None:
    return next((row.kind for row in rows if row.pattern.search(message)), None)
