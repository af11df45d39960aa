"""Menus and their entries."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from reprise.ui.menus import ASIDE_CHARS, add_choice, make_menu


@pytest.mark.parametrize(("aside", "cut"), [("Offline", False), ("a library is missing " * 8, True)])
def test_a_long_reason_is_cut_visibly_in_the_list_and_whole_in_the_tooltip(
    qapp: QApplication, aside: str, cut: bool
) -> None:
    """A menu wider than the screen would lose its end without a sign."""
    parent = QWidget()
    menu = make_menu(parent)
    action = add_choice(menu, "Small", aside, enabled=False, checked=False)
    shown = action.text().removeprefix("Small\t")
    assert shown.endswith("…") is cut
    assert (shown == aside) is not cut
    assert menu.fontMetrics().horizontalAdvance(shown) <= ASIDE_CHARS * menu.fontMetrics().averageCharWidth()
    assert action.toolTip() == aside
    parent.deleteLater()
