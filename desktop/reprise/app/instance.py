"""One process per data folder: the second start hands over and leaves.

The lock is taken before the database is opened: two connections to one WAL file can corrupt it (SQLite < 3.51.3).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QLockFile, QObject, QThread

if TYPE_CHECKING:
    from PySide6.QtNetwork import QLocalServer, QLocalSocket

_HANDOVER_MS = 10_000
_TRY_AGAIN_MS = 50
_MAX_MESSAGE = 1_000_000
_OTHER_PROVIDER = "Its window asks another provider than the one given here. Name another --data-dir, or no provider."
_ASKS_BACK = b"go ahead?\n"
_GO_AHEAD = b"go ahead\n"

Answer = Callable[[str | None], None]


def _server_name(root: Path) -> str:
    import hashlib  # not before the first paint, as json below

    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    digest = hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:12]
    return f"reprise-{user}-{digest}"


class InstanceLock:
    """The lock of a data folder; held until `release()` or the process ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = QLockFile(str(path))
        self._lock.setStaleLockTime(0)  # only a dead process makes it stale, never age

    def take(self) -> bool:
        """True when this process now owns the folder. Raises OSError with a sentence when the lock cannot be written.

        A lock that names no process (empty, damaged, left by a full disk) belongs to nobody and is replaced.
        """
        if self._lock.tryLock(0):
            return True
        if self._lock.error() is QLockFile.LockError.LockFailedError and self.holder() is None:
            if self._lock.removeStaleLockFile() and self._lock.tryLock(0):
                return True
            if not self.holder() and self._lock.error() is QLockFile.LockError.LockFailedError:
                raise OSError(f"The lock file {self._path} is damaged. Delete it if Reprise is not running.")
        if self._lock.error() is not QLockFile.LockError.LockFailedError:
            raise OSError(f"The lock file {self._path} cannot be written. Is the disk full, or the folder read-only?")
        return False

    def holder(self) -> int | None:
        """The process that owns the folder, if it says."""
        known = self._lock.getLockInfo()
        # PySide gives (pid, hostname, appname), older ones (ok, pid, ...).
        numbers = [part for part in known if isinstance(part, int) and not isinstance(part, bool)]
        return numbers[0] if numbers and numbers[0] > 0 else None

    def release(self) -> None:
        """Let the next start have it."""
        self._lock.unlock()


class Told(Enum):
    """How it ended between this start and the process that owns the folder."""

    NOBODY = "nobody"
    """The folder is this process's now: there is nobody to tell."""
    HEARD = "heard"
    """The owner came to the front, and has the prompt on disk."""
    SILENT = "silent"
    """The owner said nothing in time, and what it hears later it does not send."""


class Refused(Exception):
    """The owner of the folder does not send the prompt; `str(error)` is its reason, a sentence."""


def take_or_hand_over(
    lock: InstanceLock, root: Path, say: str | None, patience_ms: int, *, asks: str | None = None
) -> Told:
    """Own the folder, or tell its owner `say`, meant for the provider `asks`, within `patience_ms`. Raises Refused.

    The owner may just be starting (it does not listen yet) or ending (it does not listen any more).
    """
    waited = QElapsedTimer()
    waited.start()
    while not lock.take():
        told = hand_over(root, say, patience_ms - waited.elapsed(), asks=asks)
        if told is not Told.NOBODY:
            return told
        if waited.elapsed() >= patience_ms:
            return Told.SILENT
        QThread.msleep(_TRY_AGAIN_MS)
    return Told.NOBODY


