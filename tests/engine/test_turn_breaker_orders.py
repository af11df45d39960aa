"""What a provider that is down comes to in any order of failures, answers and commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reprise.domain.events import Outcome
from reprise.domain.ports import HoldResult
from reprise.domain.retry import RetryPolicy
from reprise.storage.store import Store
from support.aio import Aio
from support.clock import ManualClock
from support.crowd import DOWN, Crowd, Member
from support.engine_world import FAST, InlineWorker


class Watch:
    """What the requests of a crowd come to, as somebody outside counts it."""

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd
        self._seen = 0
        self._failures: list[str] = []
        self._trying: set[str] = set()

    @property
    def is_open(self) -> bool:
        return len(self._failures) >= 3 and len(set(self._failures)) > 1

    def look(self) -> None:
        """Take note of the requests that went out: of those by themselves at most one tries a provider that is down."""
        for _, name in self._crowd.sent[self._seen :]:
            if self.is_open and not self._crowd[name].is_asked_for:
                self._trying.add(name)
        self._seen = len(self._crowd.sent)
        self._trying = {name for name in self._trying if self._crowd[name].is_asking}
        assert len(self._trying) <= 1, "two retries by themselves try a provider that is down"

    def failed(self, name: str) -> None:
        self._failures.append(name)
        self._trying.discard(name)

    def forget(self) -> None:
        self._failures.clear()
        self._trying.clear()


CAN: dict[str, Callable[[Member], bool]] = {
    "send": lambda member: not member.is_busy,
    "retry": lambda member: not member.is_busy,
    "resume": lambda member: not member.is_busy,
    "fail": lambda member: member.is_asking,
    "answer": lambda member: member.is_asking,
    "stop": lambda member: member.is_busy,
    "now": lambda member: member.gate.pending is not None,
    "cancel": lambda member: member.gate.pending is not None,
}
WHAT = [*CAN, *["fail", "pass"] * 6]
STEPS = st.lists(st.tuples(st.sampled_from(WHAT), st.integers(0, 2), st.sampled_from([0.5, 5.0, 10.0])), min_size=15)


async def step(crowd: Crowd, watch: Watch, what: str, which: int, seconds: float) -> None:
    """Do one thing, in one of the sessions where it can be done."""
    names = [name for name, member in crowd.members.items() if what in CAN and CAN[what](member)]
    if what == "pass":
        await crowd.clock.advance(seconds)
    elif names:
        name = names[which % len(names)]
        if what == "fail":
            watch.failed(name)
        elif what == "answer":
            watch.forget()
        await do(crowd[name], what)
    watch.look()


async def do(member: Member, what: str) -> None:
    match what:
        case "send":
            await member.send()
        case "retry" | "resume":
            await member.retry(at_once=what == "retry")
        case "fail":
            await member.answer(DOWN)
            # Whoever asked for this request, the next one goes by itself.
            member.is_asked_for = False
        case "answer":
            await member.answer("ok")
        case "stop":
            await member.stop()
        case _:
            await member.decide(HoldResult.NOW if what == "now" else HoldResult.CANCELLED)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(before=STEPS, after=STEPS, is_back=st.booleans())
def test_no_interleaving_lets_two_try_at_once_or_anybody_wait_for_ever(
    aio: Aio, before: list[tuple[str, int, float]], after: list[tuple[str, int, float]], is_back: bool
) -> None:
    """N6: failures, answers, stops, Retry now, Cancel and a restart; in the end every turn ends by itself."""

    async def scene(folder: Path) -> None:
        clock, worker = ManualClock(), InlineWorker()
        clock.settle_with(worker.settled)
        store = await Store.open(folder, clock, worker)
        crowd = Crowd(store, clock, policy=RetryPolicy((5.0, 10.0), ceiling_s=10_000.0))
        watch = Watch(crowd)
        for steps in (before, after):
            for name in crowd.members:
                await crowd[name].send()
            for each in steps:
                await step(crowd, watch, *each)
            if steps is before:
                await crowd.restart()
                watch.forget()
        busy = [member for member in crowd.members.values() if member.is_busy]
        crowd.answers = "ok" if is_back else DOWN
        for member in busy:
            if member.is_asking:
                await member.answer(crowd.answers)
        await crowd.clock.advance(20.0 if is_back else 100.0)
        outcome = Outcome.COMPLETED if is_back else Outcome.FAILED
        assert [member.end.outcome for member in busy if member.end is not None] == [outcome] * len(busy)
        await crowd.close()
        assert await store.close()

    with TemporaryDirectory(dir=FAST) as folder:
        aio(scene(Path(folder)))
