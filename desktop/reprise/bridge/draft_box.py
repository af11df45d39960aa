"""The unsent texts of all chats, in memory as on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from reprise.bridge.tasks import TaskScope
from reprise.domain.ports import Draft, Drafts, LogError


class DraftBox:
    """Changes at once; each change is stored behind, in order, and `problem` has a sentence when the disk refuses."""

    def __init__(
        self, drafts: Drafts, scope: TaskScope, changed: Callable[[str], None], problem: Callable[[str], None]
    ) -> None:
        """`changed` is given the key of each draft that is another."""
        self._drafts = drafts
        self._scope = scope
        self._changed = changed
        self._problem = problem
        self._kept: dict[str, Draft] = {}
        self._unsaved: set[str] = set()

    def __contains__(self, key: str) -> bool:
        return key in self._kept

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._kept))

    def get(self, key: str) -> Draft | None:
        """One draft."""
        return self._kept.get(key)

    async def load(self) -> None:
        """Read what another life of the program left; what was written since stays. Raises LogError."""
        found: Mapping[str, Draft] = await self._drafts.load()
        self._kept = {**found, **self._kept}

    def keep(self, key: str, draft: Draft | None) -> None:
        """Keep or (None, or no text) forget one."""
        if draft is not None and not draft.text:
            draft = None
        if draft == self._kept.get(key) and key not in self._unsaved:
            return
        if draft is None:
            self._kept.pop(key, None)
        else:
            self._kept[key] = draft
        self._changed(key)
        self._scope.start(self._save(key, draft), name=f"draft {key}", writes=True)

    def put_ahead(self, key: str, text: str) -> None:
        """Put `text` before what is written there already, a blank line between (behaviour I5)."""
        draft = self._kept.get(key)
        if draft is None:
            self.keep(key, Draft(text, len(text)))
        else:
            ahead = f"{text}\n\n"
            self.keep(key, Draft(ahead + draft.text, len(ahead) + draft.cursor))

    def move(self, source: str, target: str) -> None:
        """Give a draft another key."""
        if (draft := self._kept.get(source)) is not None:
            # In this order: a crash in between leaves the text twice, and not at all the other way round.
            self.keep(target, draft)
            self.keep(source, None)

    def gather(self, sources: list[str], target: str) -> None:
        """Put several drafts behind another one, nothing lost."""
        if not sources:
            return
        kept = self._kept.get(target, Draft(""))
        texts = [kept.text, *(self._kept[key].text for key in sources)]
        self.keep(target, Draft("\n\n".join(text for text in texts if text), kept.cursor))
        for key in sources:
            self.keep(key, None)

    async def _save(self, key: str, draft: Draft | None) -> None:
        try:
            await self._drafts.save(key, draft)
        except LogError as error:
            self._unsaved.add(key)
            self._problem(str(error))
            return
        self._unsaved.discard(key)
        await self.save_rest()

    async def save_rest(self) -> None:
        """Try once more what the disk refused; what it refuses again stays unsaved."""
        for key in tuple(self._unsaved):
            self._unsaved.discard(key)
            try:
                await self._drafts.save(key, self._kept.get(key))
            except LogError:
                # It was said when it happened.
                self._unsaved.add(key)
                return
