"""Attempts that broke off, and turns that go on from them."""

from __future__ import annotations

from reprise.domain.deltas import TextDelta
from reprise.domain.events import (
    TurnFinished,
)
from reprise.domain.failures import FailureKind
from reprise.domain.models import Route
from support.engine import (
    SESSION,
    EngineStage,
    ScriptedProvider,
    ending,
    fails,
)

PREFILLS = Route("test", prefills=True)


async def broken_off(stage: EngineStage, *pieces: str) -> str:
    """A pending turn whose attempt said this; the attempt's id."""
    reply = fails(FailureKind.NETWORK, *(TextDelta(piece) for piece in pieces))
    await stage.send(stage.turn(ScriptedProvider(reply)))
    (*_, attempt) = await stage.attempt_entries()
    return attempt.id


async def resumed(stage: EngineStage, provider: ScriptedProvider, *delays: float, **options: object) -> TurnFinished:
    """The pending turn, going on from its newest attempt; how it ended."""
    (*_, attempt) = await stage.attempt_entries()
    turn = stage.turn(provider, *delays, **options)
    return ending(await stage.follow(turn.resume(SESSION, goes_on_from=attempt)))
