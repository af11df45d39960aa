"""The offline provider that ships: it answers by itself, or plays a script of replies and faults.

Without a script it repeats the prompt back as Markdown in small pieces, so that the window can be tried anywhere.

A script (``--set echo.script=FILE``) is UTF-8 JSON: a list of attempts, or one attempt a line (JSON lines). Each
request of the process plays the next attempt, whatever it asked; after the last one the default answer comes. An
attempt is a list of steps; a string is short for a text step, any other step is an object with exactly one of:

``{"text": "Hello"}``, ``{"thinking": "Hm."}``
    one delta
``{"tool_call": {"id": "c1", "name": "clock", "arguments": "{}"}}``
    one call; arguments may be an object, id may be left out
``{"usage": {"input": 5, "output": 2}}``, ``{"finish": "stop"}``
    token counts; the finish reason, raw
``{"wait": 1.5}``
    seconds by the clock
``{"repeat": {"text": "word ", "times": 1000, "per_s": 500}}``
    the text as many deltas, at a rate, or (without ``per_s``) as fast as they are taken; ``thinking`` as well
``{"fail": {"kind": "rate_limit", "message": "Slow down", "status": 429, "retry_after_s": 3}}``
    the attempt fails; also ``request_id``, ``provider_detail`` and ``retryable`` (else by the kind)
``{"hang": true}``
    silence until it is stopped
``{"close": true}``
    the connection ends in mid-reply: a `protocol` failure

An attempt that says nothing about its end finishes with ``stop``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

from reprise.domain.deltas import Delta, FinishDelta, TextDelta, UsageDelta
from reprise.domain.failures import CompletionError
from reprise.domain.messages import Role, Usage
from reprise.domain.models import CompletionRequest
from reprise.domain.ports import Clock
from reprise.providers.echo_script import Fail, Pause, Say, Script, Step

PIECE_S = 0.02
"""Seconds between two pieces of the default answer: quick, yet seen to stream."""

_BREATH = 64


class Echo:
    """The provider: a `ports.CompletionProvider`. All waits go by the clock; attempts count across requests."""

    def __init__(self, clock: Clock, script: Script = ()) -> None:
        self._clock = clock
        self._script = script
        self._next = 0

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Delta]:
        """Play the next attempt, or the default answer once the script is over."""
        steps = self._script[self._next] if self._next < len(self._script) else default_answer(request)
        self._next += 1
        for step in steps:
            match step:
                case Say(deltas, gap_s):
                    started_at = self._clock.now()
                    for number, delta in enumerate(deltas, start=1):
                        if gap_s:
                            await self._clock.sleep_until(started_at + number * gap_s)
                        if number % _BREATH == 0:
                            # A clock that is late returns at once; a flood must not starve the window.
                            await asyncio.sleep(0)
                        yield delta
                case Pause(None):
                    await asyncio.Event().wait()
                case Pause(seconds):
                    await self._clock.sleep_until(self._clock.now() + (seconds or 0.0))
                case Fail(failure):
                    raise CompletionError(failure)

    async def aclose(self) -> None:
        """Nothing is open."""


def default_answer(request: CompletionRequest) -> tuple[Step, ...]:
    """The prompt, quoted, with a word on what answers."""
    prompt = next((message.text for message in reversed(request.messages) if message.role is Role.USER), "").strip()
    quoted = "\n".join(f"> {line}".rstrip() for line in prompt.splitlines()) or "> *(nothing)*"
    text = (
        f"You said:\n\n{quoted}\n\n"
        "This is the **echo** provider: it works offline, repeats what it is sent and thinks nothing. "
        "Choose a model above to talk to one.\n"
    )
    words = len(prompt.split()), len(text.split())
    if not request.parameters.stream:
        said: tuple[Delta, ...] = (TextDelta(text),)
    else:
        said = tuple(TextDelta(piece) for piece in _pieces(text))
    return Say(said, PIECE_S), Say((UsageDelta(Usage(*words)), FinishDelta("stop")))


def _pieces(text: str) -> Iterator[str]:
    """`text` word by word, white space kept with the word before it."""
    start = 0
    for at in range(1, len(text)):
        if text[at - 1].isspace() and not text[at].isspace():
            yield text[start:at]
            start = at
    yield text[start:]
