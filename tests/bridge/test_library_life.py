"""The life of sessions in the list: forks, retries together, and what is said of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from reprise.bridge.library import Library
from reprise.bridge.session_row import Mark
from reprise.domain.events import Answer, Outcome
from reprise.domain.failures import FailureKind
from reprise.domain.models import Route
from reprise.domain.ports import Draft, LogError, Opening, Sessions
from reprise.domain.retry import WaitReason
from support.aio import Aio
from support.bridge import OTHER, BridgeStage, chats, lives, said
from support.engine import HANG, FakeTools, calls, fails, pong, says, texts
from support.qt import Recorder

Play = Callable[..., None]


def test_a_fork_is_a_session_of_its_own_and_is_shown(play: Play) -> None:
    """B11, F77, F78: up to an entry or of nothing; the same point twice is one fork until something is added."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        (chat,) = await chats(stage, library, "one")
        await stage.send(chat, "two")
        reply = chat.history.branch[1].id
        library.fork(chat.session_id, reply)
        await stage.clock.drain()
        fork = library.current
        assert fork is not chat
        assert fork.session.forked_from == chat.session_id
        assert texts(await stage.stored(fork)) == [("user", "one"), ("assistant", "hi")]
        assert [row.session.id for row in library.rows()] == [fork.session_id, chat.session_id]
        library.open(chat.session_id)
        library.fork(chat.session_id, reply)
        await stage.clock.drain()
        assert library.current is fork
        assert len(library.rows()) == 2
        await stage.send(fork, "three")
        assert len(await stage.stored(chat)) == 4
        library.fork(chat.session_id, reply)
        await stage.clock.drain()
        assert len(library.rows()) == 3
        library.fork(chat.session_id, None)
        await stage.clock.drain()
        assert library.current.history.branch == ()
        await stage.assert_memory_equals_disk(fork)

    play(scene, *[says("hi")] * 3)


def test_a_fork_is_refused_while_something_runs_there(play: Play) -> None:
    """F79, B13: by the conversation; an unknown entry is a problem in words, an unknown session nothing."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        done, busy = await chats(stage, library, "done", "busy")
        refusals = said(busy)
        heard = lives(library)
        library.fork(busy.session_id, busy.history.branch[0].id)
        library.fork("unknown", None)
        library.fork(done.session_id, "unknown")
        await stage.clock.drain()
        assert refusals.seen == [("refused", "A reply is still on its way in this chat.")]
        assert heard.names() == ["problem"]
        assert len(library.rows()) == 2
        busy.stop()
        await stage.clock.drain()

    play(scene, says("hi"), [HANG])


async def left_pending(folder: Path, *prompts: str) -> None:
    """A life in which each prompt fails for good."""
    stage = await BridgeStage.open(folder, *[fails()] * len(prompts), delays=())
    await chats(stage, stage.library(), *prompts)
    await stage.close()


def test_all_pending_sessions_are_retried_two_seconds_apart(aio: Aio, tmp_path: Path) -> None:
    """D3, N3: the first at once, none of them opened; what is done already is left alone."""

    async def main() -> None:
        await left_pending(tmp_path, "one", "two", "three")
        stage = await BridgeStage.open(tmp_path, *[says("ok")] * 3)
        library = stage.library()
        await library.load()
        shown = library.current
        assert len(library.pending_ids()) == 3
        library.retry_pending()
        await stage.clock.drain()
        marks = {row.session.title: (row.mark, row.seconds_left) for row in library.rows()}
        assert marks == {
            "three": (Mark.UNREAD, None),
            "two": (Mark.COUNTDOWN, 2),
            "one": (Mark.COUNTDOWN, 4),
        }
        assert library.pending_ids() == []
        library.retry_pending()
        await stage.clock.advance(2)
        assert len(stage.provider.requests) == 2
        await stage.clock.advance(2)
        assert len(stage.provider.requests) == 3
        assert library.current is shown
        assert [row.session.pending for row in library.rows()] == [False] * 3
        await stage.close()

    aio(main())


class Unreadable:
    """The real sessions, but one of them cannot be read."""

    def __init__(self, sessions: Sessions, broken: str) -> None:
        self._sessions = sessions
        self._broken = broken

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sessions, name)

    async def open(self, session: str) -> Opening:
        if session == self._broken:
            raise LogError("That chat cannot be read.")
        return await self._sessions.open(session)


def test_a_session_that_cannot_be_read_keeps_none_of_the_others_from_their_retry(aio: Aio, tmp_path: Path) -> None:
    """N3: it is told of once, stays pending, and has no place in the row."""

    async def main() -> None:
        await left_pending(tmp_path, "one", "two", "three")
        stage = await BridgeStage.open(tmp_path, *[says("ok")] * 2)
        broken = (await stage.store.sessions.list())[0].id
        sessions = cast("Sessions", Unreadable(stage.services.sessions, broken))
        library = Library(replace(stage.services, sessions=sessions), stage.scope)
        await library.load()
        heard = Recorder(problem=library.problem)
        library.retry_pending()
        await stage.clock.advance(2)
        assert heard.seen == [("problem", "That chat cannot be read.")]
        assert len(stage.provider.requests) == 2
        assert library.pending_ids() == [broken]
        await stage.close()

    aio(main())


def test_retries_from_the_list_wait_for_what_holds_the_others_and_then_go_in_a_row(play: Play) -> None:
    """D3: neither all of them nor one by its row sends through a hold that runs; a chat's own Retry does."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        one, two, _ = await chats(stage, library, "one", "two", "limited")
        library.retry_pending([two.session_id])
        await stage.clock.drain()
        assert two.pending is not None
        assert (two.pending.reason, two.retry_manager.seconds_left) == (WaitReason.LIMITS, 29)
        library.retry_pending()
        await stage.clock.drain()
        assert one.pending is not None
        assert (one.pending.reason, one.retry_manager.seconds_left) == (WaitReason.LIMITS, 31)
        assert len(stage.provider.requests) == 3
        two.stop()
        await stage.clock.drain()
        two.retry()
        await stage.clock.drain()
        assert texts(await stage.stored(two)) == [("user", "two"), ("assistant", "two")]
        await stage.clock.advance(31)
        assert len(stage.provider.requests) == 6

    limited = fails(FailureKind.RATE_LIMIT, retry_after_s=30.0, retryable=True)
    replies = [fails(retryable=False), fails(retryable=False), limited, says("two"), says("ok"), says("ok")]
    play(scene, *replies)


