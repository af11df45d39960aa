"""The composition root."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprise.app import compose as root
from reprise.app.options import Options
from reprise.app.paths import open_data_dir
from reprise.bridge.services import Services
from reprise.bridge.tasks import TaskScope
from reprise.domain.events import Answer
from support.aio import Aio
from support.clock import ManualClock


@pytest.mark.parametrize("scripted", [True, False])
def test_in_a_scripted_run_every_question_counts_as_no(
    aio: Aio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripted: bool
) -> None:
    """A window asks in its timeline (`questions` None) instead."""
    built: list[Services] = []
    library = root.Library

    def watch(services: Services, scope: TaskScope) -> object:
        built.append(services)
        return library(services, scope)

    monkeypatch.setattr(root, "Library", watch)

    async def story() -> None:
        options = Options(provider_kind="echo", say="hello", quit_when_done=scripted)
        scope = TaskScope("test")
        parts = await root.compose(options, open_data_dir(tmp_path), {}, ManualClock(), scope, lambda _state: None)
        (services,) = built
        asked = None if services.questions is None else await services.questions.round_limit(32)
        assert asked is (Answer.STOP if scripted else None)
        await scope.close()
        await parts.store.close()

    aio(story())
