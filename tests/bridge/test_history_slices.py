"""A long chat that is opened: its end at once, the rest behind it, and everything right meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from reprise.bridge.conversation import Conversation
from reprise.domain.failures import FailureKind
from reprise.domain.messages import user_message
from reprise.domain.ports import LogError, Sessions, Slice
from reprise.domain.sessions import Entry, ParamsChange
from reprise.domain.shortening import LEFT_OUT
from reprise.storage import slices
from support.bridge import BridgeStage, said, shown
from support.engine import fails, says, texts
from support.qt import Recorder
from support.storage import MODEL, exchange

Play = Callable[..., None]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of four entries and three nodes."""
    monkeypatch.setattr(slices, "ENTRIES", 4)
    monkeypatch.setattr(slices, "NODES", 3)


async def _long(stage: BridgeStage, exchanges: int = 8) -> list[Entry]:
    """Prompts and replies on the disk, of a session that nobody has open."""
    return [entry for number in range(exchanges) for entry in await exchange(stage.store, "s", f"ask {number}")]


async def _opened(stage: BridgeStage, sessions: Sessions | None = None) -> Conversation:
    """The session as it is right after its end was read."""
    (session,) = await stage.store.sessions.list()
    stage.catalog.providers[MODEL] = stage.provider
    services = replace(stage.services, sessions=sessions or stage.services.sessions)
    chat = Conversation(session, services, stage.scope)
    await chat.load()
    assert not chat.reading.is_whole
    return chat


class Refusing:
    """The real sessions, which refuse what is older so many times."""

    def __init__(self, sessions: Sessions, times: int) -> None:
        self._sessions = sessions
        self.left = times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sessions, name)

    async def older(self, session: str, below: Entry | None, nodes_after: str | None) -> Slice:
        if self.left:
            self.left -= 1
            raise LogError("The disk is away.")
        return await self._sessions.older(session, below, nodes_after)


def test_the_end_is_there_at_once_and_the_rest_follows(play: Play) -> None:
    """F86: piece by piece, and told once when nothing is missing any more."""

    async def scene(stage: BridgeStage) -> None:
        entries = await _long(stage)
        chat = await _opened(stage)
        assert chat.history.branch == tuple(entries[-4:])
        heard = Recorder(changed=chat.history_changed, more=chat.reading.extended)
        await stage.assert_memory_equals_disk(chat)
        assert chat.reading.is_whole
        assert heard.names() == ["more"] * 5 + ["changed"]

    play(scene)


def test_a_turn_that_begins_meanwhile_is_sent_with_all_of_it(play: Play) -> None:
    """L1, F86: the model is told everything from the first prompt on."""

    async def scene(stage: BridgeStage) -> None:
        await _long(stage)
        chat = await _opened(stage)
        assert chat.send("now")
        await stage.clock.drain()
        (request,) = stage.provider.requests
        assert texts(request.messages)[:2] == [("user", "ask 0"), ("assistant", "ASK 0")]
        assert len(request.messages) == 17
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("hi"))


@pytest.mark.parametrize("by", [-1, 1])
def test_a_step_to_another_branch_waits_until_all_are_known(play: Play, by: int) -> None:
    """N1: it goes where that branch stood last, not where it ends as far as it was read."""

    async def scene(stage: BridgeStage) -> None:
        first = await _long(stage)
        second = await stage.store.log.open_turn("s", user_message("edited"), MODEL, beside=first[2].id)
        for _ in range(3):
            await exchange(stage.store, "s", "there")
        stands = [*first[:2], second]
        if by == 1:
            await stage.store.log.move_leaf("s", first[-1].id)
        chat = await _opened(stage)
        chat.step_branch(second.id if by == -1 else first[2].id, by)
        await stage.assert_memory_equals_disk(chat)
        if by == -1:
            assert chat.history.branch == tuple(first)
        else:
            assert chat.history.branch[:3] == tuple(stands)
            assert shown(chat)[-1] == "THERE"

    play(scene)


def test_what_is_left_out_is_counted_from_the_first_message_of_all(play: Play) -> None:
    """N4: so it is told once that is read; a turn that begins before leaves out what it should."""

    async def scene(stage: BridgeStage) -> None:
        entries = await _long(stage)
        await stage.store.log.append("s", ParamsChange({LEFT_OUT: 12}))
        await exchange(stage.store, "s", "more")
        chat = await _opened(stage)
        assert (chat.left_out, chat.shortenings()) == (0, ())
        assert chat.send("now")
        await stage.clock.drain()
        (request,) = stage.provider.requests
        assert texts(request.messages)[0] == ("user", "ask 6")
        assert len(request.messages) == len(entries) - 12 + 3
        assert chat.left_out == 12
        assert [way.left_out for way in chat.shortenings()] == [16, 18]

    play(scene, fails(FailureKind.CONTEXT_LENGTH, retryable=False, words="maximum context length is 8192 tokens"))


def test_what_is_done_between_two_pieces_stays_done(play: Play) -> None:
    """S13: an older prompt in another version, and back again; memory equals disk."""

    async def scene(stage: BridgeStage) -> None:
        entries = await _long(stage)
        chat = await _opened(stage)
        assert chat.resend(entries[-2].id, "edited")
        await stage.assert_memory_equals_disk(chat)
        assert shown(chat)[-3:] == ["ASK 6", "edited", "hi"]
        chat.step_branch(chat.history.branch[-2].id, -1)
        await stage.assert_memory_equals_disk(chat)
        assert chat.history.branch == tuple(entries)

    play(scene, says("hi"))


def test_a_disk_that_refuses_the_rest_is_told_once_and_asked_again_by_a_turn(play: Play) -> None:
    """F86, L20: what was read stays; a turn is never sent with a part of the chat."""

    async def scene(stage: BridgeStage) -> None:
        await _long(stage)
        refusing = Refusing(stage.services.sessions, 2)
        chat = await _opened(stage, cast("Sessions", refusing))
        heard = said(chat)
        await stage.clock.drain()
        assert heard.seen == [("problem", "The disk is away.")]
        assert len(chat.history.branch) == 4
        assert chat.send("now")
        await stage.clock.drain()
        assert stage.provider.requests == []
        assert chat.pending is not None
        chat.retry()
        await stage.clock.drain()
        (request,) = stage.provider.requests
        assert len(request.messages) == 17
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("hi"))
