"""The window's own controls, painted to the pixel: buttons, ring, text lines."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QEnterEvent,
    QFocusEvent,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QWidget

from reprise.ui.focus import show_ring
from reprise.ui.painting import baseline, box, label, ring
from reprise.ui.style import Appearance
from reprise.ui.theme import Type, baseline_in

_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": "<br>"})


class Kind(StrEnum):
    """How much a button asks for attention."""

    PRIMARY = "primary"
    FRAMED = "framed"
    PLAIN = "plain"
    ICON = "icon"
    LINK = "link"


class Button(QPushButton):
    """A button of the mockups: 28 high, text centred by cap height, optional icon before and chevron after the text."""

    def __init__(
        self,
        look: Appearance,
        text: str = "",
        *,
        kind: Kind = Kind.FRAMED,
        icon: str | None = None,
        icon_px: int = 16,
        height: int = 28,
        chevron: str | None = None,
        padding: int = 12,
        quiet: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)  # the one with a text makes PySide look at icons first
        self.setText(text)
        self._quiet = quiet
        self._look = look
        self.kind = kind
        self.icon_name = icon
        self.chevron = chevron
        self._icon_px = icon_px
        self._height = height
        self._padding = padding
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        if text:
            self.setAccessibleName(text)
        look.changed.connect(self._restyle)
        self._restyle()

    def set_icon(self, name: str, px: int) -> None:
        """Show another icon, `px` wide at 100 %."""
        if (name, px) != (self.icon_name, self._icon_px):
            self.icon_name, self._icon_px = name, px
            self.update()

    def sizeHint(self) -> QSize:
        theme = self._look.theme
        height = theme.px(self._height)
        if not self.text():
            return QSize(height, height)
        left, right = self._paddings()
        return QSize(left + self._content_width() + right, height)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        fill, edge, ink = self._colors()
        if fill is not None or edge is not None:
            box(
                painter,
                self.rect(),
                theme.px(8 if self._height == 32 and self.kind is not Kind.PLAIN else 6),
                theme.color(fill) if fill else None,
                theme.color(edge) if edge else None,
            )
        left, right = self._paddings()
        x = (self.width() + left - self._content_width() - right) / 2
        middle = self.height() / 2
        if self.icon_name:
            px = theme.px(self._icon_px)
            token = ink if self.kind in (Kind.PRIMARY, Kind.LINK) or not self.isEnabled() or self._lit() else "muted"
            pixmap = self._look.icons.pixmap(self.icon_name, token, px, self.devicePixelRatioF())
            painter.drawPixmap(QPointF(round(x), round(middle - px / 2)), pixmap)
            x += px + theme.px(6)
        font = self._font()
        painter.setFont(font)
        painter.setPen(theme.color(ink))
        painter.drawText(QPointF(round(x), baseline(font, middle)), self._shown_text())
        if self.chevron:
            px = theme.px(14)
            token = "on_accent" if self.kind is Kind.PRIMARY else "muted"
            pixmap = self._look.icons.pixmap(self.chevron, token, px, self.devicePixelRatioF())
            x += QFontMetricsF(font).horizontalAdvance(self._shown_text()) + theme.px(4)
            painter.drawPixmap(QPointF(round(x), round(middle - px / 2)), pixmap)
        painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat():
            self.click()
            return
        super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        show_ring(self, self._look, event.reason())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.EnabledChange:
            self.update()

    def _lit(self) -> bool:
        return self.kind is Kind.ICON and (self.underMouse() or self.isDown() or self.isChecked())

    def _colors(self) -> tuple[str | None, str | None, str]:
        over, down = self.underMouse() and self.isEnabled(), self.isDown()
        match self.kind:
            case Kind.PRIMARY if not self.isEnabled():
                return "sunken", None, "faint"
            case Kind.PRIMARY:
                return "accent_pressed" if down else "accent_hover" if over else "accent", None, "on_accent"
            case Kind.FRAMED if not self.isEnabled():
                return None, "border", "faint"
            case Kind.FRAMED:
                return "pressed" if down else "hover" if over else "surface", "border_strong", "text"
            case Kind.LINK:
                return None, None, "accent_hover" if over else "accent"
            case _ if not self.isEnabled():
                return None, None, "faint"
            case _:
                quiet = "muted" if (self.kind is Kind.ICON or self._quiet) and not over else "text"
                return "pressed" if down else "hover" if over else None, None, quiet

    def _font(self) -> QFont:
        return self._look.theme.font(Type.UI, weight=500)

    def _shown_text(self) -> str:
        return self.text().replace("&", "")

    def _paddings(self) -> tuple[int, int]:
        if not self.text() or self.kind is Kind.LINK:
            return 0, 0
        px = self._look.theme.px
        return px(10 if self.icon_name else self._padding), px(10 if self.chevron else self._padding)

    def _content_width(self) -> int:
        theme = self._look.theme
        text = self._shown_text()
        width = QFontMetricsF(self._font()).horizontalAdvance(text)
        if self.icon_name:
            width += theme.px(self._icon_px) + (theme.px(6) if text else 0)
        if self.chevron:
            width += theme.px(4) + theme.px(14)
        return round(width + 0.499)

    def _restyle(self) -> None:
        self.setFont(self._font())
        self.updateGeometry()
        self.update()


class Ring(QWidget):
    """The countdown ring; `set_share` takes what is left of the wait, 1 to 0."""

    def __init__(self, look: Appearance, px: int = 16, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._px = px
        self._share = 1.0
        look.changed.connect(self._restyle)
        self._restyle()

    def set_share(self, share: float) -> None:
        """What is left of the wait."""
        self._share = share
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        ring(painter, QRectF(self.rect()), self._share, theme, theme.zoom * 2)
        painter.end()

    def _restyle(self) -> None:
        side = self._look.theme.px(self._px)
        self.setFixedSize(side, side)


class Glyph(QWidget):
    """An icon that is no button."""

    def __init__(
        self, look: Appearance, name: str, ink: str = "muted", px: int = 16, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._look, self._name, self._token, self._px = look, name, ink, px
        look.changed.connect(self._restyle)
        self._restyle()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        side = self._look.theme.px(self._px)
        painter.drawPixmap(
            QPoint(0, 0), self._look.icons.pixmap(self._name, self._token, side, self.devicePixelRatioF())
        )
        painter.end()

    def set_icon(self, name: str, ink: str) -> None:
        """Show another icon."""
        self._name, self._token = name, ink
        self.update()

    def _restyle(self) -> None:
        side = self._look.theme.px(self._px)
        self.setFixedSize(side, side)
        self.update()


class Text(QLabel):
    """A line or paragraph of the window's own words in one role; wraps on the role's line grid when told to.

    `text()` and the accessible name are always the plain words, never mark-up.
    """

    def __init__(
        self,
        look: Appearance,
        text: str = "",
        role: Type = Type.UI,
        ink: str = "text",
        *,
        weight: int | None = None,
        wrap: bool = False,
        tabular: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._look, self._role, self._ink, self._weight, self._tabular = look, role, ink, weight, tabular
        self._plain = text
        self._margins = 0, 0, 0, 0
        self.setTextFormat(Qt.TextFormat.RichText if wrap else Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        if wrap:
            policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
            policy.setHeightForWidth(True)
            self.setSizePolicy(policy)
        look.changed.connect(self._restyle)
        self._restyle()

    def setContentsMargins(self, left: int, top: int, right: int, bottom: int) -> None:  # type: ignore[override]
        self._margins = left, top, right, bottom
        self._settle()

    def text(self) -> str:
        """The words."""
        return self._plain

    def setText(self, text: str) -> None:
        """Show other words."""
        if text != self._plain:
            self._plain = text
            self._show_words()

    def _show_words(self) -> None:
        if not self.wordWrap():
            super().setText(self._plain)
            return
        # Rich text only for the fixed line height; the words themselves are escaped.
        line = self._look.theme.line(self._role)
        words = self._plain.translate(_MARKUP)
        super().setText(f'<p style="-qt-line-height-type: fixed; line-height: {line}px; margin: 0">{words}</p>')
        self.setAccessibleName(self._plain)

    def _restyle(self) -> None:
        theme = self._look.theme
        self.setFont(theme.font(self._role, weight=self._weight, tabular=self._tabular))
        colors = self.palette()
        colors.setColor(self.foregroundRole(), theme.color(self._ink))
        self.setPalette(colors)
        self._settle()
        self._show_words()

    def _settle(self) -> None:
        left, top, right, bottom = self._margins
        line, lift = self._look.theme.line(self._role), 0
        if self.wordWrap():
            # Qt puts the baseline of a fixed line at four fifths of its height, whatever the font.
            lift = round(0.8 * line - baseline_in(self.font(), line))
        else:
            self.setMinimumHeight(top + line + bottom)
        super().setContentsMargins(left, top - lift, right, bottom + lift)


class Elided(QWidget):
    """One line that is cut at its end with the whole of it in the tooltip; a screen reader hears it all."""

    def __init__(self, look: Appearance, role: Type, ink: str = "text", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look, self._role, self._token = look, role, ink
        self._text = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        look.changed.connect(self._restyle)
        self._restyle()

    def text(self) -> str:
        """The whole text."""
        return self._text

    def set_text(self, text: str) -> None:
        """Show `text`."""
        self._text = text
        self.setAccessibleName(text)
        self._tell()
        self.update()

    def sizeHint(self) -> QSize:
        theme = self._look.theme
        width = QFontMetricsF(theme.font(self._role)).horizontalAdvance(self._text)
        return QSize(round(width) + 1, theme.line(self._role))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._tell()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        label(painter, self.rect(), self._text, theme.font(self._role), theme.color(self._token))
        painter.end()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._tell()

    def _tell(self) -> None:
        self.setToolTip(self._text if self.sizeHint().width() > self.width() else "")

    def _restyle(self) -> None:
        self.setFixedHeight(self._look.theme.line(self._role))
        self.update()
