"""The composition root: it alone knows every layer, and only `__main__` imports it.

Lives here: the command line, paths, logging, one process per folder, start and end. May not know: httpx, the database
library or qasync, which have their one home each.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code. Both commands start here."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    if arguments[:1] == ["--model-child"]:
        from reprise.providers.builtin.child import main as child

        return child(arguments[1:])
    gc.disable()  # until the first paint: nearly all that is made up to it stays
    try:
        return _window(arguments)
    finally:
        gc.enable()


def _window(arguments: Sequence[str]) -> int:
    from reprise.app.stop_request import StopRequest

    stop = StopRequest()  # before the imports that take their time
    from reprise.app.options import UsageError, parse, version_line
    from reprise.app.terminal import out, tell

    try:
        options = parse(arguments)
    except UsageError as error:
        tell(str(error))
        return 2
    if options.version:
        try:
            out(is_json=False).write(f"{version_line()}\n")
        except OSError as error:
            tell(f"The version could not be written: {error.strerror}.")
            return 1
        return 0

    from reprise.app.start import start

    return start(options, stop)
