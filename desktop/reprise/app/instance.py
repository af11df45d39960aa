"""One process per data folder: the second start hands over and leaves.

The lock is taken before the database is opened: two connections to one WAL file can corrupt it (SQLite < 3.51.3).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QLockFile, QObject, QThread

if TYPE_CHECKING:
    from PySide6.QtNetwork import QLocalServer, QLocalSocket

_HANDOVER_MS = 2000
_TRY_AGAIN_MS = 50
_MAX_MESSAGE = 1_000_000


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


def take_or_hand_over(lock: InstanceLock, root: Path, say: str | None, patience_ms: int) -> bool | None:
    """True: this process owns the folder; False: its owner heard `say`; None: it did neither within `patience_ms`.

    The owner may just be starting (it does not listen yet) or ending (it does not listen any more).
    """
    waited = QElapsedTimer()
    waited.start()
    while not lock.take():
        if hand_over(root, say):
            return False
        if waited.elapsed() >= patience_ms:
            return None
        QThread.msleep(_TRY_AGAIN_MS)
    return True


def hand_over(root: Path, say: str | None) -> bool:
    """Ask the first process to come to the front and send `say`. False when it does not answer."""
    import json

    from PySide6.QtNetwork import QLocalSocket

    link = QLocalSocket()
    link.connectToServer(_server_name(root))
    if not link.waitForConnected(_HANDOVER_MS):
        return False
    link.write(json.dumps({"say": say}).encode() + b"\n")
    answered = link.waitForBytesWritten(_HANDOVER_MS) and link.waitForReadyRead(_HANDOVER_MS)
    heard = answered and bytes(link.readAll().data()).startswith(b"ok")
    link.disconnectFromServer()
    return heard


class InstanceServer(QObject):
    """Listens for later starts of the same user; `on_start(say)` is called for each."""

    def __init__(self, root: Path, on_start: Callable[[str | None], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        from PySide6.QtNetwork import QLocalServer

        self._on_start = on_start
        self._server: QLocalServer = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._accept)
        name = _server_name(root)
        if not self._server.listen(name):  # a socket left by a killed process: the lock says nobody is there
            QLocalServer.removeServer(name)
            self._server.listen(name)

    def close(self) -> None:
        """Stop listening."""
        self._server.close()

    def _accept(self) -> None:
        while (link := self._server.nextPendingConnection()) is not None:
            link.readyRead.connect(lambda link=link: self._read(link))
            link.disconnected.connect(link.deleteLater)
            if link.canReadLine():
                self._read(link)

    def _read(self, link: QLocalSocket) -> None:
        if not link.canReadLine():
            if link.bytesAvailable() > _MAX_MESSAGE:
                link.abort()
            return
        import json

        try:
            message = json.loads(bytes(link.readLine(_MAX_MESSAGE).data()))
            say = message.get("say")
        except (ValueError, AttributeError):
            link.abort()
            return
        link.write(b"ok\n")
        link.flush()
        self._on_start(say if isinstance(say, str) and say.strip() else None)
