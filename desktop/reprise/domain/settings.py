"""The settings there are: keys, defaults, limits, and what a value from a file or a command line becomes.

This is the one module of `domain` that uses pydantic; it is imported after the first paint. What leaves it are plain
values and `SettingsProblem`s, so that nobody above needs pydantic.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from reprise.domain.failures import AFTER_CAP_S
from reprise.domain.ports import SettingsProblem
from reprise.domain.retry import CEILING_S

Seconds = Annotated[float, Field(gt=0, le=86_400)]

_VARIABLE = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*\Z")


def _variable(value: str) -> str:
    if value and not _VARIABLE.match(value):
        raise ValueError(
            "it has to name an environment variable, like $REPRISE_API_KEY: "
            "keys are not written to the file in this version"
        )
    return value


def _model(value: str) -> str:
    provider, colon, model = value.partition(":")
    if value and not (colon and provider.strip() and model.strip()):
        raise ValueError("it has to name a provider and a model, like own:gpt-4o-mini")
    return value


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, allow_inf_nan=False, str_strip_whitespace=True)


class Chat(_Section):
    """Who answers a new chat."""

    provider: Literal["builtin", "own", "echo"] = Field("builtin", description="builtin, own (see provider) or echo")


class Provider(_Section):
    """The server of one's own."""

    url: str = Field("", description="the server's address, like http://localhost:11434")
    model: str = Field("", description="the model's name there")
    key: Annotated[str, AfterValidator(_variable)] = Field(
        "", description="the environment variable that holds the key, like $REPRISE_API_KEY"
    )


class Retry(_Section):
    """When to try again by itself (behaviour D2-D4, D14)."""

    policy: Literal["steady", "exponential", "custom", "off"] = Field(
        "steady", description="steady, exponential, custom or off"
    )
    max_retries: Annotated[int, Field(ge=0, le=1000)] | None = Field(
        None, description="retries in a row; 5 by default under exponential and custom"
    )
    base_s: Seconds = Field(1.0, description="first wait of exponential and custom, in seconds")
    cap_s: Seconds = Field(60.0, description="longest wait of exponential and custom, in seconds")
    jitter: bool = Field(False, description="shorten scheduled waits at random, by up to half")
    after_cap_s: Seconds = Field(AFTER_CAP_S, description="longest wait a provider may ask for without a question")
    ceiling_s: Seconds = Field(CEILING_S, description="most waiting of one turn, in seconds")
    hold_offline: bool = Field(True, description="while the system is offline wait without using up retries")
    fallback: Annotated[str, AfterValidator(_model)] = Field(
        "", description="who answers when retries are used up, like own:gpt-4o-mini; empty for nobody"
    )
    per_provider: dict[str, Literal["steady", "exponential", "custom", "off"]] = Field(
        {}, description='policies of single providers, like { builtin = "off" }'
    )


class Network(_Section):
    """How long silence is patience."""

    connect_timeout_s: Seconds = Field(10.0, description="for the connection, in seconds")
    first_byte_timeout_s: Seconds = Field(600.0, description="for the reply's first byte, in seconds")
    idle_timeout_s: Seconds = Field(120.0, description="between two bytes, in seconds")


class Turn(_Section):
    """What a turn may do by itself."""

    keep_on_followup: bool = Field(True, description="a new message keeps a stopped reply's text")
    auto_continue: Annotated[int, Field(ge=0, le=2)] = Field(0, description="go on from a cut reply, 0 to 2 times")
    max_rounds: Annotated[int, Field(ge=1, le=1000)] = Field(32, description="tool rounds before a question")
    queue: Literal["one", "all"] = Field("one", description="how many queued messages are delivered at once")


class Appearance(_Section):
    """How the window looks."""

    scheme: Literal["system", "light", "dark"] = Field("system", description="system, light or dark")
    zoom: Annotated[float, Field(ge=0.5, le=3)] = Field(1.0, description="0.5 to 3")


