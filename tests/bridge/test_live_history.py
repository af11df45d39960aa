"""A session in memory: each write leaves it as the disk would be read again, wherever it stands."""

from __future__ import annotations

from collections.abc import Callable

from reprise.bridge.live_history import LiveHistory, new_session
from reprise.domain.messages import user_message
from reprise.domain.sessions import Attempt, AttemptState, Entry, ModelChange, Notice, Queued
from support.bridge import MODEL, OTHER, BridgeStage
from support.storage import reply

Play = Callable[..., None]


class Written:
    """A session with one answered prompt, and the check that memory equals disk."""

    def __init__(self, stage: BridgeStage) -> None:
        self.stage = stage
        self.live = LiveHistory(new_session(stage.clock), stage.store.log, stage.store.sessions, is_stored=False)
        self.id = self.live.session.id

    async def ask(self, text: str, **options: str) -> Entry:
        return await self.live.open_turn(self.id, user_message(text), MODEL, **options)

    async def answer(self, prompt: Entry, text: str, **options: str) -> Entry:
        opened = await self.live.open_attempt(self.id, prompt.id, Attempt(MODEL))
        model = OTHER if text.startswith("other") else MODEL
        return await self.live.finish_round(opened, reply(text, model), **options)

    async def check(self) -> None:
        assert self.live.history == await self.stage.store.sessions.load(self.id)


def test_a_reply_elsewhere_than_at_the_leaf_brings_the_model_of_its_branch(play: Play) -> None:
    """B8: as storage decides it; at the leaf the session's model stays."""

    async def scene(stage: BridgeStage) -> None:
        written = Written(stage)
        prompt = await written.ask("a")
        await written.answer(prompt, "other at the leaf")
        assert written.live.session.model == MODEL
        await written.check()
        await written.answer(prompt, "other beside it")
        assert written.live.session.model == OTHER
        await written.check()

    play(scene)


def test_moving_up_the_branch_brings_the_model_there(play: Play) -> None:
    """B8: before a change of the model it is the one before; off the branch and back it is read again."""

    async def scene(stage: BridgeStage) -> None:
        written = Written(stage)
        live = written.live
        prompt = await written.ask("a")
        first = await written.answer(prompt, "one")
        change = await live.append(written.id, ModelChange(OTHER))
        await written.check()
        await live.move_leaf(written.id, first.id)
        assert live.session.model == MODEL
        await written.check()
        await live.move_leaf(written.id, change.id)
        assert live.session.model == OTHER
        await written.check()
        await live.move_leaf(written.id, None)
        assert (live.history.branch, live.session.model) == ((), OTHER)
        await written.check()

    play(scene)


def test_what_is_appended_beside_the_branch_is_known_and_stands_nowhere(play: Play) -> None:
    """B6: a notice behind the prompt while a reply is the leaf; a reply behind it leaves the branch there."""

    async def scene(stage: BridgeStage) -> None:
        written = Written(stage)
        prompt = await written.ask("a")
        first = await written.answer(prompt, "one")
        assert written.live.tree.siblings(first.id) == (first.id,)
        notice = await written.live.append(written.id, Notice("beside"), under=prompt.id)
        assert written.live.history.branch[-1] == first
        await written.check()
        second = await written.answer(prompt, "two", under=notice.id)
        assert [entry.id for entry in written.live.history.branch] == [prompt.id, notice.id, second.id]
        assert written.live.tree.siblings(first.id) == (first.id, second.id)
        await written.check()

    play(scene)


def test_a_prompt_beside_one_of_another_branch_is_read_with_its_branch(play: Play) -> None:
    """B9: its attempts come along."""

    async def scene(stage: BridgeStage) -> None:
        written = Written(stage)
        prompt = await written.ask("a")
        await written.answer(prompt, "one")
        below = await written.ask("b")
        opened = await written.live.open_attempt(written.id, below.id, Attempt(MODEL))
        await written.live.fail_attempt(opened, Attempt(MODEL, 1, AttemptState.STOPPED))
        await written.ask("A", beside=prompt.id)
        await written.check()
        await written.ask("B", beside=below.id)
        assert len(written.live.history.branch) == 3
        await written.check()

    play(scene)


def test_the_queue_is_what_the_disk_has(play: Play) -> None:
    """I5: added, changed, delivered, taken out."""

    async def scene(stage: BridgeStage) -> None:
        written = Written(stage)
        live = written.live
        prompt = await written.ask("a")
        one, two, three = [await live.queue(written.id, Queued(user_message(text))) for text in "xyz"]
        await written.check()
        await live.requeue(two, Queued(user_message("Y")))
        await live.unqueue(three)
        await written.check()
        await written.answer(prompt, "one")
        await written.ask("x", queued=one.id)
        assert [entry.id for entry in live.queued] == [two.id]
        await written.check()

    play(scene)
