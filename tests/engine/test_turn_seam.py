"""What a continuation repeats is not doubled, and what only looks like it is not lost."""

from __future__ import annotations

from collections.abc import Callable

from reprise.domain.deltas import FinishDelta, RecastDelta, TextDelta
from reprise.domain.failures import FailureKind
from reprise.domain.messages import TextPart, ThinkingPart
from support.continuations import PREFILLS, broken_off, resumed
from support.engine import (
    EngineStage,
    ScriptedProvider,
    fails,
    lost,
    says,
    shown,
)

Play = Callable[..., None]


def test_what_the_continuation_repeats_is_not_doubled(play: Play) -> None:
    """N8: in the message, in what is shown, and in what is saved while it streams."""

    async def scene(stage: EngineStage) -> None:
        await broken_off(stage, "Once upon a time there")
        provider = ScriptedProvider(says("upon a ", "time there", " was a fox."))
        await resumed(stage, provider)
        assert (await stage.stored())[-1].text == "Once upon a time there was a fox."
        assert shown(stage.events) == "Once upon a time there was a fox."

    play(scene)


def test_a_provider_that_says_it_all_again_is_joined_just_so(play: Play) -> None:
    """N8: a server may repeat the whole prefilled text before it goes on."""

    async def scene(stage: EngineStage) -> None:
        await broken_off(stage, "One. Two.")
        await resumed(stage, ScriptedProvider(says("One.", " Two. Three.")), route=PREFILLS)
        assert (await stage.stored())[-1].text == "One. Two. Three."

    play(scene)


def test_text_held_back_at_the_seam_is_there_at_the_end(play: Play) -> None:
    """N8: it only began like a repetition; before the finish word or without one."""

    async def scene(stage: EngineStage) -> None:
        await broken_off(stage, "Once upon a time there")
        await resumed(stage, ScriptedProvider(says("upon a ti")))
        assert (await stage.stored())[-1].text == "Once upon a time thereupon a ti"
        await stage.send(
            stage.turn(ScriptedProvider(fails(FailureKind.NETWORK, TextDelta("Once upon a time there")))), "again"
        )
        await resumed(stage, ScriptedProvider([TextDelta("upon a ti")]))
        assert (await stage.stored())[-1].text == "Once upon a time thereupon a ti"

    play(scene)


def test_a_stop_at_the_seam_loses_no_word(play: Play) -> None:
    """D5: what is held back stands in the reply already."""

    async def scene(stage: EngineStage) -> None:
        await broken_off(stage, "Once upon a time there")
        provider = ScriptedProvider([TextDelta("upon a time"), FinishDelta("stop"), *lost()])
        await resumed(stage, ScriptedProvider(fails(FailureKind.NETWORK, TextDelta("upon a time"))))
        (*_, attempt) = await stage.attempts()
        assert attempt.parts == (TextPart("Once upon a time there"),)
        await resumed(stage, provider)
        (*_, attempt) = await stage.attempts()
        assert attempt.parts == (TextPart("Once upon a time thereupon a time"),)

    play(scene)


def test_reasoning_whose_end_came_late_takes_nothing_of_what_was_said(play: Play) -> None:
    """F56: the text so far stays text, in the reply and in what is shown; the seam is behind the reasoning."""

    async def scene(stage: EngineStage) -> None:
        await broken_off(stage, "Once upon a time there")
        provider = ScriptedProvider([TextDelta("upon a time there, hm"), RecastDelta(), *says("upon a time there was")])
        await resumed(stage, provider)
        assert (await stage.stored())[-1].parts == (ThinkingPart(", hm"), TextPart("Once upon a time there was"))
        assert shown(stage.events) == "Once upon a time there was"

    play(scene)
