"""What every test stands on: a private home, no network, no keys, one event loop, and nothing left behind."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
import pytest

TESTS = Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Before any test moves HOME: the model file of this machine is found where it is, not fetched again.
os.environ.setdefault("REPRISE_MODELS", str(platformdirs.user_cache_path("reprise", appauthor=False) / "models"))

from support.guards import leftovers, loopback_only  # noqa: E402

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from support.aio import Aio

KEYS = (
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "REPRISE_API_KEY",
)
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
FOLDERS = {
    "XDG_CACHE_HOME": ".cache",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_RUNTIME_DIR": "run",
    "XDG_STATE_HOME": ".local/state",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--full` runs the full sizes of the design's section on tests."""
    parser.addoption("--full", action="store_true", help="run the full sizes, and the tests marked full")


def pytest_configure(config: pytest.Config) -> None:
    """The marker that belongs to the `aio` fixture."""
    config.addinivalue_line("markers", "slow_callbacks: may hold the window's thread for more than 50 ms at a time")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests marked `full` are skipped without `--full`."""
    if config.getoption("--full"):
        return
    skip = pytest.mark.skip(reason="runs with --full")
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def qapp_args() -> list[str]:
    """The application is told its style as the program tells it (`app/start.py`)."""
    return ["reprise", "-style", "fusion"]


@pytest.fixture(scope="session")
def full(pytestconfig: pytest.Config) -> bool:
    """Whether the full sizes are wanted."""
    return bool(pytestconfig.getoption("--full"))


@pytest.fixture
def memory_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: for tests of which the disk is not the point."""
    memory = Path("/dev/shm")  # noqa: S108
    if not memory.is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def resources() -> Path:
    """The checkout's `resources/`."""
    return TESTS.parent / "resources"


@pytest.fixture(autouse=True)
def private_surroundings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own for each test, no keys, no proxies; returns the home."""
    home = tmp_path_factory.mktemp("home", numbered=True)
    monkeypatch.setenv("HOME", str(home))
    for name, folder in FOLDERS.items():
        place = home / folder
        place.mkdir(parents=True, mode=0o700)
        monkeypatch.setenv(name, str(place))
    for name in (*KEYS, *PROXIES, *(proxy.lower() for proxy in PROXIES)):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture(autouse=True, scope="session")
def no_network() -> Iterator[None]:
    """A test that leaves this machine fails where it tries to."""
    with loopback_only():
        yield


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """A test that leaves a running thread or an active timer behind fails, naming it."""
    before = leftovers()
    yield
    if left := leftovers(other_than=before, patience_s=2.0):
        pytest.fail("left behind: " + ", ".join(sorted(left.values())), pytrace=False)


@pytest.fixture(scope="session")
def aio_session(qapp: QApplication) -> Iterator[Aio]:
    """The one loop of the process."""
    from support.aio import Aio

    qapp.setQuitOnLastWindowClosed(False)
    aio = Aio(qapp)
    yield aio
    aio.close()


@pytest.fixture
def aio(aio_session: Aio, request: pytest.FixtureRequest) -> Iterator[Aio]:
    """Runs coroutines: ``aio(coro)``. Fails a test that leaves a task behind or holds the thread over 50 ms.

    `@pytest.mark.slow_callbacks` allows the latter.
    """
    aio_session.begin()
    yield aio_session
    aio_session.end(slow_allowed=request.node.get_closest_marker("slow_callbacks") is not None)
