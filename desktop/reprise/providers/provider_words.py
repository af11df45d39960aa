"""What a provider's error body says, whatever its shape: the words, the code, the type."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from reprise.domain.lines import one_line, shortened

MAX_WORDS = 500
_SURROGATES = re.compile("[\ud800-\udfff]")
_DEPTH = 6


@dataclass(frozen=True, slots=True)
class ProviderWords:
    """`message` is ``""`` when there are no words; `codes` are lower case, the most telling first.

    `status` is an HTTP status the body names (400 to 599); `request_id` one it names.
    """

    message: str = ""
    codes: tuple[str, ...] = ()
    status: int | None = None
    request_id: str | None = None
    detail: str | None = None


def parse_json(text: str | bytes) -> Any:
    """The JSON value of `text`; raises ValueError for anything else, too deep or too long a number included."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("JSON nested too deeply") from error


def json_or_none(text: str | bytes) -> Any:
    """The JSON value of `text`, None when it is none."""
    try:
        return parse_json(text)
    except ValueError:
        return None


def words_of_body(body: bytes) -> ProviderWords:
    """The words of an error response's body: JSON of any shape, or plain text; markup says nothing."""
    text = body.decode("utf-8", "replace").strip().removeprefix("\ufeff").strip()
    if not text or is_markup(text):
        return ProviderWords()
    if text.startswith("data:"):
        # Some servers answer a streaming request with an error status and the error as an event.
        text = text.removeprefix("data:").partition("\n")[0].strip()
    try:
        value = parse_json(text)
    except ValueError:
        return ProviderWords(clean(text))
    return words_of(value)


def is_markup(text: str) -> bool:
    """Whether `text` is a page rather than words."""
    head = text[:512].lstrip().lower()
    return head.startswith(("<!", "<html", "<?xml", "<head", "<body", "<script", "<h1", "<div", "<p>", "<error"))


def words_of(value: Any) -> ProviderWords:
    """The words of an error value: a string, an object, a list, nested as they come."""
    message = next(_messages(value, _DEPTH), "")
    nested = list(_objects(value, _DEPTH))
    codes = tuple(
        dict.fromkeys(
            text.lower()
            for name in ("code", "type", "status", "error_code", "name")
            for item in nested
            if (text := _code(item.get(name)))
        )
    )
    status = next((number for code in codes if (number := _status(code)) is not None), None)
    request_id = next((item["request_id"] for item in nested if isinstance(item.get("request_id"), str)), None)
    detail = ", ".join(code for code in codes if code not in message.lower())
    return ProviderWords(clean(message), codes, status, request_id, clean(detail) or None)


def _objects(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """The error objects in `value`, the outermost first."""
    if depth == 0:
        return
    match value:
        case dict():
            yield value
            for name in ("error", "errors", "detail", "base_resp", "err"):
                yield from _objects(value.get(name), depth - 1)
            message = value.get("message")
            if isinstance(message, str) and message.lstrip().startswith("{"):
                yield from _objects(json_or_none(message), depth - 1)
        case list():
            for item in value[:5]:
                yield from _objects(item, depth - 1)
        case _:
            return


def _messages(value: Any, depth: int) -> Iterator[str]:
    """The texts in `value` that look like words for a person, the best first."""
    if depth == 0:
        return
    match value:
        case str() if value.lstrip()[:1] in ("{", "[") and (inner := json_or_none(value)) is not None:
            yield from _messages(inner, depth - 1)
            yield value
        case str() if value.strip():
            yield value
        case list():
            texts = [text for item in value[:5] if (text := next(_messages(item, depth - 1), ""))]
            if texts:
                yield "; ".join(texts)
        case dict():
            yield from _messages_of_object(value, depth)
        case _:
            return


def _messages_of_object(value: dict[str, Any], depth: int) -> Iterator[str]:
    match value.get("error"):
        case dict() | list() as error:
            yield from _messages(error, depth - 1)
        case str() as error if not isinstance(value.get("error_description"), str):
            yield from _messages(error, depth - 1)
        case _:
            pass
    where = value.get("loc")
    for name in (
        "message",
        "msg",
        "error_description",
        "error_msg",
        "status_msg",
        "detail",
        "errors",
        "base_resp",
        "err",
    ):
        for text in _messages(value.get(name), depth - 1):
            yield f"{'.'.join(str(piece) for piece in where)}: {text}" if isinstance(where, list) and where else text
    yield from (code for name in ("code", "type", "title") if (code := _code(value.get(name))))


def _code(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    text = str(value).strip()
    return text if len(text) <= 80 else ""


def _status(code: str) -> int | None:
    return int(code) if re.fullmatch(r"[45]\d\d", code) else None


def clean(text: str) -> str:
    """`text` as it may be shown: white space folded, control characters and lone surrogates out, at most 500 long."""
    text = _SURROGATES.sub("\ufffd", text[: 8 * MAX_WORDS])
    return shortened(one_line(text), MAX_WORDS)


def redact(text: str, secrets: Iterable[str]) -> str:
    """`text` without any of `secrets`, however a server echoed them back (plain, quoted for JSON or for a URL)."""
    for secret in secrets:
        for form in {secret, json.dumps(secret)[1:-1], quote(secret, safe="")}:
            # A short key may be a common word of a message: there it goes as a whole token only.
            pattern = re.escape(form) if len(form) >= 8 else rf"(?<!\w){re.escape(form)}(?!\w)"
            text = re.sub(pattern, "[key]", text)
    return text
