"""One HTTP client per endpoint: timeouts, proxies, certificates, and every failure typed (the only user of httpx)."""

from __future__ import annotations

import asyncio
import os
import ssl
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, NoReturn
from urllib.parse import urlsplit

import httpx

from reprise.domain.failures import AFTER_CAP_S, CompletionError, FailureKind
from reprise.providers.endpoint import DEFAULT_TIMEOUTS, Endpoint, Timeouts
from reprise.providers.http_failures import Exchange, failure_of_response
from reprise.providers.proxies import ProxyProblem, proxy_for
from reprise.providers.tls import no_tls_context, tls_context
from reprise.providers.transport_failures import broken_words, connect_words

USER_AGENT = "Reprise"
MAX_ERROR_BYTES = 256 * 1024
_ERROR_BODY_S = 5.0
_ENCODINGS = ("gzip", "x-gzip", "deflate")
_LINGER_S = 0.05
_WRITE_S = 30.0


class Reply:
    """A 2xx response whose body is being read."""

    def __init__(self, response: httpx.Response, exchange: Exchange, timeouts: Timeouts, first_byte_at: float) -> None:
        self.exchange = exchange
        self._response = response
        self._body = response.aiter_raw()
        self._encoding = response.headers.get("content-encoding", "").strip().lower()
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32) if self._encoding in _ENCODINGS else None
        self._timeouts = timeouts
        self._first_byte_at = first_byte_at
        self._answered = False

    async def read(self, at_most_s: float | None = None) -> bytes:
        """The next bytes of the body, ``b""`` at its end.

        Raises CompletionError when the connection breaks or stays silent too long, TimeoutError after `at_most_s`.
        """
        while True:
            raw = await self._read_raw(at_most_s)
            if not raw or self._encoding in ("", "identity"):
                return raw
            if self._inflate is None:
                words = f"The server compressed its reply as {self._encoding}, which was not asked for."
                raise CompletionError(self.exchange.failure(FailureKind.PROTOCOL, words))
            try:
                data = self._inflate.decompress(raw)
            except zlib.error as error:
                words = f"The compressed reply is damaged: {error}."
                raise CompletionError(self.exchange.failure(FailureKind.PROTOCOL, words)) from error
            if data:
                return data

    async def _read_raw(self, at_most_s: float | None) -> bytes:
        now = asyncio.get_running_loop().time()
        limit_s = self._timeouts.idle_s if self._answered else max(0.0, self._first_byte_at - now)
        host = _host_of(self.exchange.url)
        try:
            async with asyncio.timeout(limit_s if at_most_s is None else min(limit_s, at_most_s)):
                raw = await anext(self._body, b"")
        except TimeoutError as error:
            if at_most_s is not None and at_most_s <= limit_s:
                raise
            _raise_silent(self.exchange, host, self._timeouts, self._answered, error)
        except (httpx.HTTPError, OSError) as error:
            _raise_broken(self.exchange, host, error, answered=self._answered)
        self._answered = self._answered or bool(raw)
        return raw

    async def drain(self) -> None:
        """Take in the end of a complete reply, so that the connection can serve again; it is there, or given up."""
        try:
            async with asyncio.timeout(_LINGER_S):
                await self._rest()
        except TimeoutError:
            return

    async def aclose(self) -> None:
        """Give the connection back, or close it at once when the body was not read to its end.

        httpx reads through a chain of generators. One that is left in mid-body is closed by the collector, each in a
        task of nobody; ended by a cancelled read they are all closed when this returns.
        """
        try:
            async with asyncio.TaskGroup() as group:
                reading = group.create_task(self._rest())
                await asyncio.sleep(0)
                reading.cancel()
        finally:
            await self._response.aclose()

    async def _rest(self) -> None:
        """Read on and forget it: what goes wrong after the reply's end changes nothing (wire rule)."""
        try:
            while await anext(self._body, b""):
                pass
        except (httpx.HTTPError, OSError):
            return


