"""Figures on held-out rows while a run goes on: those for tuning, never those for reporting."""

from __future__ import annotations

from collections import defaultdict

import torch

from ask.reading import as_written
from ask.sets import EvaluationSet
from net.log import rounded
from reader.batch import batches_of
from reader.network import Network
from reader.passes import Pass, Passes
from source.material import Material


class Watch:
    def __init__(self, sets: list[EvaluationSet], held: Material, passes: Passes) -> None:
        """:param sets: Of ``evaluation_sets``, for tuning; what has no accuracy is left out."""
        self._passes: list[Pass] = []
        self._names: list[str] = []
        for found in sets:
            if found.figure in ("accuracy", "within half"):
                self._add(found.name, [one for group in found.groups for one in passes.of(group)])
        for text in held.readings:
            for one in passes.of(as_written(text)):
                self._add(one.task, [one])

    def _add(self, name: str, passes: list[Pass]) -> None:
        self._passes += passes
        self._names += [name] * len(passes)

    @torch.no_grad()
    def figures(self, network: Network) -> dict[str, float]:
        """Shares of right answers, by set; of levels, how far off the mean level is, within half."""
        right: dict[str, list[float]] = defaultdict(list)
        for places, batch in batches_of(self._passes, 4096):
            probabilities = network(batch).softmax(-1)
            for place, row in zip(places, probabilities):
                one = self._passes[place]
                right[self._names[place]].append(self._is_right(one, row))
        return rounded({name: sum(some) / len(some) for name, some in sorted(right.items())})

    def _is_right(self, one: Pass, row: torch.Tensor) -> bool:
        if one.ordered and one.task != "reading score":
            mean = float((row * torch.arange(len(row))).nan_to_num(0).sum())
            return abs(mean - one.answer) <= 0.5
        return int(row.argmax()) == one.answer
