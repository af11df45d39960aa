"""What a person does to the branches of a session while no turn runs; nothing is deleted (behaviour B6)."""

from __future__ import annotations

from reprise.bridge.course import Course
from reprise.bridge.standing import find, keepable
from reprise.domain.messages import Message
from reprise.domain.sessions import prompt_entry


class BranchCommands:
    """The commands of a conversation that move its leaf and send nothing."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._going: str | None = None

    def keep(self) -> None:
        """Make what stands under the pending prompt the reply; a wait is ended for it."""
        is_there = keepable(self._course.live.history) is not None
        if is_there and self._course.after_wait(self.keep):
            return
        if self._course.may(None if is_there else "There is nothing to keep."):
            self._course.writes.start(self._keep(), "keep", self._course.moved)

    def take_back(self) -> None:
        """Give the pending prompt back, the queue behind it, and stand before it (behaviour B10)."""
        course = self._course
        prompt = None if course.retries.pending is None else prompt_entry(course.live.history.branch)
        if not course.may(None if prompt is not None else "There is nothing to take back.") or prompt is None:
            return
        if prompt.id == self._going:
            return  # its text was given back already
        self._going = prompt.id
        # First the text, so that a crash in between leaves it twice, and not at all the other way round.
        course.queue.give_back_all(prompt.data.text if isinstance(prompt.data, Message) else "")
        course.writes.start(self._take_off(prompt.id), "take back", course.moved)

    def step(self, entry_id: str, by: int) -> None:
        """Stand at an alternative to an entry, where its branch stood last; nothing at the ends."""
        live = self._course.live
        is_there = not live.knows_shape or self._beside(entry_id, by) is not None
        if is_there and self._course.may():
            self._course.writes.start(self._step(entry_id, by), "branch", self._course.moved)

    def _beside(self, entry_id: str, by: int) -> str | None:
        siblings = self._course.live.tree.siblings(entry_id)
        index = siblings.index(entry_id) + by
        return siblings[index] if 0 <= index < len(siblings) else None

    async def _keep(self) -> None:
        live = self._course.live
        async with live.writing:
            if (partial := keepable(live.history)) is not None:
                await live.keep_partial(partial)

    async def _take_off(self, prompt: str) -> None:
        live = self._course.live
        try:
            async with live.writing:
                if (entry := find(live.history.branch, prompt)) is not None:
                    await live.move_leaf(live.session.id, entry.parent)
        finally:
            self._going = None

    async def _step(self, entry_id: str, by: int) -> None:
        live = self._course.live
        async with live.writing:
            await live.complete()
            if (entry := self._beside(entry_id, by)) is not None:
                await live.move_leaf(live.session.id, live.tree.tip(entry))
                self._course.choices.forget()
