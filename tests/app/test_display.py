"""A set but dead DISPLAY counts as none."""

from __future__ import annotations

import socket
from pathlib import Path

from reprise.app.display import has_display


def test_no_variable_means_no_display() -> None:
    assert not has_display({})


def test_a_dead_display_counts_as_none(tmp_path: Path) -> None:
    assert not has_display({"DISPLAY": ":6789"})
    assert not has_display({"DISPLAY": "nonsense"})
    assert not has_display({"WAYLAND_DISPLAY": "wayland-9", "XDG_RUNTIME_DIR": str(tmp_path)})


def test_a_display_that_answers_counts(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0/tmp/.X11-unix/X6788")
        server.listen()
        assert has_display({"DISPLAY": ":6788.0"})


def test_a_compositor_that_answers_counts(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "wayland-0"))
        server.listen()
        assert has_display({"WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": str(tmp_path)})
