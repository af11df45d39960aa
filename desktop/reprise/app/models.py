"""The models there are in this run: `ports.Catalog` over the command line, the settings and the built-in model."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from reprise.app.options import Options
from reprise.domain.deltas import Delta
from reprise.domain.failures import CompletionError, Failure, FailureKind
from reprise.domain.messages import ModelRef
from reprise.domain.models import CompletionRequest, ModelInfo, Parameters, Route
from reprise.domain.ports import Clock, CompletionProvider, SettingsStore
from reprise.providers import builtin
from reprise.providers.billing_pages import billing_page
from reprise.providers.builtin.supervisor import BuiltinModel, Unavailable
from reprise.providers.catalog import Provider, ProviderEntry, Surroundings, make_provider
from reprise.providers.endpoint import KEY_VARIABLE, Timeouts, base_url, clean_key, is_loopback, key_for

GIVEN = "given"
OWN = "own"
ECHO = "echo"

_ECHO = ModelInfo(ModelRef(ECHO, "echo"), "Echo", "Offline", is_local=True, tools=False)


class Models:
    """What the picker offers and who answers.

    With a provider on the command line there is that one and nothing else, and nothing is started or asked in the
    background. Keys given in the window are kept for this run only.
    """

    def __init__(
        self,
        options: Options,
        settings: SettingsStore,
        clock: Clock,
        builtin_model: BuiltinModel | None,
        start_builtin: Callable[[], None],
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._options = options
        self._settings = settings
        self._clock = clock
        self._builtin = builtin_model
        self._start_builtin = start_builtin
        self._environ = environ
        self._run_keys: dict[str, str] = {}
        self._made: dict[tuple[ProviderEntry, Surroundings], Provider] = {}

    def models(self) -> tuple[ModelInfo, ...]:
        """The given model alone, else the built-in one, one's own, and echo."""
        if (given := self._given()) is not None:
            return (given,)
        own = self._own()
        return (*([self._builtin_info()] if self._builtin else []), *([own] if own else []), _ECHO)

    def default(self) -> ModelRef | None:
        """The model of a new chat: the given one, else what the settings name as far as it can answer.

        The built-in one too while it does not run but may: a question makes it try again, and no prompt is lost.
        """
        if (given := self._given()) is not None:
            return given.ref
        wanted = self._settings.values()["chat.provider"]
        if wanted == builtin.PROVIDER and self._builtin and not isinstance(self._builtin.state, Unavailable):
            return builtin.INFO.ref
        for info in self.models():
            if info.ref.provider == wanted and info.unavailable is None:
                return info.ref
        own = self._own()
        return own.ref if own is not None and own.unavailable is None else None

    def why_none(self) -> str:
        """The sentence for a run that has no model to ask."""
        reasons = [info.unavailable for info in self.models() if info.unavailable]
        reason = f"{reasons[0]} " if reasons else ""
        return (
            f"There is no usable model: {reason}Name one with --provider-url and --model, or use --provider-kind echo."
        )

    def why_unusable(self, ref: ModelRef | None) -> str | None:
        """The same sentence for a run whose model turned out not to answer here; None when it can."""
        info = None if ref is None else self.info(ref)
        return None if info is None or info.unavailable is None else self.why_none()

    def start(self) -> None:
        """Let the built-in model run from the start if it answers new chats; else it starts when it is asked."""
        if self._settings.values()["chat.provider"] == builtin.PROVIDER:
            self._start_builtin()

    def info(self, ref: ModelRef) -> ModelInfo | None:
        """What is known about a model, if it is offered in this run."""
        return next((info for info in self.models() if info.ref == ref), None)

    def fallback(self) -> ModelRef | None:
        """The model the settings name for when another one's retries are used up, if it is offered and can answer.

        The one model of a run that names it has no other behind it.
        """
        provider, _, model = self._settings.values()["retry.fallback"].partition(":")
        info = self.info(ModelRef(provider.strip(), model.strip()))
        return None if info is None or info.unavailable else info.ref

    def route(self, ref: ModelRef) -> Route:
        """Whose limits a model's requests share, and whether it is on this machine."""
        if ref.provider == builtin.PROVIDER:
            return Route(builtin.PROVIDER, is_local=True, prefills=True)
        try:
            entry = self._entry(ref.provider)
        except (CompletionError, ValueError):
            entry = None
        if entry is None or not entry.url:
            return Route(ref.provider, is_local=True)
        # Two keys are told apart, in this process alone, and neither can be read from it.
        limits = f"{_origin(entry.url)} {hash(entry.api_key)}"
        return Route(limits, is_local=is_loopback(_host(entry.url)))

    def parameters(self, ref: ModelRef) -> Parameters:
        """What a model's requests carry beside the messages."""
        return builtin.PARAMETERS if ref.provider == builtin.PROVIDER else Parameters()

    def provider(self, ref: ModelRef) -> CompletionProvider:
        """Who answers for `ref`. Raises CompletionError with a sentence when nobody does."""
        if ref.provider == builtin.PROVIDER and self._builtin is not None:
            self._start_builtin()
            return _BuiltinProvider(self._builtin, self._at_address)
        try:
            entry = self._entry(ref.provider)
            if entry is None:
                words = f"The provider of {ref.model} is not set up here. Choose another model."
                raise CompletionError(Failure(FailureKind.BAD_REQUEST, words, retryable=False))
            return self._provider(entry)
        except ValueError as error:
            raise CompletionError(Failure(FailureKind.BAD_REQUEST, str(error), retryable=False)) from error

    def use_key(self, provider: str, key: str) -> None:
        """Keep a key for this run. Raises ValueError when it cannot be sent.

        It goes to the host of now only. A model that needs none (built in, echo) means one's own server.
        """
        url = self._options.provider_url if provider == GIVEN else self._settings.values()["provider.url"]
        if not url:
            raise ValueError("Enter the address first: a key is kept for its host alone.")
        self._run_keys[_origin(url)] = clean_key(key)

    async def aclose(self) -> None:
        """Close what is open."""
        for provider in self._made.values():
            await provider.aclose()

    def _given(self) -> ModelInfo | None:
        options = self._options
        if options.provider_kind == ECHO:
            return ModelInfo(ModelRef(ECHO, options.model or "echo"), options.model or "Echo", "Offline", is_local=True)
        if options.provider_url is None:
            return None
        model = options.model or "default"
        host = _host(options.provider_url)
        return ModelInfo(ModelRef(GIVEN, model), model, host, billing_page=billing_page(host))

    def _own(self) -> ModelInfo | None:
        values = self._settings.values()
        url, model = values["provider.url"], values["provider.model"]
        if not url and not model:
            return None
        reason = None if url and model else "Settings need both its address and its model's name."
        if url and reason is None:
            try:
                base_url(url)
            except ValueError as error:
                reason = str(error)
        host, label = _host(url), model or "Your own model"
        return ModelInfo(ModelRef(OWN, model), label, host, unavailable=reason, billing_page=billing_page(host))

    def _builtin_info(self) -> ModelInfo:
        return replace(builtin.INFO, unavailable=self._builtin.why_not if self._builtin else None)

    def _entry(self, provider: str) -> ProviderEntry | None:
        if provider == ECHO:
            return ProviderEntry(ECHO, "echo", "Echo")
        if provider == GIVEN and (url := self._options.provider_url) is not None:
            return ProviderEntry(GIVEN, "openai", "", url, self._run_key(url) or key_for(url, self._environ))
        values = self._settings.values()
        if provider == OWN and (url := values["provider.url"]):
            key = self._run_key(url) or self._own_key(url, values["provider.key"])
            return ProviderEntry(OWN, "openai", "", url, key)
        return None

    def _run_key(self, url: str) -> str | None:
        return self._run_keys.get(_origin(url))

    def _own_key(self, url: str, variable: str) -> str | None:
        if not variable:  # the common variable is for an address on the command line, not for any in the settings
            return key_for(url, {name: key for name, key in self._environ.items() if name != KEY_VARIABLE})
        name = variable.removeprefix("$")
        if key := self._environ.get(name, "").strip():
            return key
        words = f"The environment variable {name}, which Settings name for the key, is not set."
        raise CompletionError(Failure(FailureKind.AUTH, words, retryable=False))

    def _at_address(self, url: str, key: str) -> CompletionProvider:
        # llama.cpp's server closes kept connections by itself.
        entry = ProviderEntry(builtin.PROVIDER, "openai", builtin.INFO.label, url, key, keep_alive=False)
        return self._provider(entry)

    def _provider(self, entry: ProviderEntry) -> Provider:
        surroundings = self._surroundings()
        made = self._made.get((entry, surroundings))
        if made is None:
            made = self._made[entry, surroundings] = make_provider(entry, surroundings)
        return made

    def _surroundings(self) -> Surroundings:
        values = self._settings.values()
        script = values["echo.script"]
        return Surroundings(
            self._clock,
            Timeouts(
                values["network.connect_timeout_s"],
                values["network.first_byte_timeout_s"],
                values["network.idle_timeout_s"],
            ),
            values["retry.after_cap_s"],
            Path(script) if script else None,
        )


def _origin(url: str) -> str:
    """Scheme, host and port: whom a key belongs to. ValueError for a malformed address."""
    parts = urlsplit(base_url(url))
    return f"{parts.scheme}://{parts.netloc}"


def _host(url: str) -> str:
    """The host an address names; "" for none and for a malformed one."""
    try:
        return urlsplit(base_url(url)).hostname or ""
    except ValueError:
        return ""


@dataclass(frozen=True, slots=True)
class _BuiltinProvider:
    """Waits until the built-in model answers, then speaks to it like to any other server."""

    model: BuiltinModel
    at: Callable[[str, str], CompletionProvider]

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Delta]:
        """The deltas of the reply; CompletionError when the model cannot run."""
        url, key = await self.model.ready()
        async for delta in self.at(url, key).stream(request):
            yield delta
