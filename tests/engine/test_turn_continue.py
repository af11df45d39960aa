"""Going on from what an ended attempt said: one reply in the end, and nothing lost on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from reprise.domain.deltas import TextDelta, ThinkingDelta
from reprise.domain.events import (
    AttemptStarted,
    DeltaArrived,
    Outcome,
    TurnFinished,
)
from reprise.domain.failures import FailureKind
from reprise.domain.messages import Message, TextPart, ThinkingPart
from reprise.domain.models import Route
from reprise.domain.sessions import Attempt, AttemptState, ModelChange
from reprise.engine.context import GO_ON
from support.continuations import PREFILLS, broken_off, resumed
from support.engine import (
    HANG,
    MODEL,
    OTHER,
    SESSION,
    EngineStage,
    ScriptedProvider,
    answerer,
    fails,
    lost,
    says,
    shown,
    texts,
)

Play = Callable[..., None]


def test_a_reply_that_goes_on_from_a_partial_begins_with_it(play: Play) -> None:
    """D5, N8: the request holds what was said and asks for the rest; one reply stands there, and says whence."""

    async def scene(stage: EngineStage) -> None:
        attempt = await broken_off(stage, "Once ", "upon")
        provider = ScriptedProvider(says(" a ", "time"))
        assert await resumed(stage, provider) == TurnFinished(Outcome.COMPLETED)
        assert texts(provider.requests[0].messages) == [
            ("user", "hello"),
            ("assistant", "Once upon"),
            ("user", GO_ON),
        ]
        stored = await stage.stored()
        assert texts(stored) == [("user", "hello"), ("assistant", "Once upon a time")]
        assert stored[-1].reply is not None
        assert stored[-1].reply.goes_on_from == attempt
        assert len(await stage.attempts()) == 1

    play(scene)


def test_the_deltas_begin_with_the_text_so_far_right_behind_the_attempts_start(play: Play) -> None:
    """D5, L4: whoever shows deltas shows the whole."""

    async def scene(stage: EngineStage) -> None:
        reply = fails(FailureKind.NETWORK, ThinkingDelta("hm"), TextDelta("Once "), TextDelta("upon"))
        await stage.send(stage.turn(ScriptedProvider(reply)))
        stage.events.clear()
        await resumed(stage, ScriptedProvider(says(" a time")))
        kinds = [type(event) for event in stage.events]
        started = kinds.index(AttemptStarted)
        assert stage.events[started + 1 : started + 4] == [
            DeltaArrived(ThinkingDelta("hm")),
            DeltaArrived(TextDelta("Once upon")),
            DeltaArrived(TextDelta(" a time")),
        ]
        assert shown(stage.events) == "Once upon a time"
        assert (await stage.stored())[-1].parts == (ThinkingPart("hm"), TextPart("Once upon a time"))

    play(scene)


def test_a_provider_that_prefills_goes_on_in_the_middle_of_the_reply(play: Play) -> None:
    """N8: what was said ends the request, without the white space at its end, which the model says again."""

    async def scene(stage: EngineStage) -> None:
        await broken_off(stage, "Once upon ")
        provider = ScriptedProvider(says(" a time"))
        await resumed(stage, provider, route=PREFILLS)
        assert texts(provider.requests[0].messages) == [("user", "hello"), ("assistant", "Once upon")]
        assert (await stage.stored())[-1].text == "Once upon a time"

    play(scene)


def test_a_retry_goes_on_from_the_newest_partial_of_the_round(play: Play) -> None:
    """D5: nothing that was said is lost on the way; every attempt names where the text began."""

    async def scene(stage: EngineStage) -> None:
        first = await broken_off(stage, "Once ")
        provider = ScriptedProvider(fails(FailureKind.NETWORK, TextDelta("upon ")), lost(), says("a time"))
        assert (await resumed(stage, provider, 5.0, 10.0)).outcome is Outcome.COMPLETED
        said = [request.messages[1].text for request in provider.requests]
        assert said == ["Once ", "Once upon ", "Once upon "]
        attempts = await stage.attempts()
        assert [attempt.parts for attempt in attempts] == [
            (TextPart("Once "),),
            (TextPart("Once upon "),),
            (TextPart("Once upon "),),
        ]
        assert [attempt.goes_on_from for attempt in attempts] == [None, first, first]
        stored = await stage.stored()
        assert stored[-1].text == "Once upon a time"
        assert stored[-1].reply is not None
        assert stored[-1].reply.goes_on_from == first

    play(scene)


def test_a_retry_that_begins_anew_does_not_go_on(play: Play) -> None:
    """D5: the context of an ordinary retry holds the prompt alone."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(fails(FailureKind.NETWORK, TextDelta("Once ")), says("Anew."))
        await stage.send(stage.turn(provider, 5.0))
        assert texts(provider.requests[1].messages) == [("user", "hello")]
        stored = await stage.stored()
        assert stored[-1].text == "Anew."
        assert stored[-1].reply is not None
        assert stored[-1].reply.goes_on_from is None

    play(scene)


def test_a_stopped_continuation_keeps_all_that_was_said(play: Play) -> None:
    """C1, D5: the text so far too, even if nothing came behind it."""

    async def scene(stage: EngineStage) -> None:
        first = await broken_off(stage, "Once ")
        for piece, whole in ((TextDelta("upon"), "Once upon"), (TextDelta(""), "Once upon")):
            provider = ScriptedProvider([piece, HANG])
            (*_, attempt) = await stage.attempt_entries()
            task = asyncio.create_task(stage.follow(stage.turn(provider).resume(SESSION, goes_on_from=attempt)))
            await provider.hanging.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            (*_, stopped) = await stage.attempts()
            assert (stopped.state, stopped.parts) == (AttemptState.STOPPED, (TextPart(whole),))
            assert stopped.goes_on_from == first
        assert texts(await stage.stored()) == [("user", "hello")]

    play(scene)


