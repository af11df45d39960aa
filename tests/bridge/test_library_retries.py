"""Scheduled retries over two lives of the program, without anybody opening a chat (behaviour D8)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from reprise.bridge.library import Library
from reprise.bridge.session_row import Mark
from support.aio import Aio
from support.bridge import BridgeStage, recorder
from support.clock import ManualClock
from support.engine import fails, says


async def closed_while_two_wait(folder: Path) -> ManualClock:
    """A life that ends with a retry of "soon" due in 5 s and one of "late" due in 120 s; its clock."""
    stage = await BridgeStage.open(folder, fails(), fails(retry_after_s=120.0), delays=(5.0, 10.0))
    library = stage.library()
    for text in ("soon", "late"):
        await stage.send(library.new_chat(), text)
    await library.close()
    await stage.close()
    return stage.clock


def shown(library: Library) -> dict[str, tuple[Mark, int | None]]:
    """Mark and seconds of each row, by title."""
    return {row.session.title: (row.mark, row.seconds_left) for row in library.rows()}


def test_a_retry_not_yet_due_counts_down_and_fires_although_its_chat_is_not_opened(aio: Aio, tmp_path: Path) -> None:
    """D8: the sidebar shows its seconds; the one whose time passed is pending and never fired unasked."""

    async def main() -> None:
        before = await closed_while_two_wait(tmp_path)
        clock = ManualClock(now=7.0, utc=before.utc() + timedelta(seconds=60))
        stage = await BridgeStage.open(tmp_path, says("here"), clock=clock)
        library = stage.library()
        new = library.current
        await library.load()
        await clock.drain()
        assert shown(library) == {"late": (Mark.COUNTDOWN, 60), "soon": (Mark.PENDING, None)}
        assert library.current is new
        await clock.advance(59)
        assert shown(library)["late"] == (Mark.COUNTDOWN, 1)
        assert stage.provider.requests == []
        await clock.advance(1)
        assert shown(library) == {"late": (Mark.UNREAD, None), "soon": (Mark.PENDING, None)}
        await clock.advance(3600)
        assert len(stage.provider.requests) == 1
        (done,) = [row.session for row in library.rows() if row.session.title == "late"]
        assert [entry.data.text for entry in (await stage.store.sessions.load(done.id)).branch] == ["late", "here"]
        await stage.close()

    aio(main())


def test_a_scripted_run_starts_no_retry_of_another_chat(aio: Aio, tmp_path: Path) -> None:
    """`load(resume=False)`: what was scheduled stays so for the next life."""

    async def main() -> None:
        before = await closed_while_two_wait(tmp_path)
        clock = ManualClock(utc=before.utc())
        stage = await BridgeStage.open(tmp_path, clock=clock)
        library = stage.library()
        await library.load(resume=False)
        await clock.advance(3600)
        assert stage.provider.requests == []
        assert shown(library) == {"late": (Mark.PENDING, None), "soon": (Mark.PENDING, None)}
        await stage.close()

        again = await BridgeStage.open(tmp_path, clock=ManualClock(utc=before.utc()))
        library = again.library()
        await library.load()
        await again.clock.drain()
        assert shown(library)["late"] == (Mark.COUNTDOWN, 120)
        await library.close()
        await again.close()

    aio(main())


def test_a_restored_countdown_goes_on_in_its_schedule_and_a_manual_retry_begins_anew(aio: Aio, tmp_path: Path) -> None:
    """D8, R12: "retry 2 of 3" is followed by 3 of 3, then it is exhausted; Retry by hand is 1 of 3 again."""

    async def main() -> None:
        first = await BridgeStage.open(tmp_path, fails(), fails())
        chat = first.chat()
        await first.send(chat)
        await first.clock.advance(5)
        assert chat.pending is not None
        assert (chat.pending.retry, chat.retry_manager.seconds_left) == (2, 10)
        await chat.close()
        await first.close()

        stage = await BridgeStage.open(tmp_path, *[fails()] * 3, clock=ManualClock(utc=first.clock.utc()))
        again = await stage.reopened(chat.session_id)
        heard = recorder(again)
        await stage.clock.advance(10)
        assert again.pending is not None
        assert (again.pending.retry, again.retry_manager.seconds_left) == (3, 15)
        await stage.clock.advance(15)
        assert [entry[1] for entry in heard.seen if entry[0] == "retry"] == [2, 3]
        assert "exhausted" in heard.names()
        assert [attempt.number for attempt in await stage.attempts(again)] == [1, 2, 3, 4]
        again.retry()
        await stage.clock.drain()
        assert (again.pending.retry, again.retry_manager.seconds_left) == (1, 5)
        await stage.assert_memory_equals_disk(again)
        again.stop()
        await stage.clock.drain()
        await stage.close()

    aio(main())
