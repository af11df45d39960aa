"""Which models a run offers, who answers for them, and which key goes where."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from reprise.app.models import GIVEN, OWN, Models
from reprise.app.options import Options
from reprise.domain.failures import CompletionError, FailureKind
from reprise.domain.messages import ModelRef, user_message
from reprise.domain.models import CompletionRequest
from reprise.providers import builtin
from reprise.providers.builtin.supervisor import BuiltinModel, Failed, Loading
from reprise.providers.openai_compatible import OpenAICompatible
from reprise.storage.settings_file import SettingsFile
from reprise.storage.worker import Worker
from support.aio import Aio
from support.clock import ManualClock
from support.supervised import DIES, REFUSES, SERVES, SILENT, Supervised

OWN_MODEL = {"provider.url": "https://api.example.org", "provider.model": "large"}


class Stage:
    """Models over settings of a run, with a built-in model that is never really started unless one is given."""

    def __init__(
        self,
        folder: Path,
        options: Options | None = None,
        environ: dict[str, str] | None = None,
        model: BuiltinModel | None = None,
        **set_: Any,
    ) -> None:
        self.started = 0
        clock = ManualClock()
        options = options or Options()
        overrides = {key.replace("__", "."): value for key, value in set_.items()}
        settings = SettingsFile(folder / "settings.toml", Worker(), overrides)
        if model is None and not options.names_provider:
            model = BuiltinModel(folder, clock, lambda _: None)
        self.models = Models(options, settings, clock, model, self._start, environ or {})

    @property
    def builtin_reason(self) -> str | None:
        """Why the picker shows the built-in model disabled."""
        return next(info.unavailable for info in self.models.models() if info.ref == builtin.INFO.ref)

    def _start(self) -> None:
        self.started += 1

    def key_of(self, provider: str) -> str | None:
        """The key that would go to a provider's host."""
        made = self.models.provider(ModelRef(provider, "m"))
        assert isinstance(made, OpenAICompatible)
        return made.endpoint.key


def keys(values: dict[str, Any]) -> dict[str, Any]:
    """Dotted keys as keyword arguments."""
    return {key.replace(".", "__"): value for key, value in values.items()}


def test_a_given_provider_is_the_only_one(tmp_path: Path) -> None:
    stage = Stage(tmp_path, Options(provider_url="http://127.0.0.1:9/v1", model="small"))
    assert [info.ref for info in stage.models.models()] == [ModelRef(GIVEN, "small")]
    assert stage.models.default() == ModelRef(GIVEN, "small")
    stage.models.start()
    with pytest.raises(CompletionError):
        stage.models.provider(ModelRef(builtin.PROVIDER, "x"))