def hand_over(root: Path, say: str | None, patience_ms: int, *, asks: str | None = None) -> Told:
    """Ask the first process to come to the front and send `say`; NOBODY when none listens there. Raises Refused.

    It asks back before it sends anything, and is told once to go ahead; what a start that has given up left in the
    connection is nobody's word any more. So a prompt is sent once or not at all, however long the first process was
    stopped, and however many starts were waiting for it.
    """
    import json

    from PySide6.QtNetwork import QLocalSocket

    link = QLocalSocket()
    link.connectToServer(_server_name(root))
    if not link.waitForConnected(max(0, patience_ms)):
        return Told.NOBODY
    link.write(json.dumps({"say": say, "asks": asks}).encode() + b"\n")
    heard = _next_line(link, patience_ms)
    if heard is None:
        return Told.NOBODY if link.state() is QLocalSocket.LocalSocketState.UnconnectedState else Told.SILENT
    if heard == _ASKS_BACK:
        link.write(_GO_AHEAD)
        heard = _next_line(link, _HANDOVER_MS)
    if heard is None:
        return Told.SILENT
    answer = json.loads(heard)
    if answer["refusal"] is not None:
        raise Refused(answer["refusal"])
    return Told.HEARD


def _next_line(link: QLocalSocket, patience_ms: int) -> bytes | None:
    """The next line from the other side; None when there is none in time, or it hung up."""
    waited = QElapsedTimer()
    waited.start()
    while not link.canReadLine():
        left = patience_ms - waited.elapsed()
        if left <= 0 or not link.waitForReadyRead(left):
            return None
    return bytes(link.readLine().data())


class InstanceServer(QObject):
    """Listens for later starts of the same user; `on_start(say, answer)` is called for each.

    `answer` is called once: with None when all is done, or with the sentence why not. It may be called at any later
    time, also when nobody waits for it any more.
    """

    def __init__(
        self,
        root: Path,
        on_start: Callable[[str | None, Answer], None],
        parent: QObject | None = None,
        *,
        asks: str | None = None,
    ) -> None:
        """`asks` is the provider this process was started with, if it was; a prompt for another one is refused."""
        super().__init__(parent)
        from PySide6.QtNetwork import QLocalServer

        self._on_start = on_start
        self._asks = asks
        # Who is connected, and the prompt of those who were asked back.
        self._links: dict[QLocalSocket, str | None] = {}
        self._server: QLocalServer = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._accept)
        name = _server_name(root)
        if not self._server.listen(name):  # a socket left by a killed process: the lock says nobody is there
            QLocalServer.removeServer(name)
            self._server.listen(name)

    def close(self) -> None:
        """Stop listening, also to those who are half-way; who waits for an answer still gets it."""
        self._server.close()

    def _accept(self) -> None:
        while (link := self._server.nextPendingConnection()) is not None:
            self._links[link] = None
            link.readyRead.connect(partial(self._read, link))
            link.disconnected.connect(partial(self._forget, link))
            link.disconnected.connect(link.deleteLater)
            if link.canReadLine():
                self._read(link)

    def _forget(self, link: QLocalSocket) -> None:
        self._links.pop(link, None)

    def _read(self, link: QLocalSocket) -> None:
        while link in self._links and link.canReadLine():
            self._hear(link, bytes(link.readLine(_MAX_MESSAGE).data()))
        if link in self._links and link.bytesAvailable() > _MAX_MESSAGE:
            link.abort()

    def _hear(self, link: QLocalSocket, line: bytes) -> None:
        if not self._server.isListening():
            link.abort()
        elif line == _GO_AHEAD and (say := self._links[link]) is not None:
            self._links[link] = None
            link.waitForReadyRead(0)  # an end that is there already is noticed now: who gave up keeps the prompt
            if link in self._links:
                self._on_start(say, partial(self._answer, link))
        else:
            self._hear_message(link, line)

    def _hear_message(self, link: QLocalSocket, line: bytes) -> None:
        import json

        try:
            message = json.loads(line)
            say, asks = message.get("say"), message.get("asks")
        except (ValueError, AttributeError):
            link.abort()
            return
        if say and asks is not None and asks != self._asks:
            # What is written goes to the provider that was chosen and to nobody else.
            self._answer(link, _OTHER_PROVIDER)
        elif isinstance(say, str) and say.strip():
            self._links[link] = say
            link.write(_ASKS_BACK)
            link.flush()
        else:
            self._on_start(None, partial(self._answer, link))

    def _answer(self, link: QLocalSocket, refusal: str | None) -> None:
        import json

        if link in self._links:
            link.write(json.dumps({"refusal": refusal}).encode() + b"\n")
            link.flush()
