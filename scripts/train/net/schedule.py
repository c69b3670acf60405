"""How fast and how hard: the learning rate over the run, and the stages of the curriculum."""

from __future__ import annotations

from torch import Tensor

from ask.mix import STAGES
from net.batch import Batch

_WARM_UP_STEPS = 40
# From here on, the rate falls in a straight line to almost nothing.
_DECAY_FROM = 0.35


def rate_scale(share: float, steps: int) -> float:
    """:param share: Of the run, 0 to 1."""
    warm = min(1.0, (steps + 1) / _WARM_UP_STEPS)
    decay = 1.0 if share < _DECAY_FROM else (1 - share) / (1 - _DECAY_FROM)
    return warm * max(0.01, decay)


# A stage ends when choices about concepts are right so often, or at such a share of the run.
_ENOUGH = (0.80, 0.75, 0.75, 0.70, 2.0)
_LATEST = (0.06, 0.14, 0.24, 0.38, 0.62)


class Curriculum:
    """More options, and larger numbers, as soon as few of them are mastered."""

    def __init__(self) -> None:
        self.stage = 0
        self._right = 0.0

    def see(self, batch: Batch, correct: Tensor, share: float) -> None:
        if self.stage == len(STAGES) - 1:
            return
        seen = [i for i, task in enumerate(batch.tasks) if task == "concept choice"]
        if batch.stage == self.stage and seen:
            self._right += 0.03 * (float(correct[seen].float().mean()) - self._right)
        if self._right > _ENOUGH[self.stage] or share > _LATEST[self.stage]:
            self.stage += 1
            self._right = 0.0

    def state(self) -> dict[str, float]:
        return {"stage": self.stage, "right": self._right}

    def load(self, state: dict[str, float]) -> None:
        self.stage, self._right = int(state["stage"]), state["right"]
