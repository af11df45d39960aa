"""Which group a session belongs to by the day of its last activity."""

from __future__ import annotations

from datetime import date, datetime

from PySide6.QtCore import QDate, QLocale

from reprise.ui.language import tr


def day_group(at: datetime, today: date) -> str:
    """The name of the group a moment (UTC) falls in on this computer's calendar."""
    day = at.astimezone().date()
    ago = (today - day).days
    if ago <= 0:
        return tr("Today")
    if ago == 1:
        return tr("Yesterday")
    if ago <= 7:
        return tr("Previous 7 days")
    if ago <= 30:
        return tr("Previous 30 days")
    return QLocale().toString(QDate(day.year, day.month, 1), "MMMM yyyy")


def short_day(at: datetime, today: date) -> str:
    """A session's day where there is little room: "Today", "Yesterday", "5 Oct"."""
    day = at.astimezone().date()
    ago = (today - day).days
    if ago <= 0:
        return tr("Today")
    if ago == 1:
        return tr("Yesterday")
    form = "d MMM" if day.year == today.year else "d MMM yyyy"
    return QLocale().toString(QDate(day.year, day.month, day.day), form)
