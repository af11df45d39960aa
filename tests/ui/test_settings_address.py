"""An address may be typed without its scheme."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reprise.ui.settings.pages import with_scheme
from support.window import WindowStage


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("localhost:11434/v1", "http://localhost:11434/v1"),
        ("192.168.1.7:1234", "http://192.168.1.7:1234"),
        ("172.20.0.2", "http://172.20.0.2"),
        ("172.40.0.2", "https://172.40.0.2"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("box.local", "http://box.local"),
        ("api.example.org/v1", "https://api.example.org/v1"),
    ],
)
def test_the_scheme_that_is_left_out_is_the_one_that_is_meant(typed: str, meant: str) -> None:
    """The key of a service never goes out in plain text because five letters were not typed."""
    assert with_scheme(typed) == meant


@pytest.mark.slow_callbacks
def test_the_field_shows_and_stores_the_whole_address(act: Callable[..., None]) -> None:
    """UX 1: one's own model in the first minute."""

    async def scene(stage: WindowStage) -> None:
        stage.window.commands.action("settings").trigger()
        await stage.drain()
        field = stage.window.deeds._settings.model_page.address
        field.setText("127.0.0.1:8080")
        field.editingFinished.emit()
        await stage.drain()
        assert field.text() == "http://127.0.0.1:8080"
        assert stage.preferences.value("provider.url") == "http://127.0.0.1:8080"

    act(scene)
