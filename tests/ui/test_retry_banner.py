"""What the banner says for each reason to wait."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from reprise.domain.failures import Failure, FailureKind
from reprise.domain.retry import PendingRetry, WaitReason
from reprise.ui.retry_banner import RetryBanner
from reprise.ui.style import Appearance
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.window_state import WindowState

LIMITED = Failure(FailureKind.RATE_LIMIT, "slow down", True, status=429)
DOWN = Failure(FailureKind.SERVER, "down", True, status=503)


@pytest.fixture
def banner(qtbot: QtBot, resources: Path) -> RetryBanner:
    look = Appearance(resources, load_theme(resources, Scheme.DARK), WindowState(None))
    made = RetryBanner(look)
    look.setParent(made)
    qtbot.addWidget(made)
    made.resize(760, 44)
    return made


@pytest.mark.parametrize(
    ("pending", "said"),
    [
        (PendingRetry("t", LIMITED, 2, 10, 12.0), "Rate limited (429). Retry 2 of 10 in 12 s"),
        (PendingRetry("t", LIMITED, 0, 0, 12.0), "Rate limited (429). Retry in 12 s"),
        (
            PendingRetry("t", LIMITED, 0, 10, 12.0, reason=WaitReason.LIMITS),
            "OpenRouter asked every chat to wait. Goes on in 12 s",
        ),
        (PendingRetry("t", None, 0, 10, 12.0, reason=WaitReason.TURN), "Waiting for its turn. Goes on in 12 s"),
    ],
)
def test_each_wait_says_why_and_how_long(banner: RetryBanner, pending: PendingRetry, said: str) -> None:
    """D3, D4: plain cause, retry n of N, live seconds."""
    banner.start(pending, 12, "OpenRouter")
    assert banner.sentence.text() == said
    assert [each.text() for each in (banner.now, banner.later, banner.cancel) if not each.isHidden()] == [
        "Retry now",
        "+1 min",
        "Cancel",
    ]


def test_offline_is_neutral_and_counts_nothing(banner: RetryBanner) -> None:
    """D14: "Offline - will go on when the network is back" with Try now and Cancel; then a countdown is one again."""
    banner.start(PendingRetry("t", None, 0, 10, reason=WaitReason.OFFLINE), None, "OpenRouter")
    assert banner.sentence.text() == "Offline. Will go on when the network is back."
    shown = [each for each in (banner.now, banner.later, banner.cancel) if not each.isHidden()]
    assert [each.text() for each in shown] == ["Try now", "Cancel"]
    assert banner.ring.isHidden()
    assert not banner.glyph.isHidden()
    assert shown[-1].geometry().right() <= banner.width()
    banner.start(PendingRetry("t", LIMITED, 1, 10, 5.0), 5, "OpenRouter")
    assert not banner.ring.isHidden()
    assert banner.glyph.isHidden()
    assert banner.now.text() == "Retry now"


def test_a_wait_for_another_chat_counts_nothing_and_can_be_left(banner: RetryBanner) -> None:
    """N6: it says who tries; nobody knows how long that takes, so there is nothing to put off."""
    banner.start(PendingRetry("t", DOWN, 2, 10, reason=WaitReason.PROBE), None, "OpenRouter")
    assert banner.sentence.text() == "OpenRouter does not answer. Another chat is trying; this one goes on after it."
    assert banner.accessibleName() == "Waiting for another chat to reach the provider"
    shown = [each for each in (banner.now, banner.later, banner.cancel) if not each.isHidden()]
    assert [each.text() for each in shown] == ["Retry now", "Cancel"]
    assert (banner.ring.isHidden(), banner.glyph.isHidden()) == (True, False)
