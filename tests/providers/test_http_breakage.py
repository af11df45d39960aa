"""The HTTP client when things go wrong: what every way to fail says."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from typing import Any

import pytest

from reprise.domain.failures import Failure, FailureKind
from reprise.providers import tls
from reprise.providers.endpoint import Endpoint
from reprise.providers.openai_compatible import OpenAICompatible
from support.replies import CERTIFICATE, GOOD, KEY, SHORT, ask, text_event
from support.wire_server import Play, WireServer


def failure_at(url: str, **options: Any) -> Failure:
    async def main() -> Failure:
        provider = OpenAICompatible(Endpoint(url, options.pop("key", None)), **options)
        try:
            _, failure = await ask(provider)
        finally:
            await provider.aclose()
        assert failure is not None
        return failure

    return asyncio.run(main())


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.parametrize(
    ("play", "kind", "words"),
    [
        (Play(end="hang"), "timeout", "no reply within 0.3 s"),
        (Play((text_event("Hel"),), end="hang"), "timeout", "sent nothing for 0.3 s"),
        (Play((text_event("Hel"),), end="reset"), "network", "in the middle of the reply"),
        (Play((text_event("Hel"),), end="cut"), "network", "in the middle of the reply"),
        (Play((text_event("Hel"),)), "protocol", "cut off"),
        (Play((b"Hello there",)), "protocol", "no reply"),
        (Play((b'{"choices":[{"mess',)), "protocol", "not readable JSON"),
        (Play((b'{"id":"x"}',)), "protocol", "no reply"),
        (Play((text_event("Hel"),), headers={"content-encoding": "br"}), "protocol", "compressed its reply as br"),
        (Play((text_event("Hel"),), headers={"content-encoding": "gzip"}), "protocol", "compressed reply is damaged"),
        (Play((b"data: " + b"x" * (9 << 20),)), "protocol", "8 MiB"),
        (Play((b'{"a":"' + b"x" * (9 << 20),)), "protocol", "too large"),
    ],
)  # fmt: skip
def test_replies_that_go_wrong_each_say_how(play: Play, kind: str, words: str) -> None:
    """R34, F59: five causes, five sentences; all retryable."""

    async def main() -> None:
        async with WireServer({"a": play}) as server:
            provider = OpenAICompatible(Endpoint(server.url("a")), timeouts=SHORT)
            _, failure = await ask(provider)
            await provider.aclose()
        assert failure is not None
        assert failure.kind == kind
        assert failure.retryable
        assert words in failure.message

    asyncio.run(main())


def test_a_web_page_is_named_with_its_address_and_not_asked_again() -> None:
    """D1: a wrong address answers with its page, however often it is asked."""

    async def main() -> None:
        page = Play((b"\n <!DOCTYPE html><html><title>Welcome</title>",), headers={"content-type": "text/html"})
        async with WireServer({"a": page}) as server:
            provider = OpenAICompatible(Endpoint(server.url("a")))
            _, failure = await ask(provider)
            await provider.aclose()
            assert failure is not None
            assert not failure.retryable
            assert f"{server.url('a')}/chat/completions" in failure.message
            assert "<" not in failure.message

    asyncio.run(main())


def test_an_error_whose_body_is_reset_keeps_its_class() -> None:
    """Status and headers are enough."""

    async def main() -> None:
        play = Play((b'{"error":{"me',), 429, {"retry-after": "7"}, end="reset")
        async with WireServer({"a": play}) as server:
            provider = OpenAICompatible(Endpoint(server.url("a")))
            _, failure = await ask(provider)
            await provider.aclose()
        assert failure is not None
        assert (failure.kind, failure.retry_after_s) == (FailureKind.RATE_LIMIT, 7)
        assert failure.message

    asyncio.run(main())


def test_a_redirect_is_not_followed_and_the_key_stays() -> None:
    """Design rule 13."""

    async def main() -> None:
        async with WireServer({"b": GOOD}) as other:
            moved = Play(status=307, headers={"location": f"{other.url('b')}/chat/completions"})
            async with WireServer({"a": moved}) as server:
                provider = OpenAICompatible(Endpoint(server.url("a"), KEY))
                _, failure = await ask(provider)
                await provider.aclose()
            assert failure is not None
            assert f"{other.url('b')}/chat/completions" in failure.message
            assert not failure.retryable
            assert other.requests == []

    asyncio.run(main())


@pytest.mark.parametrize("status", [401, 200])
def test_a_key_that_the_server_echoes_is_not_repeated(status: int) -> None:
    """P9: not in the words, not in the details, not in the log."""

    async def main() -> None:
        body = json.dumps({"error": {"message": f"Bad key {KEY}", "code": KEY}}).encode()
        play = Play((body,), status, {"content-type": "application/json", "x-request-id": KEY})
        async with WireServer({"a": play}) as server:
            provider = OpenAICompatible(Endpoint(server.url("a"), KEY))
            _, failure = await ask(provider)
            await provider.aclose()
        assert KEY not in repr(failure)
        assert "[key]" in repr(failure)

    asyncio.run(main())


def test_a_refused_connection_names_host_and_port() -> None:
    """R34."""
    port = closed_port()
    failure = failure_at(f"http://127.0.0.1:{port}")
    assert (failure.kind, failure.retryable) == (FailureKind.NETWORK, True)
    assert failure.message.startswith(f"127.0.0.1:{port} refused the connection")


def test_a_name_that_does_not_exist_says_check_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """D14, R34."""

    def nobody(*args: object, **options: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    failure = failure_at("https://api.opnai.invalid/v1")
    assert failure.message == "Cannot find api.opnai.invalid - check the address."
    assert (failure.kind, failure.retryable) == (FailureKind.NETWORK, True)


async def told_by(scheme: str, answer: bytes) -> Failure:
    """The failure at a server that says `answer` to whatever comes, and closes."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        provider = OpenAICompatible(Endpoint(f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
        _, failure = await ask(provider)
        await provider.aclose()
    assert failure is not None
    return failure


