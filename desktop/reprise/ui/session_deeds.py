"""What is done to whole chats: retry, trash with Undo, what was interrupted, and what is said outside the window."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QObject, QPoint

from reprise.ui.language import counted, tr

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenu

    from reprise.bridge.conversation import Conversation
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
        library = self._library
        if library is None:
            return
        waiting = set(library.pending_ids())
        # One that died beside a reply that stands has nothing to go on with.
        now = self._clock.utc()
        due = [row.session.id for row in library.rows() if row.session.retry_at and row.session.retry_at <= now]
        left = tuple(dict.fromkeys(session for session in (*sessions, *due) if session in waiting))
        if len(left) == 1:
            self._when_read(left[0], partial(self._tell_one, is_due=left[0] in due))
        elif left:
            said = tr("Reprise ended before {n} replies were complete. What arrived is here; nothing is sent yet.")
            resume = (tr("Resume all"), partial(library.retry_pending, list(left), resume=True))
            again = (tr("Retry all"), partial(library.retry_pending, list(left)))
            show = (tr("Show"), partial(library.open, left[0]))
            self._offer(said.format(n=QLocale().toString(len(left))), left, resume, again, show)

    def _tell_one(self, conversation: Conversation, *, is_due: bool) -> None:
        """Go on from what arrived, or once more from the prompt; what arrived stays an earlier attempt then."""
        session, has_partial = conversation.session_id, conversation.can_go_on
        if is_due:
            said = tr("A retry fell due while Reprise was closed. Nothing is sent until you choose.")
        elif has_partial:
            said = tr("Reprise ended before a reply was complete. What arrived is here; nothing is sent yet.")
        else:
            said = tr("Reprise ended before a reply came. Your prompt is here; nothing is sent yet.")
        resume = (tr("Resume"), partial(self._show_and, session, lambda shown: shown.go_on()))
        retry = (tr("Retry"), partial(self._show_and, session, lambda shown: shown.retry()))
        show = (tr("Show"), partial(self._show_and, session, lambda _: None))
        self._offer(said, (session,), *([resume] if has_partial else []), retry, show)

    def _offer(self, said: str, sessions: tuple[str, ...], *actions: tuple[str, Callable[[], None]]) -> None:
        """A notice that goes by itself once none of these sessions waits any more."""
        from reprise.ui.boot_banner import Notice  # seldom shown

        library, notice = self._library, Notice(said, actions, passing=True)
        if library is None:
            return
        self._window.add_notice(notice)

        def look(session: str = "") -> None:
            if session in ("", *sessions) and not set(sessions) & set(library.pending_ids()):
                library.row_changed.disconnect(look)
                library.reset.disconnect(look)
                self._window.notices.withdraw(notice)

        library.row_changed.connect(look)
        library.reset.connect(look)

    def _show_and(self, session: str, run: Callable[[Conversation], None]) -> None:
        if self._library is not None:
            self._library.open(session)
            self._when_read(session, run)

    def _when_read(self, session: str, run: Callable[[Conversation], None]) -> None:
        """Do something with a session once its history is there; nothing when it cannot be read, which is said."""
        conversation = None if self._library is None else self._library.reach(session)
        if conversation is None:
            return
        if conversation.is_loaded:
            run(conversation)
            return

        def look() -> None:
            if conversation.is_loaded:
                conversation.history_changed.disconnect(look)
                run(conversation)

        conversation.history_changed.connect(look)

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
