"""What is asked of a model, and what is known about one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reprise.domain.messages import Message, ModelRef


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model as the picker shows it. `unavailable` says in one sentence why it cannot be chosen now.

    `billing_page` is where its provider's account is topped up; "" where that is not known.
    """

    ref: ModelRef
    label: str
    provider_label: str = ""
    is_local: bool = False
    tools: bool = True
    unavailable: str | None = None
    billing_page: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """How a model is reached.

    `limits` names the provider and key whose rate limits its requests share (never the key itself; behaviour D3).
    `is_local` = on this machine: never held offline (D14). `prefills` = it goes on from an assistant message at the
    end of a request as if the words were its own.
    """

    limits: str
    is_local: bool = False
    prefills: bool = False


@dataclass(frozen=True, slots=True)
class Parameters:
    """Sampling and length of one request; `None` leaves the provider's default."""

    system_prompt: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stream: bool = True


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it; `schema` is a JSON Schema object for its arguments."""

    name: str
    description: str
    schema: dict[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One request: the context of the active branch, in order, ending with what is to be answered."""

    model: ModelRef
    messages: tuple[Message, ...]
    parameters: Parameters = Parameters()
    tools: tuple[ToolSpec, ...] = ()
