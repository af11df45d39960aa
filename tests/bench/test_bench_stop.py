"""From Esc to idle, in every phase of a request; idle means the attempt is on disk and the socket closed."""

from __future__ import annotations

import asyncio
import socket
import statistics
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from reprise.bridge.conversation import Conversation
from reprise.bridge.signals import until
from reprise.domain.ports import CompletionProvider
from reprise.domain.turns import AwaitingRetry
from reprise.providers.endpoint import Endpoint
from reprise.providers.openai_compatible import OpenAICompatible
from support.aio import Aio
from support.bridge import MODEL, BridgeStage
from support.engine import HANG, ScriptedProvider, fails
from support.wire_server import Play, WireServer

pytestmark = [pytest.mark.bench, pytest.mark.slow_callbacks, pytest.mark.timeout(120)]
ROUNDS = 30
GOAL_S = 0.05
EVENT = b'data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n'


@dataclass(frozen=True)
class Phase:
    """A request that will not go on by itself: who is asked, when it got there, and when its socket is closed."""

    provider: CompletionProvider
    there: Callable[[Conversation], Awaitable[Any]]
    closed: Callable[[], Awaitable[Any]]


async def _nothing() -> None:
    """There is no socket."""


@asynccontextmanager
async def scripted() -> AsyncIterator[Phase]:
    """The baseline: a provider in memory that hangs."""
    provider = ScriptedProvider(HANG and [HANG])
    yield Phase(provider, lambda _chat: provider.hanging.wait(), _nothing)


@asynccontextmanager
async def waiting() -> AsyncIterator[Phase]:
    """A scheduled retry."""

    async def there(chat: Conversation) -> None:
        while not isinstance(chat.state, AwaitingRetry):
            await until(chat.state_changed)

    yield Phase(ScriptedProvider(fails()), there, _nothing)


@asynccontextmanager
async def headers() -> AsyncIterator[Phase]:
    """A server that took the request and says nothing."""
    async with _listener() as (port, arrived, gone):
        provider = OpenAICompatible(Endpoint(f"http://127.0.0.1:{port}/v1"), environ={})
        yield Phase(provider, lambda _chat: arrived.wait(), gone.wait)
        await provider.aclose()


@asynccontextmanager
async def handshake() -> AsyncIterator[Phase]:
    """A server that takes the connection and never shakes hands."""
    async with _listener() as (port, arrived, gone):
        provider = OpenAICompatible(Endpoint(f"https://127.0.0.1:{port}/v1"), environ={})
        yield Phase(provider, lambda _chat: arrived.wait(), gone.wait)
        await provider.aclose()


@asynccontextmanager
async def streaming() -> AsyncIterator[Phase]:
    """A reply that stalls after its first words."""
    async with WireServer({"a": Play((EVENT,), end="hang")}) as server:
        provider = OpenAICompatible(Endpoint(server.url("a")), environ={})
        yield Phase(provider, lambda chat: until(chat.delta_arrived), server.gone.wait)
        await provider.aclose()


@asynccontextmanager
async def lookup() -> AsyncIterator[Phase]:
    """A name whose lookup never answers."""
    asked, answer = asyncio.Event(), Event()
    loop, real = asyncio.get_running_loop(), socket.getaddrinfo

    def never(*args: Any, **kwargs: Any) -> Any:
        loop.call_soon_threadsafe(asked.set)
        answer.wait(30)
        return real("127.0.0.1", 9)

    socket.getaddrinfo = never  # type: ignore[assignment]
    try:
        provider = OpenAICompatible(Endpoint("http://silent.example/v1"), environ={})
        yield Phase(provider, lambda _chat: asked.wait(), _nothing)
        await provider.aclose()
    finally:
        socket.getaddrinfo = real
        answer.set()


@asynccontextmanager
async def _listener() -> AsyncIterator[tuple[int, asyncio.Event, asyncio.Event]]:
    """Takes connections and answers nothing: its port, when something arrived, when the client left."""
    arrived, gone = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(4096):
            arrived.set()
        gone.set()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], arrived, gone
    finally:
        server.close()
        await server.wait_closed()


async def _stop_s(stage: BridgeStage, phase: Phase) -> float:
    stage.catalog.providers[MODEL] = phase.provider
    chat = stage.chat()
    loop = asyncio.get_running_loop()
    chat.send("hello")
    await asyncio.wait_for(phase.there(chat), 10)
    ended = until(chat.turn_finished)
    began = loop.time()
    chat.stop()
    await asyncio.wait_for(ended, 10)
    took_s = loop.time() - began
    assert not chat.is_busy
    assert chat.pending is not None
    await asyncio.wait_for(phase.closed(), 10)
    return took_s


PHASES: dict[str, Callable[[], AbstractAsyncContextManager[Phase]]] = {
    "in memory": scripted,
    "name lookup": lookup,
    "TLS handshake": handshake,
    "waiting for headers": headers,
    "stalled reply": streaming,
    "retry wait": waiting,
}


def test_esc_to_idle_in_every_phase(aio: Aio, tmp_path: Path) -> None:
    """Goal: Esc to idle < 50 ms on a silent socket, the socket closed too; p99 of all, and over the same in memory."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path)
        times: dict[str, list[float]] = {name: [] for name in PHASES}
        for _ in range(ROUNDS):
            for name, make in PHASES.items():
                async with make() as phase:
                    times[name].append(await _stop_s(stage, phase))
        await stage.close()
        baseline = statistics.median(times["in memory"])
        for name, took in times.items():
            middle, worst = statistics.median(took), max(took)
            print(f"Esc to idle, {name}: {middle * 1000:.1f} ms, max {worst * 1000:.1f}, ratio {middle / baseline:.2f}")
        every = sorted(took for name in PHASES if name != "in memory" for took in times[name])
        p99 = every[int(len(every) * 0.99)]
        print(f"Esc to idle, all phases: p99 {p99 * 1000:.1f} ms (goal < 50)")
        assert p99 < 2 * GOAL_S
        assert statistics.median(every) < GOAL_S

    aio(main(), timeout_s=60)
