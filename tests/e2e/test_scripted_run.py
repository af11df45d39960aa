"""`--say --quit-when-done` beside the good replies: stopped, nobody to ask, no screen, no count from the provider."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from reprise.domain.messages import Role
from reprise.domain.sessions import messages
from reprise.storage.store import Store
from reprise.storage.worker import Worker
from support.builtin import real_model
from support.clock import ManualClock
from support.process import DONE, event, finish, refusal, reply, reprise, say, start
from support.wire_server import Play, WireServer

COUNT = b'data: {"choices":[],"usage":{"prompt_tokens":70,"completion_tokens":30}}\n\n'


async def prompts(data: Path) -> list[str]:
    """The prompts of every stored chat that waits for its reply."""
    store = await Store.open(data, ManualClock(), Worker())
    try:
        histories = [await store.sessions.load(session.id) for session in await store.sessions.list()]
    finally:
        await store.close()
    waiting = [messages(history.branch)[-1] for history in histories if history.session.pending]
    return [message.text for message in waiting if message.role is Role.USER]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_status_stopped(tmp_path: Path, number: signal.Signals) -> None:
    """What arrived is in the object, and the prompt is kept."""

    async def story() -> None:
        async with WireServer({"a": Play((event(content="half an ans"),), end="hang")}) as server:
            process = await start(*say(tmp_path, server.url("a")))
            await server.wrote(1)
            process.send_signal(number)
            run = await finish(process)
        seen = run.json()
        assert (run.code, seen["status"], seen["failure"], seen["attempts"]) == (1, "stopped", None, 1)
        assert "half an ans".startswith(seen["text"])
        assert await prompts(tmp_path) == ["hello"]

    asyncio.run(story())


@pytest.mark.parametrize(
    ("play", "usage"),
    [
        (Play((event(content="x" * 40), COUNT, DONE)), {"input": 70, "output": 30}),
        (reply("x" * 40), None),
        (refusal(401, "no"), None),
    ],
    ids=["counted", "not counted", "no reply"],
)
def test_usage_is_what_the_provider_counted(tmp_path: Path, play: Play, usage: dict[str, int] | None) -> None:
    """L11: an estimate is never shown as a count."""

    async def story() -> None:
        async with WireServer({"a": play}) as server:
            run = await reprise(*say(tmp_path, server.url("a")))
        assert run.json()["usage"] == usage

    asyncio.run(story())


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        ("raise ImportError('libsomething.so.1 is missing')", "could not be loaded: ImportError: libsomething.so.1"),
        ("import os; os.abort()", "stopped 4 times within 5 minutes"),
    ],
    ids=["load error", "dies at load"],
)
def test_a_built_in_model_that_does_not_load_is_no_usable_model(tmp_path: Path, engine: str, words: str) -> None:
    """Said once, in its own words, after what was waited for; the prompt is kept."""
    real_model()
    package = tmp_path / "xllamacpp"
    package.mkdir()
    (package / "__init__.py").write_text(engine, "utf-8")
    data = tmp_path / "data"

    async def story() -> None:
        env = {**os.environ, "PYTHONPATH": str(tmp_path)}
        run = await reprise("--data-dir", str(data), "--say", "precious words", "--quit-when-done", env=env)
        assert (run.code, run.out) == (2, ""), run
        first, *more = run.err.splitlines()
        assert first == "Loading the built-in model."
        assert run.err.count(words) == 1
        assert [line.startswith("There is no usable model: The built-in model") for line in more] == [True]
        assert await prompts(data) == ["precious words"]

    asyncio.run(story())


def test_settings_that_name_no_model_are_exit_2(tmp_path: Path) -> None:
    async def story() -> None:
        run = await reprise(
            *("--data-dir", str(tmp_path), "--set", "chat.provider=own", "--say", "x", "--quit-when-done")
        )
        assert (run.code, run.out) == (2, "")
        assert run.err.startswith("There is no usable model: ")
        assert len(run.err.splitlines()) == 1

    asyncio.run(story())


def test_the_default_kind_is_understood_without_an_address(tmp_path: Path) -> None:
    """`--provider-kind openai` alone asks whom the settings name, like a run without it."""

    async def story() -> None:
        async with WireServer({"a": reply("yes")}) as server:
            own = ("chat.provider=own", f"provider.url={server.url('a')}", "provider.model=m")
            run = await reprise(
                *("--data-dir", str(tmp_path), "--provider-kind", "openai", "--say", "x", "--quit-when-done"),
                *(part for setting in own for part in ("--set", setting)),
            )
        assert (run.code, run.out) == (0, "yes\n"), run

    asyncio.run(story())


@pytest.mark.parametrize("display", [None, ":7652"])
def test_without_a_screen_the_window_runs_offscreen(tmp_path: Path, display: str | None) -> None:
    """Nobody told Qt: no variable at all, and one that names a screen that is not there."""
    left_out = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    env = {name: value for name, value in os.environ.items() if name not in left_out}
    if display is not None:
        env["DISPLAY"] = display

    async def story() -> None:
        picture = tmp_path / "window.png"
        async with WireServer({"a": reply("yes")}) as server:
            run = await reprise(*say(tmp_path / "d", server.url("a"), "--screenshot", str(picture)), env=env)
        assert (run.code, run.json()["text"], run.err) == (0, "yes", "")
        assert picture.stat().st_size > 10_000

    asyncio.run(story())


def test_a_long_reply_is_printed_whole_and_in_order(tmp_path: Path) -> None:
    """More than a pipe holds, in many pieces."""
    pieces = [f"{number:04d} " + "x" * 5000 for number in range(200)]

    async def story() -> None:
        async with WireServer({"a": reply(*pieces)}) as server:
            run = await reprise(*(part for part in say(tmp_path, server.url("a")) if part != "--json"))
        assert run.code == 0
        assert run.out == "".join(pieces) + "\n"

    asyncio.run(story())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("end", ["hang", "close"])
def test_a_pipe_nobody_reads_does_not_hold_up_a_signal(tmp_path: Path, number: signal.Signals, end: str) -> None:
    """Whether the reply is complete or still on its way."""
    reading, writing = os.pipe()
    chunks = (event(content="x" * 300_000), *((DONE,) if end == "close" else ()))

    async def story() -> None:
        async with WireServer({"a": Play(chunks, end=end)}) as server:
            arguments = [part for part in say(tmp_path, server.url("a")) if part != "--json"]
            process = await start(*arguments, stdout=writing)
            os.close(writing)
            try:
                # From its first bytes on the program is in a write that cannot end.
                assert await asyncio.to_thread(os.read, reading, 10) == b"x" * 10
                process.send_signal(number)
                assert await asyncio.wait_for(process.wait(), 10) == 1
            finally:
                if process.returncode is None:
                    process.kill()
        assert process.stderr is not None
        assert await process.stderr.read() == b""
        log = (tmp_path / "logs" / "reprise.log").read_text("utf-8")
        assert "Traceback" not in log

    try:
        asyncio.run(story())
    finally:
        os.close(reading)


@pytest.mark.parametrize("more", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("stdout", [">&-", ">/dev/full"])
def test_a_reply_that_cannot_be_written_is_a_sentence_and_exit_1(
    tmp_path: Path, more: tuple[str, ...], stdout: str
) -> None:
    async def story() -> None:
        async with WireServer({"a": reply("yes")}) as server:
            arguments = [part for part in say(tmp_path, server.url("a")) if part != "--json"]
            run = await finish(await start(*arguments, *more, redirect=stdout))
        assert (run.code, run.out) == (1, "")
        assert run.err.startswith("The reply could not be written: ")
        assert len(run.err.splitlines()) == 1
        assert "Traceback" not in (tmp_path / "logs" / "reprise.log").read_text("utf-8")

    asyncio.run(story())


@pytest.mark.parametrize("stderr", ["2>&-", "2>/dev/full", ">&- 2>&-"])
@pytest.mark.parametrize(("status", "code"), [(401, 1), (503, 1)])
def test_a_failure_that_cannot_be_told_is_its_exit_code(tmp_path: Path, stderr: str, status: int, code: int) -> None:
    """With retries to tell of, and without."""
    quick = ("--set", "retry.policy=custom", "--set", "retry.base_s=0.01", "--set", "retry.cap_s=0.01")

    async def story() -> None:
        async with WireServer({"a": refusal(status, "no")}) as server:
            arguments = [part for part in say(tmp_path, server.url("a"), *quick) if part != "--json"]
            run = await finish(await start(*arguments, redirect=stderr))
        assert (run.code, run.out, run.err) == (code, "", "")
        assert "Traceback" not in (tmp_path / "logs" / "reprise.log").read_text("utf-8")

    asyncio.run(story())


@pytest.mark.parametrize(
    ("arguments", "redirect", "code"),
    [
        (("--version",), ">&-", 1),
        (("--version",), ">/dev/full", 1),
        (("--what",), "2>&-", 2),
        (("--what",), "2>/dev/full", 2),
        (("--data-dir", __file__, "--say", "x", "--quit-when-done"), "2>/dev/full", 2),
    ],
)
def test_an_end_before_the_window_needs_no_stream(arguments: tuple[str, ...], redirect: str, code: int) -> None:
    async def story() -> None:
        run = await finish(await start(*arguments, redirect=redirect))
        assert (run.code, run.out) == (code, "")
        assert len(run.err.splitlines()) == (0 if redirect.startswith("2") else 1)

    asyncio.run(story())
