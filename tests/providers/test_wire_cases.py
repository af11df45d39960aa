"""Every recorded reply of the OpenAI-compatible wire through a real socket, and cut anywhere."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from reprise.domain.deltas import Partial
from reprise.domain.failures import CompletionError, Failure
from reprise.domain.models import CompletionRequest
from reprise.domain.ports import CompletionProvider
from reprise.providers.endpoint import Endpoint, Timeouts
from reprise.providers.http_failures import Exchange
from reprise.providers.openai_compatible import OpenAICompatible
from reprise.providers.openai_source import ReplySource
from reprise.providers.sse import SseDecoder
from support.replies import REQUEST, take
from support.wire_server import Case, WireServer, load_cases

CASES = load_cases(Path(__file__).parents[1] / "data" / "wire" / "cases.jsonl")
SMALL = 4096
TIMEOUTS = Timeouts(connect_s=5.0, first_byte_s=0.5, idle_s=0.5)
STREAMS = [case for case in CASES.values() if case.play.status == 200 and case.play.end != "hang"]


class Recorded:
    """A body out of memory, in the pieces given."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.exchange = Exchange("http://recorded/v1/chat/completions", status=200)
        self._pieces = list(pieces)

    async def read(self, at_most_s: float | None = None) -> bytes:
        while self._pieces:
            if piece := self._pieces.pop(0):
                return piece
        return b""

    async def drain(self) -> None:
        self._pieces.clear()


def parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def outcome(partial: Partial, failure: Failure | None) -> dict[str, Any]:
    return {
        "text": partial.text,
        "reasoning": partial.thinking,
        "tool_calls": [(call.id, call.name, parsed(call.arguments)) for call in partial.tool_calls],
        "finish_reason": partial.finish_reason,
        "usage": partial.usage and {"input": partial.usage.input, "output": partial.usage.output},
        "error": failure and str(failure.kind),
        "retryable": failure is not None and failure.retryable,
        "retry_after_s": failure and failure.retry_after_s,
    }


def differences(got: dict[str, Any], want: dict[str, Any], error_alt: tuple[str | None, ...]) -> dict[str, Any]:
    found = {}
    for name, wanted in want.items():
        have = got[name]
        match name:
            case "tool_calls":
                wanted = [(call["id"], call["name"], parsed(call["arguments"])) for call in wanted]
                have = [("*" if w[0] == "*" and h[0] else h[0], *h[1:]) for h, w in zip(have, wanted, strict=False)]
                have += got[name][len(have) :]
            case "error" if have in error_alt:
                continue
            case "usage" if got["error"] is not None:
                continue
            case "retry_after_s" if wanted is not None and have is not None and abs(have - wanted) <= 2:
                continue
            case "retry_after_s" if wanted is None and have is not None and got["error"] == "rate_limit":
                # A wait that a gateway names inside the body is a bonus.
                continue
        if have != wanted:
            found[name] = (have, wanted)
    return found


def verdict(case: Case, got: dict[str, Any]) -> list[dict[str, Any]]:
    """Empty when one of the case's right outcomes is met, else what differs from each."""
    tried = [differences(got, want, case.error_alt) for want in (case.expect, *case.expect_alt)]
    return [] if {} in tried else tried


async def collect(provider: CompletionProvider, request: CompletionRequest = REQUEST) -> dict[str, Any]:
    return outcome(*await take(provider, request))


def from_bytes(pieces: list[bytes]) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        source = ReplySource(Recorded(pieces), 0.5, ends_without_finish=False)
        partial, failure = Partial(), None
        try:
            while (deltas := await source.pull()) is not None:
                for delta in deltas:
                    partial.append(delta)
        except CompletionError as error:
            failure = error.failure
        got = outcome(partial, failure)
        # Made-up ids differ each time.
        got["tool_calls"] = [call[1:] for call in got["tool_calls"]]
        return got

    return asyncio.run(run())


def body_of(case: Case) -> bytes:
    body = b"".join(case.play.chunks)
    return gzip.decompress(body) if case.play.headers.get("content-encoding") == "gzip" else body


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: f"{case.id} {case.title}")
def test_wire_case_through_a_socket(case: Case) -> None:
    """Issue 2 item 4: text, reasoning, calls, finish, usage, class, retryability and wait of every recorded reply."""

    async def run() -> dict[str, Any]:
        async with WireServer({case.id: case.play}) as server:
            provider = OpenAICompatible(Endpoint(server.url(case.id)), timeouts=TIMEOUTS, grace_s=0.3)
            try:
                return await collect(provider)
            finally:
                await provider.aclose()

    assert verdict(case, asyncio.run(run())) == []


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case.id)
def test_events_do_not_depend_on_where_the_network_cuts(case: Case) -> None:
    """Design section 9: cases up to 4 kB cut at every byte, larger ones byte by byte once and at 200 random cuts."""
    body = body_of(case)

    def events(pieces: list[bytes]) -> list[Any]:
        decoder = SseDecoder()
        return [event for piece in pieces for event in decoder.feed(piece)] + decoder.flush()

    whole = events([body])
    cuts = range(len(body)) if len(body) <= SMALL else random.Random(case.id).sample(range(len(body)), 200)
    for cut in cuts:
        assert events([body[:cut], body[cut:]]) == whole
    assert events([body[at : at + 1] for at in range(len(body))]) == whole


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case.id)
def test_outcome_does_not_depend_on_where_the_network_cuts(case: Case) -> None:
    """The same for the whole way from bytes to deltas: byte by byte, and at cuts all over the body."""
    body = body_of(case)
    whole = from_bytes([body])
    if len(body) <= SMALL:
        assert from_bytes([body[at : at + 1] for at in range(len(body))]) == whole
    for cut in range(0, len(body), max(1, len(body) // 40)):
        assert from_bytes([body[:cut], body[cut:]]) == whole
