"""What is a branch's own: its model, its settings, its queue."""

from __future__ import annotations

from collections.abc import Callable

from reprise.domain.messages import ModelRef
from reprise.domain.retry import RetryPolicy
from reprise.domain.sessions import ParamsChange
from support.bridge import MODEL, OTHER, BridgeStage, answered, said, shown, waiting
from support.engine import FaultyLog, fails, says, texts
from support.qt import Recorder

Play = Callable[..., None]


def test_a_fallback_that_regenerates_is_known_to_the_branch_it_made(play: Play) -> None:
    """D13, D20: the switch stands between prompt and reply, beside the old reply, and memory equals disk."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        stage.catalog.stands_in = OTHER
        chat = await answered(stage)
        models = Recorder(model=chat.model_changed)
        chat.regenerate()
        await stage.clock.advance(5)
        assert shown(chat) == ["hello", "two"]
        assert models.seen == [("model", OTHER)]
        assert chat.switched_from == MODEL
        assert len(chat.siblings(chat.history.branch[-1].id)) == 2
        await stage.assert_memory_equals_disk(chat)
        chat.step_branch(chat.history.branch[-1].id, -1)
        await stage.clock.drain()
        assert (shown(chat), chat.model, chat.switched_from) == (["hello", "one"], MODEL, None)
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("one"), fails(), fails(), says("two"), delays=(5.0,))


def test_a_step_to_a_pending_branch_keeps_the_queue_and_one_to_a_finished_branch_gives_it_back(play: Play) -> None:
    """D11, F111: nothing is stuck where nothing will deliver it."""

    async def scene(stage: BridgeStage) -> None:
        chat = await answered(stage, "a")
        prompt = chat.history.branch[0].id
        chat.resend(prompt, "A")
        await stage.clock.drain()
        assert chat.send("later")
        await stage.clock.drain()
        await stage.clock.advance(5)
        assert (chat.is_busy, waiting(chat)) == (False, ["later"])
        told = said(chat)
        chat.step_branch(chat.history.branch[0].id, -1)
        await stage.clock.drain()
        assert (shown(chat), waiting(chat)) == (["a", "one"], [])
        assert told.seen == [("returned", "later")]
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("one"), fails(), fails(), delays=(5.0,))


def test_model_and_own_settings_are_those_of_the_branch(play: Play) -> None:
    """B8: replayed from the branch; an unrecorded choice does not outlive a step."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        chat = await answered(stage)
        chat.choose_model(OTHER)
        chat.set_policy("off")
        await stage.clock.drain()
        chat.regenerate()
        await stage.clock.drain()
        first, second = chat.siblings(chat.history.branch[-1].id)
        # The choices stand behind the first reply: the second one is on a branch without them but for its model.
        assert (chat.model, chat.policy_name) == (OTHER, None)
        models = Recorder(model=chat.model_changed)
        chat.step_branch(second, -1)
        await stage.clock.drain()
        assert (chat.model, chat.policy_name) == (OTHER, "off")
        await stage.assert_memory_equals_disk(chat)
        chat.choose_model(MODEL)
        await stage.clock.drain()
        chat.step_branch(first, 1)
        await stage.clock.drain()
        assert (chat.model, chat.policy_name) == (OTHER, None)
        assert models.seen == [("model", MODEL), ("model", OTHER)]
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("one"), says("two"))


def by_own_policy(model: ModelRef, own: object) -> RetryPolicy:
    """No retries in a session whose own policy says so."""
    assert isinstance(own, dict)
    return RetryPolicy(() if own.get("retry.policy") == "off" else (5.0,))


def test_a_policy_of_the_sessions_own_counts_from_the_next_turn_and_after_a_restart(play: Play) -> None:
    """D2: stored as a change of the branch's parameters, taken back with None."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        chat.set_policy("off")
        assert chat.policy_name == "off"
        await stage.send(chat)
        assert not chat.is_busy
        assert chat.history.branch[-1].data == ParamsChange({"retry.policy": "off"})
        assert chat.pending is not None
        await stage.assert_memory_equals_disk(chat)
        again = await stage.reopened(chat.session_id)
        assert again.policy_name == "off"
        again.set_policy(None)
        again.set_policy(None)
        await stage.clock.drain()
        assert again.policy_name is None
        again.retry()
        await stage.clock.drain()
        assert again.retry_manager.is_counting
        changes = [entry.data for entry in again.history.branch if isinstance(entry.data, ParamsChange)]
        assert changes == [ParamsChange({"retry.policy": "off"}), ParamsChange({"retry.policy": None})]
        await stage.assert_memory_equals_disk(again)
        again.stop()
        await stage.clock.drain()

    play(scene, fails(), fails(), policy=by_own_policy)


def test_an_unknown_policy_is_refused(play: Play) -> None:
    """B13."""

    async def scene(stage: BridgeStage) -> None:
        chat = await answered(stage)
        told = said(chat)
        chat.set_policy("sometimes")
        assert told.seen == [("refused", "There is no retry policy called sometimes.")]
        assert chat.policy_name is None

    play(scene, says("one"))


def test_a_message_while_one_is_pending_simply_follows_it(play: Play) -> None:
    """B5: user, user, assistant; nothing pending after."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat, "a")
        await stage.send(chat, "b")
        assert texts(await stage.stored(chat)) == [("user", "a"), ("user", "b"), ("assistant", "one")]
        assert chat.pending is None
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(), says("one"), delays=())


def test_a_choice_that_could_not_be_recorded_does_not_outlive_a_step(play: Play) -> None:
    """B8: what the branch says counts again."""

    async def scene(stage: BridgeStage) -> None:
        chat = await answered(stage)
        chat.regenerate()
        await stage.clock.drain()
        chat.choose_model(OTHER)
        chat.set_policy("off")
        await stage.clock.drain()
        assert (chat.model, chat.policy_name) == (OTHER, "off")
        models = Recorder(model=chat.model_changed)
        chat.step_branch(chat.history.branch[-1].id, -1)
        await stage.clock.drain()
        assert (chat.model, chat.policy_name) == (MODEL, None)
        assert models.seen == [("model", MODEL)]

    play(scene, says("one"), says("two"), wrap=lambda log: FaultyLog(log, refuse={"append"}))
