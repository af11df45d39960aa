"""The composer stays quick with a text that is far longer than anybody types, and loses none of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QObject, Qt
from PySide6.QtGui import QInputMethodEvent, QTextDocument, QTextOption
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from reprise.ui.composer import Composer
from reprise.ui.editor import CARET_ROOM
from reprise.ui.style import Appearance
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.window_state import WindowState

UNBROKEN = "x" * 300_000
WORDS = "word " * 200_000
SHORT_LINES = "ab\n" * 20_000
LIMIT = 320
TALLEST = 13 + 11 * 22 + 48  # whole lines of 22 px, between the margin above and the button's row
ANYWHERE = QTextOption.WrapMode.WrapAnywhere

pytestmark = pytest.mark.usefixtures("qapp")


class Layouts(QObject):
    """How often a document was laid out: its layout asks for one repaint each time."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self.count = 0
        document.documentLayout().update.connect(self._one_more)

    def _one_more(self) -> None:
        self.count += 1


@pytest.fixture
def composer(resources: Path, qtbot: QtBot) -> Composer:
    """A composer of 760 px that may grow to `LIMIT`."""
    made = Composer(Appearance(resources, load_theme(resources, Scheme.LIGHT), WindowState(None)))
    made.resize(760, 48)
    made.set_limit(LIMIT)
    qtbot.addWidget(made)
    made.show()
    return made


def paste(composer: Composer, text: str) -> None:
    """As Ctrl+V does, without the machine's clipboard."""
    data = QMimeData()
    data.setText(text)
    composer.editor.insertFromMimeData(data)


def wrap(composer: Composer) -> QTextOption.WrapMode:
    return composer.editor.document().defaultTextOption().wrapMode()


def bar(composer: Composer) -> bool:
    return composer.editor.verticalScrollBarPolicy() is Qt.ScrollBarPolicy.ScrollBarAlwaysOn


def type_one(composer: Composer) -> None:
    QTest.keyClick(composer.editor, Qt.Key.Key_K)


def compose_one(composer: Composer) -> None:
    commit = QInputMethodEvent("", [])
    commit.setCommitString("日")
    QApplication.sendEvent(composer.editor, commit)


@pytest.mark.parametrize("text", [UNBROKEN, WORDS, SHORT_LINES], ids=["unbroken", "words", "short lines"])
def test_a_huge_paste_arrives_whole_in_a_box_at_its_limit_with_its_bar(composer: Composer, text: str) -> None:
    """I1, ux section 3: 40 % of the window, then it scrolls."""
    paste(composer, text)
    assert composer.text() == text
    assert composer.height() == TALLEST
    assert bar(composer)
    assert composer.button.isEnabled()


@pytest.mark.parametrize("text", [UNBROKEN, WORDS, SHORT_LINES], ids=["unbroken", "words", "short lines"])
def test_a_huge_paste_is_laid_out_once(composer: Composer, text: str) -> None:
    """Performance: the rest of a paste's layouts are of the text that was there before."""
    long_ones: list[int] = []
    document = composer.editor.document()
    document.documentLayout().update.connect(lambda: long_ones.append(document.characterCount()))
    paste(composer, text)
    assert len([size for size in long_ones if size > len(text) // 2]) == 1


@pytest.mark.parametrize("text", [UNBROKEN, WORDS, SHORT_LINES], ids=["unbroken", "words", "short lines"])
@pytest.mark.parametrize("key", [type_one, compose_one])
def test_a_key_in_a_huge_text_costs_one_layout(composer: Composer, text: str, key: Callable[[Composer], None]) -> None:
    """Performance: Qt's own, for the line the key is in."""
    paste(composer, text)
    layouts = Layouts(composer.editor.document())
    key(composer)
    assert layouts.count == 1
    assert len(composer.text()) == len(text) + 1
    assert composer.height() == TALLEST


def test_undo_takes_a_huge_paste_away_and_redo_brings_it_back(composer: Composer) -> None:
    """ux section 4: the quick layout is no step of the history, and ends with the text it is for."""
    kerned = composer.editor.document().defaultFont().kerning()
    paste(composer, UNBROKEN)
    assert wrap(composer) is ANYWHERE
    composer.editor.undo()
    assert composer.text() == ""
    assert wrap(composer) is not ANYWHERE
    assert composer.editor.document().defaultFont().kerning() == kerned
    assert composer.height() == 48
    assert not bar(composer)
    composer.editor.redo()
    assert composer.text() == UNBROKEN
    assert wrap(composer) is ANYWHERE
    assert composer.height() == TALLEST


def test_no_character_of_a_paste_becomes_another(composer: Composer) -> None:
    """I1: what is sent is what was pasted."""
    text = "10\u00a0km\tfür\u202fe\u0301 \U0001f469\u200d\U0001f4bb\n\n  end "
    paste(composer, text)
    assert composer.text() == composer.editor.toPlainText() == text


def test_words_never_break_inside_however_many_they_are(composer: Composer) -> None:
    """ux section 3: only a word of thousands of characters does."""
    paste(composer, WORDS)
    assert wrap(composer) is not ANYWHERE


def test_a_sent_huge_text_leaves_an_ordinary_field(composer: Composer) -> None:
    """L1: what is typed next looks as it always does."""
    paste(composer, UNBROKEN)
    composer.forget("", UNBROKEN)
    QTest.keyClicks(composer.editor, "hello")
    assert composer.text() == "hello"
    assert wrap(composer) is not ANYWHERE
    assert composer.height() == 48


def test_a_huge_text_keeps_its_layout_while_another_session_is_shown(composer: Composer) -> None:
    """I1: an editor gives each document it shows its own way to wrap."""
    composer.show_session("long", None)
    paste(composer, UNBROKEN)
    document = composer.editor.document()
    composer.show_session("other", None)
    assert wrap(composer) is not ANYWHERE
    assert composer.height() == 48
    layouts = Layouts(document)
    composer.show_session("long", None)
    assert layouts.count <= 3
    assert wrap(composer) is ANYWHERE
    assert composer.text() == UNBROKEN
    assert composer.height() == TALLEST


def test_the_box_grows_a_line_at_a_time_and_shows_its_bar_only_at_its_limit(composer: Composer) -> None:
    """ux section 3: 22 px a line."""
    heights = []
    for count in range(1, 14):
        composer.set_text("\n".join(["line"] * count))
        heights.append((composer.height(), bar(composer)))
    grown = [(48, False)] + [(13 + count * 22 + 48, False) for count in range(2, 12)]
    assert heights == [*grown, (TALLEST, True), (TALLEST, True)]


def test_a_line_as_wide_as_the_field_moves_the_button_under_it(composer: Composer) -> None:
    """ux section 3: one line has the button beside it; the first that is too wide has it below."""
    composer.set_text("a short line")
    assert composer.height() == 48
    composer.set_text("a much longer line " * 8)
    assert composer.height() > 48
    assert composer.editor.document().textWidth() == 760 - 2 * 16 + 2 * CARET_ROOM


def test_a_long_blank_text_is_blank_and_one_word_behind_it_is_not(composer: Composer) -> None:
    """I1: blank input is ignored, however long."""
    paste(composer, " \n" * 3_000)
    assert not composer.button.isEnabled()
    QTest.keyClicks(composer.editor, "k")
    assert composer.button.isEnabled()