def test_the_built_in_model_is_the_default_and_starts_by_itself(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    assert stage.models.default() == builtin.INFO.ref
    stage.models.start()
    assert stage.started == 1


@pytest.mark.parametrize("code", [REFUSES, DIES, None], ids=["load error", "repeated deaths", "no fetch"])
def test_a_built_in_model_that_does_not_run_is_shown_disabled_with_the_reason(
    aio: Aio, tmp_path: Path, code: str | None
) -> None:
    """Choosable again when another try may go better; a prompt is taken meanwhile, and a retry of it tries again."""
    supervised = Supervised(code or SERVES)
    if code is None:
        supervised.found, supervised.fetches = None, ["No network.", None]
    stage = Stage(tmp_path, model=supervised.model)

    async def story() -> None:
        async with supervised.running() as model:
            assert stage.builtin_reason is None
            failed = await supervised.until(Failed)
            assert isinstance(failed, Failed)
            assert stage.builtin_reason == failed.sentence
            assert failed.sentence in (stage.models.why_unusable(builtin.INFO.ref) or "")
            assert stage.models.default() == builtin.INFO.ref
            await supervised.clock.advance(failed.again_at - supervised.clock.now())
            assert stage.builtin_reason is None
            if code is None:
                await model.ready()
                assert stage.builtin_reason is None

    aio(story())


def test_a_built_in_model_that_cannot_run_here_is_nobody_s_default(aio: Aio, tmp_path: Path) -> None:
    supervised = Supervised()
    supervised.reason = "No AVX2."
    stage = Stage(tmp_path, model=supervised.model)
    aio(supervised.model.run())
    assert stage.builtin_reason == "No AVX2."
    assert stage.models.default() is None
    assert "No AVX2." in stage.models.why_none()


def test_with_a_model_of_one_s_own_the_built_in_one_starts_only_when_asked(tmp_path: Path) -> None:
    stage = Stage(tmp_path, chat__provider=OWN, **keys(OWN_MODEL))
    assert stage.models.default() == ModelRef(OWN, "large")
    stage.models.start()
    assert stage.started == 0
    stage.models.provider(builtin.INFO.ref)
    assert stage.started == 1


def test_a_model_of_a_known_host_says_where_its_account_is_topped_up(tmp_path: Path) -> None:
    """UX 2, needs you: by the address in the settings, whatever the model is called."""
    stage = Stage(tmp_path, provider__url="https://openrouter.ai/api/v1", provider__model="m")
    pages = {info.ref.provider: info.billing_page for info in stage.models.models()}
    assert pages == {"builtin": "", OWN: "https://openrouter.ai/settings/credits", "echo": ""}


def test_half_a_provider_is_shown_with_the_reason(tmp_path: Path) -> None:
    stage = Stage(tmp_path, chat__provider=OWN, provider__url="https://api.example.org")
    (own,) = [info for info in stage.models.models() if info.ref.provider == OWN]
    assert own.unavailable
    assert stage.models.default() is None
    assert own.unavailable in stage.models.why_none()


def test_a_malformed_address_in_the_settings_is_a_sentence(tmp_path: Path) -> None:
    stage = Stage(tmp_path, chat__provider=OWN, provider__url="nonsense", provider__model="m")
    (own,) = [info for info in stage.models.models() if info.ref.provider == OWN]
    assert own.unavailable is not None
    assert "http" in own.unavailable
    with pytest.raises(CompletionError) as raised:
        stage.models.provider(own.ref)
    assert raised.value.failure.kind is FailureKind.BAD_REQUEST


def test_a_key_goes_only_where_it_belongs(tmp_path: Path) -> None:
    """Design rule 13."""
    environ = {"OPENAI_API_KEY": "sk-of-openai"}
    openai = Options(provider_url="https://api.openai.com", model="m")
    other = Options(provider_url="https://api.example.org", model="m")
    assert Stage(tmp_path, openai, environ).key_of(GIVEN) == "sk-of-openai"
    assert Stage(tmp_path, other, environ).key_of(GIVEN) is None
    assert Stage(tmp_path, other, {**environ, "REPRISE_API_KEY": "mine"}).key_of(GIVEN) == "mine"


def test_a_variable_that_the_settings_name_and_nobody_set_is_said_before_anything_is_sent(tmp_path: Path) -> None:
    """Behaviour P9."""
    stage = Stage(tmp_path, chat__provider=OWN, provider__key="$MY_KEY", **keys(OWN_MODEL))
    with pytest.raises(CompletionError) as raised:
        stage.models.provider(ModelRef(OWN, "large"))
    assert raised.value.failure.kind is FailureKind.AUTH
    assert "MY_KEY" in raised.value.failure.message


def test_a_key_for_this_run_wins(tmp_path: Path) -> None:
    stage = Stage(tmp_path, None, {"MY_KEY": "old"}, chat__provider=OWN, provider__key="$MY_KEY", **keys(OWN_MODEL))
    assert stage.key_of(OWN) == "old"
    stage.models.use_key(OWN, " new \n")
    assert stage.key_of(OWN) == "new"
    with pytest.raises(ValueError, match="ASCII"):
        stage.models.use_key(OWN, "schlüssel")


def test_one_provider_is_made_once(tmp_path: Path) -> None:
    stage = Stage(tmp_path, Options(provider_kind="echo"))
    ref = stage.models.default()
    assert ref is not None
    assert stage.models.provider(ref) is stage.models.provider(ref)


def test_a_stop_while_the_built_in_model_loads_is_a_stop(aio: Aio, tmp_path: Path) -> None:
    """F37: no failure comes of it, and the model goes on loading for whoever asks next."""
    supervised = Supervised(SILENT)
    stage = Stage(tmp_path, model=supervised.model)
    request = CompletionRequest(builtin.INFO.ref, (user_message("Hi"),))

    async def story() -> None:
        async with supervised.running() as model:
            await supervised.until(Loading)

            async def consume() -> None:
                async for _ in stage.models.provider(builtin.INFO.ref).stream(request):
                    pass

            asking = asyncio.ensure_future(consume())
            await asyncio.sleep(0)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert isinstance(model.state, Loading)

    aio(story())
