"""What a round cost and how fast it was."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reprise.domain.deltas import TextDelta, UsageDelta
from reprise.domain.events import UsageReported
from reprise.domain.messages import Message, Role, TextPart, ThinkingPart, ToolCallPart, ToolResultPart, Usage
from reprise.domain.models import Parameters
from reprise.engine.usage import estimate, report
from support.engine import MODEL, EngineStage, ScriptedProvider, says

Play = Callable[..., None]


@pytest.mark.parametrize(
    ("counted", "reported"),
    [
        (Usage(100, 20), UsageReported(Usage(100, 20), "api")),
        (Usage(None, 20), UsageReported(Usage(2, 20), "mixed")),
        (Usage(100, None), UsageReported(Usage(100, 1), "mixed")),
        (None, UsageReported(Usage(2, 1), "estimate")),
        (Usage(), UsageReported(Usage(2, 1), "estimate")),
    ],
)
def test_usage_is_the_providers_or_an_estimate(counted: Usage | None, reported: UsageReported) -> None:
    """L11: provider figures, else about four characters a token rounded up; the source says which."""
    request = [Message(Role.USER, (TextPart("hello"),))]
    assert report(counted, request, Message(Role.ASSISTANT, (TextPart("ok"),))) == reported


def test_an_estimate_counts_everything_that_is_sent() -> None:
    """L11: text, reasoning, calls and results alike."""
    message = Message(
        Role.ASSISTANT,
        (TextPart("ab"), ThinkingPart("cd"), ToolCallPart("1", "ef", "{}"), ToolResultPart("1", "ef", "g")),
    )
    assert estimate([message]) == 3
    assert estimate([]) == 0


def test_every_round_reports_its_usage(play: Play) -> None:
    """L11: the last cumulative figure counts, and the reply keeps what the provider said."""

    async def scene(stage: EngineStage) -> None:
        reply = [TextDelta("ok"), UsageDelta(Usage(7, 1)), UsageDelta(Usage(7, 2))]
        events = await stage.send(stage.turn(ScriptedProvider(reply)))
        assert [event for event in events if isinstance(event, UsageReported)] == [UsageReported(Usage(7, 2), "api")]
        stored = await stage.stored()
        assert stored[-1].reply is not None
        assert stored[-1].reply.usage == Usage(7, 2)

    play(scene)


def test_a_reply_knows_its_model_and_its_times(play: Play) -> None:
    """Seconds from the request by the Clock: the first delta and the last."""

    async def scene(stage: EngineStage) -> None:
        async def after_a_while() -> None:
            await stage.clock.advance(0.5)

        reply = [after_a_while, TextDelta("o"), after_a_while, *says("k"), after_a_while]
        await stage.send(stage.turn(ScriptedProvider(reply)))
        info = (await stage.stored())[-1].reply
        assert info is not None
        assert (info.model, info.finish_reason, info.first_delta_s, info.elapsed_s) == (MODEL, "stop", 0.5, 1.0)

    play(scene)


def test_the_request_carries_model_parameters_and_system_prompt(play: Play) -> None:
    """L24: the system prompt is sent and never stored."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(says("ok"))
        parameters = Parameters(system_prompt="Be brief.", temperature=0.2)
        await stage.send(stage.turn(provider, parameters=parameters))
        (request,) = provider.requests
        assert (request.model, request.parameters) == (MODEL, parameters)
        assert [message.role for message in request.messages] == [Role.SYSTEM, Role.USER]
        assert [message.role for message in await stage.stored()] == [Role.USER, Role.ASSISTANT]

    play(scene)