class Http:
    """The client of one endpoint. Nothing is made before the first request, and making it cannot fail the start."""

    def __init__(
        self,
        endpoint: Endpoint,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        *,
        after_cap_s: float = AFTER_CAP_S,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._timeouts = timeouts
        self._after_cap_s = after_cap_s
        self._environ = os.environ if environ is None else environ
        self._client: httpx.AsyncClient | None = None
        self._open = 0
        self._closing = False

    @asynccontextmanager
    async def post(self, path: str, body: bytes) -> AsyncIterator[Reply]:
        """POST a JSON `body` to `path` under the base URL; the body of the reply is read inside the context.

        Raises CompletionError for anything but a 2xx response. Leaving the context closes the response on every path.
        """
        exchange = Exchange(
            self._endpoint.shown(path), "POST", secrets=self._endpoint.secrets, after_cap_s=self._after_cap_s
        )
        client = await self._ready(exchange)
        request = client.build_request("POST", self._endpoint.url(path), content=body, headers=self._headers())
        self._open += 1
        try:
            first_byte_at = asyncio.get_running_loop().time() + self._timeouts.first_byte_s
            response = await self._send(client, request, exchange)
            headers = {name.lower(): value for name, value in response.headers.items()}
            exchange = replace(exchange, status=response.status_code, headers=headers)
            reply = Reply(response, exchange, self._timeouts, first_byte_at)
            try:
                if not response.is_success:
                    raise CompletionError(failure_of_response(exchange, await _error_body(reply)))
                yield reply
            finally:
                await reply.aclose()
        finally:
            self._open -= 1
            await self._close_if_done()

    async def aclose(self) -> None:
        """Close the client; a reply that still streams closes it at its end, so new settings cut none off."""
        self._closing = True
        await self._close_if_done()

    async def _close_if_done(self) -> None:
        if self._closing and self._open == 0 and (client := self._client) is not None:
            self._client = None
            await client.aclose()

    async def _ready(self, exchange: Exchange) -> httpx.AsyncClient:
        """The client, made on first use; whatever stands in the way of making it is a failure with a sentence."""
        if self._client is not None:
            return self._client
        parts = urlsplit(self._endpoint.base_url)
        try:
            proxy = proxy_for(parts.scheme, parts.hostname or "", parts.port, self._environ)
            needs_tls = parts.scheme == "https" or (proxy is not None and proxy.url.startswith("https:"))
            context = await tls_context(_bundled_certificates) if needs_tls else no_tls_context()
            # While the certificates were read another request may have made it.
            self._client = self._client or httpx.AsyncClient(
                verify=context,
                proxy=None if proxy is None else _proxy(proxy.url, context),
                trust_env=False,
                follow_redirects=False,
                timeout=httpx.Timeout(None, connect=self._timeouts.connect_s, write=_WRITE_S),
                # One idle connection: should it prove dead, the second try finds no other old one.
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=1, keepalive_expiry=30.0),
            )
        except ProxyProblem as error:
            raise CompletionError(exchange.failure(FailureKind.BAD_REQUEST, str(error))) from error
        except (ValueError, httpx.InvalidURL) as error:
            words = f"The address {exchange.url} or its proxy cannot be used: {error}."
            raise CompletionError(exchange.failure(FailureKind.BAD_REQUEST, words)) from error
        except OSError as error:
            words = f"The certificates of this system cannot be read: {error}."
            raise CompletionError(exchange.failure(FailureKind.NETWORK, words)) from error
        return self._client

    def _headers(self) -> list[tuple[str, str]]:
        headers = [
            ("content-type", "application/json"),
            ("accept", "text/event-stream, application/json"),
            # Compression only delays the words of a stream; a server that compresses anyway is understood.
            ("accept-encoding", "identity"),
            ("user-agent", USER_AGENT),
        ]
        if self._endpoint.key is not None:
            headers.append(("authorization", f"Bearer {self._endpoint.key}"))
        if not self._endpoint.keep_alive:
            headers.append(("connection", "close"))
        return [*headers, *self._endpoint.headers]

    async def _send(self, client: httpx.AsyncClient, request: httpx.Request, exchange: Exchange) -> httpx.Response:
        """Send, and once more when a connection that was kept alive turns out dead before the first byte came back."""
        host = _host_of(exchange.url)
        for attempt in (1, 2):
            traced = _Trace()
            request.extensions["trace"] = traced
            try:
                async with asyncio.timeout(self._timeouts.first_byte_s):
                    return await client.send(request, stream=True)
            except TimeoutError as error:
                _raise_silent(exchange, host, self._timeouts, False, error)
            except (httpx.HTTPError, OSError) as error:
                if attempt == 1 and traced.reused and isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError):
                    continue
                _raise_broken(exchange, host, error, answered=False)
            except (httpx.InvalidURL, ValueError) as error:
                words = f"The request to {exchange.url} cannot be sent: {error}."
                raise CompletionError(exchange.failure(FailureKind.BAD_REQUEST, words)) from error
        raise AssertionError("unreachable: the second try either returns or raises")


