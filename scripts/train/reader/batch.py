"""Passes of about the same length side by side, and their texts by themselves, as tensors."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import torch
from torch import Tensor

from reader.passes import Asked, Pass
from reader.rows import Rows, Runs
from reader.texts import Texts

# Tasks about what a text is about: what it says by itself is learned from these.
_ABOUT = {"concept", "decision", "matching", "stray", "scale", "sense", "valence"}


class Batch(Rows):
    def __init__(self, passes: list[Pass], exact: bool = False) -> None:
        super().__init__([(one.tokens, one.positions, one.owners) for one in passes], exact)
        #: The questions, one behind the other, and the right option of each.
        self.asked: list[Asked] = []
        option_runs, state_runs, question_runs = Runs(), Runs(), Runs()
        markers, questions, columns, states = [], [], [], []
        looks: list[tuple[int, int, int, int]] = []
        texts = _Collected()
        pairs: list[tuple[int, int, int]] = []
        self._taught = 0
        for row, one in enumerate(passes):
            base = row * self.size
            state_runs.add(base + one.state[0], base + one.state[1])
            numbers = [texts.number(text, one.task in _ABOUT) for text in one.texts]
            for asked in one.asked:
                question_runs.add(base + asked.question[0], base + asked.question[1])
                ends = [*asked.markers[1:], asked.end]
                for column, (begin, end) in enumerate(zip(asked.markers, ends)):
                    option_runs.add(base + begin + 1, base + end)
                    markers.append(base + begin)
                    questions.append(len(self.asked))
                    columns.append(column)
                    states.append(row)
                    places = (0, asked.texts[0], asked.texts[1 + column])
                    pairs.append(tuple(numbers[place] for place in places))
                self.asked.append(asked)
                for marker in asked.markers if asked.evidence else ():
                    looks += [(self._taught, row, marker, key) for key in asked.evidence]
                    self._taught += 1
        self.options = max(columns) + 1
        self.texts = texts.groups(exact)
        self.length += sum(group.length for group in self.texts if group)
        look_of, *found = torch.tensor(looks, dtype=torch.long).view(-1, 4).unbind(1)
        self.keep(
            option=option_runs, state=state_runs, question=question_runs,
            # Of each option: its marker's place, its question, its place there, its state, and the
            # numbers of state, question and option among the texts.
            markers=torch.tensor(markers), of_question=torch.tensor(questions),
            column=torch.tensor(columns), of_state=torch.tensor(states),
            pairs=texts.in_order(torch.tensor(pairs)).t(),
            # What markers are taught to look at: which marker; rows, queries and keys of
            # attention's weights.
            look_of=look_of, looks=torch.stack(found),
            answers=torch.tensor([asked.answer for asked in self.asked]),
        )  # fmt: skip

    def looks_loss(self, looked: Tensor) -> Tensor:
        """Of the weights at ``looks``, by head: how little of a marker's is on what decides."""
        if not self._taught:
            return looked.sum()
        mass = looked.new_zeros(self._taught, looked.shape[1])
        mass = mass.index_add(0, self.look_of, looked)
        return -(mass + 1e-4).log().mean()

    def mean_options(self, x: Tensor) -> Tensor:
        return self.means(x, "option")

    def mean_questions(self, x: Tensor) -> Tensor:
        """Of each option's question."""
        return self.means(x, "question").index_select(0, self.of_question)

    def mean_states(self, x: Tensor) -> Tensor:
        """Of each option's state."""
        return self.means(x, "state").index_select(0, self.of_state)


class _Collected:
    """Each text once: those that are learned from, and the others, which cost a third."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, ...], int] = {}
        self._learned: set[int] = set()

    def number(self, text: tuple[int, ...], learned: bool) -> int:
        number = self._numbers.setdefault(text, len(self._numbers))
        if learned:
            self._learned.add(number)
        return number

    def _order(self) -> list[int]:
        return sorted(range(len(self._numbers)), key=lambda number: number not in self._learned)

    def groups(self, exact: bool) -> tuple[Texts | None, Texts | None]:
        texts = list(self._numbers)
        ordered = [texts[number] for number in self._order()]
        count = len(self._learned)
        parts = (ordered[:count], ordered[count:])
        learned, others = (Texts(part, exact) if part else None for part in parts)
        return learned, others

    def in_order(self, numbers: Tensor) -> Tensor:
        """Where they stand in the groups, one behind the other."""
        order = self._order()
        places = torch.empty(len(order), dtype=torch.long)
        places[torch.tensor(order)] = torch.arange(len(order))
        return places[numbers]


class Packer:
    """Holds a stock of passes, and takes neighbours by length out of it."""

    def __init__(self, tokens: int, random: Random) -> None:
        """:param tokens: Of a batch's passes, padding counted."""
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
