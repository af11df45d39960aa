"""How the whole application looks: Fusion with our palette and one style sheet, both made from the tokens."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from reprise.ui.assets import Icons
from reprise.ui.theme import Scheme, Theme, Type, load_theme
from reprise.ui.window_state import WindowState, clamped_zoom, next_zoom

SCHEMES = ("light", "dark", "system")
_ROLES = {
    QPalette.ColorRole.Window: "page",
    QPalette.ColorRole.Base: "surface",
    QPalette.ColorRole.AlternateBase: "code_bg",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.BrightText: "on_accent",
    QPalette.ColorRole.PlaceholderText: "muted",
    QPalette.ColorRole.Button: "surface",
    QPalette.ColorRole.Highlight: "selection",
    QPalette.ColorRole.HighlightedText: "text",
    QPalette.ColorRole.Link: "accent",
    QPalette.ColorRole.LinkVisited: "accent",
    QPalette.ColorRole.Accent: "accent",
    QPalette.ColorRole.Mid: "border_strong",
    QPalette.ColorRole.Midlight: "border",
    QPalette.ColorRole.Light: "raised",
    QPalette.ColorRole.Dark: "control_border",
    QPalette.ColorRole.Shadow: "control_border",
}


class Appearance(QObject):
    """The look in force: theme, icons, scheme choice and zoom. Every widget reads it and restyles on `changed`.

    Signals:
        changed(): another theme is in force (scheme or zoom); palette and style sheet are already set.
        chosen(str key, object value): the person chose a scheme or a zoom; the settings may want to keep it.
    """

    changed = Signal()
    chosen = Signal(str, object)

    def __init__(self, resources: Path, theme: Theme, state: WindowState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._resources = resources
        self._state = state
        self._fallback = theme.scheme
        self.choice = state.scheme
        self.theme = theme
        self.icons = Icons(resources, lambda: self.theme)
        self._system_palette = QGuiApplication.palette()
        hints = QGuiApplication.styleHints()
        self._system = hints.colorScheme()
        hints.colorSchemeChanged.connect(self._follow_system)
        self._use(self._wanted_scheme(), state.zoom if state.zoom != 1.0 else theme.zoom, force=True)

    @property
    def moves(self) -> bool:
        """False when the system asks for less motion."""
        from PySide6.QtWidgets import QStyle  # PySide takes long to make it, and the first paint asks nothing of it

        style = QApplication.style()
        return style.styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration) > 0

    def choose_scheme(self, choice: str, *, by_person: bool = True) -> None:
        """Use ``light``, ``dark`` or what the ``system`` says."""
        self.choice = choice if choice in SCHEMES else "system"
        self._use(self._wanted_scheme(), self.theme.zoom)
        if by_person:
            self.remember()
            self.chosen.emit("appearance.scheme", self.choice)

    def is_chosen(self, choice: str) -> bool:
        """Whether `choice` is the one in force."""
        return self.choice == choice

    def set_zoom(self, zoom: float, *, by_person: bool = True) -> None:
        """Scale everything by `zoom` (0.5 to 3)."""
        zoom = clamped_zoom(zoom)
        self._use(self.theme.scheme, zoom)
        if by_person:
            self.remember()
            self.chosen.emit("appearance.zoom", zoom)

    def remember(self) -> None:
        """Paint the next start's first frame like this one."""
        self._state.keep(scheme=self.choice, zoom=self.theme.zoom)

    def step_zoom(self, by: int) -> None:
        """The next larger (1) or smaller (-1) zoom; 0 is 100 %."""
        self.set_zoom(next_zoom(self.theme.zoom, by) if by else 1.0)

    def _follow_system(self, scheme: Qt.ColorScheme) -> None:
        self._system = scheme
        if self.choice == "system":
            self._use(self._wanted_scheme(), self.theme.zoom)

    def _wanted_scheme(self) -> Scheme:
        if self.choice != "system":
            return Scheme(self.choice)
        match self._system:
            case Qt.ColorScheme.Dark:
                return Scheme.DARK
            case Qt.ColorScheme.Light:
                return Scheme.LIGHT
            case _:
                return self._fallback

    def _use(self, scheme: Scheme, zoom: float, *, force: bool = False) -> None:
        if not force and (scheme, zoom) == (self.theme.scheme, self.theme.zoom):
            return
        self.theme = load_theme(self._resources, scheme, zoom)
        if _wants_contrast():
            self.theme = high_contrast(self.theme, self._system_palette)
        self.icons.clear()
        apply_style(self.theme)
        self.changed.emit()


def _wants_contrast() -> bool:
    # Since Qt 6.10; without it the tokens' own contrast has to do.
    hints = getattr(QGuiApplication.styleHints(), "accessibility", None)
    return hints is not None and hints().contrastPreference() == Qt.ContrastPreference.HighContrast


