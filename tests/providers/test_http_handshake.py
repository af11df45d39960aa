"""A handshake that is given up leaves no socket behind."""

from __future__ import annotations

import asyncio

import pytest

from reprise.domain.failures import CompletionError, FailureKind
from reprise.domain.messages import ModelRef, user_message
from reprise.domain.models import CompletionRequest
from reprise.providers.endpoint import Endpoint, Timeouts
from reprise.providers.openai_compatible import OpenAICompatible

REQUEST = CompletionRequest(ModelRef("own", "m"), (user_message("hi"),))


class Mute:
    """Takes connections and never shakes hands."""

    def __init__(self) -> None:
        self.spoken_to = asyncio.Event()
        self.left = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(4096):
            self.spoken_to.set()
        self.left.set()
        writer.close()


async def _ask(provider: OpenAICompatible) -> None:
    async for _ in provider.stream(REQUEST):
        pass


@pytest.mark.parametrize("gives_up", ["the person", "the clock"])
def test_the_socket_is_closed_when_a_handshake_is_given_up(gives_up: str) -> None:
    """C9: the socket is really closed, by Stop and by the connect timeout alike."""

    async def main() -> None:
        mute = Mute()
        server = await asyncio.start_server(mute.serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        timeouts = Timeouts(connect_s=60.0 if gives_up == "the person" else 0.1)
        provider = OpenAICompatible(Endpoint(f"https://127.0.0.1:{port}/v1"), timeouts=timeouts, environ={})
        task = asyncio.create_task(_ask(provider))
        await asyncio.wait_for(mute.spoken_to.wait(), 10)
        if gives_up == "the person":
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            with pytest.raises(CompletionError) as caught:
                await task
            assert caught.value.failure.kind is FailureKind.TIMEOUT
        await asyncio.wait_for(mute.left.wait(), 10)
        await provider.aclose()
        server.close()
        await server.wait_closed()

    asyncio.run(main())
