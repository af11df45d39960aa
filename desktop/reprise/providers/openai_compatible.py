"""The OpenAI-compatible wire (chat completions), which most servers speak: the built-in model's, too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack

from reprise.domain.deltas import Delta
from reprise.domain.failures import AFTER_CAP_S, CompletionError, Failure
from reprise.domain.models import CompletionRequest
from reprise.providers.endpoint import DEFAULT_TIMEOUTS, Endpoint, Timeouts
from reprise.providers.http import Http, Reply
from reprise.providers.openai_request import request_body
from reprise.providers.openai_source import ReplySource

GRACE_S = 3.0
"""How long a complete reply is waited on for its token counts: some servers send neither those nor an end."""


class OpenAICompatible:
    """A service that speaks chat completions: a `ports.CompletionProvider`."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        after_cap_s: float = AFTER_CAP_S,
        grace_s: float = GRACE_S,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._http = Http(endpoint, timeouts, after_cap_s=after_cap_s, environ=environ)
        self._grace_s = grace_s
        self._with_usage = True
        self._max_tokens_name = "max_completion_tokens" if endpoint.host == "api.openai.com" else "max_tokens"

    @property
    def endpoint(self) -> Endpoint:
        """Where it speaks to."""
        return self._endpoint

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Delta]:
        """The reply's deltas as they arrive; a failure is raised after those that came before it."""
        async with AsyncExitStack() as stack:
            try:
                reply = await self._post(stack, request)
            except CompletionError as error:
                if not (self._with_usage and _refuses_usage(error.failure)):
                    raise
                # A strict server refused the wish for token counts: asked once more without it, and so from now on.
                self._with_usage = False
                reply = await self._post(stack, request)
            source = ReplySource(reply, self._grace_s, ends_without_finish=self._endpoint.ends_without_finish)
            while (deltas := await source.pull()) is not None:
                for delta in deltas:
                    yield delta
                # A flood must not keep the window from painting (design section 3).
                await asyncio.sleep(0)

    async def aclose(self) -> None:
        """Close the connections; a reply that still streams ends by itself."""
        await self._http.aclose()

    async def _post(self, stack: AsyncExitStack, request: CompletionRequest) -> Reply:
        body = request_body(request, with_usage=self._with_usage, max_tokens_name=self._max_tokens_name)
        return await stack.enter_async_context(self._http.post("chat/completions", body))


def _refuses_usage(failure: Failure) -> bool:
    words = f"{failure.message} {failure.provider_detail or ''}"
    return failure.status in (400, 422) and ("stream_options" in words or "include_usage" in words)
