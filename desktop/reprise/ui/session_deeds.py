"""What is done to whole chats: retry, trash with Undo, what was interrupted, and what is said outside the window."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint

from reprise.ui.language import counted, tr

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenu

    from reprise.bridge.library import Library
    from reprise.bridge.preferences import Preferences
    from reprise.domain.events import TurnFinished
    from reprise.domain.ports import Clock
    from reprise.ui.notifications import Notifications
    from reprise.ui.window import MainWindow


class SessionDeeds(QObject):
    """Nothing before `attach`."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._library: Library | None = None
        self._preferences: Preferences | None = None
        self._notifications: Notifications | None = None
        self._menu: QMenu | None = None

    def attach(self, library: Library, preferences: Preferences, clock: Clock) -> None:
        """The program is up."""
        self._library, self._preferences, self._clock = library, preferences, clock
        library.trashed.connect(self._trashed)
        library.turn_ended.connect(self._turn_ended)
        library.turn_asks.connect(self._turn_asks)

    def trash(self, session: str = "") -> None:
        """Move a chat, or the shown one, to the trash."""
        if self._library is not None:
            self._library.trash(session or self._library.current.session_id)

    def open_menu(self, session: str, at: QPoint) -> None:
        """The menu of a chat in the sidebar."""
        from reprise.ui.menus import make_menu

        library = self._library
        row = None if library is None else library.row(session)
        if library is None or row is None:
            return
        menu = make_menu(self._window)
        menu.setObjectName("sessionMenu")
        retry = menu.addAction(tr("Retry"), partial(library.retry_pending, [session]))
        retry.setEnabled(row.session.pending and session in library.pending_ids())
        waiting = len(library.pending_ids())
        every = menu.addAction(
            counted(waiting, tr("Retry the pending chat"), tr("Retry all {n} pending chats")), library.retry_pending
        )
        every.setEnabled(waiting > 0)
        live = library.conversation(session)
        if live is not None and live.is_busy:
            text = tr("Cancel the retry") if live.retry_manager.is_counting else tr("Stop")
            menu.addAction(text, live.stop)
        menu.addSeparator()
        menu.addAction(tr("Rename…"), partial(self._rename, session))
        menu.addAction(tr("Move to Trash"), partial(self.trash, session))
        if self._menu is not None:
            self._menu.deleteLater()
        self._menu = menu
        menu.popup(at)

    def _rename(self, session: str) -> None:
        if self._library is not None:
            self._library.open(session)
            self._window.header.edit_title()

    def _trashed(self, session: str, title: str) -> None:
        library = self._library
        if library is not None:
            said = tr("“{title}” is in the trash.").format(title=title)
            self._window.toast(said, tr("Undo"), partial(library.restore, session))

    def tell_interrupted(self, sessions: tuple[str, ...]) -> None:
        """Say quietly what the program left behind: turns it ended under, and retries that fell due meanwhile."""
        from reprise.ui.boot_banner import Notice  # seldom shown

        library = self._library
        if library is None:
            return
        waiting = set(library.pending_ids())
        # One that died beside a reply that stands has nothing to go on with.
        now = self._clock.utc()
        due = [row.session.id for row in library.rows() if row.session.retry_at and row.session.retry_at <= now]
        sessions = tuple(dict.fromkeys(session for session in (*sessions, *due) if session in waiting))
        if not sessions:
            return
        said = counted(
            len(sessions),
            tr("Reprise ended before a reply was complete. The prompt and what arrived are here; nothing is sent yet."),
            tr("Reprise ended before {n} replies were complete. Everything that arrived is here; nothing is sent yet."),
        )
        self._window.add_notice(
            Notice(
                said,
                (
                    (tr("Show"), partial(library.open, sessions[0])),
                    (tr("Retry"), partial(library.retry_pending, list(sessions))),
                ),
                passing=True,
            )
        )

    # -- outside the window

    def _turn_ended(self, session: str, event: TurnFinished) -> None:
        from reprise.domain.events import Outcome
        from reprise.ui.words import failure_sentence

        if event.outcome is Outcome.COMPLETED:
            self._tell(session, tr("The reply is ready."))
        elif event.outcome is Outcome.FAILED:
            why = failure_sentence(event.failure).title if event.failure else tr("The turn failed.")
            self._tell(session, tr("{why} It can be retried.").format(why=why) if event.pending else why)

    def _turn_asks(self, session: str, _rounds: int) -> None:
        self._tell(session, tr("It asks whether to go on."))

    def _tell(self, session: str, words: str) -> None:
        library, preferences = self._library, self._preferences
        if library is None or preferences is None or self._window.isActiveWindow():
            return
        row = library.row(session)
        if row is not None and preferences.value("notifications.enabled"):
            self.notifications().show(session, row.session.title, words)

    def notifications(self) -> Notifications:
        """Made when the first thing is to be said: finding the desktop's bus takes time."""
        if self._notifications is None:
            from reprise.ui.notifications import Notifications

            self._notifications = Notifications(parent=self)
            self._notifications.opened.connect(self._open_from_outside)
        return self._notifications

    def _open_from_outside(self, session: str) -> None:
        if self._library is not None:
            self._library.open(session)
            self._window.come_forward()
