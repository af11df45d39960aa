"""A completion request as the JSON of the OpenAI-compatible wire."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from reprise.domain.messages import Message, Role, ToolCallPart, ToolResultPart
from reprise.domain.models import CompletionRequest
from reprise.providers.provider_words import json_or_none


def request_body(request: CompletionRequest, *, with_usage: bool = True, max_tokens_name: str = "max_tokens") -> bytes:
    """The request as UTF-8 JSON.

    `with_usage` asks a stream for its token counts; a few servers refuse the word. The system prompt stands in the
    messages: the engine puts it there.
    """
    parameters = request.parameters
    body: dict[str, Any] = {
        "model": request.model.model,
        "messages": list(_messages(request.messages)),
        "stream": parameters.stream,
    }
    if parameters.stream and with_usage:
        body["stream_options"] = {"include_usage": True}
    chosen = {
        "temperature": parameters.temperature,
        "top_p": parameters.top_p,
        max_tokens_name: parameters.max_tokens,
    }
    body |= {name: value for name, value in chosen.items() if value is not None}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
            }
            for tool in request.tools
        ]
    # A lone surrogate (text from outside) cannot be sent; it becomes a question mark.
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _messages(messages: tuple[Message, ...]) -> Iterator[dict[str, Any]]:
    for message in messages:
        match message.role:
            case Role.TOOL:
                yield from (_result(part) for part in message.parts if isinstance(part, ToolResultPart))
            case Role.ASSISTANT:
                if (sent := _assistant(message)) is not None:
                    yield sent
            case Role.SYSTEM | Role.USER:
                if message.text.strip():
                    yield {"role": str(message.role), "content": message.text}


def _assistant(message: Message) -> dict[str, Any] | None:
    """None for a message that says nothing: an empty text makes strict servers refuse the chat."""
    text = message.text if message.text.strip() else None
    calls = [_call(part) for part in message.tool_calls]
    if text is None and not calls:
        return None
    sent: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        sent["tool_calls"] = calls
    return sent


def _call(part: ToolCallPart) -> dict[str, Any]:
    # Arguments that do not parse break the templates of local servers; what was wrong stands in the call's result.
    arguments = part.arguments if isinstance(json_or_none(part.arguments), dict) else "{}"
    return {"id": part.id, "type": "function", "function": {"name": part.name, "arguments": arguments}}


def _result(part: ToolResultPart) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": part.call_id, "content": part.text}
