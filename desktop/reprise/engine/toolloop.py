"""The calls of one round: run together, each result on disk the moment it lands."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping

from reprise.domain.messages import ToolCallPart, ToolResultPart
from reprise.domain.models import ToolSpec
from reprise.domain.ports import Log, ToolRunner
from reprise.domain.sessions import Entry
from reprise.engine.place import Completed
from reprise.engine.progress import Progress
from reprise.engine.settle import cancels, settle

logger = logging.getLogger("reprise.engine")

_ERROR = "error:"


class Batch:
    """The calls of one reply.

    A call that cannot run or that fails has a result too, whose text starts with ``error:`` (behaviour L9).
    """

    def __init__(self, log: Log, tools: ToolRunner, turn: Progress, done: Completed) -> None:
        self._log = log
        self._tools = tools
        self._turn = turn
        self._calls = done.calls
        self._offered: Mapping[str, ToolSpec] = {spec.name: spec for spec in done.specs}
        self._leaf = done.entry
        self._recording = asyncio.Lock()
        self._tasks: list[asyncio.Task[Entry | None]] = []
        self._broken_by: Exception | None = None

    async def run(self) -> tuple[Entry, ...]:
        """Run all calls together; their results in call order, once the last one is on disk (behaviour L8, L10).

        Cancelling cancels what still runs; a result that landed is recorded even then (C8). Raises LogError.
        """
        async with asyncio.TaskGroup() as group:
            self._tasks = [group.create_task(self._answer(call), name=f"tool {call.name}") for call in self._calls]
        if self._broken_by is not None:
            raise self._broken_by
        return tuple(entry for task in self._tasks if (entry := task.result()) is not None)

    async def _answer(self, call: ToolCallPart) -> Entry | None:
        try:
            fault = _fault(call, self._offered)
            result = _refused(call, fault) if fault is not None else await self._run(call)
            entry, cancel = await settle(self._record(result))
        except Exception as error:  # noqa: BLE001 - `run` raises it
            # Not by way of the group: before Python 3.13 a failing child leaves its parent counted as cancelled.
            self._broken_by = self._broken_by or error
            for task in self._tasks:
                if task is not asyncio.current_task():
                    task.cancel()
            return None
        if cancel is not None:
            raise cancel
        return entry

    async def _run(self, call: ToolCallPart) -> ToolResultPart:
        cancelled_before = cancels()
        try:
            result = await self._tools.run(call)
        except asyncio.CancelledError:
            if cancels() > cancelled_before:
                raise
            # The tool ended itself; the turn goes on (behaviour C6).
            return _refused(call, "the call was cancelled")
        except Exception as error:
            logger.exception("the tool %s raised", call.name)
            return _refused(call, f"{type(error).__name__}: {error}")
        if result.is_error and not result.text.startswith(_ERROR):
            return _refused(call, result.text)
        return result

    async def _record(self, result: ToolResultPart) -> Entry:
        async with self._recording:
            self._leaf = await self._log.record_result(self._turn.session, self._leaf.id, result)
            self._turn.landed(self._leaf)
            return self._leaf


def _refused(call: ToolCallPart, why: str) -> ToolResultPart:
    return ToolResultPart(call.id, call.name, f"{_ERROR} {why}", is_error=True)


def _fault(call: ToolCallPart, offered: Mapping[str, ToolSpec]) -> str | None:
    """Why `call` cannot run, in words for the model; None when it can."""
    spec = offered.get(call.name)
    if spec is None:
        return f"there is no tool called {call.name}"
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError) as error:
        return f"the arguments are not valid JSON ({error})"
    if not isinstance(arguments, dict):
        return "the arguments are not a JSON object"
    if missing := [name for name in spec.schema.get("required", ()) if name not in arguments]:
        return f"missing arguments: {', '.join(missing)}"
    return None