class _Trace:
    """Whether a request went over a connection that had served before, and nothing of its reply had come.

    It also closes the connection whose TLS handshake does not end well: cancelled in it, httpcore leaves the socket
    open until the collector finds it.
    """

    def __init__(self) -> None:
        self._connected = False
        self._answered = False
        self._stream: Any = None

    async def __call__(self, event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            self._stream = info["return_value"]
        elif event.endswith(".start_tls.failed") and self._stream is not None:
            await self._stream.aclose()
        if event.startswith("connection.connect"):
            self._connected = True
        elif event == "http11.receive_response_headers.complete":
            self._answered = True

    @property
    def reused(self) -> bool:
        return not self._connected and not self._answered


async def _error_body(reply: Reply) -> bytes:
    """What can be read of an error's body. One that breaks off or hangs must not hide what status and headers say."""
    body = bytearray()
    try:
        while len(body) < MAX_ERROR_BYTES and (chunk := await reply.read(_ERROR_BODY_S)):
            body += chunk
    except (TimeoutError, CompletionError):
        return bytes(body)
    return bytes(body)


def _bundled_certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)


def _proxy(url: str, context: ssl.SSLContext) -> httpx.Proxy:
    # httpcore refuses a context for a proxy that is spoken to in plain text.
    return httpx.Proxy(url, ssl_context=context if url.startswith("https:") else None)


def _host_of(url: str) -> str:
    return urlsplit(url).netloc


def _raise_silent(exchange: Exchange, host: str, timeouts: Timeouts, answered: bool, cause: Exception) -> NoReturn:
    words = (
        f"{host} sent nothing for {timeouts.idle_s:g} s."
        if answered
        else f"{host} sent no reply within {timeouts.first_byte_s:g} s."
    )
    raise CompletionError(exchange.failure(FailureKind.TIMEOUT, words)) from cause


def _raise_broken(exchange: Exchange, host: str, error: Exception, *, answered: bool) -> NoReturn:
    """By type (behaviour R34); httpx's own texts are empty or say nothing to a person."""
    detail = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    match error:
        case httpx.ConnectTimeout():
            kind, words = FailureKind.TIMEOUT, f"{host} did not answer in time - check the address and the network."
        case httpx.TimeoutException():
            kind, words = FailureKind.TIMEOUT, f"{host} took too long to accept the request."
        case httpx.ProxyError():
            kind, words = FailureKind.NETWORK, f"The proxy refused the connection to {host}: {error}."
        case httpx.ConnectError():
            kind, words = FailureKind.NETWORK, connect_words(error, _with_port(exchange.url))
        case httpx.UnsupportedProtocol() | httpx.LocalProtocolError():
            kind, words = FailureKind.BAD_REQUEST, f"The request to {exchange.url} cannot be sent: {error}."
        case httpx.RemoteProtocolError() if not _is_closed(error):
            kind, words = FailureKind.PROTOCOL, f"{host} does not speak HTTP as expected: {error}."
        case _:
            kind, words = FailureKind.NETWORK, broken_words(error, host, answered=answered)
    raise CompletionError(exchange.failure(kind, words, detail=detail)) from error


def _is_closed(error: httpx.RemoteProtocolError) -> bool:
    """Whether the peer just went away; httpx has one class for that and for garbage, told apart by its fixed words."""
    return str(error).startswith(("Server disconnected", "peer closed connection"))


def _with_port(url: str) -> str:
    parts = urlsplit(url)
    return parts.netloc if parts.port else f"{parts.netloc}:{443 if parts.scheme == 'https' else 80}"
