"""The stored sessions in the order of the list, and the rows that the sidebar shows of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from reprise.bridge.session_row import SessionRow
from reprise.domain.sessions import Session


class SessionList:
    """Newest activity first. Each change is told by one of three callbacks once it is made."""

    def __init__(
        self,
        row_of: Callable[[Session], SessionRow],
        reset: Callable[[], None],
        added: Callable[[str], None],
        changed: Callable[[str], None],
    ) -> None:
        """`reset`: the list was replaced or put in another order; `added` and `changed` are given a session's id."""
        self._row_of = row_of
        self._reset = reset
        self._added = added
        self._changed = changed
        self._order: list[str] = []
        self._rows: dict[str, SessionRow] = {}
        self._sessions: dict[str, Session] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._sessions

    @property
    def ids(self) -> list[str]:
        """The sessions in order."""
        return list(self._order)

    @property
    def rows(self) -> list[SessionRow]:
        """A row for each session, in order."""
        return [self._rows[key] for key in self._order]

    def session(self, key: str) -> Session | None:
        """One session; None when it is not in the list."""
        return self._sessions.get(key)

    def row(self, key: str) -> SessionRow | None:
        """One row; None when it is not in the list."""
        return self._rows.get(key)

    def replace(self, listed: Iterable[Session], live: Iterable[Session]) -> None:
        """The sessions as they were read; what is known of those in `live` counts more, listed or not."""
        known = {session.id: session for session in listed}
        begun = [key for key in self._order if key not in known]
        self._sessions = {**known, **{session.id: session for session in live}}
        self._order = [*begun, *known]
        self._rows = {key: self._row_of(self._sessions[key]) for key in self._order}
        self._reset()

    def put(self, session: Session) -> None:
        """A session was read or written: one with newer activity goes to the top."""
        key = session.id
        was, self._sessions[key] = self._sessions.get(key), session
        if was is None:
            self._order.insert(0, key)
        elif was.updated_at != session.updated_at and self._order[0] != key:
            self._order.remove(key)
            self._order.insert(0, key)
            self._reset()
        self.refresh(key)

    def put_back(self, session: Session) -> None:
        """Put a session that is not in the list in its place."""
        key = session.id
        if key not in self._sessions:
            newer = [other for other in self._order if self._sessions[other].updated_at > session.updated_at]
            self._order.insert(len(newer), key)
            self._sessions[key] = session
            self._rows[key] = self._row_of(session)
            self._reset()

    def remove(self, key: str) -> Session:
        """Take a session out of the list. KeyError when it is not there."""
        session = self._sessions.pop(key)
        self._order.remove(key)
        del self._rows[key]
        self._reset()
        return session

    def refresh(self, key: str) -> None:
        """Look at a session's row again; nothing when it is not in the list."""
        if key not in self._sessions:
            return
        row = self._row_of(self._sessions[key])
        was, self._rows[key] = self._rows.get(key), row
        if was is None:
            self._added(key)
        elif row != was:
            self._changed(key)
