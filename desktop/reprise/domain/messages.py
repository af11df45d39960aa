"""Messages and their parts: pure values; their identity is the log's business."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """Who speaks in a message, in the words every provider uses."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text that is shown and sent."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingPart:
    """The model's reasoning: shown folded, never mixed with its answer, not sent back."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A call the model asks for. `arguments` is the raw JSON text, which may not parse; `id` is never empty."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """What a tool said to the call `call_id`; an error's text starts with ``error:``."""

    call_id: str
    name: str
    text: str
    is_error: bool = False


Part = TextPart | ThinkingPart | ToolCallPart | ToolResultPart


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, as the provider counts them (`None` = it did not say)."""

    input: int | None = None
    output: int | None = None


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model as the log and the settings name it: the provider entry's key and the provider's own model name."""

    provider: str
    model: str


_CUT_REASONS = frozenset({"length", "max_tokens", "max_output_tokens"})


def stops_short(finish_reason: str | None) -> bool:
    """Whether a provider's word for why a reply ended says that the output limit cut it (behaviour L13)."""
    return finish_reason is not None and finish_reason.lower() in _CUT_REASONS


@dataclass(frozen=True, slots=True)
class ReplyInfo:
    """What is known about a reply beside its parts.

    `finish_reason` is the provider's raw word (`None` = it named none); times are seconds from the request;
    `elapsed_s` ends with the last delta. `fallback_from` is the model this reply's model stood in for (behaviour
    D13). `goes_on_from` is the entry, a cut reply or an attempt, whose text this reply begins with: it holds all of
    it, so the two are no alternatives to each other.
    """

    model: ModelRef
    finish_reason: str | None = None
    usage: Usage | None = None
    first_delta_s: float | None = None
    elapsed_s: float | None = None
    fallback_from: ModelRef | None = None
    goes_on_from: str | None = None

    @property
    def is_cut(self) -> bool:
        """The provider stopped at the output limit (behaviour L13, D9)."""
        return stops_short(self.finish_reason)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. `reply` is set on assistant messages only."""

    role: Role
    parts: tuple[Part, ...]
    reply: ReplyInfo | None = None

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def thinking(self) -> str:
        """The thinking parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, ThinkingPart))

    @property
    def tool_calls(self) -> tuple[ToolCallPart, ...]:
        """The calls, in the order the model made them."""
        return tuple(part for part in self.parts if isinstance(part, ToolCallPart))


def user_message(text: str) -> Message:
    """A prompt of plain text."""
    return Message(Role.USER, (TextPart(text),))
