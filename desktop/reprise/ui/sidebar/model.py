"""The rows of the list: a group's name, then its sessions; only what is seen is painted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from reprise.bridge.session_row import Mark, SessionRow
from reprise.ui.language import counted, tr
from reprise.ui.sidebar.days import day_group

Index = QModelIndex | QPersistentModelIndex

if TYPE_CHECKING:
    from reprise.bridge.library import Library


class Data(IntEnum):
    """What the delegate asks for: a SessionRow (None for a group), and whether it is the shown session."""

    ROW = Qt.ItemDataRole.UserRole + 1
    CURRENT = Qt.ItemDataRole.UserRole + 2


class SessionModel(QAbstractListModel):
    """Library.rows() with a row before each group."""

    def __init__(self, library: Library, today: Callable[[], date]) -> None:
        super().__init__(library)
        self._library = library
        self._today = today
        self._rows: list[SessionRow | str] = []
        self._places: dict[str, int] = {}
        self._current = library.current.session_id
        library.reset.connect(self.rebuild)
        library.row_added.connect(self.rebuild)
        library.row_changed.connect(self._row_changed)
        library.current_changed.connect(self._current_changed)
        self.rebuild()

    def rebuild(self, *_: object) -> None:
        """Read all rows again."""
        self.beginResetModel()
        rows: list[SessionRow | str] = []
        today, last = self._today(), ""
        for row in self._library.rows():
            group = day_group(row.session.updated_at, today)
            if group != last:
                rows.append(group)
                last = group
            rows.append(row)
        self._rows = rows
        self._places = {row.session.id: place for place, row in enumerate(rows) if isinstance(row, SessionRow)}
        self.endResetModel()

    def index_of(self, session_id: str) -> QModelIndex:
        """Where a session is; an invalid index when it is not in the list."""
        place = self._places.get(session_id)
        return self.index(place) if place is not None else QModelIndex()

    def session_at(self, index: Index) -> str | None:
        """The session's id of a row; None for a group."""
        row = self._rows[index.row()] if index.isValid() else None
        return row.session.id if isinstance(row, SessionRow) else None

    def places(self, mark: Mark) -> list[int]:
        """The rows that carry a mark."""
        rows = ((place, self._rows[place]) for place in self._places.values())
        return [place for place, row in rows if isinstance(row, SessionRow) and row.mark is mark]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        if isinstance(row, str):
            return row if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole) else None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return row.session.title
            case Qt.ItemDataRole.AccessibleTextRole:
                said = mark_words(row)
                return f"{row.session.title}, {said}" if said else row.session.title
            case Data.ROW:
                return row
            case Data.CURRENT:
                return row.session.id == self._current
            case _:
                return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if self.session_at(index) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def _row_changed(self, session_id: str) -> None:
        place, row = self._places.get(session_id), self._library.row(session_id)
        if place is None or row is None:
            return
        self._rows[place] = row
        self.dataChanged.emit(self.index(place), self.index(place))

    def _current_changed(self, conversation: object) -> None:
        before, self._current = self._current, self._library.current.session_id
        for session_id in (before, self._current):
            index = self.index_of(session_id)
            if index.isValid():
                self.dataChanged.emit(index, index)


def mark_words(row: SessionRow) -> str:
    """A row's state for a screen reader."""
    if row.mark is Mark.COUNTDOWN:
        if row.seconds_left is None:
            return tr("waits for another chat's retry") if row.is_behind else tr("waits for the network")
        return counted(row.seconds_left, tr("retries in 1 second"), tr("retries in {n} seconds"))
    return {
        Mark.ASKS: tr("asks"),
        Mark.STREAMING: tr("is being answered"),
        Mark.PENDING: tr("can be retried"),
        Mark.UNREAD: tr("unread"),
        Mark.DRAFT: tr("draft"),
    }.get(row.mark, "")
