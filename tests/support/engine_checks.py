"""What must hold in a session of the driven world once everything has settled."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from reprise.domain.events import Outcome
from reprise.domain.messages import Message, Role, ToolResultPart
from reprise.domain.models import CompletionRequest
from reprise.domain.sessions import (
    Attempt,
    AttemptState,
    Entry,
    answered_entry,
    prompt_entry,
)
from reprise.domain.turns import Streaming
from support.engine_world import TOKEN, Chat, DrivenProvider


def tokens(*said: Message) -> list[str]:
    return [token for message in said for token in TOKEN.findall(message.text + message.thinking)]


async def check(chat: Chat) -> None:
    """What must hold in a session once everything has settled."""
    check_requests(chat.provider)
    entries = await chat.entries()
    if not entries:
        assert chat.sent.total() == 0 or chat.is_busy
        return
    history = await chat.history()
    check_log(chat, entries)
    check_pending(chat, history.branch, is_pending=history.session.pending)
    if isinstance(chat.state, Streaming) and chat.state.sent and chat.beside is None:
        assert history.session.retry_at is None, "an older countdown outlived a new attempt"
    if chat.ended is not None and chat.beside is not None and chat.ended.outcome is not Outcome.COMPLETED:
        # A stop that came while the reply was being stored does not undo it (C2).
        is_there = chat.ended.outcome is Outcome.STOPPED and history.branch[-1].id > chat.beside.newest
        assert is_there or history.session.leaf == chat.beside.leaf, "the old reply does not stand any more (D20)"
        assert is_there or history.session.pending == chat.beside.is_pending


def check_log(chat: Chat, entries: dict[str, Entry]) -> None:
    stored = [entry.data for entry in entries.values() if isinstance(entry.data, Message)]
    prompts = Counter(message.text for message in stored if message.role is Role.USER)
    assert prompts == chat.sent, "one user entry per send"
    attempts = [entry.data for entry in entries.values() if isinstance(entry.data, Attempt)]
    runs = [attempt for attempt in attempts if attempt.state is AttemptState.OPEN]
    assert len(runs) == (1 if chat.is_streaming else 0)
    said = [*stored, *(Message(Role.ASSISTANT, attempt.parts) for attempt in attempts)]
    for message in said:
        assert (
            message.parts
            or message.role is not Role.ASSISTANT
            or message in [Message(Role.ASSISTANT, attempt.parts) for attempt in attempts]
        )
        assert max(Counter(tokens(message)).values(), default=0) <= 1, "said twice in one reply"
    if not chat.is_streaming:
        assert chat.said <= set(tokens(*said)), "something the model said is nowhere"
    for message in stored:
        assert message.parts, "an empty message"


def check_pending(chat: Chat, branch: tuple[Entry, ...], *, is_pending: bool) -> None:
    assert is_pending == (answered_entry(branch) is not None)
    if chat.is_busy or chat.ended is None:
        return
    if chat.ended.outcome is Outcome.COMPLETED:
        assert not is_pending
    elif chat.ended.pending is not None:
        prompt = prompt_entry(branch)
        assert is_pending
        assert prompt is not None
        assert isinstance(prompt.data, Message)
        assert chat.ended.pending.text == prompt.data.text
    elif chat.ended.outcome is Outcome.FAILED:
        assert not is_pending


def check_requests(provider: DrivenProvider) -> None:
    """Each request once: nothing empty, no prompt twice, no half of a call, nothing an attempt said unasked."""
    requests, provider.requests = provider.requests, []
    for request, may_hold in requests:
        check_request(request)
        assert set(tokens(*request.messages)) <= may_hold, "a failed or stopped attempt is sent"


def check_request(request: CompletionRequest) -> None:
    sent = request.messages
    assert all(message.parts for message in sent)
    assert all(message.text.strip() or message.tool_calls or message.role is Role.TOOL for message in sent)
    assert max(Counter(tokens(*sent)).values(), default=0) <= 1, "something is sent twice"
    called = [call.id for message in sent for call in message.tool_calls]
    results = [part.call_id for message in sent for part in message.parts if isinstance(part, ToolResultPart)]
    assert called == results
    for before, after in pairwise(sent):
        assert before.role is not after.role or before.role is Role.TOOL
