"""The HTTP client against a real socket: how requests go out and connections are used."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable
from contextlib import aclosing

import pytest

from reprise.domain.deltas import Delta, TextDelta
from reprise.domain.failures import FailureKind
from reprise.providers import tls
from reprise.providers.endpoint import Endpoint
from reprise.providers.openai_compatible import OpenAICompatible
from support.process import refusal
from support.replies import GOOD, KEPT, KEY, REQUEST, ask, text_event
from support.wire_server import Play, WireServer


def test_what_a_request_looks_like() -> None:
    """Issue 2 item 4: the path under the base URL, the key as a bearer token, one JSON body."""

    async def main() -> None:
        async with WireServer({"a": GOOD}) as server:
            endpoint = Endpoint(server.url("a"), KEY, headers=(("x-extra", "1"),))
            provider = OpenAICompatible(endpoint)
            assert await ask(provider) == ("Hello", None)
            await provider.aclose()
            (seen,) = server.requests
            assert (seen.method, seen.path) == ("POST", "/a/v1/chat/completions")
            assert seen.headers["authorization"] == f"Bearer {KEY}"
            assert seen.headers["x-extra"] == "1"
            assert seen.headers["accept-encoding"] == "identity"
            assert seen.json()["messages"] == [{"role": "user", "content": "Hi"}]
            assert seen.json()["stream_options"] == {"include_usage": True}

    asyncio.run(main())


def test_without_a_key_nothing_claims_one() -> None:
    """Design rule 13: a local server needs none."""

    async def main() -> None:
        async with WireServer({"a": GOOD}) as server:
            provider = OpenAICompatible(Endpoint(server.url("a")))
            await ask(provider)
            await provider.aclose()
            assert "authorization" not in server.requests[0].headers

    asyncio.run(main())


def test_a_connection_serves_again() -> None:
    """F50, design rule 6: one client per endpoint, its connection kept."""

    async def main() -> None:
        async with WireServer({"a": KEPT}) as server:
            provider = OpenAICompatible(Endpoint(server.url("a")))
            for _ in range(3):
                assert await ask(provider) == ("Hello", None)
            await provider.aclose()
            assert server.connections == 1

    asyncio.run(main())


def test_a_reused_connection_that_died_is_replaced_once_unseen() -> None:
    """D18: only a reused connection that failed before its first byte is tried again, and nobody notices."""

    async def main() -> None:
        async with WireServer({"a": KEPT}, drops_reused=True) as server:
            provider = OpenAICompatible(Endpoint(server.url("a")))
            for _ in range(3):
                assert await ask(provider) == ("Hello", None)
            await provider.aclose()
            assert (server.connections, len(server.requests)) == (3, 3)

    asyncio.run(main())


def test_a_fresh_connection_that_dies_is_a_failure() -> None:
    """D18: no silent second request; retries are the policy's."""

    async def main() -> None:
        async with WireServer({"a": Play(end="refuse")}) as server:
            provider = OpenAICompatible(Endpoint(server.url("a")))
            _, failure = await ask(provider)
            await provider.aclose()
            assert failure is not None
            assert (failure.kind, failure.retryable) == (FailureKind.NETWORK, True)
            assert "before the reply began" in failure.message
            assert server.connections == 1

    asyncio.run(main())


@pytest.mark.parametrize(
    ("play", "kind", "retryable", "asked_s"),
    [
        (refusal(429, "You exceeded your current quota, please check your billing."), "quota", False, None),
        (refusal(429, "slow down", retry_after="7"), "rate_limit", True, 7.0),
        (refusal(429, "tomorrow", retry_after="9000"), "rate_limit", False, 9000.0),
        (refusal(503, "down", retry_after="5"), "server", True, 5.0),
    ],
    ids=["quota", "limit", "over the cap", "server"],
)
def test_a_refusal_is_handed_on_at_once_and_asked_for_once(
    play: Play, kind: str, retryable: bool, asked_s: float | None
) -> None:
    """F3, F8: below the policy nothing is asked again and nothing waits, however long the provider wants."""

    async def main() -> None:
        async with WireServer({"a": play}) as server:
            provider = OpenAICompatible(Endpoint(server.url("a")))
            began = time.perf_counter()
            _, failure = await ask(provider)
            assert time.perf_counter() - began < 4.0
            await provider.aclose()
            assert failure is not None
            assert (failure.kind, failure.retryable, failure.retry_after_s) == (kind, retryable, asked_s)
            assert (server.connections, len(server.requests)) == (1, 1)

    asyncio.run(main())


