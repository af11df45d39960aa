"""Rows to domain values and back; tolerant on the way in, so that one damaged entry never costs a session."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from reprise.domain.failures import Failure, FailureKind, failure_fields
from reprise.domain.messages import (
    Message,
    ModelRef,
    Part,
    ReplyInfo,
    Role,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
)
from reprise.domain.ports import LogError
from reprise.domain.sessions import (
    Attempt,
    AttemptState,
    Delivery,
    EntryData,
    ModelChange,
    Notice,
    ParamsChange,
    Queued,
)

MESSAGE = "message"
ATTEMPT = "attempt"
MODEL_CHANGE = "model_change"
PARAMS_CHANGE = "params_change"
NOTICE = "notice"
QUEUED = "queued"

BESIDE = (ATTEMPT, QUEUED)
"""The kinds that hang beside the branches: never the leaf, and nothing stands behind them."""

Json = dict[str, Any]


class Unreadable(LogError):
    """A row that cannot be understood; `str(error)` says why, for the log file."""


def clean(text: str) -> str:
    """`text` as SQLite can store it: surrogate halves joined where they are a pair, else replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def stamp(moment: datetime) -> str:
    """UTC, of fixed width, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def moment(text: str) -> datetime:
    """The time a stamp stands for. Raises ValueError."""
    return datetime.fromisoformat(text).astimezone(UTC)


def moment_or_epoch(text: object) -> datetime:
    """A column's time; a damaged one is 1970, since a wrong date is no reason to lose a message."""
    try:
        return moment(text if isinstance(text, str) else "")
    except ValueError:
        return datetime.fromtimestamp(0, UTC)


def encode(data: EntryData) -> tuple[str, str]:
    """An entry's kind and its data as JSON text that SQLite can store."""
    match data:
        case Message():
            kind, value = MESSAGE, _message_json(data)
        case Attempt():
            kind, value = ATTEMPT, _attempt_json(data)
        case ModelChange(model, before):
            kind, value = MODEL_CHANGE, {"model": _model_json(model), "fallback_from": before and _model_json(before)}
        case ParamsChange(values):
            kind, value = PARAMS_CHANGE, {"values": dict(values)}
        case Notice(text):
            kind, value = NOTICE, {"text": text}
        case Queued(message, delivery):
            kind, value = QUEUED, {"message": _message_json(message), "delivery": delivery.value}
    return kind, clean(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def decode(kind: str, data: object) -> EntryData:
    """The value a row stands for. Raises Unreadable for an unknown kind, broken JSON or a missing field.

    Unknown fields are ignored. A part of an unknown type is left out as long as another part remains.
    """
    reader = _READERS.get(kind)
    if reader is None:
        raise Unreadable(f"unknown kind {kind!r}")
    try:
        value = json.loads(data) if isinstance(data, str | bytes) else None
        if not isinstance(value, dict):
            raise Unreadable("its data is not an object")
        return reader(value)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unreadable(f"{type(error).__name__}: {error}") from error


def unreadable_notice(kind: str) -> Notice:
    """What stands in a branch in the place of an entry that cannot be read."""
    what = "message" if kind == MESSAGE else "entry"
    return Notice(f"One {what} here could not be read and is left out; it is still in the database.")


MISSING_NOTICE = Notice("What came before this could not be found in the database.")


def _model_json(model: ModelRef) -> Json:
    return {"provider": model.provider, "model": model.model}


def _part_json(part: Part) -> Json:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case ThinkingPart(text):
            return {"type": "thinking", "text": text}
        case ToolCallPart(id_, name, arguments):
            return {"type": "tool_call", "id": id_, "name": name, "arguments": arguments}
        case ToolResultPart(call_id, name, text, is_error):
            return {"type": "tool_result", "call_id": call_id, "name": name, "text": text, "is_error": is_error}


def _message_json(message: Message) -> Json:
    value: Json = {"role": message.role.value, "parts": [_part_json(part) for part in message.parts]}
    if (reply := message.reply) is not None:
        value["reply"] = {
            "model": _model_json(reply.model),
            "finish_reason": reply.finish_reason,
            "usage": None if reply.usage is None else {"input": reply.usage.input, "output": reply.usage.output},
            "first_delta_s": reply.first_delta_s,
            "elapsed_s": reply.elapsed_s,
            "fallback_from": reply.fallback_from and _model_json(reply.fallback_from),
            "goes_on_from": reply.goes_on_from,
        }
    return value


def _failure_json(failure: Failure) -> Json:
    return {**failure_fields(failure), "provider_detail": failure.provider_detail}


def _attempt_json(attempt: Attempt) -> Json:
    return {
        "model": _model_json(attempt.model),
        "number": attempt.number,
        "state": attempt.state.value,
        "parts": [_part_json(part) for part in attempt.parts],
        "failure": None if attempt.failure is None else _failure_json(attempt.failure),
        "ended_at": attempt.ended_at and stamp(attempt.ended_at),
        "retry": attempt.retry,
        "retries": attempt.retries,
        "retry_at": attempt.retry_at and stamp(attempt.retry_at),
        "goes_on_from": attempt.goes_on_from,
    }


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} where text belongs")
    return value


