"""Batches without end, of rows of about the same length."""

from __future__ import annotations

import pickle
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from prefix.rows import Asked, Batch, Group, Row, Special
from prefix.shares import shares_at

#: Tokens of a row, at most, but for states of several texts.
_LONGEST = 1000
#: Sets of which several texts may stand in one state: their questions name what they are about.
_JOINED = ("boolq", "condaqa", "xquad")
#: Tokens of such a state, at most.
_MOST = 2000
#: Batches that are made at a time.
_AT_ONCE = 48
#: Share of the rows whose state begins at any position.
_SHIFTED = 0.12


class Stream(IterableDataset):
    """In every process and worker other groups, none twice before all have been."""

    def __init__(
        self,
        folder: Path,
        special: Special,
        tokens: int,
        positions: int,
        seed: str,
        share: Any,
        begun: Counter[str],
    ) -> None:
        """
        :param tokens: Of a batch, padding counted.
        :param positions: That the model has.
        :param share: Shared with the workers: how much of the run is over.
        :param begun: How many groups were taken of each source by runs before this one.
        """
        super().__init__()
        self._special, self._tokens, self._positions = special, tokens, positions
        self._seed, self._share, self._begun = seed, share, begun
        self._sources: dict[str, list[Group]] = defaultdict(list)
        for path in sorted(folder.glob("*.train.pickle")):
            name = path.name.split(".")[0]
            for label, group in read(path):
                if group.asked and group.size() <= _LONGEST:
                    self._sources[label if name.startswith("corpus") else name].append(group)
        for name, groups in sorted(self._sources.items()):
            Random(f"{seed} {name}").shuffle(groups)
        self.names = [*sorted(self._sources), "open"]
        #: Tokens of a group, in the mean.
        self._sizes = {
            n: sum(g.size() for g in gs[:2000]) / len(gs[:2000]) for n, gs in self._sources.items()
        }
        self._joined_names = [name for name in _JOINED if name in self._sources]
        if self._joined_names:
            self._sizes["open"] = 1300.0

    def batches(self, workers: int) -> Iterator[Batch]:
        """:param workers: Processes that make them; 0: this one does."""
        return iter(DataLoader(self, batch_size=None, num_workers=workers))

    def __iter__(self) -> Iterator[Batch]:
        worker = get_worker_info()
        self._mine, self._of = (worker.id, worker.num_workers) if worker else (0, 1)
        self._random = Random(f"{self._seed} {sorted(self._begun.items())} {self._mine}")
        self._at = {name: self._begun[name] // self._of for name in self._sources}
        while True:
            yield from self._some()

    def _some(self) -> list[Batch]:
        shares = {n: s for n, s in shares_at(self._share.value).items() if n in self._sizes}
        names = list(shares)
        weights = [shares[name] / self._sizes[name] for name in names]
        rows, total = [], 0
        while total < _AT_ONCE * self._tokens:
            rows.append(self._row(self._random.choices(names, weights)[0]))
            total += len(rows[-1].tokens)
        rows.sort(key=lambda row: len(row.tokens))
        batches, begin = [], 0
        for end in range(1, len(rows) + 1):
            full = end < len(rows) and (end - begin + 1) * len(rows[end].tokens) > self._tokens
            if full or end == len(rows):
                batches.append(Batch(rows[begin:end]))
                begin = end
        self._random.shuffle(batches)
        return batches

    def _row(self, name: str) -> Row:
        group = self._joined() if name == "open" else self._one(name)
        shift = 0
        if self._random.random() < _SHIFTED:
            shift = self._random.randrange(max(1, self._positions - group.size()))
        row = Row(group, self._special, shift)
        row.source = self.names.index(name)
        return row

    def _one(self, name: str) -> Group:
        groups = self._sources[name]
        place = (self._mine + self._at[name] * self._of) % len(groups)
        self._at[name] += 1
        return groups[place]

    def _joined(self) -> Group:
        """Several texts in one state, and a question about each of some."""
        state: list[int] = []
        asked: list[Asked] = []
        most = self._random.randint(400, _MOST)
        while True:
            group = self._one(self._random.choice(self._joined_names))
            if asked and len(state) + len(group.state) > most:
                return Group(0, state, self._random.sample(asked, min(6, len(asked))))
            state += group.state
            # Without twins: their places would be others.
            asked.append(next(one for one in group.asked if one.twin < 0))


def read(path: Path) -> list[tuple[str, Group]]:
    """Groups as ``prepare.py`` wrote them, with their documents or tasks."""
    with path.open("rb") as file:
        return pickle.load(file)
