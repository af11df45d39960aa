"""The offline provider and its scripts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprise.domain.deltas import Delta, FinishDelta, Partial, TextDelta, ThinkingDelta, ToolCallDelta, UsageDelta
from reprise.domain.failures import CompletionError, Failure, FailureKind
from reprise.domain.messages import ModelRef, Usage, user_message
from reprise.domain.models import CompletionRequest, Parameters
from reprise.providers.echo import PIECE_S, Echo
from reprise.providers.echo_script import load_script, parse_script
from support.clock import ManualClock

REQUEST = CompletionRequest(ModelRef("echo", "echo"), (user_message("one\n\ntwo"),))


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(main())


class Taker:
    """Takes a stream in beside the test, which moves the clock."""

    def __init__(self, echo: Echo, request: CompletionRequest = REQUEST) -> None:
        self.deltas: list[Delta] = []
        self.failure: Failure | None = None
        self.task = asyncio.create_task(self._take(echo, request))

    async def _take(self, echo: Echo, request: CompletionRequest) -> None:
        try:
            async with aclosing(echo.stream(request)) as stream:
                async for delta in stream:
                    self.deltas.append(delta)
        except CompletionError as error:
            self.failure = error.failure

    @property
    def text(self) -> str:
        partial = Partial()
        for delta in self.deltas:
            partial.append(delta)
        return partial.text


def play(*attempts: list[Any], seconds: float = 100.0) -> list[Taker]:
    """Every attempt of a script, each with `seconds` of the clock, and one request more."""
    takers: list[Taker] = []

    async def main() -> None:
        clock = ManualClock()
        echo = Echo(clock, parse_script(json.dumps(attempts)))
        for _ in range(len(attempts) + 1):
            takers.append(Taker(echo))
            await clock.advance(seconds)
            takers[-1].task.cancel()
            await asyncio.gather(takers[-1].task, return_exceptions=True)
        await echo.aclose()

    run(main)
    return takers


def test_without_a_script_it_repeats_the_prompt() -> None:
    """Issue 2 item 4: it answers offline, by itself, in small pieces, with counts and a finish."""

    async def main() -> None:
        clock = ManualClock()
        taker = Taker(Echo(clock))
        await clock.advance(PIECE_S)
        assert len(taker.deltas) == 1
        await clock.advance(10)
        assert taker.task.done()
        assert "> one\n>\n> two" in taker.text
        assert "echo" in taker.text
        assert len([delta for delta in taker.deltas if isinstance(delta, TextDelta)]) > 10
        assert isinstance(taker.deltas[-2], UsageDelta)
        assert taker.deltas[-1] == FinishDelta("stop")

    run(main)


def test_without_streaming_it_says_all_at_once() -> None:
    """L4."""

    async def main() -> None:
        clock = ManualClock()
        request = CompletionRequest(REQUEST.model, (), Parameters(stream=False))
        taker = Taker(Echo(clock), request)
        await clock.advance(1)
        assert [type(delta) for delta in taker.deltas] == [TextDelta, UsageDelta, FinishDelta]

    run(main)


def test_every_step_of_a_script() -> None:
    """Design section 9: deltas, waits and faults on cue."""
    first, after = play(
        [
            "Hello",
            {"thinking": "hm"},
            {"text": " you"},
            {"tool_call": {"id": "c1", "name": "clock", "arguments": {"tz": "UTC"}}},
            {"tool_call": {"name": "dice"}},
            {"usage": {"input": 5, "output": 2}},
            {"finish": "length"},
        ]
    )
    assert first.deltas == [
        TextDelta("Hello"),
        ThinkingDelta("hm"),
        TextDelta(" you"),
        ToolCallDelta(3, "c1", "clock", '{"tz": "UTC"}'),
        ToolCallDelta(4, "echo_4", "dice", ""),
        UsageDelta(Usage(5, 2)),
        FinishDelta("length"),
    ]
    assert "You said" in after.text


def test_attempts_follow_each_other_across_requests() -> None:
    """Each request plays the next attempt; one without an end finishes with stop; then the default answer comes."""
    takers = play(["one"], [{"fail": {"kind": "server"}}], [{"close": True}], ["four", {"finish": "stop"}])
    assert takers[0].deltas == [TextDelta("one"), FinishDelta("stop")]
    assert takers[1].failure is not None
    assert takers[1].failure.kind is FailureKind.SERVER
    assert takers[2].failure is not None
    assert takers[2].failure.kind is FailureKind.PROTOCOL
    assert takers[3].deltas == [TextDelta("four"), FinishDelta("stop")]
    assert "You said" in takers[4].text


def test_a_failure_carries_what_the_script_says() -> None:
    """D1, D3: retryable by its kind, and by the wait it asks for."""
    fail = {
        "kind": "rate_limit",
        "message": "Slow down",
        "status": 429,
        "retry_after_s": 3,
        "request_id": "r1",
        "provider_detail": "d",
    }
    takers = play(
        ["Par", {"fail": fail}],
        [{"fail": {"kind": "rate_limit", "retry_after_s": 500}}],
        [{"fail": {"kind": "auth"}}],
        [{"fail": {"kind": "auth", "retryable": True}}],
    )
    assert takers[0].text == "Par"
    assert takers[0].failure == Failure(FailureKind.RATE_LIMIT, "Slow down", True, 3, 429, "r1", "d")
    assert [taker.failure and taker.failure.retryable for taker in takers[1:4]] == [False, False, True]


def test_waits_and_rates_go_by_the_clock() -> None:
    """Design section 4: no other time but the Clock's."""

    async def main() -> None:
        clock = ManualClock()
        script = [[{"wait": 2}, "a", {"repeat": {"text": "b", "times": 10, "per_s": 5}}, {"hang": True}]]
        taker = Taker(Echo(clock, parse_script(json.dumps(script))))
        await clock.advance(1.9)
        assert taker.text == ""
        await clock.advance(0.1)
        assert taker.text == "a"
        await clock.advance(1.0)
        assert taker.text == "abbbbb"
        await clock.advance(1000)
        assert taker.text == "a" + "b" * 10
        assert not taker.task.done()
        taker.task.cancel()
        await asyncio.gather(taker.task, return_exceptions=True)
        assert clock.sleepers == ()

    run(main)


