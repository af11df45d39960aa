"""The composition root: plain constructor calls that plug the drivers into the ports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from reprise.app.models import Models
from reprise.app.options import Options
from reprise.app.paths import DataDir, models_dir
from reprise.app.reachability import SystemReachability, system_reachability
from reprise.bridge.library import Library
from reprise.bridge.preferences import Preferences
from reprise.bridge.services import Services
from reprise.bridge.tasks import TaskScope
from reprise.domain.events import Answer
from reprise.domain.ports import Clock, LogError
from reprise.engine.holds import Holds
from reprise.providers.builtin.supervisor import BuiltinModel, State
from reprise.storage.settings_file import SettingsFile
from reprise.storage.store import Store
from reprise.storage.worker import Worker
from reprise.ui.boot_banner import Notice
from reprise.ui.window import MainWindow


class NobodyAnswers:
    """`ports.Questions` where there is nobody to ask: every question counts as no."""

    async def round_limit(self, rounds: int) -> Answer:
        """Stop."""
        return Answer.STOP


@dataclass(frozen=True, slots=True)
class Composition:
    """Everything that runs, wired."""

    store: Store
    settings: SettingsFile
    models: Models
    library: Library
    preferences: Preferences


async def compose(
    options: Options,
    data: DataDir,
    overrides: Mapping[str, Any],
    clock: Clock,
    scope: TaskScope,
    on_builtin_state: Callable[[State], None],
) -> Composition:
    """Open the store and build what stands on it. Raises LogError with a sentence when the data cannot be used."""
    worker = Worker()
    store = await Store.open(data.root, clock, worker)
    settings = SettingsFile(data.settings, worker, overrides)
    if options.model is not None and not options.names_provider:
        if not settings.values()["provider.url"]:
            await store.close()
            raise LogError("--model needs --provider-url, or an address in the settings.")
        own = {"chat.provider": "own", "provider.model": options.model}
        settings = SettingsFile(data.settings, worker, {**overrides, **own})
    builtin = None if options.names_provider else BuiltinModel(models_dir(), clock, on_builtin_state)

    @cache
    def start_builtin() -> None:
        if builtin is not None:
            scope.start(builtin.run(), name="built-in model")

    models = Models(options, settings, clock, builtin, start_builtin)
    preferences = Preferences(settings, scope)
    services = Services(
        log=store.log,
        sessions=store.sessions,
        drafts=store.drafts,
        catalog=models,
        clock=clock,
        tools=None,
        questions=NobodyAnswers() if options.quit_when_done else None,
        policy=preferences.retry_policy,
        parameters=models.parameters,
        rng=Random(),
        auto_continue=lambda: int(preferences.value("turn.auto_continue")),
        max_rounds=lambda: int(preferences.value("turn.max_rounds")),
        holds=Holds(clock),
        # A scripted run is never held: whoever started it waits for its end (behaviour D14).
        reachability=SystemReachability(None) if options.quit_when_done else system_reachability(),
        hold_offline=lambda: bool(preferences.value("retry.hold_offline")),
        queue_mode=lambda: str(preferences.value("turn.queue")),
        keep_on_followup=lambda: bool(preferences.value("turn.keep_on_followup")),
    )
    return Composition(store, settings, models, Library(services, scope), preferences)


def fill(window: MainWindow, parts: Composition, clock: Clock) -> None:
    """Put everything that runs behind the window, once the sessions are read; say what the last life left behind."""

    def use_key(key: str) -> None:
        model = parts.library.current.model
        try:
            parts.models.use_key(model.provider if model is not None else "", key)
        except ValueError as error:
            window.add_notice(Notice(str(error)))

    # Before the window's own listeners, which retry right after.
    window.key_entered.connect(use_key)
    window.attach(parts.library, parts.preferences, parts.models, clock)
    window.sessions.tell_interrupted(parts.store.interrupted)
