"""The Chat menu: what can be done about the shown chat's turns, as entries of the one registry."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from reprise.ui.commands import Command, Menu
from reprise.ui.language import tr

if TYPE_CHECKING:
    from reprise.ui.session_deeds import SessionDeeds
    from reprise.ui.turn_deeds import TurnDeeds


def turn_commands(turns: TurnDeeds) -> list[Command]:
    """Retry and everything that makes another version."""
    chat = Menu.CHAT
    return [
        Command("retry", chat, lambda: tr("&Retry"), turns.retry, ("Ctrl+R",), "retry", turns.retry_blocked),
        Command(
            "regenerate",
            chat,
            lambda: tr("Re&generate"),
            turns.regenerate,
            ("Ctrl+Shift+R",),
            "regenerate",
            turns.regenerate_blocked,
        ),
        Command("continue", chat, lambda: tr("&Continue"), turns.go_on, (), "continue", turns.go_on_blocked),
        Command(
            "sendAll", chat, lambda: tr("Send All &Messages Again"), turns.send_all, (), "undo", turns.send_all_blocked
        ),
        Command("editLast", chat, lambda: tr("&Edit Last Prompt"), turns.edit_last, (), "edit", turns.edit_blocked),
        Command(
            "retryAll",
            chat,
            lambda: tr("Retry &All Pending Chats"),
            turns.retry_all,
            (),
            "retry",
            turns.retry_all_blocked,
        ),
        Command(
            "previousBranch",
            chat,
            lambda: tr("&Previous Version"),
            lambda: turns.step_version(-1),
            ("Alt+Left",),
            "chevron-left",
            lambda: turns.version_blocked(-1),
            group=1,
        ),
        Command(
            "nextBranch",
            chat,
            lambda: tr("Ne&xt Version"),
            lambda: turns.step_version(1),
            ("Alt+Right",),
            "chevron-right",
            lambda: turns.version_blocked(1),
            group=1,
        ),
        Command(
            "fork", chat, lambda: tr("Go On in a New C&hat"), turns.fork, (), "branch", turns.fork_blocked, group=1
        ),
    ]


def policy_commands(turns: TurnDeeds) -> list[Command]:
    """The chat's own retry policy, one of them checked; beside each what it comes to."""
    names = (
        (None, "policyDefault", lambda: tr("Retry as Set in Settings")),
        ("steady", "policySteady", lambda: tr("Retry Steadily in This Chat")),
        ("exponential", "policyExponential", lambda: tr("Retry Exponentially in This Chat")),
        ("custom", "policyCustom", lambda: tr("Retry as Customised in This Chat")),
        ("off", "policyOff", lambda: tr("Do Not Retry in This Chat")),
    )
    return [
        Command(
            id_,
            Menu.CHAT,
            text,
            partial(turns.set_policy, name),
            (),
            None,
            turns.stored_blocked,
            checked=partial(turns.has_policy, name),
            group=3,
            aside=partial(turns.policy_sum, name),
        )
        for name, id_, text in names
    ]


def session_commands(sessions: SessionDeeds, turns: TurnDeeds) -> list[Command]:
    """What is done to the shown chat as a whole."""
    return [
        Command(
            "trash",
            Menu.CHAT,
            lambda: tr("Move to &Trash"),
            lambda: sessions.trash(),
            (),
            "trash",
            turns.stored_blocked,
            group=2,
        )
    ]
