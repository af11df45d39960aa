"""What is being edited in the composer: a prompt that was sent, or a message that waits for its delivery."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from reprise.bridge.conversation import Conversation
from reprise.domain.failures import Failure
from reprise.ui.language import shortcut_text, tr
from reprise.ui.page import Page
from reprise.ui.words import refusal


@dataclass(slots=True)
class Edit:
    """An entry as it is being edited: what it says, and (a prompt) what was sent beside it and is not stored yet.

    `waits`: it is in the queue, there to follow up or not; else it is a prompt.
    """

    entry: str
    before: str
    waits: bool
    follows_up: bool = False
    sent: str | None = None


class Edits(QObject):
    """At most one edit per chat, shown or not; it is told from the draft beside it by its entry, never by its words.

    The text of an edit is in the composer until it is stored. When its message leaves the queue before that, the text
    goes into the draft (behaviour I5, I6).

    Signals:
        resent(): another version of a prompt was sent.
    """

    resent = Signal()

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self._page = page
        self._composer = page.composer
        self._edits: dict[str, Edit] = {}
        self._untold: dict[str, str] = {}
        self._shown: Conversation | None = None
        page.composer.edited.connect(lambda text: self._send(text, moves=False))
        page.composer.edited_otherwise.connect(lambda text: self._send(text, moves=True))
        page.composer.edit_given_up.connect(self.give_up)

    def show(self, conversation: Conversation) -> None:
        """From here on this conversation's edit is the one that is shown; say what became of it meanwhile."""
        self._shown = conversation
        self._page.say(self._untold.pop(conversation.session_id, ""))

    def of(self, session: str) -> Edit | None:
        """The edit of a chat, if there is one."""
        return self._edits.get(session)

    def begin(self, session: str, edit: Edit) -> None:
        """Put an entry's text into the composer; an edit of another one is never overwritten."""
        known = self._edits.get(session)
        if known is not None and known.entry != edit.entry:
            self._page.say(tr("Send or give up the edit first; its text stays here."))
            return
        if known is None:
            self._edits[session] = edit
        self._composer.begin_edit(edit.before, any_time=edit.waits)

    def give_up(self) -> None:
        """The shown edit ends, and what it was of stays as it is."""
        if self._shown is not None:
            self._end(self._shown.session_id)

    def sentence(self, session: str) -> str:
        """What the tray says about the edit of a chat; "" when there is none."""
        edit = self._edits.get(session)
        if edit is None:
            return ""
        if not edit.waits:
            return tr("Editing a prompt. Sending it makes another version; this one stays.")
        otherwise = (
            tr("Editing a message that waits. {key} sends it next.")
            if edit.follows_up
            else tr("Editing a message that waits. {key} sends it after this reply.")
        )
        return otherwise.format(key=shortcut_text("Alt+Return"))

    def version_stored(self, session: str, prompt: str) -> None:
        """Another version of a prompt is on disk."""
        edit = self._edits.get(session)
        if edit is None or edit.waits or edit.entry != prompt:
            return
        written = self._composer.edit_text(session)
        if written != edit.sent:
            # Typed on while it was stored: that is the next text.
            self._composer.put_before(session, written)
        self._end(session)

    def version_refused(self, session: str, failure: Failure) -> None:
        """It is not: its text is in the edit still."""
        self._tell(session, refusal(failure))

    def changed(self, session: str, message: str, text: str) -> None:
        """A queued message is stored with this text; one that was typed on is edited still."""
        edit = self._edits.get(session)
        if edit is None or edit.entry != message:
            return
        edit.before = text
        if self._composer.edit_text(session) == text:
            self._end(session)

    def left(self, session: str, messages: frozenset[str], *, delivered: bool) -> None:
        """Queued messages wait no more: an edit of one of them is of nothing now, and its text is a draft."""
        edit = self._edits.get(session)
        if edit is None or edit.entry not in messages:
            return
        written = self._composer.edit_text(session)
        stays = delivered or written != edit.before  # else it was given back as it is, or is not wanted
        if stays:
            # Before the edit goes: a crash in between leaves the text twice.
            self._composer.put_before(session, written)
        self._end(session)
        if stays and delivered:
            self._tell(session, tr("That message was delivered as it was. Your text stays here."))
        elif stays:
            self._tell(session, tr("That message does not wait any more. Your text stays here."))

    def _send(self, text: str, *, moves: bool) -> None:
        conversation = self._shown
        edit = None if conversation is None else self._edits.get(conversation.session_id)
        if conversation is None or edit is None:
            return
        if edit.waits:
            conversation.queue.edit(edit.entry, text, moves=moves)
        elif conversation.resend(edit.entry, text):
            edit.sent = text
            self.resent.emit()

    def _end(self, session: str) -> None:
        self._edits.pop(session, None)
        self._composer.end_edit(session)

    def _tell(self, session: str, sentence: str) -> None:
        if self._shown is not None and session == self._shown.session_id:
            self._page.say(sentence)
        else:
            self._untold[session] = sentence
