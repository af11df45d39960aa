"""The story the program exists for, on a real screen: refused twice, counted down, cancelled, retried, kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPropertyAnimation, Qt
from PySide6.QtGui import QImage

from reprise.bridge.signals import until
from reprise.domain.events import Outcome
from reprise.domain.messages import Role
from reprise.domain.sessions import messages
from reprise.domain.turns import Finished
from reprise.ui.theme import Scheme
from support.aio import Aio
from support.clock import ManualClock
from support.process import refusal, reply
from support.program import ProgramStage
from support.wire_server import WireServer

PROMPT = "What happens to quoted fields that contain line breaks?"
ANSWER = "They are kept: the reader counts **records**, not lines."


@pytest.mark.x11
@pytest.mark.slow_callbacks  # pictures are taken in between
@pytest.mark.parametrize("scheme", list(Scheme))
def test_a_rate_limited_turn_is_cancelled_and_retried(aio: Aio, tmp_path: Path, scheme: Scheme) -> None:
    """Behaviour L1, D3, D7, C3, B2: 429 with Retry-After 3 twice, then a stream; one prompt and one reply stay."""

    async def story() -> None:
        limited = refusal(429, "Rate limit exceeded. Try again later.", retry_after="3", x_request_id="req-1")
        clock = ManualClock()
        async with WireServer({"a": [limited, limited, reply(*ANSWER.split(" ")[:4], ANSWER)]}) as server:
            stage = await ProgramStage.open(tmp_path / "data", server.url("a"), clock, scheme=scheme)
            gate = stage.conversation.retry_manager
            banner = stage.widget("retryBanner")
            retry = stage.window.commands.action("retry")
            assert not retry.isEnabled()

            counting = asyncio.ensure_future(until(gate.countdown_started))
            await asyncio.sleep(0)
            stage.type_and_send(PROMPT)
            await counting
            assert gate.seconds_left == 3
            assert banner.isVisible()
            assert retry.isEnabled()
            if fade := banner.findChild(QPropertyAnimation):
                await until(fade.finished)
            stage.picture(tmp_path / f"{scheme}-1-counting.png")
            tint = QImage(str(tmp_path / f"{scheme}-1-counting.png")).pixelColor(
                banner.mapTo(stage.window, QPoint(banner.width() // 2, 4))
            )
            assert tint == stage.window.look.theme.color("warn_tint")
            shown = [stage.widget("retryBannerText").accessibleName()]
            for _ in range(2):
                await clock.advance(1.0)
                shown.append(stage.widget("retryBannerText").accessibleName())
            assert [text.split(" in ")[-1].rstrip(".") for text in shown] == ["3 s", "2 s", "1 s"]

            again = asyncio.ensure_future(until(gate.countdown_started))
            await clock.advance(1.0)
            await again
            assert len(server.requests) == 2
            assert gate.seconds_left == 5  # the larger of 3 and the schedule's previous step (behaviour D3)

            stage.press(Qt.Key.Key_Escape)
            await clock.drain()
            state = stage.conversation.state
            assert isinstance(state, Finished)
            assert state.outcome is Outcome.STOPPED
            assert not banner.isVisible()
            assert stage.widget("pendingCard").isVisible()
            assert retry.isEnabled()
            stage.picture(tmp_path / f"{scheme}-2-cancelled.png")
            await clock.advance(60.0)
            assert len(server.requests) == 2  # nothing more is asked after the cancel (behaviour C3)

            finished = asyncio.ensure_future(until(stage.conversation.turn_finished))
            await asyncio.sleep(0)
            stage.press(Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
            await finished
            assert stage.conversation.pending is None
            assert not retry.isEnabled()
            stage.picture(tmp_path / f"{scheme}-3-completed.png")
            kept = messages((await stage.parts.store.sessions.load(stage.conversation.session_id)).branch)
            assert [message.role for message in kept] == [Role.USER, Role.ASSISTANT]
            assert kept[0].text == PROMPT
            assert kept[1].text.endswith(ANSWER)
            assert len(server.requests) == 3
            await stage.close()

    aio(story(), timeout_s=30)


@pytest.mark.slow_callbacks  # two windows are built in the test's own task
def test_a_prompt_survives_the_window(aio: Aio, tmp_path: Path) -> None:
    """Close, come back, find everything: the prompt, the reply and what was not sent yet."""

    async def story() -> None:
        clock = ManualClock()
        async with WireServer({"a": reply(ANSWER)}) as server:
            stage = await ProgramStage.open(tmp_path, server.url("a"), clock)
            finished = asyncio.ensure_future(until(stage.conversation.turn_finished))
            await asyncio.sleep(0)
            stage.type_and_send(PROMPT)
            await finished
            session = stage.conversation.session_id
            stage.window.page.composer.set_text("not sent yet")
            await stage.close()

            stage = await ProgramStage.open(tmp_path, server.url("a"), clock)
            stage.parts.library.open(session)
            await until(stage.conversation.history_changed)
            await clock.drain()
            assert [message.text for message in messages(stage.conversation.history.branch)] == [PROMPT, ANSWER]
            assert stage.window.page.composer.editor.toPlainText() == "not sent yet"
            assert len(server.requests) == 1
            await stage.close()

    aio(story(), timeout_s=30)
