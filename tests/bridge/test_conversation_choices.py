"""A conversation's choices: who answers, and how far a turn may go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from reprise.bridge.conversation import Conversation
from reprise.domain.deltas import TextDelta
from reprise.domain.events import Answer, Outcome
from reprise.domain.messages import Message
from reprise.domain.models import ModelInfo
from reprise.domain.sessions import ModelChange
from reprise.domain.turns import is_busy
from support.bridge import MODEL, OTHER, BridgeStage, FixedCatalog, end_of, recorder
from support.engine import HANG, FakeTools, FaultyLog, calls, fails, pong, says, texts
from support.qt import Recorder

Play = Callable[..., None]


def test_a_model_chosen_in_a_stored_session_is_recorded_once(play: Play) -> None:
    """P10, S5: a switch is an entry of the log; choosing the same model again is none."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        chat = stage.chat()
        chosen = Recorder(model=chat.model_changed)
        await stage.send(chat)
        chat.choose_model(OTHER)
        chat.choose_model(OTHER)
        await stage.clock.drain()
        assert chosen.seen == [("model", OTHER)]
        assert chat.history.branch[-1].data == ModelChange(OTHER)
        await stage.assert_memory_equals_disk(chat)
        again = await stage.reopened(chat.session_id)
        assert again.model == OTHER
        await stage.send(again, "more")
        assert stage.provider.requests[-1].model == OTHER
        assert [entry.data for entry in again.history.branch if isinstance(entry.data, ModelChange)] == [
            ModelChange(OTHER)
        ]

    play(scene, says("hi"), says("more"))


@pytest.mark.parametrize(
    ("reasons", "sentence"),
    [
        ([], "No model is chosen."),
        ([None], "No model is chosen."),
        (["This processor has no AVX.", None], "No model is chosen. This processor has no AVX."),
        (["This processor has no AVX.", "Its address is missing."], "No model can answer: This processor has no AVX."),
    ],
)
def test_a_text_that_nobody_can_answer_is_refused_with_the_reason(
    play: Play, reasons: list[str | None], sentence: str
) -> None:
    """What the picker says of a model is said to the person who sends, too."""

    class Unusable(FixedCatalog):
        def models(self) -> tuple[ModelInfo, ...]:
            return tuple(ModelInfo(OTHER, "Large", unavailable=reason) for reason in reasons)

    async def scene(stage: BridgeStage) -> None:
        chat = Conversation(None, replace(stage.services, catalog=Unusable({})), stage.scope)
        heard = recorder(chat)
        assert not chat.send("hello")
        ((_, text, failure),) = heard.seen
        assert (text, failure.message, failure.retryable) == ("hello", sentence, False)

    play(scene)


def test_a_model_chosen_before_the_first_prompt_is_the_sessions_without_a_switch(play: Play) -> None:
    """A new chat has nothing to switch from."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        chat = stage.chat()
        chat.choose_model(OTHER)
        await stage.send(chat)
        assert stage.provider.requests[-1].model == OTHER
        assert all(isinstance(entry.data, Message) for entry in chat.history.branch)
        assert chat.history.session.model == OTHER
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("hi"))


def test_a_model_chosen_while_a_reply_streams_counts_from_the_next_prompt(play: Play) -> None:
    """The turn that runs goes on with the model it has; the switch is stored behind its reply."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        gate = asyncio.Event()
        stage.provider._replies += [[gate.wait, TextDelta("hi")], says("more")]
        chat = stage.chat()
        await stage.send(chat)
        chat.choose_model(OTHER)
        gate.set()
        await stage.clock.drain()
        assert chat.history.branch[-1].data == ModelChange(OTHER)
        await stage.send(chat, "next")
        assert [request.model for request in stage.provider.requests] == [MODEL, OTHER]
        await stage.assert_memory_equals_disk(chat)

    play(scene)


def test_a_switch_that_cannot_be_stored_is_said(play: Play) -> None:
    """S13: nothing is silent about the disk, and memory equals it."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        problems = Recorder(problem=chat.problem)
        await stage.send(chat)
        chat.choose_model(OTHER)
        await stage.clock.drain()
        assert problems.seen == [("problem", "The disk is full.")]
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("hi"), wrap=lambda log: FaultyLog(log, refuse={"append"}))


def test_the_round_limit_asks_and_the_answer_goes_on(play: Play) -> None:
    """D15, T1, F31: the question is a state of the turn, and Continue raises the limit once."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        assert chat.question_rounds == 1
        assert is_busy(chat.state)
        chat.answer(Answer.CONTINUE)
        chat.answer(Answer.STOP)
        await stage.clock.drain()
        assert chat.question_rounds is None
        assert end_of(heard).outcome is Outcome.COMPLETED
        assert [name for name in heard.names() if name in ("asked", "settled")] == ["asked", "settled"]
        await stage.assert_memory_equals_disk(chat)

    play(scene, calls("ping"), says("done"), tools=FakeTools(ping=pong))


def test_esc_at_the_question_answers_stop_and_keeps_the_results(play: Play) -> None:
    """D7, L19: the innermost waiting thing is the question; the turn is pending behind its tool results."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        chat.stop()
        await stage.clock.drain()
        assert end_of(heard).pending is not None
        assert chat.pending is not None
        assert chat.pending.after_tools
        assert [role for role, _ in texts(await stage.stored(chat))] == ["user", "assistant", "tool"]
        await stage.assert_memory_equals_disk(chat)

    play(scene, calls("ping"), tools=FakeTools(ping=pong))


@pytest.mark.parametrize("reply", [[HANG], fails()], ids=["in the next request", "in its wait"])
def test_stop_works_as_ever_once_a_question_was_answered(play: Play, reply: list[object]) -> None:
    """F32: the answer is no stop (F31), and the stop behind it is one."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        chat.answer(Answer.CONTINUE)
        await stage.clock.drain()
        assert "finished" not in heard.names()
        assert len(stage.provider.requests) == 2
        chat.stop()
        await stage.clock.drain()
        assert end_of(heard).outcome is Outcome.STOPPED
        assert chat.pending is not None
        assert (chat.pending.after_tools, chat.is_busy) == (True, False)
        await stage.clock.advance(600)
        assert len(stage.provider.requests) == 2
        await stage.assert_memory_equals_disk(chat)

    play(scene, calls("ping"), reply, tools=FakeTools(ping=pong))


def test_the_answer_always_holds_for_one_turn_and_its_retries_only(play: Play) -> None:
    """T2, F24: cleared before a turn and after it, kept across the retries of that turn."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat, "first")
        chat.answer(Answer.ALWAYS)
        await stage.clock.drain()
        assert chat.retry_manager.is_counting
        await stage.clock.advance(5)
        assert end_of(heard).outcome is Outcome.COMPLETED
        assert heard.names().count("asked") == 1
        await stage.send(chat, "second")
        assert heard.names().count("asked") == 2
        chat.answer(Answer.STOP)
        await stage.clock.drain()
        await stage.assert_memory_equals_disk(chat)

    play(
        scene,
        calls("ping"),
        calls("ping"),
        fails(),
        calls("ping"),
        says("done"),
        calls("ping"),
        tools=FakeTools(ping=pong),
    )
