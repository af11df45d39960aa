"""The whole program in the test's process: the real composition and window, over a loopback server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from reprise.app.compose import Composition, compose, fill
from reprise.app.options import Options
from reprise.app.paths import open_data_dir, resources_dir
from reprise.bridge.conversation import Conversation
from reprise.bridge.tasks import TaskScope
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.window import MainWindow
from support.clock import ManualClock
from support.qt import until_active


class ProgramStage:
    """One life of the program over the data folder `folder`, talking to `url`."""

    def __init__(self, parts: Composition, window: MainWindow, scope: TaskScope, clock: ManualClock) -> None:
        self.parts = parts
        self.window = window
        self.scope = scope
        self.clock = clock

    @classmethod
    async def open(
        cls,
        folder: Path,
        url: str,
        clock: ManualClock,
        *,
        scheme: Scheme = Scheme.LIGHT,
        overrides: dict[str, Any] | None = None,
    ) -> ProgramStage:
        data = open_data_dir(folder)
        scope = TaskScope("test program")
        options = Options(provider_url=url, model="test")
        parts = await compose(options, data, overrides or {}, clock, scope, lambda _state: None)
        clock.settle_with(parts.store.worker.settled)
        scope.start(parts.store.run(), name="save what streams")
        window = MainWindow(resources_dir(), load_theme(resources_dir(), scheme), data.state)
        window.resize(1180, 760)
        window.show()
        window.activateWindow()
        await until_active(window)  # shortcuts work in an active window only
        await parts.library.load()
        fill(window, parts, clock)
        return cls(parts, window, scope, clock)

    @property
    def conversation(self) -> Conversation:
        """The conversation that is shown."""
        return self.parts.library.current

    def widget(self, name: str) -> Any:
        """A widget by its object name. KeyError when the window has none."""
        found = self.window.findChild(QWidget, name)
        if found is None:
            raise KeyError(name)
        return found

    def type_and_send(self, text: str) -> None:
        """As a person does it: keys into the composer, then Enter."""
        editor = self.window.page.composer.editor
        editor.setFocus()
        QTest.keyClicks(editor, text)
        QTest.keyClick(editor, Qt.Key.Key_Return)

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """One key, to whatever has the focus."""
        QTest.keyClick(self.window.page.composer.editor, key, modifiers)

    def picture(self, path: Path) -> None:
        """Save what the window shows."""
        assert self.window.grab().save(str(path))

    async def close(self) -> None:
        """An orderly end: the person closes the window, and the program follows."""
        self.window.close()
        await self.parts.library.close()
        await self.scope.close()
        await self.parts.models.aclose()
        assert await self.parts.store.close()
        self.window.shut()
        self.window.deleteLater()