def high_contrast(theme: Theme, system: QPalette) -> Theme:
    """`theme` with the system's palette: lines take the text colour, tints the base colour (tokens section 2)."""

    def name(role: QPalette.ColorRole) -> str:
        return system.color(role).name()

    base, text, accent = (
        name(role) for role in (QPalette.ColorRole.Base, QPalette.ColorRole.Text, QPalette.ColorRole.Highlight)
    )
    colors = dict(theme.colors)
    for key in colors:
        if key.startswith("border") or key.endswith("_border") or key in ("text", "muted", "control_border"):
            colors[key] = text
        elif key.endswith(("_tint", "_bg")) or key in ("page", "sidebar", "surface", "raised", "user", "sunken"):
            colors[key] = base
        elif key.startswith("accent") or key == "focus":
            colors[key] = accent
    colors["on_accent"] = name(QPalette.ColorRole.HighlightedText)
    return theme._replace(colors=colors)


def apply_style(theme: Theme) -> None:
    """Give the application the palette, the font and the style sheet of `theme`."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        raise RuntimeError("the window needs a QApplication")
    app.setPalette(palette(theme))
    app.setFont(theme.font(Type.UI))
    app.setStyleSheet(style_sheet(theme))


def palette(theme: Theme) -> QPalette:
    """The palette of tokens.md section 9."""
    made = QPalette()
    for role, token in _ROLES.items():
        made.setColor(role, theme.color(token))
    dark = theme.scheme is Scheme.DARK
    made.setColor(QPalette.ColorRole.ToolTipBase, theme.color("pressed" if dark else "text"))
    made.setColor(QPalette.ColorRole.ToolTipText, theme.color("text" if dark else "page"))
    for role in (QPalette.ColorRole.Text, QPalette.ColorRole.WindowText, QPalette.ColorRole.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, theme.color("faint"))
    return made


def style_sheet(theme: Theme) -> str:
    """One style sheet for what Qt paints itself: fields, menus, scroll bars, tooltips."""
    px, c = theme.px, theme.hex
    dark = theme.scheme is Scheme.DARK
    tip_bg, tip_text = (c("pressed"), c("text")) if dark else (c("text"), c("page"))
    return f"""
QToolTip {{ background: {tip_bg}; color: {tip_text}; border: 0; padding: {px(5)}px {px(10)}px;
  font-size: {px(12)}px; }}
QLineEdit {{ background: {c("surface")}; color: {c("text")}; border: 1px solid {c("control_border")};
  border-radius: {px(6)}px; padding: 0 {px(11)}px; selection-background-color: {c("selection")};
  selection-color: {c("text")}; min-height: {px(30)}px; max-height: {px(30)}px;
  lineedit-password-character: 8226; }}
QLineEdit:focus {{ border: 2px solid {c("focus")}; padding: 0 {px(11) - 1}px;
  min-height: {px(30) - 2}px; max-height: {px(30) - 2}px; }}
QLineEdit:disabled {{ color: {c("faint")}; border-color: {c("border")}; }}
QLineEdit[invalid="true"] {{ border: 2px solid {c("danger")}; padding: 0 {px(11) - 1}px;
  min-height: {px(30) - 2}px; max-height: {px(30) - 2}px; }}
QLineEdit[bare="true"] {{ border: 0; background: transparent; padding: 0; min-height: 0;
  max-height: 9999px; }}
QAbstractSpinBox QLineEdit {{ border: 0; background: transparent; padding: 0; min-height: 0; max-height: 9999px; }}
QMenu {{ background: {c("raised")}; color: {c("text")}; border: 1px solid {c("border_strong")};
  border-radius: {px(8)}px; padding: {px(4)}px; }}
QMenu::item {{ min-height: {px(28)}px; min-width: {px(120)}px;
  padding: 0 {px(20)}px 0 {px(10)}px; border-radius: {px(6)}px; }}
QMenu::item:selected {{ background: {c("selected_raised")}; color: {c("text")}; }}
QMenu::item:disabled {{ color: {c("faint")}; }}
QMenu::icon {{ padding-left: {px(8)}px; }}
QMenu::right-arrow {{ width: {px(10)}px; height: {px(10)}px; right: {px(8)}px; }}
QMenu::separator {{ height: 1px; background: {c("border")}; margin: {px(4)}px -{px(4)}px; }}
QScrollBar:vertical {{ background: transparent; width: {px(10)}px; margin: 0; border: 0; }}
QScrollBar:horizontal {{ background: transparent; height: {px(10)}px; margin: 0; border: 0; }}
QScrollBar::handle {{ background: {c("border_strong")}; border-radius: {px(2)}px; }}
QScrollBar::handle:vertical {{ min-height: {px(32)}px; margin: 0 {px(3)}px; }}
QScrollBar::handle:horizontal {{ min-width: {px(32)}px; margin: {px(3)}px 0; }}
QScrollBar::handle:vertical:hover, QScrollBar::handle:horizontal:hover,
QScrollBar::handle:pressed {{ background: {c("control_border")}; border-radius: {px(4)}px; margin: 0 1px; }}
QScrollBar::handle:horizontal:hover {{ margin: 1px 0; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; border: 0; }}
QScrollBar::add-page, QScrollBar::sub-page, QScrollBar::corner,
QAbstractScrollArea::corner {{ background: transparent; }}
QProgressBar {{ background: {c("border") if not dark else c("pressed")}; border: 0; border-radius: {px(2)}px;
  min-height: {px(4)}px; max-height: {px(4)}px; }}
QProgressBar::chunk {{ background: {c("accent")}; border-radius: {px(2)}px; }}
"""
