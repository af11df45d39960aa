"""The built-in model's state as the window and a terminal tell it."""

from __future__ import annotations

from collections.abc import Callable

from reprise.providers.builtin.model_file import megabytes
from reprise.providers.builtin.supervisor import Failed, Fetching, Idle, Loading, Ready, State, Unavailable

_STEP = 10_000_000


def describe(state: State) -> tuple[str, int, int, str]:
    """What `MainWindow.set_builtin_state` takes: kind, bytes done, bytes in all, a sentence or ""."""
    match state:
        case Fetching(done, total):
            return "fetching", done, total, ""
        case Loading() | Idle():
            return "starting", 0, 0, ""
        case Ready():
            return "ready", 0, 0, ""
        case Failed(sentence, command):
            return "unavailable", 0, 0, f"{sentence} Run: {command}" if command else sentence
        case Unavailable(reason):
            return "unavailable", 0, 0, reason


class ProgressLines:
    """Says on a terminal what one waits for: a line every 10 MB, not every 250 ms.

    A failure is for those to say who waited.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said = ""

    def show(self, state: State) -> None:
        """One more state."""
        match state:
            case Fetching(done, total):
                line = f"Fetching the built-in model: {megabytes(done // _STEP * _STEP)} of {megabytes(total)} MB."
            case Loading():
                line = "Loading the built-in model."
            case Ready() | Idle() | Failed() | Unavailable():
                return
        if line != self._said:
            self._said = line
            self._say(line)