def test_an_endpoint_may_ask_to_close() -> None:
    """Servers that close kept connections by themselves get none to keep."""

    async def main() -> None:
        async with WireServer({"a": KEPT}) as server:
            provider = OpenAICompatible(Endpoint(server.url("a"), keep_alive=False))
            for _ in range(2):
                assert await ask(provider) == ("Hello", None)
            await provider.aclose()
            assert server.requests[0].headers["connection"] == "close"
            assert server.connections == 2

    asyncio.run(main())


@pytest.mark.parametrize("before", [0, 1])
def test_cancelling_closes_a_silent_socket_at_once(before: int) -> None:
    """D6, F47, C9: under 50 ms, before the first byte and after it; the server sees the client go."""

    async def cancel_one() -> float:
        async with WireServer({"a": Play((text_event("Hel"),) * before, end="hang")}) as server:
            provider = OpenAICompatible(Endpoint(server.url("a")))
            arrived = asyncio.Event()

            async def consume() -> None:
                async for _ in provider.stream(REQUEST):
                    arrived.set()

            task = asyncio.create_task(consume())
            await asyncio.wait_for(arrived.wait() if before else server.arrived(1), 5)
            started = time.perf_counter()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            took_s = time.perf_counter() - started
            await asyncio.wait_for(server.gone.wait(), 5)
            await provider.aclose()
            return took_s

    async def main() -> None:
        # The best of three: a busy machine may keep any one of them waiting.
        assert min([await cancel_one() for _ in range(3)]) < 0.05

    asyncio.run(main())


def test_leaving_the_stream_closes_the_connection() -> None:
    """F53, design rule 5: closing the iterator is closing the socket, and leaves no task behind."""

    async def main() -> None:
        async with WireServer({"a": Play((text_event("Hel"),), end="hang")}) as server:
            provider = OpenAICompatible(Endpoint(server.url("a")))
            running = len(asyncio.all_tasks())
            async with aclosing(provider.stream(REQUEST)) as stream:
                assert await anext(stream) == TextDelta("Hel")
            for _ in range(5):
                # The server's own task may come; a task of nobody may not.
                assert len(asyncio.all_tasks()) <= running + 1
                await asyncio.sleep(0)
            await asyncio.wait_for(server.gone.wait(), 5)
            await provider.aclose()

    asyncio.run(main())


def test_closing_the_provider_lets_a_running_stream_end() -> None:
    """Settings changed in mid-reply do not break it, and the next request still works."""

    async def main() -> None:
        slow = Play(GOOD.chunks, delays_s=(0, 0.05, 0))
        async with WireServer({"a": slow}) as server:
            provider = OpenAICompatible(Endpoint(server.url("a")))
            text = ""
            async for delta in provider.stream(REQUEST):
                await provider.aclose()
                text += delta.text if isinstance(delta, TextDelta) else ""
            assert text == "Hello"
            assert await ask(provider) == ("Hello", None)

    asyncio.run(main())


