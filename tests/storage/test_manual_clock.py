"""The clock every test of time stands on."""

from __future__ import annotations

import asyncio

from support.clock import ManualClock


def test_sleepers_wake_at_their_own_time_in_due_order() -> None:
    """Design section 4: `advance` wakes sleepers in due order and drains the loop after each."""

    async def main() -> None:
        clock, woken = ManualClock(), []

        async def sleeper(name: str, *delays: float) -> None:
            for delay in delays:
                await clock.sleep_until(clock.now() + delay)
                woken.append((name, clock.now() - 1000.0))

        async with asyncio.TaskGroup() as group:
            group.create_task(sleeper("late", 2.5))
            group.create_task(sleeper("twice", 1.0, 1.0))
            await clock.advance(2.0)
            assert woken == [("twice", 1.0), ("twice", 2.0)]
            await clock.advance(1.0)
        assert woken[-1] == ("late", 2.5)

    asyncio.run(main())


def test_a_jump_wakes_what_is_due_at_the_time_after_it() -> None:
    """N5: the clock moved on while the computer slept."""

    async def main() -> None:
        clock = ManualClock()
        start = clock.utc()
        async with asyncio.TaskGroup() as group:
            group.create_task(clock.sleep_until(clock.now() + 5.0))
            later = group.create_task(clock.sleep_until(clock.now() + 500.0))
            await clock.drain()
            await clock.jump(100.0)
            assert clock.sleepers == (1500.0,)
            later.cancel()
        assert (clock.utc() - start).total_seconds() == 100.0

    asyncio.run(main())


def test_draining_waits_for_work_outside_the_loop() -> None:
    """A settler that had work is asked again until it had none."""

    async def main() -> None:
        clock, left = ManualClock(), [3]

        async def settle() -> bool:
            left[0] -= 1
            return left[0] > 0

        clock.settle_with(settle)
        await clock.drain()
        assert left == [0]

    asyncio.run(main())
