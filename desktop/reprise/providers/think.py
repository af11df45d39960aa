"""Reasoning that arrives inside the answer between `<think>` and `</think>`."""

from __future__ import annotations

from enum import Enum, auto

from reprise.domain.deltas import Delta, RecastDelta, TextDelta, ThinkingDelta

OPEN = "<think>"
CLOSE = "</think>"


class _State(Enum):
    START = auto()
    THINKING = auto()
    AFTER = auto()
    ANSWER = auto()
    PLAIN = auto()


class ThinkSplitter:
    """Answer text in, text and reasoning out; what cannot be told yet is held back, and never longer than that.

    Only a leading tag opens reasoning; one in mid-answer is text, which talks about the tag. A closing tag without an
    opening one means that the model's template wrote it: all text so far was reasoning (`RecastDelta`). It counts
    outside code only, once, and not where the provider sends reasoning in a field of its own.
    """

    def __init__(self) -> None:
        self._state = _State.START
        self._held = ""
        self._ticks = 0
        self._thought = False
        self._has_field = False

    def reasoning_came(self) -> None:
        """The provider sends reasoning in a field of its own, so a closing tag in the answer is just text."""
        self._has_field = True
        if self._state is _State.ANSWER:
            self._state = _State.PLAIN

    def feed(self, text: str) -> list[Delta]:
        """What `text` adds."""
        deltas: list[Delta] = []
        pending = self._held + text
        self._held = ""
        while pending:
            before = self._state
            pending = self._step(pending, deltas)
            if self._state is before:
                break
        self._held = pending
        return deltas

    def flush(self) -> list[Delta]:
        """What is still held once no more text comes."""
        held, self._held = self._held, ""
        if not held:
            return []
        if self._state is _State.THINKING:
            return [ThinkingDelta(held)] if held.strip() else []
        return [TextDelta(held)] if self._state is not _State.AFTER else []

    def _step(self, text: str, deltas: list[Delta]) -> str:
        """Take in as much of `text` as can be told; returns the rest, which is held unless the state changed."""
        match self._state:
            case _State.START:
                return self._start(text)
            case _State.THINKING:
                return self._think(text, deltas)
            case _State.AFTER:
                rest = text.lstrip()
                self._state = _State.PLAIN if rest else _State.AFTER
                return rest
            case _State.ANSWER:
                return self._answer(text, deltas)
            case _State.PLAIN:
                deltas.append(TextDelta(text))
                return ""

    def _start(self, text: str) -> str:
        bare = text.lstrip()
        if bare.startswith(OPEN):
            self._state = _State.THINKING
            return bare.removeprefix(OPEN)
        if not OPEN.startswith(bare):
            self._state = _State.PLAIN if self._has_field else _State.ANSWER
        return text

    def _think(self, text: str, deltas: list[Delta]) -> str:
        text = text if self._thought else text.lstrip()
        at = text.find(CLOSE)
        thought = (text if at < 0 else text[:at]).rstrip()
        if at < 0:
            # A tag may have begun at the end, and the white space before it would not belong to the reasoning.
            thought = thought[: len(thought) - _beginning(thought, CLOSE)].rstrip()
        if thought:
            self._thought = True
            deltas.append(ThinkingDelta(thought))
        if at < 0:
            return text[len(thought) :]
        self._state = _State.AFTER
        return text[at + len(CLOSE) :]

    def _answer(self, text: str, deltas: list[Delta]) -> str:
        at = text.find(CLOSE)
        if OPEN in (text if at < 0 else text[:at]):
            # The answer talks about the tags.
            self._state = _State.PLAIN
            return text
        if at < 0:
            held = max(_beginning(text, CLOSE), _beginning(text, OPEN))
            self._say(text[: len(text) - held], deltas)
            return text[len(text) - held :]
        self._say(text[:at], deltas)
        if self._ticks % 2:
            # Between backticks: a quoted tag.
            self._state = _State.PLAIN
            return text[at:]
        deltas.append(RecastDelta())
        self._state = _State.AFTER
        return text[at + len(CLOSE) :]

    def _say(self, text: str, deltas: list[Delta]) -> None:
        self._ticks += text.count("`")
        if text:
            deltas.append(TextDelta(text))


def _beginning(text: str, tag: str) -> int:
    """How many characters at the end of `text` may be the beginning of `tag`, whose only ``<`` is its first."""
    at = text.rfind("<")
    return len(text) - at if at >= 0 and len(text) - at < len(tag) and tag.startswith(text[at:]) else 0
