"""What a failure, a wait and a stop are called: sentences a person understands, each of them translatable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto
from http import HTTPStatus

from PySide6.QtCore import QLocale

from reprise.domain.failures import Failure, FailureKind
from reprise.domain.messages import Part, ReplyInfo, TextPart, ThinkingPart
from reprise.domain.retry import PendingRetry, WaitReason
from reprise.domain.sessions import Attempt, AttemptState, Entry
from reprise.domain.shortening import Shortening
from reprise.ui.language import clock_time, counted, duration, tr, word_count


@dataclass(frozen=True, slots=True)
class Sentence:
    """What happened (`title`, one sentence), what to do (`advice`), and the icon that names the trouble."""

    title: str
    advice: str = ""
    icon: str = "pending"


def failure_sentence(failure: Failure, place: str = "") -> Sentence:
    """What happened, in one sentence; `place` is the provider's name. Nothing here reads a digit out of a text."""
    place = place or tr("The provider")
    code = f" ({failure.status})" if failure.status else ""
    match failure.kind:
        case FailureKind.AUTH:
            return Sentence(tr("{place} did not accept the API key.").format(place=place), icon="key")
        case FailureKind.QUOTA:
            return Sentence(
                tr("The account at {place} has no credit left.").format(place=place),
                tr("Add credit there, or choose another model."),
                "warning",
            )
        case FailureKind.CONTEXT_LENGTH:
            return Sentence(
                tr("This chat has become too long for the model."),
                tr("A model with a longer memory can go on, or start a new chat."),
                "warning",
            )
        case FailureKind.CONTENT_FILTER:
            return Sentence(
                tr("{place} refused to answer this prompt.").format(place=place),
                tr("Another wording or another model may be answered."),
                "warning",
            )
        case FailureKind.BAD_REQUEST if failure.status == HTTPStatus.NOT_FOUND:
            return Sentence(
                tr("{place} does not know this address or model (404).").format(place=place),
                tr("Check the address and the model's name in Settings."),
                "warning",
            )
        case FailureKind.BAD_REQUEST:
            return Sentence(
                tr("{place} did not accept the request{code}.").format(place=place, code=code), "", "warning"
            )
        case FailureKind.RATE_LIMIT:
            return Sentence(tr("Rate limited{code}.").format(code=code))
        case FailureKind.OVERLOADED:
            return Sentence(tr("{place} is busy{code}.").format(place=place, code=code))
        case FailureKind.SERVER:
            return Sentence(tr("{place} had a problem of its own{code}.").format(place=place, code=code))
        case FailureKind.NETWORK:
            return Sentence(own_words(failure) or tr("{place} cannot be reached.").format(place=place), icon="offline")
        case FailureKind.TIMEOUT:
            words = own_words(failure) or tr("{place} did not answer in time.").format(place=place)
            return Sentence(words, icon="clock")
        case FailureKind.PROTOCOL:
            return Sentence(
                own_words(failure) or tr("{place} sent something that is no reply.").format(place=place),
                "" if failure.retryable else tr("Check the address in Settings."),
                "pending" if failure.retryable else "plug",
            )
        case FailureKind.STORAGE:
            return Sentence(
                tr("The chat could not be saved on this computer."),
                tr("Check the free space of the disk. {words}").format(words=failure.message).strip(),
                "warning",
            )
        case FailureKind.BUG:
            return Sentence(tr("Reprise made a mistake."), tr("Details has what went wrong."), "warning")
        case _:
            return Sentence(tr("The reply failed{code}.").format(code=code))


def own_words(failure: Failure) -> str:
    """The wire's own sentence for the kinds in which no provider speaks; it names the host or what came instead."""
    words = failure.message.strip()
    return words if words.endswith((".", "?", "…")) and " " in words and "\n" not in words and len(words) <= 160 else ""