def test_a_flood_needs_no_clock() -> None:
    """Long streams for benchmarks: as fast as they are taken, thinking too, and others run in between."""

    async def main() -> None:
        script = [[{"repeat": {"text": "word ", "times": 5000}}, {"repeat": {"thinking": "t", "times": 3}}]]
        taker = Taker(Echo(ManualClock(), parse_script(json.dumps(script))))
        turns = 0
        while not taker.task.done():
            turns += 1
            await asyncio.sleep(0)
        assert len(taker.deltas) == 5004
        assert turns > 50

    run(main)


def test_one_attempt_a_line(tmp_path: Path) -> None:
    """JSON lines; a line separator inside a string is part of it."""
    path = tmp_path / "script.jsonl"
    path.write_text('["a\u2028b"]\n\n[{"fail":{}}]\n', "utf-8")
    assert len(load_script(path)) == 2
    path.write_text('["a", {"finish": "stop"}]\n', "utf-8")
    assert len(load_script(path)) == 1
    path.write_text('\ufeff[\n ["a"],\n ["b"]\n]\n', "utf-8")
    assert len(load_script(path)) == 2
    path.write_text("[]", "utf-8")
    assert load_script(path) == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is no JSON"),
        ("[", "it is no JSON"),
        ("{}", "it must be a list of attempts"),
        ('["a"]\n{"b":1}', "attempt 2 must be a list of steps"),
        ('["a"]\nb', "attempt 2 is no JSON"),
        ('[["a", 5]]', "step 2 of attempt 1 must be a string or an object with one key"),
        ('[["a"], [{"say": "b"}]]', "step 1 of attempt 2 has the unknown key 'say'"),
        ('[[{"text": 5}]]', "step 1 of attempt 1 must hold a string"),
        ('[[{"wait": -1}]]', "step 1 of attempt 1 must hold a number from 0"),
        ('[[{"wait": true}]]', "must hold a number"),
        ('[[{"wait": NaN}]]', "must hold a number"),
        ('[[{"repeat": {"times": 3}}]]', "needs either text or thinking"),
        ('[[{"repeat": {"text": "a", "per_s": 0}}]]', "per_s in step 1 of attempt 1 must be over 0"),
        ('[[{"fail": {"kind": "sad"}}]]', "has the unknown kind 'sad'"),
        ('[[{"fail": {"knd": "server"}}]]', "has the unknown key 'knd'"),
        ('[[{"fail": "server"}]]', "must hold an object"),
        ('[[{"tool_call": {"id": "a"}}]]', "the name in step 1 of attempt 1 must hold a string"),
        ('[[{"hang": true}, "a"]]', "step 2 of attempt 1 comes after the attempt's end"),
        ("[" * 100_000, "it is no JSON"),
    ],
)
def test_a_bad_script_is_one_sentence_that_names_the_place(text: str, words: str, tmp_path: Path) -> None:
    """Issue 2 item 9: a usage error, not a traceback."""
    path = tmp_path / "script.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=r"^The echo script .*\.$") as caught:
        load_script(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_script_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    """The same for a missing file, a folder, and bytes that are no UTF-8."""
    (tmp_path / "latin").write_bytes(b"\xff\xff")
    for path in (tmp_path / "none", tmp_path, tmp_path / "latin"):
        with pytest.raises(ValueError, match=r"^The echo script .* cannot be read: .*\.$"):
            load_script(path)


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_a_script_or_one_sentence(text: str) -> None:
    """Never an exception of another kind."""
    try:
        parse_script(text)
    except ValueError as error:
        assert str(error)
