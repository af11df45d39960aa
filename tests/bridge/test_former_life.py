"""What counts in a life of the program of the waits and limits of the one before it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from reprise.bridge.conversation import Conversation
from reprise.bridge.former_life import restore_holds
from reprise.domain.deltas import TextDelta
from reprise.domain.events import Outcome
from reprise.domain.failures import FailureKind
from reprise.domain.retry import RetryPolicy, WaitReason
from support.aio import Aio
from support.bridge import BridgeStage, end_of, recorder
from support.clock import ManualClock
from support.engine import HANG, FakeTools, calls, fails, pong, says

CEILING = RetryPolicy((5.0, 10.0, 15.0), ceiling_s=25.0)
LIMITED = FailureKind.RATE_LIMIT

Act = Callable[[Conversation], None]


async def closed_after(
    folder: Path, act: Act, seconds: float, *replies: Any, **options: Any
) -> tuple[str, ManualClock]:
    """A life with one prompt that ends `seconds` after `act`; the session and the next life's clock."""
    stage = await BridgeStage.open(folder, *replies, **options)
    chat = stage.chat()
    await stage.send(chat)
    act(chat)
    await stage.clock.advance(seconds)
    await chat.close()
    await stage.close()
    return chat.session_id, ManualClock(now=7.0, utc=stage.clock.utc())


def nothing(_chat: Conversation) -> None:
    """Only time passes."""


def put_off(chat: Conversation) -> None:
    chat.retry_manager.extend(60)


async def ends_after_its_retry(folder: Path, session: str, clock: ManualClock, wait_s: float) -> bool:
    """Whether the retry that is due in `wait_s` is the last one, as the ceiling of 25 s says."""
    stage = await BridgeStage.open(folder, fails(), clock=clock, policy=lambda _model, _own: CEILING)
    again = await stage.reopened(session)
    heard = recorder(again)
    assert again.retry_manager.seconds_left == wait_s
    await clock.advance(wait_s)
    is_over = not again.is_busy
    if is_over:
        assert end_of(heard).outcome is Outcome.FAILED
    await again.close()
    await stage.close()
    return is_over


@pytest.mark.parametrize(
    ("replies", "act", "seconds", "left_s", "is_over"),
    [
        # 5 and 10 were waited, and 15 more are over 25.
        ([fails(), fails()], nothing, 6.0, 9, True),
        # The first wait of all leaves room for the second.
        ([fails()], nothing, 1.0, 4, False),
        # Put off by 60, of which none counts: there is room for 10 more.
        ([fails()], put_off, 30.0, 35, False),
        # Both waits of an earlier round of the same turn count.
        ([fails(), fails(), calls("look"), fails()], nothing, 16.0, 4, True),
    ],
)
def test_the_ceiling_counts_what_was_waited_before_a_restart(
    aio: Aio, tmp_path: Path, replies: list[Any], act: Act, seconds: float, left_s: int, is_over: bool
) -> None:
    """D4: read off the log, all rounds together; what the user put a retry off by does not count."""

    async def main() -> None:
        options = {"policy": lambda _model, _own: CEILING, "tools": FakeTools(look=pong), "max_rounds": lambda: 8}
        session, clock = await closed_after(tmp_path, act, seconds, *replies, **options)
        assert await ends_after_its_retry(tmp_path, session, clock, left_s) is is_over

    aio(main())


def test_a_retry_by_hand_began_a_ceiling_of_its_own_before_a_restart(aio: Aio, tmp_path: Path) -> None:
    """D4, R12: what was waited before it is of another budget."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path, *[fails()] * 3, policy=lambda _model, _own: CEILING)
        chat = stage.chat()
        await stage.send(chat)
        await stage.clock.advance(14)
        chat.stop()
        await stage.clock.drain()
        chat.retry()
        await stage.clock.advance(1)
        await chat.close()
        await stage.close()
        clock = ManualClock(utc=stage.clock.utc())
        assert not await ends_after_its_retry(tmp_path, chat.session_id, clock, 4)

    aio(main())


@pytest.mark.parametrize(
    ("reply", "act", "held_s"),
    [
        (fails(LIMITED, retry_after_s=30.0), nothing, 29),
        (fails(FailureKind.OVERLOADED, retry_after_s=30.0), nothing, 29),
        (fails(FailureKind.OVERLOADED, retryable=False, retry_after_s=30.0), nothing, 29),
        (fails(LIMITED, retry_after_s=30.0), Conversation.stop, 29),
        (fails(LIMITED, retry_after_s=30.0), put_off, 29),
        (fails(LIMITED), nothing, 4),
        (fails(LIMITED), put_off, 14),
        (fails(LIMITED), Conversation.stop, None),
        (fails(LIMITED, retryable=False, retry_after_s=130.0), nothing, None),
        (fails(LIMITED, retryable=False, retry_after_s=130.0), Conversation.wait_as_asked, 129),
        (fails(LIMITED, retryable=False, retry_after_s=130.0), lambda chat: chat.retry_after(10), 9),
        (fails(FailureKind.SERVER), nothing, None),
        ([TextDelta("half"), HANG], Conversation.stop, None),
    ],
)
def test_a_limit_that_was_met_holds_on_after_a_restart(
    aio: Aio, tmp_path: Path, reply: Any, act: Act, held_s: int | None
) -> None:
    """D3: as the provider asked, else as long as the retry waits by itself; over the cap only if the user waits for it.

    It is the time that counts, not the clock of the process.
    """

    async def main() -> None:
        _, clock = await closed_after(tmp_path, act, 1.0, reply)
        stage = await BridgeStage.open(tmp_path, says("ok"), clock=clock)
        library = stage.library()
        await library.load()
        until = stage.services.holds.until("test")
        assert (None if until is None else until - clock.now()) == held_s
        await library.close()
        await stage.close()

    aio(main())


def test_another_chat_waits_for_a_limit_of_the_life_before(aio: Aio, tmp_path: Path) -> None:
    """D3: it says so, and goes on by itself behind the chat that met it."""

    async def main() -> None:
        _, clock = await closed_after(tmp_path, nothing, 10.0, fails(LIMITED, retry_after_s=30.0))
        stage = await BridgeStage.open(tmp_path, says("ok"), says("too"), clock=clock)
        library = stage.library()
        await library.load()
        await stage.send(library.current, "new")
        pending = library.current.pending
        assert pending is not None
        assert (pending.reason, library.current.retry_manager.seconds_left) == (WaitReason.LIMITS, 20)
        await clock.advance(22)
        assert len(stage.provider.requests) == 2
        await library.close()
        await stage.close()

    aio(main())


def test_a_clock_that_was_set_back_makes_no_limit_longer(aio: Aio, tmp_path: Path) -> None:
    """D3: no longer than it was when it was met; one that ran out holds nobody."""

    async def main() -> None:
        _, clock = await closed_after(tmp_path, nothing, 1.0, fails(LIMITED, retry_after_s=30.0))
        for moved_s, held_s in ((-3600, 30), (29, None)):
            utc = clock.utc() + timedelta(seconds=moved_s)
            stage = await BridgeStage.open(tmp_path, says("ok"), clock=ManualClock(utc=utc))
            await restore_holds(stage.services)
            until = stage.services.holds.until("test")
            assert (None if until is None else until - stage.clock.now()) == held_s
            await stage.close()

    aio(main())
