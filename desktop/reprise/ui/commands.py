"""The one registry of commands: it feeds the menus, the palette, the cheat sheet and the tooltips."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from reprise.ui.language import shortcut_text, tr
from reprise.ui.style import Appearance


class Menu(StrEnum):
    """The menus, in order."""

    FILE = "file"
    EDIT = "edit"
    VIEW = "view"
    CHAT = "chat"
    GO = "go"
    HELP = "help"


def menu_title(menu: Menu) -> str:
    """The menu's translated name with its mnemonic."""
    return {
        Menu.FILE: tr("&File"),
        Menu.EDIT: tr("&Edit"),
        Menu.VIEW: tr("&View"),
        Menu.CHAT: tr("&Chat"),
        Menu.GO: tr("&Go"),
        Menu.HELP: tr("&Help"),
    }[menu]


@dataclass(frozen=True, slots=True)
class Command:
    """One thing that can be done.

    `id` names the action's object ("newChat" -> ``actionNewChat``). `blocked` says in a sentence why it cannot work
    now, or None when it can. `text` and `checked` may depend on the moment, hence callables. `group` separates.
    `shown_keys` are those that a widget answers itself while it has the focus: shown, and nobody's shortcut. `aside`
    says what it comes to, where others have their keys.
    """

    id: str
    menu: Menu
    text: Callable[[], str]
    run: Callable[[], None]
    shortcuts: tuple[str, ...] = ()
    icon: str | None = None
    blocked: Callable[[], str | None] = lambda: None
    checked: Callable[[], bool] | None = None
    group: int = 0
    role: QAction.MenuRole = QAction.MenuRole.NoRole
    in_palette: bool = True
    shown_keys: str = ""
    aside: Callable[[], str] = lambda: ""

    @property
    def keys(self) -> str:
        """The keys to show beside its name; "" for none."""
        return self.shortcuts[0] if self.shortcuts else self.shown_keys

    @property
    def object_name(self) -> str:
        """The action's object name."""
        return f"action{self.id[0].upper()}{self.id[1:]}"


class Commands(QObject):
    """Makes one window-wide QAction of each command and keeps them true to the moment."""

    def __init__(self, window: QWidget, look: Appearance) -> None:
        super().__init__(window)
        self._window = window
        self._look = look
        self._commands: dict[str, Command] = {}
        self._actions: dict[str, QAction] = {}
        look.changed.connect(self._restyle)

    def add(self, *commands: Command) -> None:
        """Register commands. ValueError for an id or keys that are taken."""
        for command in commands:
            taken = {key for other in self._commands.values() for key in (*other.shortcuts, other.shown_keys) if key}
            keys = (*command.shortcuts, command.shown_keys)
            if command.id in self._commands or taken & set(keys):
                raise ValueError(f"{command.id}: its id or one of {keys} is taken")
            action = QAction(self._window)
            action.setObjectName(command.object_name)
            action.setShortcuts([QKeySequence(keys) for keys in command.shortcuts])
            action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
            action.setMenuRole(command.role)
            action.setCheckable(command.checked is not None)
            action.triggered.connect(lambda _checked=False, run=command.run: run())
            self._window.addAction(action)
            self._commands[command.id] = command
            self._actions[command.id] = action
            self._refresh(command)
        self._restyle()

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands.values())

    def of(self, menu: Menu) -> list[Command]:
        """The commands of one menu, in order."""
        return [command for command in self if command.menu is menu]

    def command(self, id_: str) -> Command:
        """One command. KeyError for an unknown id."""
        return self._commands[id_]

    def action(self, id_: str) -> QAction:
        """The action of a command. KeyError for an unknown id."""
        return self._actions[id_]

    def refresh(self) -> None:
        """Ask every command again whether it can work now, and what it is called."""
        for command in self:
            self._refresh(command)

    def _restyle(self) -> None:
        for command in self:
            if command.icon:
                self._actions[command.id].setIcon(self._look.icons.icon(command.icon, self._look.theme.px(16)))
        self.refresh()

    def _refresh(self, command: Command) -> None:
        action = self._actions[command.id]
        reason = command.blocked()
        text = command.text()
        # Behind a tab a menu shows keys that are no shortcut, and whatever else is no part of the name.
        beside = shortcut_text(command.shown_keys) or command.aside()
        action.setText(f"{text}\t{beside}" if beside else text)
        action.setEnabled(reason is None)
        action.setToolTip(tooltip(text, command.keys, reason))
        action.setStatusTip(reason or "")
        if command.checked is not None:
            action.setChecked(command.checked())


def plain(text: str) -> str:
    """A menu text without its mnemonic."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")


def tooltip(text: str, keys: str, reason: str | None = None) -> str:
    """Name and keys, and why not when it cannot work now."""
    name = plain(text).rstrip(".…")
    head = f"{name}  {shortcut_text(keys)}" if keys else name
    return f"{head}\n{reason}" if reason else head
