"""What providers call their failures, as data: codes and types first, words only where nothing better is there.

Each row of `WORDS` carries a text it was met with; a test holds every row to it (behaviour F25). Texts that are newly
met are added here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus

from reprise.domain.failures import FailureKind

STATUSES: dict[int, FailureKind] = {
    401: FailureKind.AUTH,
    402: FailureKind.QUOTA,
    403: FailureKind.AUTH,
    407: FailureKind.NETWORK,
    408: FailureKind.TIMEOUT,
    409: FailureKind.SERVER,
    413: FailureKind.CONTEXT_LENGTH,
    425: FailureKind.SERVER,
    429: FailureKind.RATE_LIMIT,
    499: FailureKind.NETWORK,
    504: FailureKind.TIMEOUT,
    524: FailureKind.TIMEOUT,
    529: FailureKind.OVERLOADED,
}
"""Behaviour D1, R43 and R45 by HTTP status; every other 3xx and 4xx is a bad request, every other 5xx the server's."""


def kind_of_status(status: int) -> FailureKind:
    """The class of an HTTP status from 300 on."""
    return STATUSES.get(
        status, FailureKind.SERVER if status >= HTTPStatus.INTERNAL_SERVER_ERROR else FailureKind.BAD_REQUEST
    )


DECISIVE_CODES: dict[str, FailureKind] = {
    # Quota and billing: waiting does not help (behaviour R40, F3).
    "insufficient_quota": FailureKind.QUOTA,
    "quota_exceeded": FailureKind.QUOTA,
    "billing_hard_limit_reached": FailureKind.QUOTA,
    "billing_not_active": FailureKind.QUOTA,
    "billing_error": FailureKind.QUOTA,
    "insufficient_balance": FailureKind.QUOTA,
    "insufficient_credits": FailureKind.QUOTA,
    "payment_required": FailureKind.QUOTA,
    "exceeded_current_quota_error": FailureKind.QUOTA,
    "access_terminated_error": FailureKind.QUOTA,
    "gousagelimiterror": FailureKind.QUOTA,
    "freeusagelimiterror": FailureKind.QUOTA,
    "usage_limit_reached": FailureKind.QUOTA,
    "usage_limit_exceeded": FailureKind.QUOTA,
    "subscription_sharing_usage_limit_exceeded": FailureKind.QUOTA,
    "subscription_sharing_user_usage_limit_exceeded": FailureKind.QUOTA,
    "1113": FailureKind.QUOTA,
    "1308": FailureKind.QUOTA,
    # The prompt does not fit (behaviour R43).
    "context_length_exceeded": FailureKind.CONTEXT_LENGTH,
    "context_window_exceeded": FailureKind.CONTEXT_LENGTH,
    "contextwindowexceedederror": FailureKind.CONTEXT_LENGTH,
    "exceed_context_size_error": FailureKind.CONTEXT_LENGTH,
    "request_too_large": FailureKind.CONTEXT_LENGTH,
    "string_above_max_length": FailureKind.CONTEXT_LENGTH,
    "tokens_limit_reached": FailureKind.CONTEXT_LENGTH,
    "model_max_prompt_tokens_exceeded": FailureKind.CONTEXT_LENGTH,
    "1261": FailureKind.CONTEXT_LENGTH,
    # Refused by a filter.
    "content_filter": FailureKind.CONTENT_FILTER,
    "content_policy_violation": FailureKind.CONTENT_FILTER,
    "responsibleaipolicyviolation": FailureKind.CONTENT_FILTER,
    "data_inspection_failed": FailureKind.CONTENT_FILTER,
    "1301": FailureKind.CONTENT_FILTER,
}
"""Codes and types that decide even against the status."""

