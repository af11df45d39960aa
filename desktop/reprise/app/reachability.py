"""Whether the system has a network: `ports.Reachability` over Qt's QNetworkInformation."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtNetwork import QNetworkInformation

_log = logging.getLogger("reprise.app")


class SystemReachability:
    """Offline exactly while the system says Disconnected.

    A network without the internet (a machine in the same room may be the provider) and a system that does not say are
    not offline: a request that fails there takes the normal schedule (behaviour D14).
    """

    def __init__(self, information: QNetworkInformation | None) -> None:
        """`information` None never says offline."""
        self._information = information
        self._waiting: set[asyncio.Event] = set()
        if information is not None:
            information.reachabilityChanged.connect(self._changed)

    @property
    def is_offline(self) -> bool:
        """True only while the system reports that there is no network."""
        information = self._information
        return information is not None and information.reachability() is information.Reachability.Disconnected

    async def back_online(self) -> None:
        """Return once `is_offline` is False."""
        while self.is_offline:
            changed = asyncio.Event()
            self._waiting.add(changed)
            try:
                await changed.wait()
            finally:
                self._waiting.discard(changed)

    def _changed(self, _reachability: object) -> None:
        for each in tuple(self._waiting):
            each.set()


def system_reachability() -> SystemReachability:
    """What the system offers; where it offers nothing, it is never offline."""
    from PySide6.QtNetwork import QNetworkInformation

    if not QNetworkInformation.loadDefaultBackend():
        _log.info("the system does not say whether it has a network")
        return SystemReachability(None)
    information = QNetworkInformation.instance()
    _log.info("network: %s says %s", information.backendName(), information.reachability().name)
    return SystemReachability(information)
