"""A stage for the window: the real bridge and store on a manual clock, and echo for a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from reprise.bridge.conversation import Conversation
from reprise.bridge.library import Library
from reprise.bridge.preferences import Preferences
from reprise.domain.messages import ModelRef
from reprise.domain.models import ModelInfo, Route
from reprise.domain.ports import CompletionProvider
from reprise.domain.retry import RetryPolicy
from reprise.providers.echo import Echo
from reprise.providers.echo_script import parse_script
from reprise.storage.settings_file import SettingsFile
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.window import MainWindow
from support.bridge import BridgeStage
from support.clock import ManualClock

RESOURCES = Path(__file__).resolve().parents[2] / "resources"
SMALL = ModelRef("openrouter", "mistral-small-3.2-24b")
LARGE = ModelRef("openrouter", "qwen3-32b")
ABSENT = ModelRef("builtin", "smollm2-135m")


class EchoCatalog:
    """Two models that play one script, whoever is asked, and one that cannot be chosen."""

    def __init__(self, clock: ManualClock, script: str) -> None:
        steps = parse_script(script) if script else ()
        self.providers: dict[ModelRef, CompletionProvider] = dict.fromkeys((SMALL, LARGE), Echo(clock, steps))
        self.chosen: ModelRef | None = SMALL
        self.second: ModelRef | None = None

    def models(self) -> tuple[ModelInfo, ...]:
        return (
            ModelInfo(SMALL, "Mistral Small 3.2", "OpenRouter"),
            ModelInfo(LARGE, "Qwen3 32B", "OpenRouter"),
            ModelInfo(ABSENT, "SmolLM2 135M", "Built in", is_local=True, unavailable="This processor has no AVX."),
        )

    def default(self) -> ModelRef | None:
        return self.chosen

    def fallback(self) -> ModelRef | None:
        return self.second

    def route(self, ref: ModelRef) -> Route:
        return Route(ref.provider)

    def provider(self, ref: ModelRef) -> CompletionProvider:
        return self.providers[ref]


class WindowStage:
    """The window over one life of the program. Everything runs on the manual clock."""

    def __init__(self, stage: BridgeStage, folder: Path, script: str, scheme: Scheme) -> None:
        self.stage = stage
        self.clock = stage.clock
        self.catalog = EchoCatalog(stage.clock, script)
        self.settings = SettingsFile(folder / "settings.toml", stage.store.worker)
        self.preferences = Preferences(self.settings, stage.scope)
        self.services = replace(stage.services, catalog=self.catalog, policy=self._policy)
        self.library = Library(self.services, stage.scope)
        self.state = folder / "state.ini"
        self.window = MainWindow(RESOURCES, load_theme(RESOURCES, scheme), self.state)
        self.window.resize(1180, 760)

    def _policy(self, model: ModelRef, own: Mapping[str, Any]) -> RetryPolicy:
        """The stage's, unless the chat has one of its own."""
        return self.preferences.retry_policy(model, own) if own else self.stage.services.policy(model, own)

    @classmethod
    async def open(
        cls, folder: Path, script: str = "", *, scheme: Scheme = Scheme.LIGHT, show: bool = True, **options: Any
    ) -> WindowStage:
        """A window that is shown and filled."""
        stage = await BridgeStage.open(folder, **options)
        made = cls(stage, folder, script, scheme)
        if show:
            made.window.show()
        await made.library.load()
        made.window.attach(made.library, made.preferences, made.catalog, stage.clock)
        await made.drain()
        return made

    @property
    def conversation(self) -> Conversation:
        """The conversation that is shown."""
        return self.library.current

    def find(self, name: str, kind: type[Any] = QWidget) -> Any:
        """A widget by its object name. KeyError when the window has none."""
        found = self.window.findChild(kind, name)
        if found is None:
            raise KeyError(name)
        return found

    async def drain(self) -> None:
        """Let everything happen that takes no time."""
        await self.clock.drain()

    async def send(self, text: str) -> None:
        """Write and send, as a person does."""
        self.window.page.composer.set_text(text)
        self.window.page.composer.button.click()
        await self.drain()

    async def close(self) -> None:
        self.window.shut()
        self.window.deleteLater()
        await self.library.close()
        await self.stage.close()


def visible(stage: WindowStage, name: str) -> list[Any]:
    """The widgets of this name that can be seen."""
    return [each for each in stage.window.findChildren(QWidget, name) if each.isVisible()]


async def press(stage: WindowStage, name: str) -> None:
    """Press the one visible button of this name, and let happen what follows."""
    (button,) = visible(stage, name)
    button.click()
    await stage.drain()


async def texts(stage: WindowStage) -> list[str]:
    """What the messages of the shown chat say, as they are on disk."""
    return [message.text for message in await stage.stage.stored(stage.conversation)]


async def stop(stage: WindowStage) -> None:
    """Press Esc."""
    QTest.keyClick(stage.window.page.composer.editor, Qt.Key.Key_Escape)
    await stage.drain()
