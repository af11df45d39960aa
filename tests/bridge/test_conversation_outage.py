"""A provider that is down, as the chats that share it show it (behaviour N6)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from reprise.bridge.conversation import Conversation
from reprise.bridge.library import Library
from reprise.bridge.session_row import Mark
from reprise.domain.failures import Failure
from reprise.domain.messages import Role
from reprise.domain.retry import WaitReason
from support.bridge import BridgeStage, chats, shown
from support.engine import fails, says

Scene = Callable[[BridgeStage, Library, list[Conversation]], Coroutine[Any, Any, None]]
Outage = Callable[..., None]
BEHIND = (Mark.COUNTDOWN, None, True)


@pytest.fixture
def outage(play: Callable[..., None]) -> Outage:
    """Plays a scene with chats "a", "b" and "c" that failed a second apart: their retries are due in 2, 3 and 4 s."""

    def run(scene: Scene, *replies: Any) -> None:
        async def whole(stage: BridgeStage) -> None:
            library = stage.library()
            await scene(stage, library, await chats(stage, library, "a", "b", "c"))
            await library.close()

        play(whole, *[fails()] * 3, *replies)

    return run


def rows(library: Library) -> dict[str, tuple[Mark, int | None, bool]]:
    """Mark, seconds, and whether it waits for another chat, by title."""
    return {row.session.title: (row.mark, row.seconds_left, row.is_behind) for row in library.rows()}


def answered(conversations: list[Conversation]) -> list[str]:
    """Whose prompt has a reply."""
    return [shown(each)[0] for each in conversations if each.history.branch[-1].data.role is Role.ASSISTANT]


def test_the_others_say_that_they_wait_for_the_chat_that_tries(outage: Outage) -> None:
    """N6: no seconds, since nobody knows how long; an answer lets them go on 2 s apart."""
    back = asyncio.Event()

    async def scene(stage: BridgeStage, library: Library, made: list[Conversation]) -> None:
        await stage.clock.advance(4)
        assert rows(library) == {"a": (Mark.STREAMING, None, False), "b": BEHIND, "c": BEHIND}
        pending = made[1].pending
        assert pending is not None
        assert pending.reason is WaitReason.PROBE
        assert (pending.retry, isinstance(pending.failure, Failure)) == (1, True)
        back.set()
        await stage.clock.drain()
        assert answered(made) == ["a", "b"]
        assert rows(library)["c"] == (Mark.COUNTDOWN, 2, False)
        await stage.clock.advance(2)
        assert answered(made) == ["a", "b", "c"]

    outage(scene, [back.wait, *says("here")], says("here"), says("here"))


def test_a_chat_behind_another_is_stopped_and_retried_by_hand_as_any(outage: Outage) -> None:
    """N6, D7: Esc leaves it pending with nothing scheduled; Retry now goes out at once."""

    async def scene(stage: BridgeStage, library: Library, made: list[Conversation]) -> None:
        await stage.clock.advance(4)
        made[1].stop()
        made[2].retry()
        await stage.clock.drain()
        assert rows(library)["b"] == (Mark.PENDING, None, False)
        assert [attempt.retry_at for attempt in await stage.attempts(made[1])] == [None]
        await stage.assert_memory_equals_disk(made[1])
        assert answered(made) == ["c"]

    outage(scene, [asyncio.Event().wait], says("here"))


def test_a_chat_that_is_put_off_tries_for_nobody(outage: Outage) -> None:
    """N6: after +1 min on the one that was to try, the next one does when its own schedule lets it."""

    async def scene(stage: BridgeStage, library: Library, made: list[Conversation]) -> None:
        await stage.clock.advance(3)
        assert rows(library) == {"a": (Mark.COUNTDOWN, 9, False), "b": BEHIND, "c": (Mark.COUNTDOWN, 1, False)}
        made[0].retry_manager.extend(60)
        await stage.clock.advance(1)
        assert rows(library) == {"a": (Mark.COUNTDOWN, 68, False), "b": (Mark.COUNTDOWN, 3, False), "c": BEHIND}
        await stage.clock.advance(5)
        assert answered(made) == ["b", "c"]

    outage(scene, fails(), says("here"), says("here"))


def test_closing_while_chats_wait_for_another_leaves_them_pending(outage: Outage) -> None:
    """N6, D8: what was due is not fired unasked at the next start, and no task is left behind."""

    async def scene(stage: BridgeStage, library: Library, made: list[Conversation]) -> None:
        await stage.clock.advance(4)
        await library.close()
        await stage.clock.advance(60)
        again = await stage.reopened(made[1].session_id)
        assert again.pending is not None
        assert not again.is_busy

    outage(scene, [asyncio.Event().wait])
