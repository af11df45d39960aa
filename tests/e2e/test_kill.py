"""Kill -9 in mid-stream: the prompt is there, at most 250 ms of text are lost, and Retry works."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from reprise.bridge.signals import until
from reprise.domain.messages import Role, TextPart
from reprise.domain.sessions import Attempt, AttemptState, messages
from support.aio import Aio
from support.clock import ManualClock
from support.kill_watch import KillWatch
from support.process import event, reply, start
from support.program import ProgramStage
from support.storage import watched
from support.wire_server import Play, WireServer

AT_RISK_S = 0.25
GAP_S = 0.02
WORDS = 400
KILLED_AFTER = 110


async def most_lost_s(watch: KillWatch, folder: Path) -> float:
    """Look after each of `KILLED_AFTER` chunks: one kill alone finds the store anywhere between two saves.

    What another process reads from the file survives a kill.
    """
    most_s = 0.0
    with watched(folder) as db:
        for count in range(1, KILLED_AFTER + 1):
            at = await watch.wrote(count)
            kept = "".join(text for (text,) in db.execute("SELECT text FROM chunk ORDER BY seq"))
            most_s = max(most_s, watch.lost_s(len(kept.split()), at))
    return most_s


@pytest.mark.slow_callbacks  # a child process is waited for in between
def test_what_was_streamed_survives_kill_9(aio: Aio, memory_path: Path) -> None:
    """Behaviour F73, D8, B1, N11."""

    async def story() -> None:
        chunks = tuple(event(content=f"{number} ") for number in range(WORDS))
        stream = Play(chunks, delays_s=(GAP_S,) * WORDS, end="hang")
        async with WireServer({"a": [stream, reply("all of it")]}) as server:
            url = server.url("a")
            process = await start(
                *("--data-dir", str(memory_path), "--provider-url", url, "--model", "test", "--say", "count")
            )
            await server.arrived(1)
            watch = KillWatch(server, process.pid)
            most_s = await most_lost_s(watch, memory_path)
            killed_at = time.monotonic()
            process.kill()
            await process.wait()

            clock = ManualClock()
            stage = await ProgramStage.open(memory_path, url, clock)
            (row,) = stage.parts.library.rows()
            assert row.session.pending
            stage.parts.library.open(row.session.id)
            await until(stage.conversation.history_changed)
            await clock.drain()
            history = stage.conversation.history
            assert [message.text for message in messages(history.branch)] == ["count"]
            (attempt,) = [entry.data for entries in history.attempts.values() for entry in entries]
            assert isinstance(attempt, Attempt)
            assert attempt.state is AttemptState.INTERRUPTED
            (part,) = attempt.parts
            assert isinstance(part, TextPart)
            kept = part.text.split()
            assert kept == [str(number) for number in range(len(kept))]
            killed_s = watch.lost_s(len(kept), killed_at)
            print(json.dumps({"kept": len(kept), "lost_s": round(killed_s, 3), "most_s": round(most_s, 3)}))
            assert max(killed_s, most_s) <= AT_RISK_S

            assert stage.window.notices.sentence.text().startswith("Reprise ended before a reply was complete.")
            assert stage.widget("pendingCard").isVisible()
            live = stage.widget("timeline")._stack.live  # what arrived is not only promised but shown
            assert live is not None
            assert not live.is_empty
            finished = asyncio.ensure_future(until(stage.conversation.turn_finished))
            await asyncio.sleep(0)
            stage.press(Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
            await finished
            kept_messages = messages(stage.conversation.history.branch)
            assert [message.role for message in kept_messages] == [Role.USER, Role.ASSISTANT]
            assert kept_messages[1].text == "all of it"
            await stage.close()

    aio(story(), timeout_s=60)
