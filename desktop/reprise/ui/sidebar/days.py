"""Which group a session belongs to by the day of its last activity."""

from __future__ import annotations

from datetime import date, datetime

from PySide6.QtCore import QDate, QLocale

from reprise.ui.language import tr


def day_group(at: datetime, today: date) -> str:
    """The name of the group a moment (UTC) falls in on this computer's calendar."""
    day = at.astimezone().date()
    ago = (today - day).days
    if ago <= 1:
        return _near(ago)
    if ago <= 7:
        return tr("Previous 7 days")
    if ago <= 30:
        return tr("Previous 30 days")
    return QLocale().toString(QDate(day.year, day.month, 1), "MMMM yyyy")


def short_day(at: datetime, today: date) -> str:
    """A session's day where there is little room: "Today", "Yesterday", "5 Oct"."""
    day = at.astimezone().date()
    ago = (today - day).days
    if ago <= 1:
        return _near(ago)
    form = "d MMM" if day.year == today.year else "d MMM yyyy"
    return QLocale().toString(QDate(day.year, day.month, day.day), form)


def _near(ago: int) -> str:
    """A day that has a name; one that is still to come, by a clock set back, is today."""
    return tr("Today") if ago <= 0 else tr("Yesterday")
