"""When the program counts as offline."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QNetworkInformation

from reprise.app.reachability import SystemReachability, system_reachability
from support.aio import Aio

Reachability = QNetworkInformation.Reachability


class Network(QObject):
    """Stands in for Qt's singleton, whose state nobody can set."""

    reachabilityChanged = Signal(object)
    Reachability = Reachability

    def __init__(self, state: Reachability) -> None:
        super().__init__()
        self._state = state

    def reachability(self) -> Reachability:
        return self._state

    def becomes(self, state: Reachability) -> None:
        self._state = state
        self.reachabilityChanged.emit(state)


@pytest.mark.parametrize("state", [state for state in Reachability if state is not Reachability.Disconnected])
def test_a_network_that_is_partial_or_unknown_is_not_offline(state: Reachability) -> None:
    """D14: only while the system reports no network."""
    assert not SystemReachability(Network(state)).is_offline  # type: ignore[arg-type]


def test_without_a_word_of_the_system_nothing_is_offline() -> None:
    """D14: unknown takes the normal schedule."""
    assert not SystemReachability(None).is_offline


def test_a_wait_for_the_network_ends_when_it_is_back(aio: Aio) -> None:
    """D14, N5: it goes on when the network returns, and not at a change that is no return."""
    network = Network(Reachability.Disconnected)
    reachability = SystemReachability(network)  # type: ignore[arg-type]

    async def main() -> None:
        assert reachability.is_offline
        wait = asyncio.ensure_future(reachability.back_online())
        await asyncio.sleep(0)
        network.becomes(Reachability.Disconnected)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not wait.done()
        network.becomes(Reachability.Online)
        await wait
        await reachability.back_online()

    aio.run(main())


def test_a_wait_that_is_cancelled_leaves_nothing_behind(aio: Aio) -> None:
    """F14: repeated waits do not add up listeners."""
    network = Network(Reachability.Disconnected)
    reachability = SystemReachability(network)  # type: ignore[arg-type]

    async def main() -> None:
        for _ in range(3):
            wait = asyncio.ensure_future(reachability.back_online())
            await asyncio.sleep(0)
            wait.cancel()
            await asyncio.gather(wait, return_exceptions=True)
        assert not reachability._waiting

    aio.run(main())


def test_the_system_is_asked_without_failing(aio: Aio) -> None:
    """What this machine says is its own business; that it can be asked is ours."""
    assert system_reachability().is_offline in (True, False)
