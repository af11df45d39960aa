"""The program from its command line: what it prints, how it exits, what it keeps."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from reprise.domain.messages import Role
from reprise.domain.ports import Draft, History
from reprise.domain.sessions import Attempt, AttemptState, messages
from reprise.storage.store import Store
from reprise.storage.worker import Worker
from support.clock import ManualClock
from support.process import DONE, event, finish, refusal, reply, reprise, say, start
from support.wire_server import Play, WireServer

OFF = ("--set", "retry.policy=off")
QUICK = ("--set", "retry.policy=custom", "--set", "retry.base_s=0.01", "--set", "retry.cap_s=0.01")


async def stored(data: Path) -> list[History]:
    """What is on disk, read by the storage layer itself."""
    store = await Store.open(data, ManualClock(), Worker())
    try:
        return [await store.sessions.load(session.id) for session in await store.sessions.list()]
    finally:
        await store.close()


def test_a_reply_is_one_json_object_and_stored(tmp_path: Path) -> None:
    async def story() -> None:
        async with WireServer({"a": reply("Hel", "lo")}) as server:
            run = await reprise(*say(tmp_path, server.url("a")))
        seen = run.json()
        assert run.code == 0
        assert (seen["status"], seen["text"], seen["finish_reason"]) == ("completed", "Hello", "stop")
        assert (seen["failure"], seen["attempts"]) == (None, 1)
        (history,) = await stored(tmp_path)
        assert history.session.id == seen["session_id"]
        assert [message.text for message in messages(history.branch)] == ["hello", "Hello"]
        assert not history.session.pending

    asyncio.run(story())


def test_without_json_the_reply_alone_is_on_stdout(tmp_path: Path) -> None:
    async def story() -> None:
        async with WireServer({"a": reply("Hel", "lo")}) as server:
            arguments = [part for part in say(tmp_path, server.url("a")) if part != "--json"]
            run = await reprise(*arguments)
        assert (run.code, run.out) == (0, "Hello\n")

    asyncio.run(story())


def test_retries_run_as_set_and_every_request_is_counted(tmp_path: Path) -> None:
    async def story() -> None:
        plays = [refusal(503, "later"), Play((event(content="half"),), end="reset"), reply("whole")]
        async with WireServer({"a": plays}) as server:
            run = await reprise(*say(tmp_path, server.url("a"), *QUICK))
        seen = run.json()
        assert (run.code, seen["status"], seen["text"], seen["attempts"]) == (0, "completed", "whole", 3)
        (history,) = await stored(tmp_path)
        assert [message.role for message in messages(history.branch)] == [Role.USER, Role.ASSISTANT]

    asyncio.run(story())


def test_a_failure_is_typed_and_leaves_the_turn_pending(tmp_path: Path) -> None:
    async def story() -> None:
        async with WireServer({"a": refusal(429, "slow down", retry_after="7", x_request_id="req-503")}) as server:
            run = await reprise(*say(tmp_path, server.url("a"), *OFF))
        failure = run.json()["failure"]
        assert run.code == 1
        assert failure["kind"] == "rate_limit"
        assert failure["retryable"] is True  # the policy in force does not change it (behaviour D1)
        assert (failure["retry_after_s"], failure["status"], failure["request_id"]) == (7.0, 429, "req-503")
        (history,) = await stored(tmp_path)
        assert history.session.pending

    asyncio.run(story())


def test_an_unanswered_call_is_shown_and_not_run(tmp_path: Path) -> None:
    """Behaviour D16: no tools were offered, so the turn is complete and nothing more is asked."""
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "clock", "arguments": '{"tz": "UTC"}'}}
    end = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n'

    async def story() -> None:
        async with WireServer({"a": Play((event(tool_calls=[call]), end))}) as server:
            run = await reprise(*say(tmp_path, server.url("a")))
            assert len(server.requests) == 1
        seen = run.json()
        assert (run.code, seen["finish_reason"]) == (0, "tool_calls")
        assert seen["tool_calls"] == [{"id": "c1", "name": "clock", "arguments": '{"tz": "UTC"}'}]

    asyncio.run(story())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_and_saves(tmp_path: Path, number: signal.Signals) -> None:
    """F33, C1: the loop idles on a silent socket; the turn is stopped, recorded, and the program ends in order."""

    async def story() -> None:
        async with WireServer({"a": Play((event(content="half an ans"),), end="hang")}) as server:
            arguments = [part for part in say(tmp_path, server.url("a")) if part != "--json"]
            process = await start(*arguments)
            assert process.stdout is not None
            assert await asyncio.wait_for(process.stdout.readexactly(11), 30) == b"half an ans"
            process.send_signal(number)
            run = await finish(process)
        assert run.code == 1
        (history,) = await stored(tmp_path)
        assert history.session.pending
        (attempts,) = history.attempts.values()
        assert isinstance(attempts[0].data, Attempt)
        assert attempts[0].data.state is AttemptState.STOPPED
        assert [part.text for part in attempts[0].data.parts] == ["half an ans"]  # type: ignore[union-attr]

    asyncio.run(story())


def test_bad_input_is_one_sentence_and_exit_2(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine", "utf-8")
    common = ("--say", "hi", "--quit-when-done")
    echo = ("--provider-kind", "echo")

    async def story() -> None:
        for arguments in (
            ("--data-dir", str(file), *echo, *common),
            ("--data-dir", str(tmp_path / "d"), "--provider-url", "ht!tp://x", *common),
            ("--data-dir", str(tmp_path / "d"), *echo, "--set", "retry.polcy=off", *common),
            ("--data-dir", str(tmp_path / "d"), *echo, "--set", "retry.policy=sometimes", *common),
            ("--data-dir", str(tmp_path / "d"), *echo, "--what", *common),
        ):
            run = await reprise(*arguments)
            assert (run.code, run.out) == (2, ""), (arguments, run)
            assert len(run.err.strip().splitlines()) == 1, run.err
        assert file.read_text("utf-8") == "mine"

    asyncio.run(story())


def test_a_damaged_database_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "reprise.db").write_bytes(b"this is no database" * 500)

    async def story() -> None:
        run = await reprise("--data-dir", str(tmp_path), "--provider-kind", "echo", "--say", "x", "--quit-when-done")
        assert run.code == 2
        assert "reprise.db" in run.err
        assert (tmp_path / "reprise.db").read_bytes().startswith(b"this is no database")

    asyncio.run(story())


def test_a_second_start_hands_its_prompt_over(tmp_path: Path) -> None:
    async def story() -> None:
        async with WireServer({"a": Play((event(content="one"),), end="hang")}) as server:
            url = server.url("a")
            first = await start("--data-dir", str(tmp_path), "--provider-url", url, "--model", "m", "--say", "first")
            await server.arrived(1)
            second = await reprise("--data-dir", str(tmp_path), "--provider-url", url, "--say", "second")
            assert (second.code, second.out, second.err) == (0, "", "")
            third = await reprise(*say(tmp_path, url))
            assert third.code == 2
            assert str(first.pid) in third.err
            await server.arrived(2)
            first.terminate()
            assert (await finish(first)).code == 0
        prompts = {messages(history.branch)[0].text for history in await stored(tmp_path)}
        assert prompts == {"first", "second"}

    asyncio.run(story())


def test_a_screenshot_shows_the_reply(tmp_path: Path) -> None:
    async def story() -> None:
        picture = tmp_path / "window.png"
        async with WireServer({"a": reply("word " * 200)}) as server:
            run = await reprise(*say(tmp_path / "d", server.url("a"), "--screenshot", str(picture)))
        assert run.code == 0
        image = QImage(str(picture))
        assert image.width() >= 1000
        colours = {image.pixel(x, y) for x in range(300, image.width(), 7) for y in range(60, image.height(), 7)}
        assert len(colours) > 8  # text was painted, not only the page

    asyncio.run(story())


def test_with_a_given_provider_nothing_else_happens(tmp_path: Path) -> None:
    """No model is fetched or started, and no server is asked anything but the one request."""

    async def story() -> None:
        models = tmp_path / "models"
        env = {**os.environ, "REPRISE_MODELS": str(models)}
        async with WireServer({"a": Play((event(content="x"), DONE))}) as server:
            run = await reprise(*say(tmp_path / "d", server.url("a")), env=env)
            assert run.code == 0
            assert [seen.path for seen in server.requests] == ["/a/v1/chat/completions"]
        assert not models.exists()

    asyncio.run(story())


def test_a_second_start_while_the_first_is_starting_is_handed_over(tmp_path: Path) -> None:
    """A double click: one window, both prompts."""

    async def story() -> None:
        async with WireServer({"a": reply("yes")}) as server:
            common = ("--data-dir", str(tmp_path), "--provider-url", server.url("a"), "--model", "m", "--say")
            first = await start(*common, "first")
            second = await start(*common, "second")
            await server.arrived(2)
            # Whoever came first holds the folder; the other one handed over and is gone.
            done, waiting = await asyncio.wait(
                {asyncio.ensure_future(first.wait()), asyncio.ensure_future(second.wait())},
                return_when=asyncio.FIRST_COMPLETED,
            )
            assert [task.result() for task in done] == [0]
            holder = first if first.returncode is None else second
            holder.terminate()
            await finish(holder)
            await asyncio.wait(waiting)
            await finish(second if holder is first else first)
        assert {messages(history.branch)[0].text for history in await stored(tmp_path)} == {"first", "second"}

    asyncio.run(story())


def test_an_unsent_draft_survives_a_scripted_prompt(tmp_path: Path) -> None:
    async def story() -> None:
        store = await Store.open(tmp_path, ManualClock(), Worker())
        await store.drafts.save("", Draft("not sent yet", 3))
        await store.close()
        async with WireServer({"a": reply("yes")}) as server:
            assert (await reprise(*say(tmp_path, server.url("a")))).code == 0
        store = await Store.open(tmp_path, ManualClock(), Worker())
        assert (await store.drafts.load())[""].text == "not sent yet"
        await store.close()

    asyncio.run(story())


def test_a_reply_that_cannot_be_written_is_no_success(tmp_path: Path) -> None:
    async def story() -> None:
        async with WireServer({"a": reply("word " * 5000)}) as server:
            arguments = [part for part in say(tmp_path, server.url("a")) if part != "--json"]
            with Path("/dev/full").open("wb") as full:  # noqa: ASYNC230 - a device that refuses every byte
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "reprise", *arguments), stdout=full, stderr=asyncio.subprocess.PIPE
                )
                _, err = await process.communicate()
        assert process.returncode == 1
        assert b"could not be written" in err
        assert b"Traceback" not in err

    asyncio.run(story())


def test_a_model_without_a_server_is_exit_2(tmp_path: Path) -> None:
    async def story() -> None:
        run = await reprise("--data-dir", str(tmp_path), "--model", "nope", "--say", "x", "--quit-when-done")
        assert (run.code, run.out) == (2, "")
        assert "--model" in run.err

    asyncio.run(story())
