"""Asking a provider, and what servers send when they are asked."""

from __future__ import annotations

import json
from pathlib import Path

from reprise.domain.deltas import Partial
from reprise.domain.failures import CompletionError, Failure
from reprise.domain.messages import ModelRef, user_message
from reprise.domain.models import CompletionRequest
from reprise.domain.ports import CompletionProvider
from reprise.providers.endpoint import Timeouts
from support.wire_server import Play

REQUEST = CompletionRequest(ModelRef("own", "m"), (user_message("Hi"),))
CERTIFICATE = Path(__file__).parents[1] / "data" / "tls" / "self_signed.pem"
SHORT = Timeouts(connect_s=5.0, first_byte_s=0.3, idle_s=0.3)
KEY = "sk-verysecret-123"


def text_event(text: str, finish: str | None = None) -> bytes:
    """One event of a stream with this text."""
    chunk = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


GOOD = Play((text_event("Hel"), text_event("lo", "stop"), b"data: [DONE]\n\n"))
KEPT = Play(GOOD.chunks, end="keep")


async def take(provider: CompletionProvider, request: CompletionRequest = REQUEST) -> tuple[Partial, Failure | None]:
    """All that comes of one request, and why it failed."""
    partial = Partial()
    try:
        async for delta in provider.stream(request):
            partial.append(delta)
    except CompletionError as error:
        return partial, error.failure
    return partial, None


async def ask(provider: CompletionProvider) -> tuple[str, Failure | None]:
    """The text that comes of one request, and why it failed."""
    partial, failure = await take(provider)
    return partial.text, failure