CODES: dict[str, FailureKind] = {
    "invalid_api_key": FailureKind.AUTH,
    "authentication_error": FailureKind.AUTH,
    "invalid_authentication_error": FailureKind.AUTH,
    "permission_error": FailureKind.AUTH,
    "permission_denied": FailureKind.AUTH,
    "permission_denied_error": FailureKind.AUTH,
    "unauthenticated": FailureKind.AUTH,
    "unauthorized": FailureKind.AUTH,
    "forbidden": FailureKind.AUTH,
    "account_deactivated": FailureKind.AUTH,
    "invalid_request_error": FailureKind.BAD_REQUEST,
    "invalid_request": FailureKind.BAD_REQUEST,
    "invalid_argument": FailureKind.BAD_REQUEST,
    "invalid_value": FailureKind.BAD_REQUEST,
    "badrequesterror": FailureKind.BAD_REQUEST,
    "bad_request": FailureKind.BAD_REQUEST,
    "not_found": FailureKind.BAD_REQUEST,
    "not_found_error": FailureKind.BAD_REQUEST,
    "notfounderror": FailureKind.BAD_REQUEST,
    "model_not_found": FailureKind.BAD_REQUEST,
    "not_supported_error": FailureKind.BAD_REQUEST,
    "unsupported_parameter": FailureKind.BAD_REQUEST,
    "failed_precondition": FailureKind.BAD_REQUEST,
    "rate_limit_error": FailureKind.RATE_LIMIT,
    "rate_limit_exceeded": FailureKind.RATE_LIMIT,
    "rate_limit_reached_error": FailureKind.RATE_LIMIT,
    "ratelimiterror": FailureKind.RATE_LIMIT,
    "rate_limited": FailureKind.RATE_LIMIT,
    "too_many_requests": FailureKind.RATE_LIMIT,
    "throttling": FailureKind.RATE_LIMIT,
    "throttling_error": FailureKind.RATE_LIMIT,
    "throttlingexception": FailureKind.RATE_LIMIT,
    "resource_exhausted": FailureKind.RATE_LIMIT,
    "resourceexhausted": FailureKind.RATE_LIMIT,
    "1302": FailureKind.RATE_LIMIT,
    "1303": FailureKind.RATE_LIMIT,
    "overloaded": FailureKind.OVERLOADED,
    "overloaded_error": FailureKind.OVERLOADED,
    "engine_overloaded": FailureKind.OVERLOADED,
    "engine_overloaded_error": FailureKind.OVERLOADED,
    "server_busy": FailureKind.OVERLOADED,
    "slow_down": FailureKind.OVERLOADED,
    "1305": FailureKind.OVERLOADED,
    "server_error": FailureKind.SERVER,
    "api_error": FailureKind.SERVER,
    "internal": FailureKind.SERVER,
    "internal_error": FailureKind.SERVER,
    "internal_server_error": FailureKind.SERVER,
    "internalservererror": FailureKind.SERVER,
    "unavailable": FailureKind.SERVER,
    "unavailable_error": FailureKind.SERVER,
    "service_unavailable": FailureKind.SERVER,
    "upstream_error": FailureKind.SERVER,
    "subscription_sharing_usage_unavailable": FailureKind.SERVER,
    "subscription_sharing_user_unavailable": FailureKind.SERVER,
    "timeout": FailureKind.TIMEOUT,
    "timeout_error": FailureKind.TIMEOUT,
    "request_timeout": FailureKind.TIMEOUT,
    "deadline_exceeded": FailureKind.TIMEOUT,
}
"""Codes and types that decide where no HTTP status does: inside a stream."""

FINISHES: dict[str, FailureKind] = {
    "error": FailureKind.SERVER,
    "abort": FailureKind.SERVER,
    "network_error": FailureKind.NETWORK,
    "insufficient_system_resource": FailureKind.OVERLOADED,
    "content_filter": FailureKind.CONTENT_FILTER,
    "content_filtered": FailureKind.CONTENT_FILTER,
    "safety": FailureKind.CONTENT_FILTER,
    "prohibited_content": FailureKind.CONTENT_FILTER,
    "blocklist": FailureKind.CONTENT_FILTER,
    "spii": FailureKind.CONTENT_FILTER,
    "recitation": FailureKind.CONTENT_FILTER,
    "sensitive": FailureKind.CONTENT_FILTER,
    "refusal": FailureKind.CONTENT_FILTER,
}
"""Finish words (lower case) that are failures (behaviour F16); any other is a normal end, kept raw: servers make up
new ones, and a reply that is there is never lost over one."""


@dataclass(frozen=True, slots=True)
class Words:
    """A pattern, the class it stands for, and a text it was met with."""

    pattern: re.Pattern[str]
    kind: FailureKind
    met: str


