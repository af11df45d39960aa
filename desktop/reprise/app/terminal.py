"""The standard streams: where a terminal's user, or a script, reads."""

from __future__ import annotations

import errno
import sys
from contextlib import suppress
from typing import TextIO


class Output:
    """A standard stream, written past its buffers: what it did not take is not tried again when the program ends.

    Nothing here is held when a write blocks, so a thread that waits for a reader can be left behind.
    """

    def __init__(self, stream: TextIO | None, *, errors: str, encoding: str | None = None) -> None:
        """`stream` None: it was closed before the program began. `encoding` None is the stream's own."""
        self._stream = stream
        self._errors = errors
        self._encoding = encoding

    def write(self, text: str) -> None:
        """Write all of `text`; waits for whoever reads. Raises OSError."""
        if self._stream is None:
            raise OSError(errno.EBADF, "it is closed")
        binary = self._stream.buffer
        raw = getattr(binary, "raw", binary)
        left = memoryview(text.encode(self._encoding or self._stream.encoding, self._errors))
        while left:
            written = raw.write(left)
            if written is None:  # a pipe that does not block, and is full
                import select  # not before the first paint

                select.select([], [raw], [])
            else:
                left = left[written:]


def out(*, is_json: bool) -> Output:
    """Standard output. A reply is not lost to a terminal without its letters; JSON is UTF-8 everywhere."""
    return Output(sys.stdout, errors="replace", encoding="utf-8" if is_json else None)


def err() -> Output:
    """Standard error."""
    return Output(sys.stderr, errors="backslashreplace")


def tell(sentence: str) -> None:
    """Say something on standard error, if anybody can read it: the exit code says it too."""
    with suppress(OSError):
        err().write(f"{sentence}\n")
