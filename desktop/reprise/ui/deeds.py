"""What the window does when a command, a button or the Esc key asks for it, and why it sometimes cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from reprise.ui.language import tr

if TYPE_CHECKING:
    from reprise.bridge.library import Library
    from reprise.bridge.preferences import Preferences
    from reprise.domain.messages import ModelRef
    from reprise.domain.ports import Catalog, Clock
    from reprise.ui.conversation_view import ConversationView
    from reprise.ui.palette import Chat, Palette
    from reprise.ui.settings import SettingsSheet
    from reprise.ui.window import MainWindow

BUILTIN = "builtin"


class WindowDeeds(QObject):
    """The commands' other half. Before `attach` only what needs no session works."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._library: Library | None = None
        self._catalog: Catalog | None = None
        self._view: ConversationView | None = None
        self._palette: Palette | None = None
        self._settings: SettingsSheet | None = None
        self._preferences: Preferences | None = None
        window.page.composer.submitted.connect(self._too_early)

    def attach(self, library: Library, preferences: Preferences, catalog: Catalog, clock: Clock) -> None:
        """Build what needs the library: the conversation view, the palette, the settings."""
        from reprise.ui.boot_banner import Notice
        from reprise.ui.conversation_view import ConversationView

        window = self._window
        window.page.composer.submitted.disconnect(self._too_early)
        self._library, self._catalog, self._clock = library, catalog, clock
        self._view = ConversationView(window.look, window.page, library, catalog, clock)
        self._view.key_entered.connect(window.key_entered)
        self._view.changed.connect(self._changed)
        self._view.timeline.link_activated.connect(_open_address)
        self._view.page_wanted.connect(_open_address)
        window.header.model_chosen.connect(self._model_chosen)
        window.header.renamed.connect(lambda title: library.rename(library.current.session_id, title))
        window.header.picker_opening.connect(self.models_changed)
        window.sidebar.session_wanted.connect(self.open_session)
        window.page.first_run.starter_chosen.connect(self._begin)
        window.look.chosen.connect(preferences.set_value)
        library.current_changed.connect(self._changed)
        library.row_changed.connect(self._changed)
        library.reset.connect(self._changed)
        library.problem.connect(self._problem)
        preferences.changed.connect(self._preference_changed)
        self._preferences = preferences
        window.turns.attach(library, self._view, preferences)
        window.sessions.attach(library, preferences, clock)
        for problem in preferences.problems():
            window.add_notice(Notice(problem.sentence, ((tr("Settings…"), self.open_settings),)))
        window.look.choose_scheme(str(preferences.value("appearance.scheme")), by_person=False)
        window.look.set_zoom(float(preferences.value("appearance.zoom")), by_person=False)
        self._changed()

    # -- what is done

    def new_chat(self) -> None:
        """Show a new chat and write in it."""
        if self._library is not None:
            self._library.new_chat()
            self._window.close_sidebar_over()
            self._window.page.composer.editor.setFocus()

    def open_session(self, session_id: str) -> None:
        """Show a session and write in it."""
        if self._library is not None:
            self._library.open(session_id)
            self._window.page.composer.editor.setFocus()

    def close_window(self) -> None:
        """Leave, as the window's close button does."""
        self._window.close()

    def copy_last_reply(self) -> None:
        """Put the newest reply that says something on the clipboard."""
        text = self._last_reply()
        if text:
            QGuiApplication.clipboard().setText(text)

    def open_settings(self) -> None:
        """Open the settings over the window."""
        self._close_sheets()
        self._window.close_sidebar_over()
        if self._preferences is None or self._catalog is None:
            return
        if self._settings is None:
            from reprise.ui.settings import SettingsSheet

            window = self._window
            self._settings = SettingsSheet(window.look, window, self._preferences, self._catalog)
            self._settings.key_entered.connect(window.key_entered)
            self._settings.closed.connect(self.models_changed)
        self._settings.open_sheet()

    def toggle_sidebar(self) -> None:
        """See `MainWindow.toggle_sidebar`."""
        self._window.toggle_sidebar()

    def sidebar_shown(self) -> bool:
        """Whether the sidebar is shown now."""
        return not self._window.sidebar.isHidden()

    def open_palette(self) -> None:
        """Open the palette; pressed again it goes."""
        if self._library is None:
            return
        if self._palette is None:
            from reprise.ui.palette import Palette

            window = self._window
            self._palette = Palette(window.look, window, window.commands, self._chats, self._library.open)
        was_open = self._palette.is_open
        self._close_sheets()
        if not was_open:
            self._palette.open_sheet()

    def toggle_full_screen(self) -> None:
        """Full screen, and back."""
        window = self._window
        if window.isFullScreen():
            window.showNormal()
        else:
            window.showFullScreen()

    def isFullScreen(self) -> bool:
        """Whether the window fills the screen without a frame."""
        return self._window.isFullScreen()

    def send(self) -> None:
        """Send what is written."""
        self._window.page.composer.submit()

    def new_line(self) -> None:
        """Go on in a new line of the composer."""
        editor = self._window.page.composer.editor
        editor.new_line()
        editor.setFocus()

    def escape(self) -> None:
        """The Esc ladder below popups and sheets, which take the key themselves; `Conversation.stop` is its last rung.

        Behaviour D7.
        """
        if self._window.page.composer.editor.is_composing:
            return
        if self._close_sheets():
            return
        if self._window.sidebar_over:
            self._window.close_sidebar_over()
            return
        if self._library is not None:
            self._library.current.stop()

    def _model_chosen(self, ref: ModelRef) -> None:
        """From here on `ref` answers; while a retry waits it is meant to try now."""
        if self._library is None:
            return
        conversation = self._library.current
        if conversation.retry_manager.is_counting:
            conversation.retry_with(ref)
        else:
            conversation.choose_model(ref)

    def choose_model(self) -> None:
        """Open the list of models."""
        self._window.header.open_picker()

    def rename(self) -> None:
        """Turn the title into a field."""
        self._window.header.edit_title()

    def step_session(self, by: int) -> None:
        """Show the next or previous chat."""
        if self._library is not None:
            self._library.step(by)

    def jump_to_latest(self) -> None:
        """Go to the end of the conversation."""
        if self._view is not None:
            self._view.timeline.jump_to_latest()

    def open_menu(self) -> None:
        """Open the menus under the header's button."""
        self._window.open_menu()

    def open_shortcuts(self) -> None:
        """Open the cheat sheet."""
        from reprise.ui.shortcuts_sheet import ShortcutsSheet

        self._close_sheets()
        sheet = ShortcutsSheet(self._window.look, self._window, self._window.commands)
        sheet.closed.connect(sheet.discard)
        sheet.open_sheet()

    def open_about(self) -> None:
        """Say what this is."""
        from reprise.ui.about_sheet import AboutSheet

        self._close_sheets()
        sheet = AboutSheet(self._window.look, self._window)
        sheet.closed.connect(sheet.discard)
        sheet.open_sheet()

    # -- why it cannot be done now

    def not_ready(self) -> str | None:
        """Before the program is up."""
        return None if self._library is not None else tr("Reprise is still starting.")

    def send_blocked(self) -> str | None:
        """Nothing is written, or the turn goes on."""
        return self._window.page.composer.submit_blocked()

    def stop_blocked(self) -> str | None:
        """Nothing runs."""
        busy = self._library is not None and self._library.current.is_busy
        return None if busy else tr("Nothing is running.")

    def reply_blocked(self) -> str | None:
        """No reply yet."""
        return None if self._last_reply() else tr("There is no reply yet.")

    def rename_blocked(self) -> str | None:
        """Nothing stored yet."""
        stored = self._library is not None and self._library.current.is_stored
        return None if stored else tr("A chat has a title once something was said in it.")

    def step_blocked(self, by: int) -> str | None:
        """No other chat on that side."""
        if self._library is None:
            return self.not_ready()
        ids = [row.session.id for row in self._library.rows()]
        current = self._library.current.session_id
        if current not in ids:
            return None if ids else tr("There is no other chat.")
        place = ids.index(current) + by
        return None if 0 <= place < len(ids) else tr("There is no other chat in this direction.")

    def latest_blocked(self) -> str | None:
        """The end is in view."""
        away = self._view is not None and not self._view.timeline.is_at_tail
        return None if away else tr("The latest message is in view.")

    # -- keeping the window true

    def models_changed(self, *_: object) -> None:
        """Ask the catalog again what there is."""
        if self._library is None or self._catalog is None or self._view is None:
            return
        models = self._catalog.models()
        current = self._library.current.model
        self._window.header.set_models(models, current)
        self._window.page.composer.set_model(self._view.model_label(current))
        info = next((info for info in models if info.ref == current), None)
        if current is not None and info is not None:
            place = info.provider_label or current.provider
            self._window.page.first_run.set_model(info.label, place, current.provider == BUILTIN)

    def _changed(self, *_: object) -> None:
        if self._library is None:
            return
        conversation = self._library.current
        title = conversation.title
        self._window.header.set_title(title)
        self._window.setWindowTitle(f"{title} - Reprise" if conversation.is_stored else "Reprise")
        self.models_changed()
        self._window.commands.refresh()

    def _problem(self, sentence: str) -> None:
        from reprise.ui.boot_banner import Notice

        self._window.add_notice(Notice(sentence))

    def _preference_changed(self, key: str) -> None:
        preferences = self._preferences
        if preferences is None:
            return
        if key == "appearance.scheme":
            self._window.look.choose_scheme(str(preferences.value(key)), by_person=False)
        elif key == "appearance.zoom":
            self._window.look.set_zoom(float(preferences.value(key)), by_person=False)

    def _begin(self, prompt: str, send: bool) -> None:
        composer = self._window.page.composer
        composer.set_text(prompt)
        composer.editor.setFocus()
        if send:
            composer.submitted.emit(prompt)

    def _too_early(self, _text: str) -> None:
        self._window.page.say(tr("Reprise is still starting. Your text stays here."))

    def _last_reply(self) -> str:
        if self._library is None:
            return ""
        from reprise.domain.messages import Message, Role

        said = (entry.data for entry in reversed(self._library.current.history.branch))
        replies = (each.text for each in said if isinstance(each, Message) and each.role is Role.ASSISTANT)
        return next(filter(None, replies), "")

    def _chats(self) -> list[Chat]:
        from reprise.ui.palette import Chat
        from reprise.ui.sidebar.days import short_day

        if self._library is None:
            return []
        today = self._clock.utc().astimezone().date()
        return [
            Chat(row.session.id, row.session.title, short_day(row.session.updated_at, today))
            for row in self._library.rows()
        ]

    def _close_sheets(self) -> bool:
        closed = False
        from reprise.ui.overlay import Sheet

        for sheet in self._window.findChildren(Sheet):
            if sheet.is_open:
                sheet.close_sheet()
                closed = True
        return closed


def _open_address(address: str) -> None:
    from PySide6.QtCore import QUrl
    from PySide6.QtGui import QDesktopServices

    QDesktopServices.openUrl(QUrl(address))