def _rows(kind: FailureKind, *rows: tuple[str, str]) -> tuple[Words, ...]:
    return tuple(Words(re.compile(pattern, re.IGNORECASE), kind, met) for pattern, met in rows)


NOT_OVERFLOW = re.compile(r"rate limit|too many requests|^throttling error:|^service unavailable:", re.IGNORECASE)
"""Texts that say these never mean an overflow (behaviour R43), except where the request itself is too large."""

TOO_LARGE = re.compile(r"request (is )?too large|input or output tokens must be reduced", re.IGNORECASE)
"""A 429 that waiting cannot mend: the request alone is over the limit."""

OVERFLOW: tuple[Words, ...] = _rows(
    FailureKind.CONTEXT_LENGTH,
    (r"prompt (is )?too long", "prompt is too long: 215000 tokens > 200000 maximum"),
    (r"request_too_large", "request_too_large: Request exceeds the maximum size"),
    (r"request (is )?too large", "Request too large for m on tokens per min (TPM): Limit 30000, Requested 38112."),
    (
        r"exceed(s|ed)? the (model'?s )?(maximum )?context (window|length)",
        "Your input exceeds the context window of this model.",
    ),
    (r"maximum context length", "This model's maximum context length is 8192 tokens."),
    (r"context[_ ]length[_ ]exceeded", "context_length_exceeded"),
    (r"context[_ ]window[_ ]exceed", "context window exceeds limit (2013)"),
    (r"exceeds? (the )?available context size", "the request exceeds the available context size, try increasing it"),
    (r"exceed_context_size", "exceed_context_size_error"),
    (r"greater than the context length", "The prompt has 5000 tokens, greater than the context length of 4096."),
    (r"(too many|number of) tokens.*(exceed|over)|too many tokens", "too many tokens in the prompt"),
    (r"prompt exceeds max length", "Prompt exceeds max length"),
    (
        r"exceeds? (the )?max(imum)?[_ ](model|prompt|sequence|input)[_ ](len|length|tokens)",
        "exceeds maximum input length",
    ),
    (r"input (is )?too long", "input is too long for requested model"),
    (
        r"input token count.*exceeds the maximum",
        "The input token count (1196265) exceeds the maximum number of tokens allowed",
    ),
    (r"(input|prompt) tokens? exceed", "input tokens exceed the configured limit of 922000 tokens"),
    (r"maximum prompt length", "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
    (r"reduce the length of the (messages|prompt|input)", "Please reduce the length of the messages or completion."),
    (
        r"exceeded max context length|exceeds? (the )?(limit|length) of \d+",
        "prompt token count exceeds the limit of 128000",
    ),
    (r"larger than the (maximum )?context", "The prompt is larger than the context the model was loaded with"),
    (r"model_context_window_exceeded", "model_context_window_exceeded"),
    (
        r"trying to keep the first \d+ tokens when context overflows",
        "Trying to keep the first 4000 tokens when context overflows.",
    ),
)

BILLING: tuple[Words, ...] = _rows(
    FailureKind.QUOTA,
    (r"GoUsageLimitError", "GoUsageLimitError: try later"),
    (r"FreeUsageLimitError", "FreeUsageLimitError"),
    (r"(monthly|weekly|daily)? ?usage limit reached", "Monthly usage limit reached"),
    (r"available balance", "This request exceeds your available balance."),
    (r"insufficient[_ ](quota|balance|credit|funds)", "429 insufficient_quota: add credit"),
    (r"out of (budget|credits?)", "You are out of budget."),
    (r"quota exceeded|exceeded (your|the) (current |monthly )?quota", "You exceeded your current quota"),
    (r"credit balance is too low", "Your credit balance is too low to access the API."),
    (r"billing", "please check your plan and billing details"),
    (r"subscription_sharing_\w*usage_limit_exceeded", "subscription_sharing_user_usage_limit_exceeded"),
    (r'"code": ?"?1308', '{"code": 1308}'),
)

MALFORMED: tuple[Words, ...] = _rows(
    FailureKind.BAD_REQUEST,
    (r"roles must alternate", "Conversation roles must alternate user/assistant/user/assistant/..."),
    (
        r"(no user query|only user and assistant roles|after the optional system message)",
        "Only user and assistant roles are supported!",
    ),
    (r"image input is not supported", "image input is not supported - hint: you may need to provide the mmproj"),
)
"""Requests that can never succeed although the server calls it its own failure (500): retries would be in vain."""

TRANSIENT: tuple[Words, ...] = (
    *_rows(
        FailureKind.RATE_LIMIT,
        (r"rate.?limit", "Rate limit exceeded: free-models-per-min"),
        (r"too many requests", "Too Many Requests"),
        (r"ResourceExhausted", "rpc error: code = ResourceExhausted"),
        (r"throttl", "Throttling error: slow down"),
        (r"(?<![\w.-])429(?![\w.-])", "HTTP 429"),
    ),
    *_rows(
        FailureKind.OVERLOADED,
        (r"overload", "Server overloaded, please retry shortly"),
        (r"server_busy|servers? (is|are) (currently )?busy", "The servers are currently busy."),
        (r"currently experiencing high demand", "We're currently experiencing high demand."),
        (r"at capacity", "The model is at capacity."),
        (r"(?<![\w.-])529(?![\w.-])", "HTTP 529"),
    ),
    *_rows(
        FailureKind.TIMEOUT,
        (r"timed? ?out|timeout|ETIMEDOUT|deadline exceeded", "upstream request timed out"),
        (r"(?<![\w.-])(504|524)(?![\w.-])", "status 524"),
    ),
    *_rows(
        FailureKind.NETWORK,
        (r"network.?error", "network error"),
        (r"connection.?(error|refused|lost|closed|reset)", "Connection closed."),
        (r"socket (hang up|connection was closed)", "socket hang up"),
        (r"websocket.?(closed|error)|websocket connection limit reached", "websocket closed"),
        (r"other side closed|fetch failed|reset before headers", "fetch failed"),
        (r"getaddrinfo|ENOTFOUND|EAI_AGAIN", "getaddrinfo EAI_AGAIN host"),
        (r"(?<!\w)(ECONNRESET|ECONNABORTED|ECONNREFUSED|EPIPE)(?!\w)", "read ECONNRESET"),
        (r"request to \S+ failed, reason:", "request to http://upstream/ failed, reason: closed"),
        (r"upstream.?connect|http/?2 (stream failed|request did not get a response)", "HTTP/2 stream failed"),
    ),
    *_rows(
        FailureKind.SERVER,
        (r"provider.?returned.?(an )?error", "Provider returned an error"),
        (r"(service|temporarily|server).?(is )?(temporarily )?unavailable", "The service is temporarily unavailable."),
        (r"(server|internal).?error", "Internal error"),
        (
            r"exceeded request buffer limit while retrying upstream",
            "exceeded request buffer limit while retrying upstream",
        ),
        (r"unable to forward upstream|upstream request failed", "upstream request failed"),
        (r"upstream_stream_read_error|stream was interrupted", "upstream_stream_read_error"),
        (r"ended (without|before)|stream disconnected before completion", "stream ended before message_stop"),
        (r"cut short after the reply had begun", "cut short after the reply had begun"),
        (r"pending stream has been canceled", "pending stream has been canceled"),
        (r"retry your request|try your request again", "You can retry your request, or contact us."),
        (r"unexpectedly stopped|crashed", "model runner has unexpectedly stopped"),
        (r"subscription_sharing_(usage|user)_unavailable", "subscription_sharing_usage_unavailable"),
        (r"(?<![\w.-])(500|502|503|520)(?![\w.-])", "status code 503"),
        (r"retry delay|stream terminated|^terminated", "terminated"),
    ),
)
"""Behaviour R22 and R42, with R41's rule that a status counts as a whole token only."""

KEY_REFUSED: tuple[Words, ...] = _rows(
    FailureKind.AUTH,
    (r"(invalid|incorrect|missing|no) api.?key|api.?key not valid", "API key not valid. Please pass a valid API key."),
    (r"unauthorized|unauthenticated|authentication (failed|required)", "Unauthorized"),
)
"""Words of a refused key, which some servers send with a 400."""

REFUSED: tuple[Words, ...] = _rows(
    FailureKind.BAD_REQUEST,
    (r"model\b.*(not found|does not exist|not exist)|not found", "model 'nope' not found"),
    (r"bad request|invalid request|unsupported (parameter|value)", "bad request: missing field"),
)
"""Words of a request that was refused, met where a server has no status left to send: inside a stream."""
