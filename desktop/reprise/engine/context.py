"""What a model is sent: the active branch as the messages of one request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from reprise.domain.messages import (
    Message,
    Part,
    Role,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    user_message,
)
from reprise.domain.sessions import Entry, messages
from reprise.domain.shortening import first_sent

GO_ON = "Your reply was cut off. Go on exactly where it stopped, without repeating anything."
"""Asks for the rest of a reply (behaviour L18, N8); it is sent, never stored."""


def context(
    path: Sequence[Entry],
    *,
    system_prompt: str | None = None,
    so_far: str = "",
    prefilled: bool = False,
    leave_out: int = 0,
) -> tuple[Message, ...]:
    """The messages of a request for the branch `path` (root to what is answered), but its first `leave_out`.

    The system prompt comes first. Results stand directly behind their calls, in call order; a call without a result,
    a result without a call, reasoning, notices and empty messages stay out (behaviour D12, L24, L25, C13, P5).
    Neighbours of one role become one message (D6). `so_far` is what the reply begins with: it comes last, and what
    asks for the rest behind it unless it is `prefilled`.
    """
    log = messages(path)
    sent = _merged(_answered(log[first_sent(log, leave_out) :]))
    if system_prompt is not None and system_prompt.strip():
        sent.insert(0, Message(Role.SYSTEM, (TextPart(system_prompt),)))
    if so_far.strip():
        sent.append(Message(Role.ASSISTANT, (TextPart(so_far),)))
        if not prefilled:
            sent.append(user_message(GO_ON))
    return tuple(sent)


def _answered(log: Sequence[Message]) -> Iterator[Message]:
    """Every message worth sending; tool messages are placed behind the calls they answer."""
    for index, message in enumerate(log):
        if message.role is Role.TOOL:
            continue
        results = _results_after(log, index) if message.tool_calls else {}
        parts = tuple(part for part in message.parts if _is_sent(part, results))
        if _says_something(parts):
            yield replace(message, parts=parts)
        for call in message.tool_calls:
            if (result := results.get(call.id)) is not None:
                yield Message(Role.TOOL, (result,))


def _results_after(log: Sequence[Message], index: int) -> dict[str, ToolResultPart]:
    """The first result per call id among the tool messages that follow the message at `index`."""
    results: dict[str, ToolResultPart] = {}
    following = index + 1
    while following < len(log) and log[following].role is Role.TOOL:
        for part in log[following].parts:
            if isinstance(part, ToolResultPart):
                results.setdefault(part.call_id, part)
        following += 1
    return results


def _is_sent(part: Part, results: dict[str, ToolResultPart]) -> bool:
    match part:
        case ThinkingPart():
            return False
        case ToolCallPart(id=id_):
            return id_ in results
        case _:
            return True


def _says_something(parts: Iterable[Part]) -> bool:
    return any(not isinstance(part, TextPart) or part.text.strip() for part in parts)


def _merged(log: Iterable[Message]) -> list[Message]:
    """Neighbouring messages of one role as one; each tool result stays a message of its own."""
    merged: list[Message] = []
    for message in log:
        if merged and message.role is merged[-1].role and message.role is not Role.TOOL:
            merged[-1] = _joined(merged[-1], message)
        else:
            merged.append(message)
    return merged


def _joined(first: Message, second: Message) -> Message:
    head, tail = first.parts, second.parts
    if head and tail and isinstance(head[-1], TextPart) and isinstance(tail[0], TextPart):
        seam = TextPart(f"{head[-1].text}\n\n{tail[0].text}")
        return replace(second, parts=(*head[:-1], seam, *tail[1:]))
    return replace(second, parts=head + tail)