def _text_or_none(value: object) -> str | None:
    return None if value is None else _text(value)


def _model(value: Mapping[str, Any]) -> ModelRef:
    return ModelRef(_text(value["provider"]), _text(value["model"]))


def _model_or_none(value: Mapping[str, Any] | None) -> ModelRef | None:
    return None if value is None else _model(value)


_PART_READERS: dict[str, Callable[[Json], Part]] = {
    "text": lambda v: TextPart(_text(v["text"])),
    "thinking": lambda v: ThinkingPart(_text(v["text"])),
    "tool_call": lambda v: ToolCallPart(_text(v["id"]), _text(v["name"]), _text(v["arguments"])),
    "tool_result": lambda v: ToolResultPart(
        _text(v["call_id"]), _text(v["name"]), _text(v["text"]), bool(v.get("is_error"))
    ),
}


def _parts(values: list[Json]) -> tuple[Part, ...]:
    parts = tuple(reader(value) for value in values if (reader := _PART_READERS.get(value["type"])) is not None)
    if values and not parts:
        raise Unreadable("none of its parts is of a known type")
    return parts


def _read_message(value: Json) -> Message:
    reply = value.get("reply")
    info = None
    if reply is not None:
        usage = reply.get("usage")
        info = ReplyInfo(
            _model(reply["model"]),
            reply.get("finish_reason"),
            None if usage is None else Usage(usage.get("input"), usage.get("output")),
            reply.get("first_delta_s"),
            reply.get("elapsed_s"),
            _model_or_none(reply.get("fallback_from")),
            _text_or_none(reply.get("goes_on_from")),
        )
    return Message(Role(value["role"]), _parts(value["parts"]), info)


def _read_attempt(value: Json) -> Attempt:
    failure = value.get("failure")
    return Attempt(
        _model(value["model"]),
        value.get("number", 1),
        AttemptState(value["state"]),
        _parts(value.get("parts", [])),
        failure
        and Failure(
            _failure_kind(failure["kind"]),
            _text(failure["message"]),
            bool(failure.get("retryable")),
            failure.get("retry_after_s"),
            failure.get("status"),
            failure.get("request_id"),
            failure.get("provider_detail"),
        ),
        _moment_or_none(value.get("ended_at")),
        value.get("retry", 0),
        value.get("retries", 0),
        _moment_or_none(value.get("retry_at")),
        _text_or_none(value.get("goes_on_from")),
    )


def _read_params(value: Json) -> ParamsChange:
    values = value["values"]
    if not isinstance(values, dict):
        raise TypeError(f"{type(values).__name__} where settings belong")
    return ParamsChange(values)


def _read_queued(value: Json) -> Queued:
    word = _text(value["delivery"])
    # A word of a later version costs the time of the delivery, not the message: it waits for the end of the turn.
    delivery = Delivery(word) if word in Delivery.__members__.values() else Delivery.FOLLOW_UP
    return Queued(_read_message(value["message"]), delivery)


def _failure_kind(word: str) -> FailureKind:
    return FailureKind(word) if word in FailureKind.__members__.values() else FailureKind.UNKNOWN


def _moment_or_none(text: str | None) -> datetime | None:
    return None if text is None else moment(text)


_READERS: dict[str, Callable[[Json], EntryData]] = {
    MESSAGE: _read_message,
    ATTEMPT: _read_attempt,
    MODEL_CHANGE: lambda value: ModelChange(_model(value["model"]), _model_or_none(value.get("fallback_from"))),
    PARAMS_CHANGE: _read_params,
    NOTICE: lambda value: Notice(_text(value["text"])),
    QUEUED: _read_queued,
}