def pending_sentence(
    pending: PendingRetry,
    place: str,
    attempts: Sequence[Attempt],
    partial: Sequence[Part],
    now: datetime,
    *,
    can_shorten: bool = False,
) -> Sentence:
    """The pending card's title, second line and icon.

    `partial` is what arrived and stands under the prompt, whichever attempt brought it; `now` the wall clock, for
    "until 18:40" (behaviour D3). `can_shorten`: there are messages before the prompt that could be left out.
    """
    kept = word_count(_text(partial))
    failure = pending.failure
    if failure is None:
        stopped = bool(attempts) and attempts[-1].state is AttemptState.INTERRUPTED
        if stopped:
            title = tr("Reprise was closed before the reply was complete.")
            return Sentence(title, _safe(kept), "pending")
        if kept:
            title = counted(
                kept, tr("Stopped. The word so far is kept."), tr("Stopped. The {n} words so far are kept.")
            )
            return Sentence(title, "", "stop")
        return Sentence(tr("Stopped. Your prompt is saved."), "", "stop")
    if pending.ask_s is not None:
        until = clock_time(now + timedelta(seconds=pending.ask_s))
        title = tr("{place} asks for a wait of {wait}, until {until}.").format(
            place=place or tr("The provider"), wait=duration(pending.ask_s), until=until
        )
        return Sentence(title, _safe(kept), "clock")
    said = failure_sentence(failure, place)
    if (due := _fell_due(attempts, now)) is not None:
        title = tr("A retry fell due at {time} while Reprise was closed.").format(time=clock_time(due))
        return Sentence(title, f"{said.title} {_safe(kept)}", "clock")
    tried = len(attempts) - 1 if pending.retries and len(attempts) > pending.retries else 0
    if failure.kind in (FailureKind.RATE_LIMIT, FailureKind.OVERLOADED) and tried > 0:
        title = (
            (
                tr("{place} is still busy after 1 retry.")
                if tried == 1
                else tr("{place} is still busy after {n} retries.")
            )
            .replace("{n}", str(tried))
            .replace("{place}", place or tr("The provider"))
        )
        return Sentence(title, _safe(kept), said.icon)
    if failure.kind is FailureKind.AUTH:
        code = f" ({failure.status})" if failure.status else ""
        return Sentence(
            said.title,
            tr("The key was refused{code}. With another one the prompt goes out again.").format(code=code),
            "key",
        )
    advice = said.advice
    if can_shorten:
        advice = tr("Leave its oldest messages out of what is sent, or choose a model with a longer memory.")
    return Sentence(said.title, " ".join(part for part in (advice, _safe(kept)) if part), said.icon)


def kept_sentence(way: Shortening) -> str:
    """Which messages are sent still when the others are left out."""
    return counted(way.messages, tr("This prompt alone"), tr("The last {n} messages"))


def tokens_sentence(tokens: int) -> str:
    """About how much that is; two figures, since it is an estimate."""
    rough = round(tokens, 2 - len(str(tokens)))
    return counted(rough, tr("about 1 token"), tr("about {n} tokens"))


def again_sentence(pending: PendingRetry, attempts: Sequence[Attempt] = ()) -> str:
    """Why the request of a pending turn does or does not go out again by itself (behaviour N19); "" after a stop."""
    failure = pending.failure
    if failure is None:
        return ""
    if pending.ask_s is not None:
        return tr("Not by itself: the provider asks for a longer wait than is made without asking you.")
    if failure.kind in (FailureKind.BUG, FailureKind.STORAGE):
        return tr("Not by itself: the mistake is on this computer.")
    if not failure.retryable:
        return tr("Not by itself: trying again would end the same way.")
    if not pending.retries:
        return tr("Not by itself: automatic retries are off.")
    if _ends(attempts) is _End.CANCELLED:
        return tr("It may work: failures like this one often pass. You cancelled the wait for the next try.")
    if pending.retry < pending.retries:
        return tr("It may work: failures like this one often pass. The wait for the next try has ended.")
    return tr("It may work: failures like this one often pass. The automatic retries have ended.")


