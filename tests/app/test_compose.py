"""The composition root: what is set on the command line arrives where it counts."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from reprise.app import compose as root
from reprise.app.options import parse
from reprise.app.prepare import prepare
from reprise.bridge.conversation import Conversation
from reprise.bridge.library import Library
from reprise.bridge.services import Services
from reprise.bridge.tasks import TaskScope
from reprise.domain.events import Answer
from reprise.domain.retry import CEILING_S, RetryPolicy
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.window import MainWindow
from support.aio import Aio
from support.clock import ManualClock
from support.engine import FakeTools, pong
from support.replies import GOOD, take, text_event
from support.wire_server import Play, WireServer

HANG = {"hang": True}
CALL = {"tool_call": {"name": "look", "arguments": {}}}
LIMITED = {"fail": {"kind": "rate_limit", "status": 429, "message": "slow down", "retry_after_s": 200}}


class Run:
    """One life of the program over `folder`, composed from a command line; it has a tool, which none ships with yet."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._patch = monkeypatch
        self.clock = ManualClock()
        self.services: Services
        self.parts: root.Composition

    @asynccontextmanager
    async def over(self, *arguments: str, script: list[list[Any]] | None = None) -> AsyncIterator[Run]:
        """Live with these arguments; with a script, echo answers."""
        line = ["--data-dir", str(self._folder / "data"), *arguments]
        if script is not None:
            (self._folder / "script.json").write_text(json.dumps(script), "utf-8")
            line += ["--provider-kind", "echo", "--set", f"echo.script={self._folder / 'script.json'}"]
        prepared = prepare(parse(line))
        assert prepared.data is not None
        assert prepared.lock is not None
        self._patch.setattr(root, "Library", self._library)
        scope = TaskScope("test program")
        self.parts = await root.compose(
            prepared.options, prepared.data, prepared.overrides, self.clock, scope, lambda _state: None
        )
        self.clock.settle_with(self.parts.store.worker.settled)
        scope.start(self.parts.store.run(), name="save what streams")
        try:
            yield self
        finally:
            await self.parts.library.close()
            await scope.close()
            await self.parts.models.aclose()
            assert await self.parts.store.close()
            prepared.lock.release()

    async def say(self, text: str) -> Conversation:
        """Send it in the chat that is shown, and let everything happen that takes no time."""
        conversation = self.parts.library.current
        assert conversation.send(text)
        await self.clock.drain()
        return conversation

    async def said(self, conversation: Conversation) -> list[str]:
        """The texts of the active branch on disk."""
        history = await self.parts.store.sessions.load(conversation.session_id)
        return [entry.data.text for entry in history.branch if hasattr(entry.data, "text")]

    def _library(self, services: Services, scope: TaskScope) -> Library:
        self.services = services
        return Library(replace(services, tools=FakeTools(look=pong)), scope)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A program that is not composed yet."""
    return Run(tmp_path, monkeypatch)


@pytest.mark.parametrize("scripted", [True, False])
def test_in_a_scripted_run_every_question_counts_as_no(aio: Aio, run: Run, scripted: bool) -> None:
    """A window asks in its timeline (`questions` None) instead."""

    async def story() -> None:
        async with run.over(*(["--say", "hello", "--quit-when-done"] if scripted else []), script=[]):
            questions = run.services.questions
            asked = None if questions is None else await questions.round_limit(32)
            assert asked is (Answer.STOP if scripted else None)

    aio(story())


@pytest.mark.parametrize(("setting", "rounds"), [((), None), (("--set", "turn.max_rounds=2"), 2)])
def test_max_rounds_is_when_a_turn_asks(aio: Aio, run: Run, setting: tuple[str, ...], rounds: int | None) -> None:
    """D15, D17."""

    async def story() -> None:
        async with run.over(*setting, script=[[CALL], [CALL], ["done"]]):
            assert (await run.say("go")).question_rounds == rounds

    aio(story())


@pytest.mark.parametrize("times", [0, 1, 2])
def test_auto_continue_is_how_often_a_cut_reply_goes_on(aio: Aio, run: Run, times: int) -> None:
    """D9, D17."""

    words = ["one", "two", "three", "four"]

    async def story() -> None:
        setting = ("--set", f"turn.auto_continue={times}")
        async with run.over(*setting, script=[[f"{word} ", {"finish": "length"}] for word in words]):
            assert (await run.said(await run.say("go")))[-1].split() == words[: 1 + times]

    aio(story())


@pytest.mark.parametrize(
    ("setting", "texts"),
    [
        ((), ["go", "half", "on", "ok"]),
        (("--set", "turn.keep_on_followup=false"), ["go", "on", "ok"]),
    ],
)
def test_keep_on_followup_is_what_becomes_of_a_stopped_reply(
    aio: Aio, run: Run, setting: tuple[str, ...], texts: list[str]
) -> None:
    """D6, D17."""

    async def story() -> None:
        async with run.over(*setting, script=[["half", HANG], ["ok"]]):
            conversation = await run.say("go")
            conversation.stop()
            await run.clock.drain()
            await run.say("on")
            assert await run.said(conversation) == texts

    aio(story())


@pytest.mark.parametrize(("setting", "waits"), [((), False), (("--set", "retry.after_cap_s=300"), True)])
def test_after_cap_is_the_longest_wait_without_a_question(
    aio: Aio, run: Run, setting: tuple[str, ...], waits: bool
) -> None:
    """D3, D17: the wire and the policy judge by the same setting; a provider asked for 200 s."""

    async def story() -> None:
        async with run.over(*setting, script=[[LIMITED]]):
            conversation = await run.say("go")
            assert conversation.retry_manager.is_counting is waits
            conversation.stop()
            await run.clock.drain()

    aio(story())


def test_the_retry_policy_is_the_one_that_is_set(aio: Aio, run: Run) -> None:
    """D2-D4, D17."""

    async def story() -> None:
        line = ("policy=custom", "max_retries=3", "base_s=2", "cap_s=5", "jitter=true", "after_cap_s=300")
        async with run.over(*(part for word in line for part in ("--set", f"retry.{word}")), script=[]):
            assert run.services.policy() == RetryPolicy((2.0, 4.0, 5.0), True, 300.0, CEILING_S)

    aio(story())


SILENT = Play(end="hang")
STALLED = Play((text_event("Hel"),), end="hang")


@pytest.mark.slow_callbacks  # the wire is imported here
@pytest.mark.parametrize("own", [False, True], ids=["given", "own"])
@pytest.mark.parametrize(
    ("setting", "play", "words"),
    [
        ("network.first_byte_timeout_s=0.11", SILENT, "no reply within 0.11 s"),
        ("network.idle_timeout_s=0.12", STALLED, "nothing for 0.12 s"),
    ],
)
def test_silence_is_as_long_as_set(aio: Aio, run: Run, own: bool, setting: str, play: Play, words: str) -> None:
    """D17: of a provider on the command line and of one in the settings."""

    async def story() -> None:
        async with WireServer({"a": play}) as server:
            url = server.url("a")
            provider = (
                ("--set", f"provider.url={url}", "--set", "provider.model=m", "--set", "chat.provider=own")
                if own
                else ("--provider-url", url)
            )
            async with run.over(*provider, "--set", setting):
                ref = run.parts.models.default()
                assert ref is not None
                _, failure = await take(run.parts.models.provider(ref))
                assert failure is not None
                assert words in failure.message

    aio(story())


@pytest.mark.slow_callbacks  # the wire is imported here
def test_a_connection_may_take_as_long_as_set(aio: Aio, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """D17; httpx measures it."""
    limits: list[float] = []
    send = httpx.AsyncClient.send

    async def watch(client: httpx.AsyncClient, request: httpx.Request, **options: Any) -> httpx.Response:
        limits.append(request.extensions["timeout"]["connect"])
        return await send(client, request, **options)

    monkeypatch.setattr(httpx.AsyncClient, "send", watch)

    async def story() -> None:
        async with (
            WireServer({"a": GOOD}) as server,
            run.over("--provider-url", server.url("a"), "--set", "network.connect_timeout_s=7.5"),
        ):
            ref = run.parts.models.default()
            assert ref is not None
            partial, failure = await take(run.parts.models.provider(ref))
            assert (partial.text, failure) == ("Hello", None)
            assert limits == [7.5]

    aio(story())


@pytest.mark.slow_callbacks
def test_the_window_looks_as_set(aio: Aio, run: Run, resources: Path) -> None:
    """D17 `appearance.*`."""

    async def story() -> None:
        setting = ("--set", "appearance.scheme=dark", "--set", "appearance.zoom=1.5")
        async with run.over(*setting, script=[]):
            window = MainWindow(resources, load_theme(resources, Scheme.LIGHT))
            await run.parts.library.load()
            root.fill(window, run.parts, run.clock)
            await run.clock.drain()
            assert window.look.theme.scheme is Scheme.DARK
            assert window.look.is_chosen("dark")
            assert window.look.theme.zoom == 1.5
            window.shut()
            window.deleteLater()

    aio(story())
