"""What a limit that another chat met, or a dead network, holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reprise.domain.events import Outcome
from reprise.domain.failures import Failure, FailureKind
from reprise.domain.models import Route
from reprise.domain.retry import WaitReason
from support.aio import Aio
from support.bridge import MODEL, OTHER, BridgeStage, end_of, recorder
from support.engine import fails, says, texts

Play = Callable[..., None]
LIMITED = fails(FailureKind.RATE_LIMIT, retry_after_s=30.0, words="slow down")
ASKED = fails(FailureKind.RATE_LIMIT, retryable=False, retry_after_s=130.0)


def test_extending_what_the_limits_hold_stores_nothing(aio: Aio, tmp_path: Path) -> None:
    """D8: a hold is not in the log, and moving it does not put it there: Esc would not take it out again."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path, fails(), LIMITED, delays=())
        held, limited = stage.chat(), stage.chat()
        await stage.send(held)
        held.retry_after(2)
        await stage.send(limited)
        await stage.clock.advance(2)
        assert held.pending is not None
        assert held.pending.reason is WaitReason.LIMITS
        held.retry_manager.extend(60)
        await stage.clock.drain()
        held.stop()
        await stage.clock.drain()
        await stage.assert_memory_equals_disk(held)
        again = await stage.reopened(held.session_id)
        assert (again.is_busy, again.pending is not None) == (False, True)
        await stage.close()

    aio(main())


def test_retry_now_in_a_row_of_retries_goes_through_whatever_holds_the_others(play: Play) -> None:
    """D3: who asks for it now has seen what it was to wait for."""

    async def scene(stage: BridgeStage) -> None:
        chat, limited = stage.chat(), stage.chat()
        await stage.send(chat)
        chat.retry_after(2)
        await stage.send(limited)
        chat.retry()
        await stage.clock.drain()
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "ok")]

    play(scene, fails(), LIMITED, says("ok"), delays=())


def test_one_429_holds_every_chat_with_that_provider_and_key(play: Play) -> None:
    """D3, N6: the second chat asks nobody until the limit is over; Retry now goes through."""

    async def scene(stage: BridgeStage) -> None:
        first, second, third = stage.chat(), stage.chat(), stage.chat()
        stage.catalog.providers[OTHER] = stage.provider
        stage.catalog.routes[OTHER] = Route("elsewhere")
        await stage.send(first, "a")
        assert first.retry_manager.seconds_left == 30
        await stage.send(second, "b")
        assert second.pending is not None
        assert (second.pending.reason, second.retry_manager.seconds_left) == (WaitReason.LIMITS, 30)
        third.choose_model(OTHER)
        await stage.send(third, "c")
        assert texts(await stage.stored(third)) == [("user", "c"), ("assistant", "three")]
        second.retry()
        await stage.clock.drain()
        assert texts(await stage.stored(second)) == [("user", "b"), ("assistant", "two")]
        assert first.retry_manager.is_counting
        first.stop()
        await stage.clock.drain()

    play(scene, LIMITED, says("three"), says("two"))


def test_a_wait_the_user_agrees_to_holds_the_other_chats_of_that_provider_and_key(play: Play) -> None:
    """D3: over the cap nobody is held until the user has decided; then the others are, behind it in a row."""

    async def scene(stage: BridgeStage) -> None:
        first, second = stage.chat(), stage.chat()
        stage.catalog.providers[OTHER] = stage.provider
        stage.catalog.routes[OTHER] = Route("elsewhere")
        await stage.send(first, "a")
        assert stage.services.holds.until("test") is None
        await stage.clock.advance(10)
        first.choose_model(OTHER)
        first.wait_as_asked()
        await stage.clock.drain()
        assert stage.services.holds.until("elsewhere") is None
        await stage.send(second, "b")
        assert second.pending is not None
        assert (second.pending.reason, second.retry_manager.seconds_left) == (WaitReason.LIMITS, 120)
        assert second.pending.failure == Failure(FailureKind.RATE_LIMIT, "the provider is down", False, 130.0)
        await stage.clock.advance(120)
        assert texts(await stage.stored(first)) == [("user", "a"), ("assistant", "ok")]
        assert texts(await stage.stored(second)) == [("user", "b"), ("assistant", "ok")]

    play(scene, ASKED, says("ok"), says("ok"))


def test_offline_holds_the_request_and_the_network_lets_it_go(play: Play) -> None:
    """D14, N5: no request, no budget, no seconds; the turn goes on by itself."""

    async def scene(stage: BridgeStage) -> None:
        stage.network.set_offline(True)
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        assert chat.pending is not None
        assert (chat.pending.reason, chat.pending.due_at) == (WaitReason.OFFLINE, None)
        assert (chat.retry_manager.is_counting, chat.retry_manager.seconds_left) == (True, None)
        await stage.clock.advance(3600)
        assert stage.provider.requests == []
        stage.network.set_offline(False)
        await stage.clock.drain()
        assert end_of(heard).outcome is Outcome.COMPLETED
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("ok"))


def test_the_offline_hold_can_be_left_by_try_now_and_by_esc(play: Play) -> None:
    """D14, D7: Try now sends whatever the system says; Esc leaves the turn pending, as an ordinary one."""

    async def scene(stage: BridgeStage) -> None:
        stage.network.set_offline(True)
        chat = stage.chat()
        await stage.send(chat, "a")
        chat.stop()
        await stage.clock.drain()
        assert chat.pending is not None
        assert (chat.is_busy, chat.pending.reason) == (False, WaitReason.RETRY)
        chat.retry()
        await stage.clock.drain()
        await stage.send(chat, "b")
        assert chat.retry_manager.is_counting
        chat.retry()
        await stage.clock.drain()
        assert [text for _, text in texts(await stage.stored(chat))] == ["a", "one", "b", "two"]
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("one"), says("two"))


def test_nothing_is_held_offline_when_that_is_switched_off_or_the_model_is_local(play: Play) -> None:
    """D14, D17: `retry.hold_offline`, and models on this machine."""

    async def scene(stage: BridgeStage) -> None:
        stage.network.set_offline(True)
        chat = stage.chat()
        await stage.send(chat, "a")
        stage.catalog.routes[MODEL] = Route("here", is_local=True)
        held.append(True)
        await stage.send(chat, "b")
        assert [text for _, text in texts(await stage.stored(chat))] == ["a", "one", "b", "two"]

    held: list[bool] = []
    play(scene, says("one"), says("two"), hold_offline=lambda: bool(held))


def test_closing_during_an_offline_hold_leaves_no_task_behind(play: Play) -> None:
    """The wait for the network ends with the program; the turn is pending at the next start."""

    async def scene(stage: BridgeStage) -> None:
        stage.network.set_offline(True)
        chat = stage.chat()
        await stage.send(chat)
        await chat.close()
        again = await stage.reopened(chat.session_id)
        assert again.pending is not None
        assert not again.is_busy

    play(scene, says("never"))
