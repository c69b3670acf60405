"""Passes of about the same length side by side, as tensors."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import torch
from torch import Tensor

from net.precision import PRODUCTS
from reader.passes import Pass


class Batch:
    def __init__(self, passes: list[Pass], exact: bool = False) -> None:
        """:param exact: In float32 throughout, as a check wants it."""
        self.passes, self.exact = passes, exact
        self.rows, self.size = len(passes), max(len(one.tokens) for one in passes)
        tokens = torch.zeros(self.rows, self.size, dtype=torch.long)
        there = torch.zeros(self.rows, self.size, dtype=torch.bool)
        rows, columns, markers, option_of, option_at = [], [], [], [], []
        state_of, state_at = [], []
        for row, one in enumerate(passes):
            count = len(one.tokens)
            tokens[row, :count] = torch.tensor(one.tokens)
            there[row, :count] = True
            base = row * self.size
            ends = [*one.markers[1:], one.options_end]
            for column, (begin, end) in enumerate(zip(one.markers, ends)):
                option_of += [len(markers)] * (end - begin - 1)
                option_at += range(base + begin + 1, base + end)
                markers.append(base + begin)
                rows.append(row)
                columns.append(column)
            first, last = one.state
            state_of += [row] * (last - first)
            state_at += range(base + first, base + last)
        self.tokens = tokens.view(-1)
        self.positions = torch.arange(self.size).repeat(self.rows)
        self.bias = torch.zeros(self.rows, 1, 1, self.size, dtype=torch.float32 if exact else PRODUCTS)
        self.bias.masked_fill_(~there[:, None, None, :], -30_000.0)
        self.markers, self.option_rows, self.option_columns = map(
            torch.tensor, (markers, rows, columns)
        )
        self.options = max(columns) + 1
        self._option = _Means(option_of, option_at, len(markers))
        self._state = _Means(state_of, state_at, self.rows)
        self.answers = torch.tensor([one.answer for one in passes])

    @property
    def questions(self) -> int:
        return self.rows

    def mean_options(self, x: Tensor) -> Tensor:
        return self._option.of(x)

    def mean_states(self, x: Tensor) -> Tensor:
        return self._state.of(x)


class _Means:
    def __init__(self, groups: list[int], places: list[int], count: int) -> None:
        self._groups, self._places = torch.tensor(groups), torch.tensor(places)
        counts = torch.bincount(self._groups, minlength=count).clamp_(min=1)
        self._shares = (1 / counts)[:, None]
        self._count = count

    def of(self, x: Tensor) -> Tensor:
        """A mean over nothing is zero."""
        sums = torch.zeros(self._count, x.shape[1]).index_add(
            0, self._groups, x.index_select(0, self._places)
        )
        return sums * self._shares


class Packer:
    """Holds a stock of passes, sorted by length, and takes neighbours out of it."""

    def __init__(self, tokens: int, random: Random, stock: int = 600) -> None:
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
        # By a pass drawn evenly, so that none waits longer than others.
        at = self._random.randrange(len(self._passes))
        size = len(self._passes[at].tokens)
        first = last = at
        while True:
            if first > 0 and (last + 1 == len(self._passes) or self._random.random() < 0.5):
                first -= 1
            elif last + 1 < len(self._passes):
                last += 1
            size = len(self._passes[last].tokens)
            if (last - first + 2) * size > self._tokens or last - first + 1 == len(self._passes):
                break
        taken = self._passes[first : last + 1]
        del self._passes[first : last + 1]
        return Batch(taken)


def batches_of(passes: list[Pass], tokens: int, exact: bool = False) -> Iterator[tuple[list[int], Batch]]:
    """All of them, with their places in the list; the longest first."""
    order = sorted(range(len(passes)), key=lambda i: -len(passes[i].tokens))
    while order:
        count = max(1, tokens // len(passes[order[0]].tokens))
        places = order[:count]
        del order[:count]
        yield places, Batch([passes[i] for i in places], exact)
