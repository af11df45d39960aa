"""Increments to a reply, and the reply under construction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from reprise.domain.messages import Part, TextPart, ThinkingPart, ToolCallPart, Usage


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More of the reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of the call in `slot` (0, 1, ... in the order calls began).

    The wire settles which fragment belongs to which call: here the last non-empty `id` and `name` win and
    `arguments` are concatenated (behaviour L7).
    """

    slot: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class UsageDelta:
    """The provider's count so far: cumulative, so the last one wins."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class FinishDelta:
    """The provider's finish word, raw."""

    reason: str


@dataclass(frozen=True, slots=True)
class RecastDelta:
    """All text so far was reasoning: its end mark came only now, its opening mark being the template's."""


Delta = TextDelta | ThinkingDelta | ToolCallDelta | UsageDelta | FinishDelta | RecastDelta


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class Partial:
    """A reply under construction. Appending is constant time however long the reply is.

    It may begin with the text and reasoning of `before`, which a recast leaves alone.
    """

    __slots__ = ("_before", "_calls", "_text", "_thinking", "finish_reason", "usage")

    def __init__(self, before: Iterable[Part] = ()) -> None:
        self._text: list[str] = []
        self._thinking: list[str] = []
        for part in before:
            match part:
                case TextPart(text):
                    self._text.append(text)
                case ThinkingPart(text):
                    self._thinking.append(text)
        self._before = len(self._text)
        self._calls: dict[int, _Call] = {}
        self.usage: Usage | None = None
        self.finish_reason: str | None = None

    def append(self, delta: Delta) -> None:
        """Take in one delta."""
        match delta:
            case TextDelta(text):
                self._text.append(text)
            case ThinkingDelta(text):
                self._thinking.append(text)
            case ToolCallDelta(slot, id_, name, arguments):
                call = self._calls.setdefault(slot, _Call())
                call.id = id_ or call.id
                call.name = name or call.name
                if arguments:
                    call.arguments.append(arguments)
            case UsageDelta(usage):
                self.usage = usage
            case FinishDelta(reason):
                self.finish_reason = reason
            case RecastDelta():
                self._thinking += self._text[self._before :]
                del self._text[self._before :]

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._text)

    @property
    def thinking(self) -> str:
        """The reasoning so far."""
        return "".join(self._thinking)

    @property
    def tool_calls(self) -> tuple[ToolCallPart, ...]:
        """The calls so far; one without a name is none, ``{}`` stands for no arguments (behaviour L7)."""
        return tuple(
            ToolCallPart(call.id or f"call_{slot}", call.name, "".join(call.arguments) or "{}")
            for slot, call in sorted(self._calls.items())
            if call.name
        )

    @property
    def is_empty(self) -> bool:
        """True while nothing was written: no text but white space, no reasoning, no call."""
        return not (
            any(piece.strip() for piece in self._text)
            or any(piece.strip() for piece in self._thinking)
            or any(call.name for call in self._calls.values())
        )

    def parts(self) -> tuple[Part, ...]:
        """What is there as message parts: thinking first (behaviour F61), then text, then calls."""
        parts: list[Part] = []
        if thinking := self.thinking:
            parts.append(ThinkingPart(thinking))
        if text := self.text:
            parts.append(TextPart(text))
        return (*parts, *self.tool_calls)