def test_something_that_is_no_http_is_a_protocol_failure() -> None:
    """R34: garbage is told from a closed connection."""
    failure = asyncio.run(told_by("http", b"SSH-2.0-OpenSSH_9.2\r\n\r\n"))
    assert failure.kind is FailureKind.PROTOCOL
    assert "does not speak HTTP" in failure.message


def test_https_to_a_plain_server_asks_whether_it_is_https() -> None:
    """R34: a wrong scheme is a common slip."""
    failure = asyncio.run(told_by("https", b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n"))
    assert failure.kind is FailureKind.NETWORK
    assert "Is it https?" in failure.message


def test_a_certificate_nobody_signed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Class network, the text names the certificate; a CA file in SSL_CERT_FILE helps."""

    async def main() -> None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(CERTIFICATE)
        async with WireServer({"a": GOOD}, ssl=context) as server:
            provider = OpenAICompatible(Endpoint(server.url("a")))
            _, failure = await ask(provider)
            await provider.aclose()
            assert failure is not None
            assert (failure.kind, failure.retryable) == (FailureKind.NETWORK, True)
            assert f"certificate of 127.0.0.1:{server.port} is not trusted" in failure.message
            monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
            monkeypatch.setattr(tls, "_SHARED", tls._Shared())
            trusting = OpenAICompatible(Endpoint(server.url("a")))
            assert await ask(trusting) == ("Hello", None)
            await trusting.aclose()

    asyncio.run(main())


@pytest.mark.parametrize("name", ["CERT_FILE", "CERT_DIR"])
def test_broken_certificate_variables_do_not_stop_a_plain_address(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Design rule 6: httpx's constructor would raise here."""
    monkeypatch.setenv(f"SSL_{name}", "/nowhere/at/all")
    monkeypatch.setattr(tls, "_SHARED", tls._Shared())
    assert failure_at(f"http://127.0.0.1:{closed_port()}").kind is FailureKind.NETWORK
    assert failure_at(f"https://127.0.0.1:{closed_port()}").kind is FailureKind.NETWORK


@pytest.mark.parametrize("value", ["socks5://127.0.0.1:9", "nonsense://x", "http://x:port"])
def test_a_broken_proxy_is_a_sentence_at_the_first_request(value: str) -> None:
    """Making the provider never fails over it."""
    failure = failure_at("https://api.example.invalid", environ={"ALL_PROXY": value})
    assert (failure.kind, failure.retryable) == (FailureKind.BAD_REQUEST, False)
    assert "ALL_PROXY" in failure.message


def test_a_proxy_serves_and_may_refuse() -> None:
    """Plain http goes to the proxy with the whole address; its own failures are failures of the network."""

    async def main() -> None:
        seen: list[bytes] = []

        async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            seen.append(await reader.readuntil(b"\r\n\r\n"))
            body = b"".join(GOOD.chunks)
            head = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body)
            refused = b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n"
            writer.write(refused if seen[-1].startswith(b"CONNECT") else head + body)
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(proxy, "127.0.0.1", 0)
        async with server:
            environ = {"ALL_PROXY": f"127.0.0.1:{server.sockets[0].getsockname()[1]}"}
            provider = OpenAICompatible(Endpoint("http://model.invalid"), environ=environ)
            assert await ask(provider) == ("Hello", None)
            await provider.aclose()
            assert seen[0].startswith(b"POST http://model.invalid/v1/chat/completions ")
            provider = OpenAICompatible(Endpoint("https://model.invalid"), environ=environ)
            _, failure = await ask(provider)
            await provider.aclose()
            assert failure is not None
            assert failure.kind is FailureKind.NETWORK
            assert "proxy" in failure.message

    asyncio.run(main())
