"""What the commands about the shown chat's turns do, and why they sometimes cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from reprise.ui.language import tr
from reprise.ui.schedules import sum_of

if TYPE_CHECKING:
    from reprise.bridge.conversation import Conversation
    from reprise.bridge.library import Library
    from reprise.bridge.preferences import Preferences
    from reprise.domain.sessions import Entry
    from reprise.ui.conversation_view import ConversationView


class TurnDeeds(QObject):
    """Retry, regenerate, continue, edit, versions, and the chat's own retry policy. Nothing before `attach`."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._library: Library | None = None
        self._view: ConversationView | None = None
        self._preferences: Preferences | None = None

    def attach(self, library: Library, view: ConversationView, preferences: Preferences) -> None:
        """The program is up."""
        self._library, self._view, self._preferences = library, view, preferences

    @property
    def _shown(self) -> Conversation | None:
        return None if self._library is None else self._library.current

    # -- what is done

    def retry(self) -> None:
        """Retry now during a countdown, else go on with the pending turn."""
        if self._shown is not None:
            self._shown.retry()

    def retry_all(self) -> None:
        """Retry every pending chat, those of one provider one after another."""
        if self._library is not None:
            self._library.retry_pending()

    def regenerate(self) -> None:
        """Answer the last prompt once more, beside the reply it has."""
        if self._shown is not None:
            self._shown.regenerate()

    def go_on(self) -> None:
        """Go on from a cut or kept reply, or from what arrived of a pending one."""
        if self._shown is not None:
            self._shown.go_on()

    def send_all(self) -> None:
        """Send the chat whole again, from the next turn on."""
        if self._shown is not None:
            self._shown.send_all()

    def edit_last(self) -> None:
        """Put the last prompt into the composer, to send another version of it."""
        if self._view is not None:
            self._view.edit_last()

    def step_version(self, by: int) -> None:
        """Show the version before (-1) or after (1) of the newest message that has any."""
        entry = self._versioned()
        if self._shown is not None and entry is not None:
            self._shown.step_branch(entry.id, by)

    def fork(self) -> None:
        """Go on in a new chat from the end of this one."""
        if self._library is not None and self._shown is not None:
            self._library.fork(self._shown.session_id, self._shown.session.leaf)

    def set_policy(self, name: str | None) -> None:
        """Give the chat a retry policy of its own; None takes it back."""
        if self._shown is not None:
            self._shown.set_policy(name)

    def has_policy(self, name: str | None) -> bool:
        """Whether this is the chat's own policy."""
        return self._shown is not None and self._shown.policy_name == name

    def policy_sum(self, name: str | None) -> str:
        """What a policy of the chat's own, or (None) that of the settings for its model, comes to."""
        if self._shown is None or self._preferences is None:
            return ""
        own = {} if name is None else {"retry.policy": name}
        return sum_of(self._preferences.retry_policy(self._shown.model, own))

    # -- why it cannot be done now

    def retry_blocked(self) -> str | None:
        """Neither pending nor counting down."""
        conversation = self._shown
        if conversation is None:
            return _starting()
        counting = conversation.retry_manager.is_counting
        can = conversation.pending is not None and (counting or not conversation.is_busy)
        return None if can else tr("Nothing waits to be retried.")

    def retry_all_blocked(self) -> str | None:
        """No chat is pending."""
        if self._library is None:
            return _starting()
        return None if self._library.pending_ids() else tr("No chat waits to be retried.")

    def regenerate_blocked(self) -> str | None:
        """No reply, or a turn runs."""
        return _starting() if self._shown is None else self._shown.regenerate_blocked()

    def go_on_blocked(self) -> str | None:
        """Nothing was cut."""
        if self._shown is None:
            return _starting()
        return None if self._shown.can_go_on else tr("There is no reply that was cut off.")

    def send_all_blocked(self) -> str | None:
        """Nothing is left out."""
        if self._shown is None:
            return _starting()
        return None if self._shown.left_out else tr("All messages of this chat are sent already.")

    def edit_blocked(self) -> str | None:
        """No prompt, or a turn runs."""
        conversation = self._shown
        if conversation is None:
            return _starting()
        if conversation.is_busy:
            return _running()
        return None if conversation.history.branch else tr("Nothing was sent in this chat yet.")

    def version_blocked(self, by: int) -> str | None:
        """There is no version on that side, or a turn runs."""
        conversation, entry = self._shown, self._versioned()
        if conversation is None:
            return _starting()
        if conversation.is_busy:
            return _running()
        if entry is None:
            return tr("There is one version of everything here.")
        found = conversation.siblings(entry.id)
        can = 0 <= found.index(entry.id) + by < len(found)
        return None if can else tr("There is no other version in this direction.")

    def stored_blocked(self) -> str | None:
        """Nothing is stored yet."""
        stored = self._shown is not None and self._shown.is_stored
        return None if stored else tr("Nothing was sent in this chat yet.")

    def fork_blocked(self) -> str | None:
        """Nothing is stored yet, or a turn runs."""
        busy = self._shown is not None and self._shown.is_busy
        return _running() if busy else self.stored_blocked()

    def _versioned(self) -> Entry | None:
        """The newest message of the shown branch that has alternatives."""
        conversation = self._shown
        if conversation is None:
            return None
        forked = set(conversation.reading.forked())
        branch = conversation.history.branch if forked else ()
        found = (entry for entry in reversed(branch) if entry.id in forked)
        return next((entry for entry in found if len(conversation.siblings(entry.id)) > 1), None)


def _starting() -> str:
    return tr("Reprise is still starting.")


def _running() -> str:
    return tr("The reply is still on its way. Stop it first, or wait.")
