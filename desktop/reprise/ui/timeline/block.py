"""The base of everything that stands in a message: measured once per width, painted when visible, dropped after."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QRectF
from PySide6.QtGui import QPainter

from reprise.ui.timeline.selection import Place
from reprise.ui.timeline.sheet import Sheet


def tr(text: str) -> str:
    """The text in the user's language; blocks are no QObjects, so they speak in the timeline's context."""
    return QCoreApplication.translate("Timeline", text)


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that can be pressed.

    Attributes:
        kind: "link", "copy", "wrap", "fold", "note", "scroll", or below a message "action" or "branch".
        value: The link's address, or the action's name.
        rect: Where it is, in the block's coordinates.
        tip: Tooltip text.
    """

    kind: str
    value: str = ""
    rect: QRectF | None = None
    tip: str = ""


@dataclass(slots=True)
class Scene:
    """What painting depends on beside the block itself. Vertical bounds are in the block's coordinates."""

    top: float = 0
    bottom: float = 1e9
    selection: tuple[int, int] | None = None
    hover: Hit | None = None
    message_hovered: bool = False


class Block:
    """One leaf on the page. Coordinates start at the outer edge and the block's top; widths are the column's.

    Attributes:
        gap: Pixels between the block above and this one.
        height: Measured pixels, or an estimate before that.
        in_thinking: Belongs to opened reasoning: a bar stands before it.
        fold: Number of the fold this block is the inside of, -1 for none.
        place: Which block of its message it is, whatever stands before it.
    """

    gap = 0
    height = 0
    in_thinking = False
    fold = -1
    place: Place = (-1, 0)
    #: Text that can be selected. False for labels, notes and rules.
    selectable = False
    _measured = -1

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet

    def measure(self, width: int) -> int:
        """The exact height at a column of `width` pixels, cached."""
        if self._measured != width:
            self.height = self._layout(width)
            self._measured = width
        return self.height

    def invalidate(self) -> None:
        """Forget what was measured; the height stays as the estimate."""
        self._measured = -1
        self.release()

    def release(self) -> None:
        """Drop what painting needs; the height stays."""

    def _layout(self, width: int) -> int:
        raise NotImplementedError

    def paint(self, painter: QPainter, scene: Scene) -> None:
        """Paint with the painter's origin at the block's top left."""
        raise NotImplementedError

    def hit(self, x: float, y: float) -> Hit | None:
        """What a press at this point would do."""
        return None

    def length(self) -> int:
        """Offsets run from 0 to this (UTF-16 units)."""
        return 0

    def plain(self, start: int, end: int) -> str:
        """The text between two offsets as it is copied."""
        return ""

    @property
    def words(self) -> str:
        """The text that offsets count through, in UTF-16 units."""
        return ""

    def offset_at(self, x: float, y: float) -> int:
        """The offset nearest to a point."""
        return 0

    def caret(self, offset: int) -> tuple[float, float, float]:
        """Where a cursor stands before an offset: x, top and height of its line."""
        return self.sheet.inset, 0, self.height

    def rects(self, start: int, end: int) -> list[QRectF]:
        """What start..end covers, a rectangle for each line."""
        return []

    def step(self, offset: int, by: int, *, words: bool) -> int | None:
        """The offset one character or word on (`by` 1) or back (-1); `None` beyond the block's ends."""
        return None

    def line_ends(self, offset: int) -> tuple[int, int]:
        """The first and last offset on the line that holds `offset`."""
        return 0, self.length()

    def word_at(self, offset: int) -> tuple[int, int]:
        """The word around an offset."""
        return offset, offset

    def paragraph_at(self, offset: int) -> tuple[int, int]:
        """The paragraph or line around an offset."""
        return 0, self.length()

    def line_top(self, offset: int) -> float:
        """The top of the line that holds `offset`."""
        return 0

    @property
    def joint(self) -> str:
        """What separates this block from the one above in copied text."""
        return "\n\n"

    @property
    def prefix(self) -> str:
        """What stands before the text when it is copied from its beginning: a list item's marker."""
        return ""

    def end_point(self) -> tuple[float, float, float]:
        """Where the next letter would stand: x, top and height of its line."""
        return self.sheet.inset, 0, self.height