class _End(Enum):
    """Why no retry is scheduled behind a failed attempt."""

    EXHAUSTED = auto()
    CANCELLED = auto()
    OTHER = auto()


def _ends(attempts: Sequence[Attempt]) -> _End:
    """Why none is behind the newest of the attempts under one prompt.

    A retry that was scheduled counts as spent from then on, also when its wait was cancelled. One that is behind the
    last of them is one more failure with as many spent as before.
    """
    *earlier, last = attempts or (None,)
    if last is None or last.failure is None or not last.failure.retryable or not last.retries:
        return _End.OTHER
    before = earlier[-1] if earlier else None
    goes_on = before is not None and before.model == last.model and last.number == before.number + 1
    spent = before.retry if before is not None and goes_on else 0
    if last.retry > spent:
        return _End.CANCELLED
    return _End.EXHAUSTED if last.retry == last.retries else _End.OTHER


def _fell_due(attempts: Sequence[Attempt], now: datetime) -> datetime | None:
    """When the newest attempt was to be retried, if that passed without anybody there (behaviour D8)."""
    due = attempts[-1].retry_at if attempts else None
    return due if due is not None and due <= now else None


def _safe(kept: int) -> str:
    """What is not lost."""
    if kept:
        saved = counted(
            kept,
            tr("Your prompt is saved, and so is the word that arrived."),
            tr("Your prompt is saved, and so are the {n} words that arrived."),
        )
    else:
        saved = tr("Your prompt is saved.")
    return f"{saved} {tr('Nothing is sent until you choose.')}"


def countdown_segments(pending: PendingRetry, seconds: int, place: str) -> list[tuple[str, bool]]:
    """The banner's sentence as (text, strong) pieces: "Rate limited (429). Retry 2 of 10 in 12 s"."""
    if pending.reason is WaitReason.OFFLINE:
        return [(tr("Offline."), True), (tr(" Will go on when the network is back."), False)]
    if pending.reason is WaitReason.PROBE:
        down = tr("{place} does not answer.").format(place=place or tr("The provider"))
        return [(down, True), (tr(" Another chat is trying; this one goes on after it."), False)]
    cause = failure_sentence(pending.failure, place).title if pending.failure else tr("Waiting.")
    if pending.reason is WaitReason.LIMITS:
        cause = tr("{place} asked every chat to wait.").format(place=place or tr("The provider"))
        middle = tr(" Goes on in ")
    elif pending.reason is WaitReason.TURN:
        cause, middle = tr("Waiting for its turn."), tr(" Goes on in ")
    elif pending.retry:
        middle = tr(" Retry {n} of {total} in ").format(n=pending.retry, total=pending.retries)
    else:
        middle = tr(" Retry in ")
    return [(cause, True), (middle, False), (duration(seconds), True)]


def open_wait_words(pending: PendingRetry) -> str:
    """What a turn waits for whose time nobody knows, for a screen reader."""
    if pending.reason is WaitReason.PROBE:
        return tr("Waiting for another chat to reach the provider")
    return tr("Waiting for the network")


def cut_note(attempt: Attempt) -> str:
    """What stands under a partial while its retry waits, with what else can be done; "" when nothing arrived."""
    words = word_count(_text(attempt.parts))
    if not words:
        return ""
    if attempt.goes_on_from is not None:
        said = counted(
            words,
            tr("Cut off after 1 word. The next try goes on from here."),
            tr("Cut off after {n} words. The next try goes on from here."),
        )
        return f"{said} [{tr('Keep')}](keep)"
    said = counted(
        words,
        tr("Cut off after 1 word. The next try replaces this."),
        tr("Cut off after {n} words. The next try replaces this."),
    )
    return f"{said} [{tr('Keep')}](keep) [{tr('Continue from here')}](continue)"


def refusal(failure: Failure) -> str:
    """Why the composer keeps its text."""
    return failure.message or failure_sentence(failure).title


