"""The built-in model answers in the window, offscreen."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from support.process import reprise


def test_the_built_in_model_answers(tmp_path: Path) -> None:
    """The set-up fetches its file; with none here this fails, so that a green run means it answered."""

    async def story() -> None:
        env = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        run = await reprise(
            *("--data-dir", str(tmp_path), "--say", "Name three colours.", "--quit-when-done", "--json"),
            *("--screenshot", str(tmp_path / "window.png")),
            env=env,
        )
        seen = run.json()
        assert (run.code, seen["status"], seen["failure"]) == (0, "completed", None), run
        assert len(seen["text"].split()) >= 3
        assert seen["usage"]["input"] > 10
        assert (tmp_path / "window.png").stat().st_size > 10_000

    asyncio.run(story())