def test_only_sessions_that_share_limits_wait_for_each_other(play: Play) -> None:
    """D3: one 429 is of one provider and key; the others begin at once, and only those that were asked for."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        stage.catalog.routes[OTHER] = Route("elsewhere")
        library = stage.library()
        one, two, three, four = await chats(stage, library, "one", "two", "three", "four")
        two.choose_model(OTHER)
        stage.provider._replies += [says("ok")] * 3
        library.retry_pending([one.session_id, two.session_id, three.session_id, "unknown"])
        await stage.clock.drain()
        left = [each.retry_manager.seconds_left for each in (three, two, one)]
        assert left == [None, None, 2]
        assert len(stage.provider.requests) == 6
        assert not four.is_busy
        one.stop()
        await stage.clock.drain()
        assert library.pending_ids() == [four.session_id, one.session_id]

    play(scene, *[fails()] * 4, delays=())


def test_ends_and_questions_of_every_session_are_said(play: Play) -> None:
    """N10: shown or not, with the session they are about."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        heard = lives(library)
        (chat,) = await chats(stage, library, "one")
        assert ("asks", chat.session_id, 1) in heard.seen
        library.new_chat()
        chat.answer(Answer.CONTINUE)
        await stage.clock.drain()
        name, key, finished = heard.seen[-1]
        assert (name, key, finished.outcome) == ("ended", chat.session_id, Outcome.COMPLETED)

    play(scene, calls("ping"), says("done"), tools=FakeTools(ping=pong))


def test_turns_that_a_crash_left_in_the_middle_can_be_retried_from_the_list(aio: Aio, tmp_path: Path) -> None:
    """N11: the next start finds them pending, whether they are opened or not."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path, [HANG])
        chat = stage.chat()
        await stage.send(chat, "one")
        await chat.close()
        await stage.close()
        later = await BridgeStage.open(tmp_path, says("ok"))
        library = later.library()
        await library.load()
        assert library.pending_ids() == [chat.session_id]
        library.retry_pending([chat.session_id])
        await later.clock.drain()
        assert library.pending_ids() == []
        await later.close()

    aio(main())


def test_a_text_that_comes_back_is_ahead_of_the_draft_of_its_session(play: Play) -> None:
    """I5: shown or not, with the cursor where it was in what was being written; in a new chat, too."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        (chat,) = await chats(stage, library, "one")
        library.save_draft(chat.session_id, Draft("an idea", 2))
        other = library.new_chat()
        assert chat.send("queued")
        await stage.clock.drain()
        chat.stop()
        await stage.clock.drain()
        assert library.draft(chat.session_id) == Draft("queued\n\nan idea", 10)
        chat.take_back()
        await stage.clock.drain()
        assert library.draft(chat.session_id) == Draft("one\n\nqueued\n\nan idea", 15)
        assert library.draft(other.session_id) is None
        assert (await stage.store.drafts.load())[chat.session_id] == Draft("one\n\nqueued\n\nan idea", 15)

    play(scene, [HANG])


def test_the_draft_is_on_disk_before_the_prompt_leaves_the_branch(play: Play) -> None:
    """F112: a crash between the two leaves the text twice, never not at all."""
    seen: list[tuple[str, bool]] = []

    class Watching:
        def __init__(self, log: object) -> None:
            self._log = log

        def __getattr__(self, name: str) -> object:
            method = getattr(self._log, name)

            async def watched(*arguments: object, **options: object) -> object:
                drafts = await stages[0].store.drafts.load()
                seen.append((name, any("one" in draft.text for draft in drafts.values())))
                return await method(*arguments, **options)

            return watched if name == "move_leaf" else method

    stages: list[BridgeStage] = []

    async def scene(stage: BridgeStage) -> None:
        stages.append(stage)
        library = stage.library()
        (chat,) = await chats(stage, library, "one")
        chat.stop()
        await stage.clock.drain()
        chat.take_back()
        await stage.clock.drain()
        assert seen == [("move_leaf", True)]

    play(scene, [HANG], wrap=Watching)
