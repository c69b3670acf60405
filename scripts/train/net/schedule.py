"""How fast and how hard: the learning rate over the run, and the stages of the curriculum."""

from __future__ import annotations

from torch import Tensor

from ask.mix import LAST, Stages
from net.batch import Batch

_WARM_UP_STEPS = 40
# High at first, which leaves chance soonest; then low, as nothing stays learned otherwise: README.
_HIGH_UNTIL, _LOW_FROM, _LOW = 0.06, 0.12, 0.4
# A network that comes from a file keeps what it knows, until the heads, which begin with nothing,
# tell it something; and then moves at a fifth of the rate of the middle of a run.
HEADS_ALONE_STEPS, _AGAIN = 150, 0.08


def rate_scale(share: float, steps: int, from_file: bool = False) -> float:
    """
    :param share: Of the run, 0 to 1.
    :param from_file: Whether the network was trained before.
    """
    if from_file:
        if steps < HEADS_ALONE_STEPS:
            return 1.0
        warm = min(1.0, (steps + 1 - HEADS_ALONE_STEPS) / _WARM_UP_STEPS)
        return warm * _AGAIN * max(0.01, 1 - share)
    warm = min(1.0, (steps + 1) / _WARM_UP_STEPS)
    if share < _LOW_FROM:
        fall = max(0.0, share - _HIGH_UNTIL) / (_LOW_FROM - _HIGH_UNTIL)
        return warm * (1 - (1 - _LOW) * fall)
    return _LOW * max(0.01, (1 - share) / (1 - _LOW_FROM))


# By which task a stage is judged; how often it must be right for the next one, and at what share of
# the run that comes in any case.
_JUDGED = Stages("concept choice", "record noul", "number noul")
_ENOUGH = Stages(
    (0.88, 0.85, 0.80, 0.75, 2.0),
    (0.88, 0.85, 0.85, 0.82, 0.80),
    (0.88, 0.85, 0.85, 0.85),
)
_LATEST = Stages(
    (0.10, 0.22, 0.36, 0.50, 0.66),
    (0.16, 0.26, 0.38, 0.48, 0.60),
    (0.20, 0.34, 0.46, 0.58),
)


class Curriculum:
    """More of everything, and larger, as soon as a little of it is mastered."""

    def __init__(self, from_file: bool = False) -> None:
        """:param from_file: Whether the network has been through all stages before."""
        self.stages = LAST if from_file else Stages(0, 0, 0)
        self._right = [0.0, 0.0, 0.0]

    def see(self, batch: Batch, correct: Tensor, share: float) -> None:
        now = list(self.stages)
        for kind, (stage, last) in enumerate(zip(self.stages, LAST)):
            if stage == last:
                continue
            seen = [i for i, task in enumerate(batch.tasks) if task == _JUDGED[kind]]
            if batch.stages[kind] == stage and seen:
                right = float(correct[seen].float().mean())
                self._right[kind] += 0.03 * (right - self._right[kind])
            if self._right[kind] > _ENOUGH[kind][stage] or share > _LATEST[kind][stage]:
                now[kind] += 1
                self._right[kind] = 0.0
        self.stages = Stages(*now)

    def state(self) -> dict[str, list]:
        return {"stages": list(self.stages), "right": self._right}

    def load(self, state: dict[str, list]) -> None:
        self.stages, self._right = Stages(*state["stages"]), list(state["right"])
