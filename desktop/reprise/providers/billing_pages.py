"""Where an account is topped up: a fixed table by host, and never anything that a provider's reply says."""

from __future__ import annotations

from collections.abc import Mapping

BILLING_PAGES: Mapping[str, str] = {
    "api.openai.com": "https://platform.openai.com/settings/organization/billing",
    "api.anthropic.com": "https://console.anthropic.com/settings/billing",
    "openrouter.ai": "https://openrouter.ai/settings/credits",
    "api.deepseek.com": "https://platform.deepseek.com/top_up",
    "api.mistral.ai": "https://console.mistral.ai/billing",
    "api.groq.com": "https://console.groq.com/settings/billing",
    "api.together.xyz": "https://api.together.ai/settings/billing",
    "api.together.ai": "https://api.together.ai/settings/billing",
    "api.x.ai": "https://console.x.ai",
}
"""API host -> the page about its account's credit."""


def billing_page(host: str) -> str:
    """The page for the host of an address, exactly that host; "" where none is known."""
    return BILLING_PAGES.get(host.lower(), "")