def reply_meta(info: ReplyInfo | None) -> str:
    """Figures of a reply: "0.8 s to first word · 41 tok/s · 312 tokens"; only what is known."""
    if info is None:
        return ""
    parts: list[str] = []
    locale = QLocale()
    if info.first_delta_s is not None:
        parts.append(tr("{s} s to first word").format(s=locale.toString(info.first_delta_s, "f", 1)))
    output = info.usage.output if info.usage else None
    if output is not None:
        if info.elapsed_s is not None and info.elapsed_s - (info.first_delta_s or 0.0) > 0.05:
            rate = output / (info.elapsed_s - (info.first_delta_s or 0.0))
            parts.append(tr("{n} tok/s").format(n=locale.toString(round(rate))))
        parts.append(counted(output, tr("1 token"), tr("{n} tokens")))
    return " · ".join(parts)


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One line of the attempts list under Details."""

    number: int
    time: str
    what: str
    then: str


def attempt_rows(entries: Sequence[Entry]) -> list[AttemptRow]:
    """The attempts under one prompt, oldest first, with what each came to and what followed it."""
    found = [(entry, entry.data) for entry in entries if isinstance(entry.data, Attempt)]
    rows: list[AttemptRow] = []
    for index, (entry, attempt) in enumerate(found):
        following = found[index + 1][0] if index + 1 < len(found) else None
        if following is not None:
            gap = (following.at - attempt.ended_at).total_seconds() if attempt.ended_at else 0.0
            then = tr("then waited {wait}").format(wait=duration(gap)) if gap >= 1 else tr("then at once")
        elif attempt.state is AttemptState.FAILED:
            then = _then([data for _, data in found])
        else:
            then = ""
        rows.append(AttemptRow(index + 1, clock_time(entry.at, seconds=True), _came_to(entry, attempt), then))
    return rows


def _then(attempts: Sequence[Attempt]) -> str:
    """What follows the newest attempt, which failed."""
    if (retry_at := attempts[-1].retry_at) is not None:
        return tr("retry at {time}").format(time=clock_time(retry_at, seconds=True))
    match _ends(attempts):
        case _End.EXHAUSTED:
            return tr("gave up")
        case _End.CANCELLED:
            return tr("wait cancelled")
        case _:
            return tr("not tried again")


def _came_to(entry: Entry, attempt: Attempt) -> str:
    words = word_count(_text(attempt.parts))
    if attempt.state is AttemptState.STOPPED:
        return counted(words, tr("stopped after 1 word"), tr("stopped after {n} words")) if words else tr("stopped")
    if attempt.state is AttemptState.INTERRUPTED:
        return (
            counted(words, tr("interrupted after 1 word"), tr("interrupted after {n} words"))
            if words
            else tr("interrupted")
        )
    if words:
        return counted(words, tr("cut off after 1 word"), tr("cut off after {n} words"))
    took = (attempt.ended_at - entry.at).total_seconds() if attempt.ended_at else 0.0
    cause = str(attempt.failure.status) if attempt.failure and attempt.failure.status else _short(attempt.failure)
    return (
        tr("{cause} at once").format(cause=cause)
        if took < 2
        else tr("{cause} after {wait}").format(cause=cause, wait=duration(took))
    )


def _short(failure: Failure | None) -> str:
    names = {
        FailureKind.NETWORK: tr("no connection"),
        FailureKind.TIMEOUT: tr("no answer"),
        FailureKind.PROTOCOL: tr("no reply"),
        FailureKind.STORAGE: tr("not saved"),
    }
    return names.get(failure.kind, tr("failed")) if failure else tr("failed")


def status_text(failure: Failure) -> str:
    """The HTTP status with its name, else the failure's class."""
    if failure.status is None:
        return failure.kind.value.replace("_", " ").capitalize()
    try:
        return f"{failure.status} {HTTPStatus(failure.status).phrase}"
    except ValueError:
        return str(failure.status)


def _text(parts: Sequence[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, TextPart | ThinkingPart))
