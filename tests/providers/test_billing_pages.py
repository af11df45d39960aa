"""Which page the window may open for an empty account."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from reprise.providers.billing_pages import BILLING_PAGES, billing_page


def test_every_page_is_a_plain_https_address_of_the_provider_s_own_domain() -> None:
    """UX 2: only our own table, and only https."""
    for host, page in BILLING_PAGES.items():
        parts = urlsplit(page)
        assert (parts.scheme, parts.username, parts.port, parts.query) == ("https", None, None, "")
        own = host.removesuffix(".xyz").removesuffix(".ai").removesuffix(".com").rpartition(".")[2]
        assert own in (parts.hostname or "").split(".")


@pytest.mark.parametrize("host", ["", "localhost", "api.openai.com.example.org", "xapi.openai.com", "openai.com"])
def test_a_host_that_is_not_exactly_a_known_one_has_no_page(host: str) -> None:
    """UX 2: a server that looks like one gets nobody sent anywhere."""
    assert billing_page(host) == ""


def test_case_does_not_matter_in_a_host() -> None:
    """UX 2."""
    assert billing_page("API.OpenAI.com") == "https://platform.openai.com/settings/organization/billing"
