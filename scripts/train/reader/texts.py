"""Texts by themselves, several in a row that do not see each other."""

from __future__ import annotations

from collections.abc import Sequence

from reader.rows import Rows, Runs

# Tokens of a row at least: short texts fill it together.
_ROW = 64


class Texts(Rows):
    """Each text's mean state, by the number that it was given with."""

    def __init__(self, texts: Sequence[Sequence[int]], exact: bool = False) -> None:
        """:param texts: Tokens of each, with the control tokens around it."""
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        longest = max(_ROW, len(texts[order[0]]))
        rows: list[tuple[list[int], list[int], list[int]]] = []
        free: list[int] = []
        places = [(0, 0)] * len(texts)
        for i in order:
            count = len(texts[i])
            # The fullest row that has room, of the last ones.
            fits = [row for row in range(max(0, len(rows) - 8), len(rows)) if free[row] >= count]
            if not fits:
                rows.append(([], [], []))
                free.append(longest)
            row = min(fits, key=free.__getitem__) if fits else len(rows) - 1
            tokens, positions, owners = rows[row]
            places[i] = (row, len(tokens))
            owners += [1 + (owners[-1] if owners else 0)] * count
            tokens += texts[i]
            positions += range(count)
            free[row] -= count
        super().__init__(rows, exact)
        runs = Runs()
        for (row, first), text in zip(places, texts):
            runs.add(row * self.size + first, row * self.size + first + len(text))
        self.keep(text=runs)
