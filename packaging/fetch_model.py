"""Run by the program's own Python: have the built-in model's file, or say why not; with `--load`, load it for once too.

Progress goes to standard error; standard output gets one JSON object: `reason` is null when the model can run here,
else a sentence, and `command` what a person can run to help, or null.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys

from reprise.app.clock import BootClock
from reprise.app.paths import models_dir
from reprise.domain.failures import CompletionError
from reprise.providers.builtin.fetch import ModelFetchError, fetch
from reprise.providers.builtin.model_file import find, megabytes
from reprise.providers.builtin.requirements import why_unavailable
from reprise.providers.builtin.supervisor import BuiltinModel

STEPS = 4


class Progress:
    """One line that counts on a terminal, a few lines elsewhere."""

    def __init__(self) -> None:
        self._shown = -1

    def __call__(self, done: int, total: int) -> None:
        """Show it, if it is worth a line."""
        terminal = sys.stderr.isatty()
        step = megabytes(done) if terminal else done * STEPS // total
        if step == self._shown:
            return
        self._shown = step
        before, after = ("\r", "\n" if done == total else "") if terminal else ("", "\n")
        print(
            f"{before}Fetching the built-in model: {megabytes(done)} of {megabytes(total)} MB",
            end=after,
            file=sys.stderr,
            flush=True,
        )


async def load() -> str | None:
    """Let the model get ready and end it: why it does not run, None when it does."""
    logging.getLogger().addHandler(logging.NullHandler())  # the outcome is said once, by who asked
    model = BuiltinModel(models_dir(), BootClock(), lambda _state: None)
    running = asyncio.create_task(model.run())
    try:
        await model.ready()
    except CompletionError as error:
        return error.failure.message
    finally:
        running.cancel()
        await asyncio.wait({running})
    return None


def main() -> None:
    """Find or fetch, try it if asked, and print the outcome."""
    command = None
    reason = why_unavailable()
    if reason is None and find(models_dir()) is None:
        try:
            asyncio.run(fetch(models_dir(), Progress()))
        except ModelFetchError as error:
            reason, command = str(error), error.command
    if reason is None and "--load" in sys.argv[1:]:
        reason = asyncio.run(load())
    print(json.dumps({"reason": reason, "command": command}))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
