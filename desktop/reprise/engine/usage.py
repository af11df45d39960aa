"""Tokens of a round: the provider's count, or an estimate where it named none (behaviour L11)."""

from __future__ import annotations

from collections.abc import Iterable

from reprise.domain.events import UsageReported
from reprise.domain.messages import Message, TextPart, ThinkingPart, ToolCallPart, ToolResultPart, Usage

_CHARS_PER_TOKEN = 4


def report(counted: Usage | None, request: Iterable[Message], reply: Message) -> UsageReported:
    """What the round cost; `source` says who counted: the provider (`api`), we (`estimate`), or each a part."""
    input_, output = (None, None) if counted is None else (counted.input, counted.output)
    usage = Usage(
        estimate(request) if input_ is None else input_,
        estimate((reply,)) if output is None else output,
    )
    unknown = (input_, output).count(None)
    return UsageReported(usage, ("api", "mixed", "estimate")[unknown])


def estimate(messages: Iterable[Message]) -> int:
    """About four characters a token, rounded up."""
    return -(-sum(_chars(message) for message in messages) // _CHARS_PER_TOKEN)


def _chars(message: Message) -> int:
    chars = 0
    for part in message.parts:
        match part:
            case TextPart(text) | ThinkingPart(text) | ToolResultPart(text=text):
                chars += len(text)
            case ToolCallPart(name=name, arguments=arguments):
                chars += len(name) + len(arguments)
    return chars