class Notifications(_Section):
    """What is said outside the window."""

    enabled: bool = Field(True, description="say when a turn ends, fails or asks while the window is not in front")


class Tools(_Section):
    """Tools of the model."""

    enabled: bool = Field(False, description="offer tools where nobody can be asked, as with --quit-when-done")


class Echo(_Section):
    """The scripted model that needs no network."""

    script: str = Field("", description="a file with what it answers")


SECTIONS: Mapping[str, type[_Section]] = {
    "chat": Chat,
    "provider": Provider,
    "retry": Retry,
    "network": Network,
    "turn": Turn,
    "appearance": Appearance,
    "notifications": Notifications,
    "tools": Tools,
    "echo": Echo,
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One key: `default` as a plain value (None = not set), `help` as a comment in the file says it."""

    key: str
    default: Any
    help: str
    is_text: bool
    _section: type[_Section]
    _name: str

    def check(self, value: Any) -> Any:
        """`value` as this setting holds it. Raises ValueError with one sentence; None is the default."""
        if value is None:
            return self.default
        try:
            # The other fields have defaults, so what is wrong is this one.
            return getattr(self._section.model_validate({self._name: value}), self._name)
        except ValidationError as error:
            raise ValueError(self._sentence(value, error)) from None

    def _sentence(self, value: Any, error: ValidationError) -> str:
        details = error.errors(include_url=False, include_input=False)
        reason = details[0]["msg"].removeprefix("Value error, ").replace("Input should", "it should")
        # The value of a wrong key may be the key itself: it is never repeated.
        shown = "" if self.key == "provider.key" else f" = {_shown(value)}"
        return f"{self.key}{shown} cannot be used: {reason}."


def _settings() -> Iterator[Setting]:
    for section, model in SECTIONS.items():
        for name, info in model.model_fields.items():
            is_text = info.annotation is str
            yield Setting(f"{section}.{name}", info.default, info.description or "", is_text, model, name)


SETTINGS: Mapping[str, Setting] = {setting.key: setting for setting in _settings()}
"""Every key, in the order of the file."""


def setting(key: str) -> Setting:
    """The setting called `key`. Raises ValueError with one sentence that names the nearest key."""
    found = SETTINGS.get(key)
    if found is not None:
        return found
    near = get_close_matches(key, SETTINGS, 1, 0.6)
    hint = f"; did you mean {near[0]}?" if near else "."
    raise ValueError(f"There is no setting called {_shown(key)}{hint}")


def read(values: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[SettingsProblem, ...]]:
    """The known keys that parsed TOML sets, checked, and what was set aside; one bad value costs no other."""
    good: dict[str, Any] = {}
    problems: list[SettingsProblem] = []
    for key, value in _flat(values):
        try:
            if key in SECTIONS:
                raise ValueError(f"{key} has to be a section, [{key}].")
            good[key] = setting(key).check(value)
        except ValueError as error:
            problems.append(SettingsProblem(key, str(error)))
    return good, tuple(problems)


def parse_override(text: str) -> tuple[str, Any]:
    """``KEY=VALUE`` of a command line: TOML values, and bare words are text (behaviour D17).

    Raises ValueError with one sentence.
    """
    key, equals, raw = text.partition("=")
    if not equals:
        raise ValueError(f"{_shown(text)} is not KEY=VALUE.")
    found = setting(key.strip())
    value = _toml_value(raw.strip())
    if found.is_text and not isinstance(value, str):
        value = raw.strip()
    return found.key, found.check(value)


def _flat(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for section, content in values.items():
        if section in SECTIONS and isinstance(content, Mapping):
            yield from ((f"{section}.{name}", value) for name, value in content.items())
        else:
            yield section, content


def _toml_value(raw: str) -> Any:
    try:
        # One value and nothing behind it: a line break would begin a key of its own.
        return tomllib.loads(f"value = {raw}")["value"] if raw and "\n" not in raw else raw
    except tomllib.TOMLDecodeError:
        return raw


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
