"""What the window can do, as entries of the one registry. What a later part brings is left out, not shown dead."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QLineEdit, QTextEdit

from reprise.ui.commands import Command, Menu
from reprise.ui.language import tr
from reprise.ui.session_deeds import SessionDeeds
from reprise.ui.style import Appearance
from reprise.ui.timeline import Timeline
from reprise.ui.timeline.keys import MARKDOWN_KEYS
from reprise.ui.turn_commands import policy_commands, session_commands, turn_commands
from reprise.ui.turn_deeds import TurnDeeds


class Deeds(Protocol):
    """What the window offers the commands. A `*_blocked` method says why not, or None."""

    def new_chat(self) -> None: ...
    def close_window(self) -> None: ...
    def copy_last_reply(self) -> None: ...
    def open_settings(self) -> None: ...
    def toggle_sidebar(self) -> None: ...
    def sidebar_shown(self) -> bool: ...
    def open_palette(self) -> None: ...
    def toggle_full_screen(self) -> None: ...
    def isFullScreen(self) -> bool: ...
    def send(self) -> None: ...
    def new_line(self) -> None: ...
    def escape(self) -> None: ...
    def choose_model(self) -> None: ...
    def rename(self) -> None: ...
    def step_session(self, by: int) -> None: ...
    def jump_to_latest(self) -> None: ...
    def open_menu(self) -> None: ...
    def open_shortcuts(self) -> None: ...
    def open_about(self) -> None: ...
    def not_ready(self) -> str | None: ...
    def send_blocked(self) -> str | None: ...
    def stop_blocked(self) -> str | None: ...
    def reply_blocked(self) -> str | None: ...
    def rename_blocked(self) -> str | None: ...
    def step_blocked(self, by: int) -> str | None: ...
    def latest_blocked(self) -> str | None: ...


def commands_of(window: Deeds, look: Appearance, turns: TurnDeeds, sessions: SessionDeeds) -> list[Command]:
    """Every command, in menu order."""
    role = QAction.MenuRole
    return [
        Command(
            "newChat", Menu.FILE, lambda: tr("&New Chat"), window.new_chat, ("Ctrl+N",), "new-chat", window.not_ready
        ),
        Command("closeWindow", Menu.FILE, lambda: tr("&Close Window"), window.close_window, ("Ctrl+W",), group=1),
        Command("quit", Menu.FILE, lambda: tr("&Quit"), window.close_window, ("Ctrl+Q",), group=1, role=role.QuitRole),
        *_edit_commands(window),
        Command(
            "sidebar",
            Menu.VIEW,
            lambda: tr("&Sidebar"),
            window.toggle_sidebar,
            ("Ctrl+B",),
            "sidebar",
            checked=window.sidebar_shown,
        ),
        Command(
            "palette",
            Menu.VIEW,
            lambda: tr("Command &Palette…"),
            window.open_palette,
            ("Ctrl+Shift+P",),
            "search",
            in_palette=False,
        ),
        Command(
            "zoomIn",
            Menu.VIEW,
            lambda: tr("Zoom &In"),
            lambda: look.step_zoom(1),
            ("Ctrl+=", "Ctrl++"),
            "plus",
            group=1,
        ),
        Command("zoomOut", Menu.VIEW, lambda: tr("Zoom &Out"), lambda: look.step_zoom(-1), ("Ctrl+-",), group=1),
        Command("zoomReset", Menu.VIEW, lambda: tr("&Actual Size"), lambda: look.step_zoom(0), ("Ctrl+0",), group=1),
        Command(
            "fullScreen",
            Menu.VIEW,
            lambda: tr("&Full Screen"),
            window.toggle_full_screen,
            ("F11",),
            group=2,
            checked=window.isFullScreen,
        ),
        *(
            Command(
                f"scheme{choice.capitalize()}",
                Menu.VIEW,
                text,
                partial(look.choose_scheme, choice),
                (),
                icon,
                checked=partial(look.is_chosen, choice),
                group=3,
            )
            for choice, text, icon in (
                ("light", lambda: tr("&Light"), "sun"),
                ("dark", lambda: tr("&Dark"), "moon"),
                ("system", lambda: tr("Like the S&ystem"), "computer"),
            )
        ),
        Command(
            "send", Menu.CHAT, lambda: tr("S&end"), window.send, (), "send", window.send_blocked, shown_keys="Return"
        ),
        Command("newLine", Menu.CHAT, lambda: tr("New &Line"), window.new_line, shown_keys="Shift+Return"),
        Command("stop", Menu.CHAT, lambda: tr("&Stop"), window.escape, ("Esc",), "stop", window.stop_blocked),
        *turn_commands(turns),
        Command(
            "model",
            Menu.CHAT,
            lambda: tr("&Model…"),
            window.choose_model,
            ("Ctrl+M",),
            "model",
            window.not_ready,
            group=2,
        ),
        Command(
            "rename", Menu.CHAT, lambda: tr("Re&name…"), window.rename, ("F2",), "edit", window.rename_blocked, group=2
        ),
        *session_commands(sessions, turns),
        *policy_commands(turns),
        Command(
            "previousSession",
            Menu.GO,
            lambda: tr("&Previous Chat"),
            lambda: window.step_session(-1),
            ("Ctrl+PgUp",),
            "chevron-up",
            lambda: window.step_blocked(-1),
        ),
        Command(
            "nextSession",
            Menu.GO,
            lambda: tr("&Next Chat"),
            lambda: window.step_session(1),
            ("Ctrl+PgDown",),
            "chevron-down",
            lambda: window.step_blocked(1),
        ),
        Command(
            "jumpToLatest",
            Menu.GO,
            lambda: tr("&Jump to Latest"),
            window.jump_to_latest,
            ("Ctrl+End",),
            "jump-latest",
            window.latest_blocked,
            group=1,
        ),
        Command(
            "shortcuts", Menu.HELP, lambda: tr("&Keyboard Shortcuts"), window.open_shortcuts, ("Ctrl+/",), "keyboard"
        ),
        Command("menu", Menu.HELP, lambda: tr("&Menu"), window.open_menu, ("F10", "Alt+F"), "more", in_palette=False),
        Command(
            "about",
            Menu.HELP,
            lambda: tr("&About Reprise"),
            window.open_about,
            (),
            "info",
            group=1,
            role=role.AboutRole,
        ),
    ]


def _edit_commands(window: Deeds) -> list[Command]:
    def edit(name: str) -> Callable[[], None]:
        return lambda: _call(name)

    return [
        Command(
            "undo", Menu.EDIT, lambda: tr("&Undo"), edit("undo"), ("Ctrl+Z",), "undo", _undo_blocked, in_palette=False
        ),
        Command(
            "redo",
            Menu.EDIT,
            lambda: tr("Re&do"),
            edit("redo"),
            ("Ctrl+Shift+Z",),
            "redo",
            _redo_blocked,
            in_palette=False,
        ),
        Command(
            "cut",
            Menu.EDIT,
            lambda: tr("Cu&t"),
            edit("cut"),
            ("Ctrl+X",),
            None,
            _selection_blocked,
            group=1,
            in_palette=False,
        ),
        Command(
            "copy",
            Menu.EDIT,
            lambda: tr("&Copy"),
            edit("copy"),
            ("Ctrl+C",),
            "copy",
            _copy_blocked,
            group=1,
            in_palette=False,
        ),
        Command(
            "copyMarkdown",
            Menu.EDIT,
            lambda: tr("Copy as &Markdown"),
            edit("copyMarkdown"),
            blocked=_markdown_blocked,
            group=1,
            in_palette=False,
            shown_keys=MARKDOWN_KEYS,
        ),
        Command(
            "paste",
            Menu.EDIT,
            lambda: tr("&Paste"),
            edit("paste"),
            ("Ctrl+V",),
            None,
            _editor_blocked,
            group=1,
            in_palette=False,
        ),
        Command(
            "selectAll",
            Menu.EDIT,
            lambda: tr("Select &All"),
            edit("selectAll"),
            ("Ctrl+A",),
            None,
            _select_all_blocked,
            group=1,
            in_palette=False,
        ),
        Command(
            "copyLastReply",
            Menu.EDIT,
            lambda: tr("Copy Last &Reply"),
            window.copy_last_reply,
            ("Ctrl+Shift+C",),
            "copy",
            window.reply_blocked,
            group=2,
        ),
        Command(
            "settings",
            Menu.EDIT,
            lambda: tr("&Settings…"),
            window.open_settings,
            ("Ctrl+,",),
            "settings",
            group=3,
            role=QAction.MenuRole.PreferencesRole,
        ),
    ]


def _editor() -> QTextEdit | QLineEdit | None:
    focus = QApplication.focusWidget()
    return focus if isinstance(focus, QTextEdit | QLineEdit) else None


def _timeline() -> Timeline | None:
    focus = QApplication.focusWidget()
    return focus if isinstance(focus, Timeline) else None


_OF_TIMELINE: dict[str, Callable[[Timeline], object]] = {
    "copy": Timeline.copy_selection,
    "copyMarkdown": Timeline.copy_markdown,
    "selectAll": Timeline.select_all,
}


def _call(name: str) -> None:
    timeline, editor = _timeline(), _editor()
    if timeline is not None and name in _OF_TIMELINE:
        _OF_TIMELINE[name](timeline)
    elif editor is not None:
        getattr(editor, name)()


def _editor_blocked() -> str | None:
    return None if _editor() is not None else tr("No text field has the focus.")


def _undo_blocked() -> str | None:
    editor = _editor()
    if editor is None:
        return tr("No text field has the focus.")
    can = editor.isUndoAvailable() if isinstance(editor, QLineEdit) else editor.document().isUndoAvailable()
    return None if can else tr("There is nothing to undo.")


def _redo_blocked() -> str | None:
    editor = _editor()
    if editor is None:
        return tr("No text field has the focus.")
    can = editor.isRedoAvailable() if isinstance(editor, QLineEdit) else editor.document().isRedoAvailable()
    return None if can else tr("There is nothing to redo.")


def _selection_blocked() -> str | None:
    editor = _editor()
    selected = editor is not None and (
        editor.hasSelectedText() if isinstance(editor, QLineEdit) else editor.textCursor().hasSelection()
    )
    return None if selected else tr("Nothing is selected.")


def _copy_blocked() -> str | None:
    return None if _markdown_blocked() is None else _selection_blocked()


def _markdown_blocked() -> str | None:
    timeline = _timeline()
    selected = timeline is not None and timeline.selecting.has_extent
    return None if selected else tr("Nothing is selected in the conversation.")


def _select_all_blocked() -> str | None:
    return None if _timeline() is not None else _editor_blocked()
