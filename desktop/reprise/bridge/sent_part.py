"""Which part of a session its requests hold: all of it, or all but the first messages."""

from __future__ import annotations

from reprise.bridge.course import Course
from reprise.bridge.services import Services
from reprise.domain.sessions import messages
from reprise.domain.shortening import LEFT_OUT, Shortening, left_out
from reprise.engine.shorter import shortenings


class SentPart:
    """Shortens what is sent of a conversation and takes that back; the log keeps every message."""

    def __init__(self, course: Course, services: Services) -> None:
        self._course = course
        self._services = services

    @property
    def left_out(self) -> int:
        """How many of the branch's first messages stay out; 0 also while those are not read yet."""
        live, params = self._course.live, self._course.choices.params
        return left_out(messages(live.history.branch), params) if live.is_whole and LEFT_OUT in params else 0

    def ways(self) -> tuple[Shortening, ...]:
        """How the pending turn could send less.

        Empty when nothing is pending or there is nothing before its prompt, and while that is not read yet.
        """
        course = self._course
        if course.retries.pending is None or course.model is None or not course.live.is_whole:
            return ()
        system_prompt = self._services.parameters(course.model).system_prompt
        return shortenings(course.live.history.branch, course.choices.params, system_prompt=system_prompt)

    def shorten(self, count: int) -> None:
        """From here on leave the branch's first `count` messages out, and go on with what is pending."""
        course = self._course
        if course.after_wait(lambda: self.shorten(count)):
            return
        is_pending = course.retries.pending is not None
        if course.may(None if is_pending else "There is nothing to retry in this chat."):
            course.choices.choose(LEFT_OUT, count)
            course.retry()

    def send_all(self) -> bool:
        """From here on leave nothing out, from the next request of a new turn on; False when nothing is left out."""
        if not self.left_out:
            return False
        self._course.choices.choose(LEFT_OUT, None)
        self._course.record_choices()
        return True
