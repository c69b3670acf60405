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
        option_runs, state_runs, question_runs = _Runs(), _Runs(), _Runs()
        markers, questions, columns, states = [], [], [], []
        looks: list[tuple[int, int, int, int]] = []
        self._taught = 0
        for row, one in enumerate(passes):
            count, base = len(one.tokens), row * self.size
            tokens[row, :count] = torch.tensor(one.tokens)
            positions[row, :count] = torch.tensor(one.positions)
            owners[row, :count] = torch.tensor(one.owners)
            state_runs.add(base + one.state[0], base + one.state[1])
            for asked in one.asked:
                question_runs.add(base + asked.question[0], base + asked.question[1])
                ends = [*asked.markers[1:], asked.end]
                for column, (begin, end) in enumerate(zip(asked.markers, ends)):
                    option_runs.add(base + begin + 1, base + end)
                    markers.append(base + begin)
                    questions.append(len(self.asked))
                    columns.append(column)
                    states.append(row)
                self.asked.append(asked)
                for marker in asked.markers if asked.evidence else ():
                    looks += [(self._taught, row, marker, key) for key in asked.evidence]
                    self._taught += 1
        self.options = max(columns) + 1
        self._tensors = {
            "tokens": tokens.view(-1),
            "positions": positions.view(-1),
            "owners": owners,
            # Of each option: its marker's place, its question, its place there, and its state.
            "markers": torch.tensor(markers),
            "of_question": torch.tensor(questions),
            "column": torch.tensor(columns),
            "of_state": torch.tensor(states),
            # What markers are taught to look at: which marker, and rows, queries and keys of
            # attention's weights.
            "looks": torch.tensor(looks, dtype=torch.long).view(-1, 4).t(),
            "answers": torch.tensor([asked.answer for asked in self.asked]),
            **option_runs.tensors("option"),
            **state_runs.tensors("state"),
            **question_runs.tensors("question"),
        }

    def to(self, device: torch.device) -> None:
        """Moves it there; what the network reads of it is there only then."""
        found = {name: tensor.to(device) for name, tensor in self._tensors.items()}
        self.tokens, self.positions = found["tokens"], found["positions"]
        self.markers, self.of_question = found["markers"], found["of_question"]
        self.column, self.of_state = found["column"], found["of_state"]
        self.answers = found["answers"]
        self._look_of, *self.looks = found["looks"].unbind(0)
        self.bias = _bias(found["owners"], torch.float32 if self.exact else PRODUCTS)
        self._found = found

    def looks_loss(self, looked: Tensor) -> Tensor:
        """Of the weights at ``looks``, by head: how little of a marker's is on what decides."""
        if not self._taught:
            return looked.sum()
        mass = looked.new_zeros(self._taught, looked.shape[1])
        mass = mass.index_add(0, self._look_of, looked)
        return -(mass + 1e-4).log().mean()

    @property
    def length(self) -> int:
        """Tokens without padding."""
        return sum(len(one.tokens) for one in self.passes)

    def mean_options(self, x: Tensor) -> Tensor:
        return self._means(x, "option")

    def mean_questions(self, x: Tensor) -> Tensor:
        """Of each option's question."""
        return self._means(x, "question").index_select(0, self.of_question)

    def mean_states(self, x: Tensor) -> Tensor:
        """Of each option's state."""
        return self._means(x, "state").index_select(0, self.of_state)

    def _means(self, x: Tensor, name: str) -> Tensor:
        """Of runs of the flat list ``x``; a mean over nothing is zero."""
        places, runs, counts = (self._found[f"{name}_{part}"] for part in _Runs.PARTS)
        sums = x.new_zeros(len(counts), x.shape[1])
        return sums.index_add(0, runs, x.index_select(0, places)) / counts[:, None]


def _bias(owners: Tensor, kind: torch.dtype) -> Tensor:
    """Questions of a pass do not see each other, and nobody sees padding."""
    keys, queries = owners[:, None, :], owners[:, :, None]
    seen = (keys == 0) | (queries == 0) | (keys == queries)
    seen &= keys >= 0
    bias = torch.zeros(seen.shape, dtype=kind, device=owners.device)
    return bias.masked_fill_(~seen, _HIDDEN)[:, None]


class _Runs:
    """Runs of a flat list, as tensors that tell which place belongs to which."""

    PARTS = ("places", "runs", "counts")

    def __init__(self) -> None:
        self._places: list[int] = []
        self._runs: list[int] = []
        self._counts: list[int] = []

    def add(self, first: int, end: int) -> None:
        self._runs += [len(self._counts)] * (end - first)
        self._places += range(first, end)
        self._counts.append(max(1, end - first))

    def tensors(self, name: str) -> dict[str, Tensor]:
        """By the name and the part's."""
        parts = (self._places, self._runs, self._counts)
        return {
            f"{name}_{part}": torch.tensor(numbers, dtype=torch.long)
            for part, numbers in zip(self.PARTS, parts)
        }


class Packer:
    """Holds a stock of passes, and takes neighbours by length out of it."""

    def __init__(self, tokens: int, random: Random) -> None:
        """:param tokens: Of a batch, padding counted."""
        self._tokens, self._random = tokens, random
        # Some 25 batches: so much that neighbours by length are of nearly the same.
        self._stock = tokens // 7
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
