"""Another model: by the user's choice in a wait, or as a fallback, and the way back."""

from __future__ import annotations

from collections.abc import Callable

from reprise.domain.deltas import TextDelta
from reprise.domain.events import ModelSwitched
from reprise.domain.failures import FailureKind
from reprise.domain.retry import RetryPolicy
from reprise.domain.sessions import ModelChange
from support.bridge import MODEL, OTHER, BridgeStage, end_of, recorder, said
from support.engine import HANG, fails, says, texts
from support.qt import Recorder

Play = Callable[..., None]
LIMITED = fails(FailureKind.RATE_LIMIT, retry_after_s=30.0, words="slow down")
ASKED = fails(FailureKind.RATE_LIMIT, retryable=False, retry_after_s=130.0)


def test_retry_with_another_model_during_a_countdown_retries_at_once_with_it(play: Play) -> None:
    """N4: the wait is cancelled, the choice is in the log, and the first model's schedule is over."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        chat = stage.chat()
        models = Recorder(model=chat.model_changed)
        await stage.send(chat)
        assert chat.retry_manager.is_counting
        chat.retry_with(OTHER)
        await stage.clock.drain()
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "ok")]
        assert [request.model for request in stage.provider.requests] == [MODEL, OTHER]
        assert (models.seen, chat.model) == ([("model", OTHER)], OTHER)
        assert [entry.data for entry in chat.history.branch if isinstance(entry.data, ModelChange)] == [
            ModelChange(OTHER)
        ]
        await stage.clock.advance(60)
        assert len(stage.provider.requests) == 2
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(), says("ok"))


def test_retry_with_another_model_when_the_turn_is_pending(play: Play) -> None:
    """N4: from the card; with nothing pending it is refused and nothing is chosen."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        chat = stage.chat()
        await stage.send(chat)
        chat.retry_with(OTHER)
        await stage.clock.drain()
        assert [request.model for request in stage.provider.requests] == [MODEL, OTHER]
        told = said(chat)
        chat.retry_with(MODEL)
        chat.retry()
        chat.retry_after(5)
        assert told.seen == [("refused", "There is nothing to retry in this chat.")] * 3
        assert chat.model == OTHER
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(), says("ok"), delays=())


def test_two_commands_in_one_countdown_are_one_the_last(play: Play) -> None:
    """C4: the wait ends once, and one turn follows."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        chat = stage.chat()
        await stage.send(chat)
        chat.keep()
        chat.retry_with(OTHER)
        await stage.clock.drain()
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "ok")]
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(FailureKind.SERVER, TextDelta("half")), says("ok"))


def test_esc_right_behind_a_command_in_a_countdown_takes_the_command_back(play: Play) -> None:
    """D6, C4: the wait is being cancelled for another model; Esc means that nothing follows."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        chat = stage.chat()
        await stage.send(chat)
        chat.retry_with(OTHER)
        chat.stop()
        await stage.clock.drain()
        assert (chat.is_busy, chat.model) == (False, MODEL)
        assert chat.pending is not None
        assert len(stage.provider.requests) == 1
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(), says("never"))


def test_the_countdown_of_another_reply_is_not_ended_for_another_model(play: Play) -> None:
    """D20: nothing is pending behind it that the other model could retry; Esc first."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat)
        chat.regenerate()
        await stage.clock.drain()
        told = said(chat)
        chat.retry_with(OTHER)
        chat.keep()
        assert told.seen == [("refused", "A retry is counting down in this chat: cancel it first.")] * 2
        assert chat.retry_manager.is_counting
        chat.stop()
        await stage.clock.drain()

    play(scene, says("one"), fails())


def test_a_fallback_shows_in_the_model_and_can_be_left_again(play: Play) -> None:
    """D13, N7: one switch, one prompt; one click back."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        stage.catalog.stands_in = OTHER
        chat = stage.chat()
        heard = Recorder(model=chat.model_changed, switched=chat.model_switched)
        await stage.send(chat)
        await stage.clock.advance(5)
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "ok")]
        assert [request.model for request in stage.provider.requests] == [MODEL, MODEL, OTHER]
        assert heard.names() == ["model", "switched"]
        switch = heard.seen[1][1]
        assert isinstance(switch, ModelSwitched)
        assert (switch.before, switch.after, chat.model, chat.switched_from) == (MODEL, OTHER, OTHER, MODEL)
        await stage.assert_memory_equals_disk(chat)
        again = await stage.reopened(chat.session_id)
        assert (again.model, again.switched_from) == (OTHER, MODEL)
        chat.choose_model(MODEL)
        await stage.clock.drain()
        assert (chat.model, chat.switched_from) == (MODEL, None)
        await stage.send(chat, "more")
        assert stage.provider.requests[-1].model == MODEL
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(), fails(), says("ok"), says("fine"), delays=(5.0,))


def test_a_partial_of_a_fallback_is_kept_as_the_fallbacks(play: Play) -> None:
    """D13, D5: the mark "answered by the fallback" is on what was kept, too; not on what follows it."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        stage.catalog.stands_in = OTHER
        chat = stage.chat()
        await stage.send(chat)
        await stage.clock.advance(5)
        chat.stop()
        await stage.clock.drain()
        assert chat.switched_from == MODEL
        chat.keep()
        await stage.clock.drain()
        reply = (await stage.stored(chat))[-1].reply
        assert reply is not None
        assert (reply.model, reply.fallback_from) == (OTHER, MODEL)
        await stage.send(chat, "next")
        assert chat.switched_from is None
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(), fails(), [TextDelta("half"), HANG], says("ok"), delays=(5.0,))


def test_a_fallback_is_asked_again_by_the_policy_of_its_own_model(play: Play) -> None:
    """D2, D13: what is set for its provider, not what was for the one it stands in for."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        stage.catalog.stands_in = OTHER
        chat = stage.chat()
        await stage.send(chat)
        await stage.clock.advance(5)
        assert chat.pending is not None
        assert (chat.pending.retry, chat.pending.retries, chat.retry_manager.seconds_left) == (1, 2, 60)
        chat.stop()
        await stage.clock.drain()

    schedules = {MODEL: (5.0,), OTHER: (60.0, 70.0)}
    play(scene, *[fails()] * 3, policy=lambda model, _: RetryPolicy(schedules[model]))


def test_a_fallback_that_cannot_answer_leaves_the_first_failure(play: Play) -> None:
    """R28: an unknown fallback is no switch."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.stands_in = OTHER
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        await stage.clock.advance(5)
        finished = end_of(heard)
        assert finished.failure is not None
        assert (finished.failure.message, chat.model, chat.switched_from) == ("the provider is down", MODEL, None)
        assert len(chat.history.branch) == 1

    play(scene, fails(), fails(), delays=(5.0,))


def test_a_fallback_counts_more_than_the_choice_before_it(play: Play) -> None:
    """D13, B8: what was chosen is in the log, and so is what came after it."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        stage.catalog.stands_in = MODEL
        chat = stage.chat()
        await stage.send(chat, "a")
        chat.choose_model(OTHER)
        await stage.clock.drain()
        await stage.send(chat, "b")
        await stage.clock.advance(5)
        assert [request.model for request in stage.provider.requests] == [MODEL, OTHER, OTHER, MODEL]
        assert (chat.model, chat.switched_from) == (MODEL, OTHER)
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("one"), fails(), fails(), says("two"), delays=(5.0,))
