"""Passes of about the same length side by side, as tensors."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import torch
from torch import Tensor

from net.precision import PRODUCTS
from reader.passes import Asked, Pass

# Added to what attention must not see.
_HIDDEN = -30_000.0


class Batch:
    def __init__(self, passes: list[Pass], exact: bool = False) -> None:
        """:param exact: In float32 throughout, as a check wants it."""
        self.passes, self.exact = passes, exact
        self.rows, self.size = len(passes), max(len(one.tokens) for one in passes)
        tokens, positions = (torch.zeros(self.rows, self.size, dtype=torch.long) for _ in range(2))
        owners = torch.full((self.rows, self.size), -1)
        #: The questions, one behind the other, and the right option of each.
        self.asked: list[Asked] = []
        self._options, self._states, self._questions = _Means(), _Means(), _Means()
        markers, questions, columns, states = [], [], [], []
        looks: list[tuple[int, int, int, int]] = []
        self._taught = 0
        for row, one in enumerate(passes):
            count, base = len(one.tokens), row * self.size
            tokens[row, :count] = torch.tensor(one.tokens)
            positions[row, :count] = torch.tensor(one.positions)
            owners[row, :count] = torch.tensor(one.owners)
            self._states.add(base + one.state[0], base + one.state[1])
            for asked in one.asked:
                self._questions.add(base + asked.question[0], base + asked.question[1])
                ends = [*asked.markers[1:], asked.end]
                for column, (begin, end) in enumerate(zip(asked.markers, ends)):
                    self._options.add(base + begin + 1, base + end)
                    markers.append(base + begin)
                    questions.append(len(self.asked))
                    columns.append(column)
                    states.append(row)
                self.asked.append(asked)
                for marker in asked.markers if asked.evidence else ():
                    looks += [(self._taught, row, marker, key) for key in asked.evidence]
                    self._taught += 1
        self.tokens, self.positions = tokens.view(-1), positions.view(-1)
        self.bias = _bias(owners, torch.float32 if exact else PRODUCTS)
        #: Of each option: its marker's place, its question, its place there, and its state.
        self.markers, self.of_question, self.column, self.of_state = map(
            torch.tensor, (markers, questions, columns, states)
        )
        self.options = max(columns) + 1
        #: What markers are taught to look at: rows, queries and keys of attention's weights.
        self._look_of, *self.looks = torch.tensor(looks, dtype=torch.long).view(-1, 4).unbind(1)
        self.answers = torch.tensor([asked.answer for asked in self.asked])

    def looks_loss(self, looked: Tensor) -> Tensor:
        """Of the weights at ``looks``, by head: how little of a marker's is on what decides."""
        if not self._taught:
            return looked.sum()
        mass = torch.zeros(self._taught, looked.shape[1]).index_add(0, self._look_of, looked)
        return -(mass + 1e-4).log().mean()

    @property
    def length(self) -> int:
        """Tokens without padding."""
        return sum(len(one.tokens) for one in self.passes)

    def mean_options(self, x: Tensor) -> Tensor:
        return self._options.of(x)

    def mean_questions(self, x: Tensor) -> Tensor:
        """Of each option's question."""
        return self._questions.of(x).index_select(0, self.of_question)

    def mean_states(self, x: Tensor) -> Tensor:
        """Of each option's state."""
        return self._states.of(x).index_select(0, self.of_state)


def _bias(owners: Tensor, kind: torch.dtype) -> Tensor:
    """Questions of a pass do not see each other, and nobody sees padding."""
    keys, queries = owners[:, None, :], owners[:, :, None]
    seen = (keys == 0) | (queries == 0) | (keys == queries)
    seen &= keys >= 0
    return torch.zeros(seen.shape, dtype=kind).masked_fill_(~seen, _HIDDEN)[:, None]


class _Means:
    """Of runs of a flat list; a mean over nothing is zero."""

    def __init__(self) -> None:
        self._groups: list[int] = []
        self._places: list[int] = []
        self._counts: list[int] = []

    def add(self, first: int, end: int) -> None:
        self._groups += [len(self._counts)] * (end - first)
        self._places += range(first, end)
        self._counts.append(max(1, end - first))

    def of(self, x: Tensor) -> Tensor:
        rows = x.index_select(0, torch.tensor(self._places, dtype=torch.long))
        groups = torch.tensor(self._groups, dtype=torch.long)
        sums = torch.zeros(len(self._counts), x.shape[1]).index_add(0, groups, rows)
        return sums / torch.tensor(self._counts)[:, None]


class Packer:
    """Holds a stock of passes, and takes neighbours by length out of it."""

    def __init__(self, tokens: int, random: Random, stock: int = 300) -> None:
        """:param tokens: Of a batch, padding counted."""
        self._tokens, self._random, self._stock = tokens, random, stock
        self._passes: list[Pass] = []

    @property
    def hungry(self) -> bool:
        return len(self._passes) < self._stock

    def add(self, passes: list[Pass]) -> None:
        self._passes += passes

    def take(self) -> Batch:
        self._passes.sort(key=lambda one: len(one.tokens))
        # Around a pass drawn evenly, so that none waits longer than others.
        first = last = self._random.randrange(len(self._passes))
        while last - first + 1 < len(self._passes):
            if first > 0 and (last + 1 == len(self._passes) or self._random.random() < 0.5):
                first -= 1
            else:
                last += 1
            if (last - first + 2) * len(self._passes[last].tokens) > self._tokens:
                break
        taken = self._passes[first : last + 1]
        del self._passes[first : last + 1]
        return Batch(taken)


def batches_of(
    passes: list[Pass], tokens: int, exact: bool = False
) -> Iterator[tuple[list[int], Batch]]:
    """All of them, with their places in the list; the longest first."""
    order = sorted(range(len(passes)), key=lambda i: -len(passes[i].tokens))
    while order:
        count = max(1, tokens // len(passes[order[0]].tokens))
        places = order[:count]
        del order[:count]
        yield places, Batch([passes[i] for i in places], exact)
