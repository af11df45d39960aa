"""The OpenAI-compatible wire as pydantic models that take what servers really send.

A field of the wrong type counts as absent and unknown fields are ignored: a reply is never lost over a detail
(behaviour F51). Strings pass unchecked, because they may hold lone surrogates.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainValidator


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _arguments(value: Any) -> Any:
    return value if isinstance(value, str | dict | list) else None


def _whole(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < 2**53 else None


def _object(value: Any) -> Any:
    return value if isinstance(value, dict) else None


def _objects(value: Any) -> Any:
    return tuple(item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


Text = Annotated[str | None, PlainValidator(_text)]
Whole = Annotated[int | None, PlainValidator(_whole)]


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore")


class WireUsage(_Wire):
    """Tokens, under OpenAI's names or the other common ones."""

    prompt_tokens: Whole = None
    completion_tokens: Whole = None
    input_tokens: Whole = None
    output_tokens: Whole = None


Usage = Annotated[WireUsage | None, BeforeValidator(_object)]


class WireFunction(_Wire):
    """Name and arguments of a call, or pieces of them; some bridges send the arguments as an object."""

    name: Text = None
    arguments: Annotated[str | dict[str, Any] | list[Any] | None, PlainValidator(_arguments)] = None


Function = Annotated[WireFunction | None, BeforeValidator(_object)]


class WireToolCall(_Wire):
    """A piece of a call, or a whole one."""

    index: Whole = None
    id: Text = None
    function: Function = None


class WireMessage(_Wire):
    """A delta, or the message of a reply that was not streamed. `content` is a string or a list of parts."""

    content: Any = None
    refusal: Text = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: Annotated[tuple[dict[str, Any], ...], PlainValidator(_objects)] = ()
    tool_calls: Annotated[tuple[WireToolCall, ...], BeforeValidator(_objects)] = ()
    function_call: Function = None


Message = Annotated[WireMessage | None, BeforeValidator(_object)]


class WireChoice(_Wire):
    """One alternative; `text` is what servers of the older completions wire send."""

    index: Whole = None
    delta: Message = None
    message: Message = None
    text: Text = None
    finish_reason: Text = None
    usage: Usage = None


class WireGroq(_Wire):
    """Where Groq puts its usage."""

    usage: Usage = None


class WireChunk(_Wire):
    """One event of a stream, or a whole reply."""

    choices: Annotated[tuple[WireChoice, ...], BeforeValidator(_objects)] = ()
    usage: Usage = None
    x_groq: Annotated[WireGroq | None, BeforeValidator(_object)] = None
