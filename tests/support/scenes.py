"""The states of the window that are looked at: how it gets there, and which widgets it must show then.

A new state is one more row of `STATES`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from reprise.domain.ports import Draft
from reprise.ui.timeline.lines import FoldBlock
from support.window import ABSENT, LARGE, WindowStage

PROMPT = (
    "Our CSV importer reads every file twice: once to check it and once to load it. Can we do it in one pass and still "
    "report the line number of a bad row?"
)
MORE = "What happens to quoted fields that contain line breaks?"
LEAD = (
    "Yes. Parse and check each row as it is read, and collect the failures instead of stopping at the first one. The "
    "reader already knows the line, so nothing has to be counted afterwards.\n\n"
)
LIST = """1. `rows()` becomes a generator; the loader takes rows from it **as they come**.
2. A bad row is yielded as a value with its line number, not raised.
3. The import commits in batches of 500 and can be undone as one step.

"""
TABLE = """| File | Rows | Two passes | One pass |
|---|--:|--:|--:|
| `orders.csv` | 1,204,118 | 9.8 s | 5.1 s |
| `customers.csv` | 86,402 | 0.7 s | 0.4 s |

"""
CODE = """```python
def rows(path: Path) -> Iterator[Row]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        for line, record in enumerate(csv.reader(file), start=1):
            try:
                yield Row.parse(record)
            except ValueError as reason:
                yield BadRow(line, str(reason))  # keep going
```"""
REPLY = f"{LEAD}## What changes\n\n{LIST}{TABLE}{CODE}"
HALF = (
    "Good catch. `enumerate` counts records, not lines, so after the first multi-line field every later number is too "
    "small. The reader has the right one in"
)
HANG = {"hang": True}
DELAYS = (5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0)
LIMITED = {
    "fail": {
        "kind": "rate_limit",
        "status": 429,
        "message": "Rate limit exceeded: free-models-per-min. Try again later, or add credits to raise the limit.",
        "request_id": "gen-1761054821-Kx3VbQmT0c",
    }
}
BUSY = {"fail": {"kind": "overloaded", "status": 529, "message": "busy"}}
DOWN = {"fail": {"kind": "server", "status": 503, "message": "upstream is down"}}
REFUSED = {"fail": {"kind": "auth", "status": 401, "message": "No auth credentials found"}}


# -- what leads to each state


async def conversation(stage: WindowStage) -> None:
    """A prompt and its reply."""
    await stage.send(PROMPT)


async def asked_again(stage: WindowStage) -> None:
    """A second prompt after the first reply."""
    await stage.send(PROMPT)
    await stage.send(MORE)


async def writing(stage: WindowStage) -> None:
    """Two lines are written below a reply, and not sent."""
    await stage.send(PROMPT)
    stage.window.page.composer.set_text(f"{MORE}\nAnd to an empty line at the end?")


async def waiting(stage: WindowStage) -> None:
    """Nothing has come for 7 s."""
    await stage.send(MORE)
    await stage.clock.advance(7)
    stage.window.deeds._view._silence._tick.timeout.emit()


async def stalled(stage: WindowStage) -> None:
    """Nothing more has come for 21 s."""
    await stage.send(MORE)
    await stage.clock.advance(21)
    stage.window.deeds._view._silence._tick.timeout.emit()


async def stopped(stage: WindowStage) -> None:
    """Stop was pressed in mid-reply."""
    await stage.send(MORE)
    stage.window.page.composer.button.click()


async def exhausted(stage: WindowStage) -> None:
    """All retries are used up, and Details is open."""
    await stage.send(MORE)
    for delay in DELAYS:
        await stage.clock.jump(delay)
    stage.find("detailsButton").click()


async def refused(stage: WindowStage) -> None:
    """The key was refused after a first reply."""
    await asked_again(stage)


async def key_field(stage: WindowStage) -> None:
    """A key is being typed into the card."""
    await asked_again(stage)
    stage.find("enterKeyButton").click()
    QTest.keyClicks(stage.find("keyField"), "sk-or-v1-0123456789abcdef")


async def fetching(stage: WindowStage) -> None:
    """The first start, while the built-in model is on its way."""
    stage.conversation.choose_model(ABSENT)
    stage.window.set_builtin_state("fetching", 62_000_000, 92_000_000)


async def ready(stage: WindowStage) -> None:
    """A new chat with a model that is there."""


async def sidebar(stage: WindowStage) -> None:
    """Chats of several days, in every state a row has."""
    for title in ("Unit tests for the retry policy", "Sourdough schedule for weekdays"):
        await stage.send(title)
        stage.library.new_chat()
    await stage.clock.jump(2 * 86_400)
    for title in ("SQLite WAL on network drives", "Names for the reading group", "Letter to the landlord"):
        await stage.send(title)
        names = stage.conversation.session_id
        stage.library.new_chat()
        if title.startswith("Names"):
            stage.library.save_draft(names, Draft("The Glass Hotel", 0))
    await stage.clock.jump(86_400)
    for title in ("Explain lifetimes to a C programmer", "Trip to Lyon in October", "Fix the parser for nested quotes"):
        await stage.send(title)
        stage.library.new_chat()
    await stage.send(PROMPT)
    await stage.clock.advance(3)  # the lifetimes are explained while another chat is shown


async def settings_retry(stage: WindowStage) -> None:
    """Settings at their third page, over a conversation."""
    await conversation(stage)
    stage.window.commands.action("settings").trigger()
    stage.window.deeds._settings.show_page(2)


async def limited(stage: WindowStage) -> None:
    """A retry waits over a partial; two messages wait behind it."""
    await stage.send(MORE)
    await stage.send("And the one that yields them?")
    stage.window.page.composer.set_text("Then write the test.")
    QTest.keyClick(stage.window.page.composer.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.AltModifier)


async def queue_open(stage: WindowStage) -> None:
    """Of the messages that wait all are shown, scrolled on, and one of them is being edited."""
    await stage.send(MORE)
    for number in range(1, 31):
        await stage.send(f"Then explain step {number} of the import, and what it does with a row that it cannot read.")
    stage.find("showAllQueuedButton").click()
    stage.find("queueBar").setValue(9)
    stage.find("editQueuedButton").click()


async def offline(stage: WindowStage) -> None:
    """The system says that there is no network."""
    stage.stage.network.set_offline(True)
    await stage.send(MORE)


async def outage(stage: WindowStage) -> None:
    """The provider is down; another chat tries it, and this one waits for that."""
    for title in ("Explain lifetimes to a C programmer", "Trip to Lyon in October", MORE):
        stage.library.new_chat()
        await stage.send(title)
    await stage.clock.advance(5)


async def fallback(stage: WindowStage) -> None:
    """Another model answered when the retries were used up."""
    stage.catalog.second = LARGE
    await stage.send("Is a generator the right shape here?")
    await stage.clock.advance(3)


async def versions(stage: WindowStage) -> None:
    """A second version of a reply with an attempt before it, opened; its prompt is being edited."""
    await stage.send("Suggest a name for the function that counts good and bad rows.")
    await stage.clock.advance(3)
    stage.window.commands.action("regenerate").trigger()
    await stage.drain()
    view = stage.window.deeds._view.timeline
    fold = next(placed for placed in view.scroller.placed if isinstance(placed.block, FoldBlock))
    view.toggle(fold.message, fold.block.fold)
    stage.window.deeds._view.edit_last()
    view.pointer.hover(QPointF(view.column_left + 60, fold.top))


async def interrupted(stage: WindowStage) -> None:
    """The next start after a crash; a chat was moved to the trash since."""
    await stage.send(MORE)
    stage.conversation.stop()
    await stage.drain()
    stage.window.sessions.tell_interrupted((stage.conversation.session_id,))
    await stage.drain()
    stage.window.toast("“Trip to Lyon” is in the trash.", "Undo", lambda: None)


@dataclass(frozen=True, slots=True)
class State:
    """One picture: how the window gets there, the attempts its model plays, and which widgets it must show."""

    name: str
    scene: Callable[[WindowStage], Coroutine[Any, Any, None]]
    attempts: tuple[list[Any], ...]
    shows: tuple[str, ...]
    size: tuple[int, int] = (1180, 760)
    zoom: float = 1.0
    options: tuple[tuple[str, Any], ...] = ()


HEADER = ("sidebarButton", "chatTitle", "modelPicker", "moreButton")
FRAME = ("sidebar", "newChatButton", "settingsButton", *HEADER)
WRITING = ("composer", "sendButton")
BANNER = ("retryBanner", "retryBannerText", "retryNowButton", "extendRetryButton", "cancelRetryButton")
CARD = ("pendingCard", "pendingTitle", "retryButton")
GIVEN_UP = ([HALF, LIMITED], *[[LIMITED]] * len(DELAYS))
TEN = (("delays", DELAYS),)

STATES = (
    State("conversation", conversation, ([REPLY],), (*FRAME, *WRITING, "timeline", "sessionList")),
    State("conversation-200", conversation, ([REPLY],), (*HEADER, *WRITING, "timeline"), zoom=2.0),
    State("writing", writing, ([LEAD],), (*FRAME, *WRITING, "timeline")),
    State("streaming", conversation, ([LEAD + LIST + HALF, HANG],), (*FRAME, *WRITING, "timeline")),
    State("waiting", waiting, ([{"wait": 60}],), (*FRAME, *WRITING, "timeline")),
    State("stalled", stalled, ([HALF, HANG],), (*FRAME, *WRITING, "timeline")),
    State(
        "retry-banner",
        asked_again,
        ([LEAD + CODE], [HALF, LIMITED]),
        (*FRAME, *WRITING, *BANNER, "timeline"),
        options=(("delays", (12.0,) * 10),),
    ),
    State("pending", exhausted, GIVEN_UP, (*FRAME, *WRITING, *CARD, "detailsButton", "attemptDetails"), options=TEN),
    State("pending-200", exhausted, GIVEN_UP, (*HEADER, *WRITING), zoom=2.0, options=TEN),
    State("needs-you", refused, ([LEAD], [REFUSED]), (*FRAME, *WRITING, *CARD, "pendingAdvice", "enterKeyButton")),
    State(
        "key-field",
        key_field,
        ([LEAD], [REFUSED]),
        (*FRAME, *WRITING, "pendingCard", "keyField", "saveKeyButton", "cancelKeyButton"),
    ),
    State("stopped", stopped, ([HALF, HANG],), (*FRAME, *WRITING, *CARD, "timeline")),
    State("first-run", fetching, (), (*FRAME, *WRITING, "firstRunTitle", "builtinRow", "starter1", "ownModelButton")),
    State("new-chat", ready, (), (*FRAME, *WRITING, "firstRunTitle", "starter1", "ownModelButton")),
    State(
        "sidebar",
        sidebar,
        (["Yes."], ["Yes."], ["Yes."], ["Yes."], [REFUSED], [{"wait": 1}, "Yes."], [LIMITED], [HALF, HANG], [REPLY]),
        (*FRAME, *WRITING, "sessionList"),
        options=(("delays", (15.0,) * 10),),
    ),
    State("settings-retry", settings_retry, ([REPLY],), ("settingsDialog", "retryPreview")),
    State(
        "queue",
        limited,
        ([HALF, LIMITED],),
        (*FRAME, *WRITING, *BANNER, "composerTray"),
        options=(("delays", (12.0,) * 10),),
    ),
    State(
        "queue-open",
        queue_open,
        ([HALF, HANG],),
        (*FRAME, *WRITING, "composerTray", "cancelEditButton", "queueBar", "showAllQueuedButton"),
    ),
    State("queue-200", queue_open, ([HALF, HANG],), (*HEADER, *WRITING, "composerTray", "queueBar"), zoom=2.0),
    State("offline", offline, (["Yes."],), (*FRAME, *WRITING, "retryBanner", "retryNowButton", "cancelRetryButton")),
    State(
        "outage",
        outage,
        ([DOWN], [DOWN], [DOWN], [HANG]),
        (*FRAME, *WRITING, "retryBanner", "retryNowButton", "cancelRetryButton", "sessionList"),
        options=TEN,
    ),
    State(
        "fallback",
        fallback,
        ([BUSY], [BUSY], [BUSY], ["Yes, a generator is the right shape here."]),
        (*FRAME, *WRITING, "timeline"),
        options=(("delays", (1.0, 1.0)),),
    ),
    State("cut", conversation, ([LEAD, {"finish": "length"}],), (*FRAME, *WRITING, "timeline")),
    State(
        "versions",
        versions,
        ([HALF, LIMITED], ["`tally(outcomes)` returns a pair."], ["I would call it `outcomes`."]),
        (*FRAME, *WRITING, "composerTray", "cancelEditButton"),
        options=(("delays", (2.0,) * 10),),
    ),
    State(
        "interrupted",
        interrupted,
        ([HALF, HANG],),
        (*FRAME, *WRITING, *CARD, "keepPartialButton", "takeBackButton", "bootBanner", "toast"),
    ),
    State(
        "narrow-pending",
        exhausted,
        GIVEN_UP,
        (*HEADER, *WRITING, *CARD, "otherModelButton", "editPromptButton", "copyReportButton"),
        size=(560, 760),
        options=TEN,
    ),
    State(
        "narrow",
        asked_again,
        ([LEAD + LIST + CODE], [LIMITED]),
        (*HEADER, *WRITING, *BANNER, "timeline"),
        size=(560, 760),
        options=(("delays", (12.0,) * 10),),
    ),
)
