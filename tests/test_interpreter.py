"""The installed pair of CPython and PySide6 keeps its references."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtWidgets import QWidget


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal from Python 3.12 on")
def test_void_qt_calls_do_not_drop_references_to_none(qapp: object) -> None:
    """Design rule 7.1: PySide6 6.12.0 on CPython < 3.12 aborts after some thousand such calls."""
    widget = QWidget()
    before = sys.getrefcount(None)
    for _ in range(1000):
        widget.setWindowTitle("x")
    assert sys.getrefcount(None) > before - 500
