"""How tall every message is, and which one stands at a height: logarithmic in their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class Sums:
    """Numbers with running sums, kept in a binary indexed tree."""

    def __init__(self, count: int = 0, each: int = 0) -> None:
        """`count` entries of one value, without walking a list of them."""
        self._tree = [(at & -at) * each for at in range(count + 1)]
        self._values = [each] * count
        self.total = count * each

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> int:
        return self._values[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self._values)

    def set(self, index: int, value: int) -> int:
        """A new value for an entry; returns the difference."""
        delta = value - self._values[index]
        if delta:
            self._values[index] = value
            self.total += delta
            at = index + 1
            while at < len(self._tree):
                self._tree[at] += delta
                at += at & -at
        return delta

    def append(self, value: int) -> None:
        """One more entry at the end."""
        self._values.append(value)
        at = len(self._values)
        node, child = value, at - 1
        while child > at - (at & -at):
            node += self._tree[child]
            child -= child & -child
        self._tree.append(node)
        self.total += value

    def pop(self) -> None:
        """Drop the last entry."""
        self.total -= self._values.pop()
        self._tree.pop()

    def before(self, index: int) -> int:
        """The sum of the entries before `index`."""
        total = 0
        while index > 0:
            total += self._tree[index]
            index -= index & -index
        return total

    def find(self, y: int) -> int:
        """How many entries fit below `y`, their sum being at most that."""
        at, step = 0, 1 << max(0, (len(self._tree) - 1).bit_length() - 1)
        while step:
            following = at + step
            if following < len(self._tree) and self._tree[following] <= y:
                at = following
                y -= self._tree[at]
            step >>= 1
        return at


class Heights:
    """Pixel heights that grow at both ends: what is put before stands in sums of its own, counted backwards."""

    def __init__(self) -> None:
        self.reset_all(0, 0)

    def reset_all(self, count: int, height: int) -> None:
        """`count` entries of one height."""
        self._older = Sums()
        self._newer = Sums(count, height)

    @property
    def total(self) -> int:
        """The sum of all of them."""
        return self._older.total + self._newer.total

    def __len__(self) -> int:
        return len(self._older) + len(self._newer)

    def __getitem__(self, index: int) -> int:
        sums, at = self._place(index)
        return sums[at]

    def set(self, index: int, height: int) -> int:
        """A new height for an entry; returns the difference."""
        sums, at = self._place(index)
        return sums.set(at, height)

    def append(self, height: int) -> None:
        """One more entry at the end."""
        self._newer.append(height)

    def prepend(self, count: int, height: int) -> None:
        """`count` more entries of one height before the first."""
        for _ in range(count):
            self._older.append(height)

    def pop(self) -> None:
        """Drop the last entry."""
        if not len(self._newer):
            self._level(reversed([*self._older]))
        self._newer.pop()

    def top(self, index: int) -> int:
        """The sum of the heights before `index`."""
        older = len(self._older)
        if index <= older:
            return self._older.total - self._older.before(older - index)
        return self._older.total + self._newer.before(index - older)

    def find(self, y: int) -> int:
        """The entry that covers height `y`; the last one below everything."""
        above = self._older.total
        if y >= above:
            at = len(self._older) + self._newer.find(y - above)
        else:
            # The entry whose lower edge is the first one beyond `y`, counted from the boundary upwards.
            at = len(self._older) - 1 - self._older.find(above - y - 1)
        return max(0, min(at, len(self) - 1))

    def _place(self, index: int) -> tuple[Sums, int]:
        older = len(self._older)
        return (self._older, older - 1 - index) if index < older else (self._newer, index - older)

    def _level(self, values: Iterable[int]) -> None:
        """Nothing is left but what was put before: from here on it counts forwards."""
        self.reset_all(0, 0)
        for value in values:
            self._newer.append(value)
