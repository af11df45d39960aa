"""How tall every message is, and which one stands at a height: logarithmic in their number."""

from __future__ import annotations


class Heights:
    """Pixel heights with running sums, kept in a binary indexed tree."""

    def __init__(self) -> None:
        self.reset_all(0, 0)

    def reset_all(self, count: int, height: int) -> None:
        """`count` entries of one height, without walking a list of them."""
        self._tree = [(at & -at) * height for at in range(count + 1)]
        self._values = [height] * count
        self.total = count * height

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> int:
        return self._values[index]

    def set(self, index: int, height: int) -> int:
        """A new height for an entry; returns the difference."""
        delta = height - self._values[index]
        if delta:
            self._values[index] = height
            self.total += delta
            at = index + 1
            while at < len(self._tree):
                self._tree[at] += delta
                at += at & -at
        return delta

    def append(self, height: int) -> None:
        """One more entry at the end."""
        self._values.append(height)
        at = len(self._values)
        node, child = height, at - 1
        while child > at - (at & -at):
            node += self._tree[child]
            child -= child & -child
        self._tree.append(node)
        self.total += height

    def pop(self) -> None:
        """Drop the last entry."""
        self.total -= self._values.pop()
        self._tree.pop()

    def top(self, index: int) -> int:
        """The sum of the heights before `index`."""
        total = 0
        while index > 0:
            total += self._tree[index]
            index -= index & -index
        return total

    def find(self, y: int) -> int:
        """The entry that covers height `y`; the last one below everything."""
        at, step = 0, 1 << max(0, (len(self._tree) - 1).bit_length() - 1)
        while step:
            following = at + step
            if following < len(self._tree) and self._tree[following] <= y:
                at = following
                y -= self._tree[at]
            step >>= 1
        return max(0, min(at, len(self._values) - 1))