def test_a_loopback_address_ignores_proxies() -> None:

    async def main() -> None:
        async with WireServer({"a": GOOD}) as server:
            environ = {"HTTP_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "socks5://127.0.0.1:9"}
            for host in ("127.0.0.1", "localhost", "0.0.0.0"):
                url = server.url("a").replace("127.0.0.1", host)
                provider = OpenAICompatible(Endpoint(url), environ=environ)
                assert await ask(provider) == ("Hello", None)
                await provider.aclose()

    asyncio.run(main())


def test_a_server_that_refuses_to_count_is_asked_without() -> None:
    """P6's kind: a refused word is left out once and from then on."""

    async def main() -> None:
        words = b'{"error":{"message":"Unrecognized request argument supplied: stream_options"}}'
        async with WireServer({"a": [Play((words,), 400), GOOD]}) as server:
            provider = OpenAICompatible(Endpoint(server.url("a")))
            assert await ask(provider) == ("Hello", None)
            assert await ask(provider) == ("Hello", None)
            await provider.aclose()
            assert ["stream_options" in seen.json() for seen in server.requests] == [True, False, False]

    asyncio.run(main())


def test_a_flood_lets_others_run() -> None:
    """Design section 3: the loop turns between two pieces from the network."""

    async def main() -> None:
        flood = Play((*(text_event("x") * 400 for _ in range(20)), b"data: [DONE]\n\n"))
        async with WireServer({"a": flood}) as server:
            provider = OpenAICompatible(Endpoint(server.url("a")))
            turns = 0
            done = False

            async def other() -> None:
                nonlocal turns
                while not done:
                    turns += 1
                    await asyncio.sleep(0)

            task = asyncio.create_task(other())
            deltas: list[Delta] = [delta async for delta in provider.stream(REQUEST)]
            done = True
            await task
            await provider.aclose()
            assert len(deltas) == 8000
            assert turns > 20

    asyncio.run(main())


def test_a_complete_reply_is_not_waited_on() -> None:
    """Done at the mark, or a short grace after the finish reason, whatever the socket does."""

    async def main() -> None:
        async with WireServer(
            {"done": Play(GOOD.chunks, end="hang"), "finish": Play(GOOD.chunks[:2], end="hang")}
        ) as server:
            for name, grace_s in (("done", 60.0), ("finish", 0.2)):
                provider = OpenAICompatible(Endpoint(server.url(name)), grace_s=grace_s)
                started = time.perf_counter()
                assert await ask(provider) == ("Hello", None)
                assert time.perf_counter() - started < 5
                await provider.aclose()

    asyncio.run(main())


def test_a_service_that_never_says_it_is_done_can_be_flagged() -> None:
    """D10."""

    async def main() -> None:
        async with WireServer(
            {"a": Play((text_event("Hello"),)), "b": Play((text_event("Hello"),), end="cut")}
        ) as server:
            provider = OpenAICompatible(Endpoint(server.url("a"), ends_without_finish=True))
            assert await ask(provider) == ("Hello", None)
            await provider.aclose()
            provider = OpenAICompatible(Endpoint(server.url("b"), ends_without_finish=True))
            text, failure = await ask(provider)
            await provider.aclose()
            assert text == "Hello"
            assert failure is not None

    asyncio.run(main())


def test_the_certificates_are_read_once_and_off_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Design rule 6: on a daemon thread, shared, and tried again after a failure."""
    made: list[str] = []

    def new_context(bundled: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
        import threading

        thread = threading.current_thread()
        made.append(thread.name)
        assert thread.daemon
        if len(made) == 1:
            raise OSError("unreadable")
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    async def main() -> None:
        monkeypatch.setattr(tls, "_SHARED", tls._Shared())
        monkeypatch.setattr(tls, "_new_context", new_context)
        with pytest.raises(OSError, match="unreadable"):
            await tls.tls_context(ssl.create_default_context)
        first, second = await asyncio.gather(
            tls.tls_context(ssl.create_default_context), tls.tls_context(ssl.create_default_context)
        )
        assert first is second
        assert made == ["tls", "tls"]

    asyncio.run(main())


def test_without_a_system_store_the_bundled_certificates_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare container has none."""
    nothing = ssl.DefaultVerifyPaths(None, None, "", "", "", "")
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: nothing)
    monkeypatch.setattr(tls, "_CA_FILES", ())
    bundled = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    assert tls._new_context(lambda: bundled) is bundled
