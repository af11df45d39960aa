"""Engine and log against a server that others wrote to break clients, and its own verdict on us."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reprise.bridge.conversation import Conversation
from reprise.domain.events import Outcome, TurnFinished
from reprise.domain.retry import exponential_schedule
from reprise.domain.sessions import Attempt
from reprise.providers.endpoint import Endpoint, Timeouts
from reprise.providers.openai_compatible import OpenAICompatible
from support.aio import Aio
from support.breaker import Breaker, running
from support.bridge import MODEL, BridgeStage
from support.engine import texts
from support.process import reprise, say

pytestmark = pytest.mark.slow_callbacks

RATE_LIMITED = {"type": "fail", "status": 429, "retry_after": 2}
FAULTS: dict[str, list[dict[str, Any]]] = {
    "429 with Retry-After, twice": [RATE_LIMITED, RATE_LIMITED],
    "500": [{"type": "fail", "status": 500}],
    "502": [{"type": "fail", "status": 502}],
    "503": [{"type": "fail", "status": 503}],
    "529": [{"type": "fail", "status": 529}],
    "disconnected in mid-stream": [{"type": "stream_fault", "kind": "disconnect", "after_chunks": 2}],
    "truncated in mid-stream": [{"type": "stream_fault", "kind": "truncate", "after_chunks": 2}],
    "malformed in mid-stream": [{"type": "stream_fault", "kind": "malformed", "after_chunks": 2}],
    "stalled in mid-stream": [{"type": "stream_fault", "kind": "stall", "after_chunks": 2, "stall_seconds": 30}],
    "one after another": [
        {"type": "fail", "status": 503},
        {"type": "stream_fault", "kind": "disconnect", "after_chunks": 1},
        RATE_LIMITED,
        {"type": "stream_fault", "kind": "malformed", "after_chunks": 3},
    ],
}
FINAL: dict[str, dict[str, Any]] = {
    "401": {"type": "fail", "status": 401},
    "400": {"type": "fail", "status": 400},
    "404": {"type": "fail", "status": 404},
}


@pytest.fixture(scope="module")
def server() -> Iterator[Breaker]:
    with running() as breaker:
        yield breaker


def _set_up(server: Breaker, behaviours: list[dict[str, Any]]) -> None:
    server.reset()
    for behaviour in behaviours:
        how = {name: value for name, value in behaviour.items() if name != "type"}
        server.will(behaviour["type"], **how)


class Chaos:
    """One life of engine and log over the server. The waits of retries are real time on a manual clock."""

    def __init__(self, stage: BridgeStage, server: Breaker) -> None:
        self.stage = stage
        self.provider = OpenAICompatible(
            Endpoint(server.url, "sk-test"), timeouts=Timeouts(first_byte_s=5.0, idle_s=0.5), environ={}
        )
        stage.catalog.providers[MODEL] = self.provider
        self.chat: Conversation = stage.chat()

    async def turn(self, text: str) -> TurnFinished:
        """Send, and let every scheduled retry fire at once, until the turn has ended."""
        ended: asyncio.Future[TurnFinished] = asyncio.get_running_loop().create_future()
        unsubscribe = self.chat.subscribe(
            lambda event: ended.set_result(event) if isinstance(event, TurnFinished) and not ended.done() else None
        )
        self.chat.retry_manager.countdown_started.connect(self._skip)
        self.chat.send(text)
        finished = await asyncio.wait_for(ended, 60)
        self.chat.retry_manager.countdown_started.disconnect(self._skip)
        unsubscribe()
        return finished

    def _skip(self, pending: Any) -> None:
        wait_s = pending.due_at - self.stage.clock.now()
        self.stage.scope.start(self.stage.clock.advance(wait_s), name="skip the wait")

    async def close(self) -> None:
        await self.provider.aclose()
        await self.stage.close()


async def _chaos(folder: Path, server: Breaker) -> Chaos:
    return Chaos(await BridgeStage.open(folder, delays=exponential_schedule(6)), server)


@pytest.mark.parametrize("fault", FAULTS)
def test_every_transient_fault_ends_in_one_prompt_and_one_reply(
    aio: Aio, tmp_path: Path, server: Breaker, fault: str
) -> None:
    """D1, D3, D5, F59: nothing is lost, nothing is doubled, and the failed attempts are all in the log."""

    async def main() -> None:
        _set_up(server, FAULTS[fault])
        chaos = await _chaos(tmp_path, server)
        finished = await chaos.turn("Tell me of the sea, at some length.")
        assert finished.outcome is Outcome.COMPLETED, finished
        stored = texts(await chaos.stage.stored(chaos.chat))
        assert [role for role, _ in stored] == ["user", "assistant"]
        assert stored[1][1]
        attempts = await chaos.stage.attempts(chaos.chat)
        assert len(attempts) == len(FAULTS[fault])
        assert all(isinstance(attempt, Attempt) and attempt.failure is not None for attempt in attempts)
        await chaos.stage.assert_memory_equals_disk(chaos.chat)
        await chaos.close()

    aio(main())


@pytest.mark.parametrize("fault", FINAL)
def test_a_fault_that_a_retry_cannot_mend_is_asked_about_at_once(
    aio: Aio, tmp_path: Path, server: Breaker, fault: str
) -> None:
    """D1: one request, then the turn is pending with its prompt."""

    async def main() -> None:
        _set_up(server, [FINAL[fault]])
        chaos = await _chaos(tmp_path, server)
        finished = await chaos.turn("Tell me of the sea.")
        assert finished.outcome is Outcome.FAILED
        assert finished.pending is not None
        assert finished.pending.text == "Tell me of the sea."
        assert len(await chaos.stage.attempts(chaos.chat)) == 1
        await chaos.close()

    aio(main())


def test_the_servers_own_verdict_on_the_program_is_good(tmp_path: Path, server: Breaker) -> None:
    """It counts what a careless client does: retrying in vain, hammering through Retry-After, giving up too soon."""
    behaviours = [
        {"type": "fail", "status": 429, "retry_after": 1},
        {"type": "fail", "status": 503},
        *(
            {"type": "stream_fault", "kind": kind, "after_chunks": 2}
            for kind in ("disconnect", "truncate", "malformed")
        ),
        {"type": "stream_fault", "kind": "stall", "after_chunks": 2, "stall_seconds": 30},
    ]
    _set_up(server, behaviours)
    settings = ("policy=exponential", "max_retries=8", "base_s=0.1", "cap_s=0.3")
    given = [part for setting in settings for part in ("--set", f"retry.{setting}")]
    command = say(tmp_path, server.url, *given, "--set", "network.idle_timeout_s=0.5")
    done = asyncio.run(reprise(*command))
    said = done.json()
    assert (done.code, said["status"], said["attempts"]) == (0, "completed", len(behaviours) + 1), done.err
    verdict = server.verdict()
    print(f"llmock's verdict: {json.dumps(verdict)}")
    assert verdict["passed"], verdict
    assert verdict["errors"] == 0, verdict
    assert verdict["faults_injected"] == len(behaviours)
