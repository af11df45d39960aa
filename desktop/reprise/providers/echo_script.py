"""The echo provider's scripts: from the text of a file to steps. The format stands in `echo.py`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprise.domain.deltas import Delta, FinishDelta, TextDelta, ThinkingDelta, ToolCallDelta, UsageDelta
from reprise.domain.failures import AFTER_CAP_S, Failure, FailureKind, is_retryable
from reprise.domain.messages import Usage


@dataclass(frozen=True, slots=True)
class Say:
    """Deltas to send, each `gap_s` after the one before."""

    deltas: tuple[Delta, ...]
    gap_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence, `None` for ever."""

    seconds: float | None


@dataclass(frozen=True, slots=True)
class Fail:
    """The end of an attempt by a failure."""

    failure: Failure


Step = Say | Pause | Fail
Script = Sequence[Sequence[Step]]


def load_script(path: Path, *, after_cap_s: float = AFTER_CAP_S) -> Script:
    """The script in `path`. Raises ValueError with one sentence that names the file and the place."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise ValueError(f"The echo script {path} cannot be read: {error}.") from error
    try:
        return parse_script(text, after_cap_s=after_cap_s)
    except ValueError as error:
        raise ValueError(f"The echo script {path} cannot be used: {error}.") from error


def parse_script(text: str, *, after_cap_s: float = AFTER_CAP_S) -> Script:
    """A script's text as steps. Raises ValueError naming attempt and step."""
    return tuple(
        _attempt(attempt, f"attempt {number}", after_cap_s) for number, attempt in enumerate(_attempts(text), start=1)
    )


def _attempts(text: str) -> list[Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        lines = [line for line in text.split("\n") if line.strip()]
        if lines and _is_json(lines[0]):
            return [_line(line, number) for number, line in enumerate(lines, start=1)]
        raise ValueError(f"it is no JSON ({error})") from error
    if not isinstance(value, list):
        raise ValueError("it must be a list of attempts")
    # A file of one line is one attempt when its items are steps, not attempts.
    return value if all(isinstance(item, list) for item in value) else [value]


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _line(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"attempt {number} is no JSON ({error})") from error


def _attempt(value: Any, place: str, after_cap_s: float) -> tuple[Step, ...]:
    if not isinstance(value, list):
        raise ValueError(f"{place} must be a list of steps")
    steps: list[Step] = []
    ends = False
    for number, item in enumerate(value, start=1):
        where = f"step {number} of {place}"
        if ends:
            raise ValueError(f"{where} comes after the attempt's end")
        name, content = _named(item, where)
        steps.append(_READERS[name](content, where, after_cap_s, len(steps)))
        ends = name in ("fail", "hang", "close")
    if not ends and not any(isinstance(step, Say) and _finishes(step) for step in steps):
        steps.append(Say((FinishDelta("stop"),)))
    return tuple(steps)


def _finishes(step: Say) -> bool:
    return any(isinstance(delta, FinishDelta) for delta in step.deltas)


def _named(item: Any, where: str) -> tuple[str, Any]:
    if isinstance(item, str):
        return "text", item
    if not isinstance(item, dict) or len(item) != 1:
        raise ValueError(f"{where} must be a string or an object with one key")
    name, content = next(iter(item.items()))
    if name not in _READERS:
        raise ValueError(f"{where} has the unknown key {name!r}; known are {', '.join(_READERS)}")
    return name, content


def _said(make: Callable[[str], Delta]) -> _Reader:
    def read(content: Any, where: str, after_cap_s: float, place: int) -> Step:
        return Say((make(_text(content, where)),))

    return read


def _tool_call(content: Any, where: str, after_cap_s: float, place: int) -> Step:
    fields = _fields(content, where, ("id", "name", "arguments"))
    arguments = fields.get("arguments", "")
    arguments = arguments if isinstance(arguments, str) else json.dumps(arguments)
    name = _text(fields.get("name"), f"the name in {where}")
    id_ = _text(fields.get("id", f"echo_{place}"), f"the id in {where}")
    return Say((ToolCallDelta(place, id_, name, arguments),))


def _usage(content: Any, where: str, after_cap_s: float, place: int) -> Step:
    fields = _fields(content, where, ("input", "output"))
    counts = [
        None if (count := fields.get(name)) is None else int(_number(count, where)) for name in ("input", "output")
    ]
    return Say((UsageDelta(Usage(*counts)),))


def _wait(content: Any, where: str, after_cap_s: float, place: int) -> Step:
    return Pause(_number(content, where))


def _repeat(content: Any, where: str, after_cap_s: float, place: int) -> Step:
    fields = _fields(content, where, ("text", "thinking", "times", "per_s"))
    if ("text" in fields) == ("thinking" in fields):
        raise ValueError(f"{where} needs either text or thinking")
    delta: Delta
    if "text" in fields:
        delta = TextDelta(_text(fields["text"], where))
    else:
        delta = ThinkingDelta(_text(fields["thinking"], where))
    times = int(_number(fields.get("times", 1), where))
    per_s = fields.get("per_s")
    if per_s is not None and _number(per_s, where) <= 0:
        raise ValueError(f"per_s in {where} must be over 0")
    return Say((delta,) * times, 0.0 if per_s is None else 1 / per_s)


def _fail(content: Any, where: str, after_cap_s: float, place: int) -> Step:
    known = ("kind", "message", "status", "retry_after_s", "request_id", "provider_detail", "retryable")
    fields = _fields(content, where, known)
    try:
        kind = FailureKind(fields.get("kind", "server"))
    except ValueError as error:
        raise ValueError(f"{where} has the unknown kind {fields.get('kind')!r}") from error
    asked = fields.get("retry_after_s")
    asked_s = None if asked is None else _number(asked, where)
    retryable = fields.get("retryable")
    if retryable is None:
        retryable = is_retryable(kind, retry_after_s=asked_s, after_cap_s=after_cap_s)
    status = fields.get("status")
    return Fail(
        Failure(
            kind,
            _text(fields.get("message", f"The echo script failed with {kind}."), where),
            bool(retryable),
            asked_s,
            None if status is None else int(_number(status, where)),
            None if fields.get("request_id") is None else _text(fields["request_id"], where),
            None if fields.get("provider_detail") is None else _text(fields["provider_detail"], where),
        )
    )


def _hang(content: Any, where: str, after_cap_s: float, place: int) -> Step:
    return Pause(None)


def _close(content: Any, where: str, after_cap_s: float, place: int) -> Step:
    words = "The reply was cut off: the stream ended without a finish reason."
    return Fail(Failure(FailureKind.PROTOCOL, words, is_retryable(FailureKind.PROTOCOL)))


def _fields(content: Any, where: str, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise ValueError(f"{where} must hold an object")
    if unknown := [name for name in content if name not in known]:
        raise ValueError(f"{where} has the unknown key {unknown[0]!r}; known are {', '.join(known)}")
    return content


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{where} must hold a string")
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise ValueError(f"{where} must hold a number from 0")
    return value


_Reader = Callable[[Any, str, float, int], Step]
_READERS: dict[str, _Reader] = {
    "text": _said(TextDelta),
    "thinking": _said(ThinkingDelta),
    "tool_call": _tool_call,
    "usage": _usage,
    "finish": _said(FinishDelta),
    "wait": _wait,
    "repeat": _repeat,
    "fail": _fail,
    "hang": _hang,
    "close": _close,
}
