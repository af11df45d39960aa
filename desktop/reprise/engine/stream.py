"""A provider's stream as one attempt uses it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol, runtime_checkable

from reprise.domain.deltas import Delta

logger = logging.getLogger("reprise.engine")


@runtime_checkable
class _Closable(Protocol):
    async def aclose(self) -> None: ...


@asynccontextmanager
async def closing(stream: AsyncIterator[Delta]) -> AsyncIterator[AsyncIterator[Delta]]:
    """`stream`, closed on every way out (behaviour F53); what closing it raises changes no outcome."""
    try:
        yield stream
    finally:
        if isinstance(stream, _Closable):
            try:
                await stream.aclose()
            except Exception:
                logger.exception("closing a reply's stream failed")