def test_an_open_attempt_that_goes_on_is_stored_with_what_it_begins_with(play: Play) -> None:
    """D5, N11: after a crash its parts and its chunks are all of the reply."""

    async def scene(stage: EngineStage) -> None:
        await broken_off(stage, "Once ")
        seen: list[Attempt] = []

        async def look() -> None:
            seen.extend(await stage.attempts())

        await resumed(stage, ScriptedProvider([look, *says("upon")]))
        assert (seen[-1].state, seen[-1].parts) == (AttemptState.OPEN, (TextPart("Once "),))

    play(scene)


def test_a_partial_of_reasoning_alone_stays_and_is_not_sent(play: Play) -> None:
    """C13, N8: there is no text to go on from; a new thought is a paragraph of its own."""

    async def scene(stage: EngineStage) -> None:
        await stage.send(stage.turn(ScriptedProvider(fails(FailureKind.NETWORK, ThinkingDelta("First I")))))
        provider = ScriptedProvider([ThinkingDelta("Well"), ThinkingDelta("."), *says("Yes.")])
        await resumed(stage, provider)
        assert texts(provider.requests[0].messages) == [("user", "hello")]
        assert (await stage.stored())[-1].parts == (ThinkingPart("First I\n\nWell."), TextPart("Yes."))

    play(scene)


def test_an_attempt_that_said_nothing_is_an_ordinary_retry(play: Play) -> None:
    """B1: nothing to go on from; calls nobody answered are nothing either (D12)."""

    async def scene(stage: EngineStage) -> None:
        await stage.send(stage.turn(ScriptedProvider(lost())))
        provider = ScriptedProvider(says("ok"))
        await resumed(stage, provider)
        assert texts(provider.requests[0].messages) == [("user", "hello")]
        assert (await stage.stored())[-1].text == "ok"

    play(scene)


def test_a_continuation_with_nothing_in_it_is_a_failure(play: Play) -> None:
    """L12, F54: what was said stays; a prefilled reply may be complete as it is."""

    async def scene(stage: EngineStage) -> None:
        await broken_off(stage, "Once upon a time.")
        end = await resumed(stage, ScriptedProvider(says(" ")))
        assert end.failure is not None
        assert end.failure.kind is FailureKind.PROTOCOL
        assert (await resumed(stage, ScriptedProvider([]), route=PREFILLS)).outcome is Outcome.FAILED
        assert (await resumed(stage, ScriptedProvider(says()), route=PREFILLS)).outcome is Outcome.COMPLETED
        assert (await stage.stored())[-1].text == "Once upon a time."

    play(scene)


def test_a_scheduled_retry_of_an_earlier_life_goes_on_where_it_was(play: Play) -> None:
    """D8, D5: with what is left of its budget and all that was said."""

    async def scene(stage: EngineStage) -> None:
        await broken_off(stage, "Once ")
        (*_, attempt) = await stage.attempt_entries()
        provider = ScriptedProvider(fails(FailureKind.NETWORK, TextDelta("upon ")), says("a time"))
        turn = stage.turn(provider, 5.0, 10.0)
        await stage.follow(turn.resume(SESSION, retry=1, goes_on_from=attempt))
        assert stage.gate.waits == [10.0]
        assert (await stage.stored())[-1].text == "Once upon a time"

    play(scene)


def test_another_model_may_go_on(play: Play) -> None:
    """N4, N8: the reply is the one's who completed it; what stands between prompt and reply stays on the branch."""

    async def scene(stage: EngineStage) -> None:
        await broken_off(stage, "Once ")
        await stage.store.log.append(SESSION, ModelChange(OTHER))
        provider = ScriptedProvider(says("upon", finish="length"), says(" a time"))
        await resumed(stage, provider, model=OTHER)
        await stage.go_on(stage.turn(provider, model=OTHER))
        kinds = [type(entry.data) for entry in (await stage.history()).branch]
        assert kinds == [Message, ModelChange, Message]
        (*_, whole) = await stage.stored()
        assert whole.text == "Once upon a time"

    play(scene)


def test_a_fallback_goes_on_from_what_was_said(play: Play) -> None:
    """D13, D5: in its own way."""

    async def scene(stage: EngineStage) -> None:
        await broken_off(stage, "Once ")
        spare = ScriptedProvider(says(" a time"))
        provider = ScriptedProvider(fails(FailureKind.NETWORK, TextDelta("upon ")), lost())
        await resumed(
            stage,
            provider,
            5.0,
            fallback=lambda: answerer(spare, OTHER, route=Route("spare", prefills=True)),
        )
        assert texts(spare.requests[0].messages) == [("user", "hello"), ("assistant", "Once upon")]
        (*_, whole) = await stage.stored()
        assert whole.text == "Once upon a time"
        assert whole.reply is not None
        assert (whole.reply.model, whole.reply.fallback_from) == (OTHER, MODEL)

    play(scene)


def test_the_usage_of_a_continuation_is_its_own(play: Play) -> None:
    """L11: what was said before is part of the request, not of what was written now."""

    async def scene(stage: EngineStage) -> None:
        await broken_off(stage, "x" * 400)
        stage.events.clear()
        await resumed(stage, ScriptedProvider(says("abcd")))
        (usage,) = [event.usage for event in stage.events if hasattr(event, "usage")]
        assert usage.output == 1
        assert usage.input is not None
        assert usage.input > 100

    play(scene)
