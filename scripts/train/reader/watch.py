"""Figures on held-out rows while a run goes on: those for tuning, never those for reporting."""

from __future__ import annotations

from collections import Counter

import torch

from ask.sets import EvaluationSet
from net.log import rounded
from net.team import Team
from reader.batch import batches_of
from reader.network import Network
from reader.passes import Asked, Pass, Passes


class Watch:
    def __init__(self, team: Team, sets: list[EvaluationSet], passes: Passes, rows: int) -> None:
        """
        :param team: Each process looks at its part of the rows.
        :param sets: Of ``evaluation_sets``, for tuning; what has no accuracy is left out.
        :param rows: Of a set, at most.
        """
        self._team = team
        self._passes: list[Pass] = []
        self._names: list[str] = []
        for found in sets:
            if found.figure in ("accuracy", "within half"):
                for one in (one for group in found.groups[:rows] for one in passes.of(group)):
                    self._add(found.name, one)

    def _add(self, name: str, one: Pass) -> None:
        self._passes.append(one)
        self._names.append(name)

    @torch.no_grad()
    def figures(self, network: Network) -> dict[str, float]:
        """Shares of right answers, by set; of a scale's levels, how many means are within half."""
        right: Counter[str] = Counter()
        mine = slice(self._team.rank, None, self._team.size)
        passes, names = self._passes[mine], self._names[mine]
        for places, batch in batches_of(passes, 4096):
            for place, row in zip(places, network(batch).softmax(-1).cpu()):
                right[names[place]] += _is_right(passes[place].asked[0], row)
        counts = Counter(self._names)
        sums = self._team.sum(*(right[name] for name in sorted(counts)))
        return rounded({name: n / counts[name] for name, n in zip(sorted(counts), sums)})


def _is_right(asked: Asked, row: torch.Tensor) -> bool:
    if asked.ordered and not asked.task.startswith("reading"):
        return abs(float((row * torch.arange(len(row))).sum()) - asked.answer) <= 0.5
    return int(row.argmax()) == asked.answer
