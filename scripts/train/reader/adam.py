"""AdamW over the part of the parameters that is this process' to update.

See I. Loshchilov and F. Hutter, "Decoupled weight decay regularization", 2019.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from net.flat import Flat, shared
from net.team import Team

_BETAS, _EPSILON = (0.9, 0.98), 1e-8


class Adam:
    def __init__(
        self,
        team: Team,
        parameters: Sequence[tuple[str, nn.Parameter]],
        rates: dict[str, float],
        decay: float,
        most: float = 1.0,
    ) -> None:
        """
        :param rates: By the beginning of a parameter's name; ``""`` for all others.
        :param decay: Of matrices, times the rate.
        :param most: Length of all gradients together; longer ones are shortened to it.
        """
        self._team, self._most = team, most
        self._flat = Flat(team, [parameter for _, parameter in parameters])
        count = self._flat.count
        device = self._flat.values.device
        self._rates, self._decays = (torch.zeros(count, device=device) for _ in range(2))
        at = 0
        for name, parameter in parameters:
            part = slice(at, at + parameter.numel())
            starts = [start for start in rates if name.startswith(start)]
            self._rates[part] = rates[max(starts, key=len)]
            if parameter.dim() > 1:
                self._decays[part] = decay
            at = part.stop
        each = -(-count // team.size)
        self._mine = slice(team.rank * each, min(count, (team.rank + 1) * each))
        self._rates, self._decays = self._rates[self._mine], self._decays[self._mine]
        self._first, self._second = (
            shared(team, name, count, device) for name in ("first", "second")
        )
        self._lengths = shared(team, "lengths", team.size)
        self._steps = 0

    @property
    def gradients(self) -> Tensor:
        return self._flat.gradients

    def step(self, scale: float) -> None:
        """:param scale: Of all rates."""
        self._team.wait()
        self._steps += 1
        gradient = self._flat.average(self._mine)
        self._lengths[self._team.rank] = gradient.square().sum()
        self._team.wait()
        length = float(self._lengths.sum().sqrt())
        if length > self._most:
            gradient.mul_(self._most / length)
        first, second = self._first[self._mine], self._second[self._mine]
        first.lerp_(gradient, 1 - _BETAS[0])
        second.mul_(_BETAS[1]).addcmul_(gradient, gradient, value=1 - _BETAS[1])
        corrections = [1 - beta**self._steps for beta in _BETAS]
        update = (second / corrections[1]).sqrt_().add_(_EPSILON)
        torch.div(first, update, out=update).mul_(1 / corrections[0])
        values = self._flat.values[self._mine]
        update.addcmul_(self._decays, values).mul_(self._rates)
        values.sub_(update, alpha=scale)
        self._team.wait()

    def state(self) -> dict:
        return {"first": self._first, "second": self._second, "steps": self._steps}

    def load(self, state: dict) -> None:
        self._first.copy_(state["first"])
        self._second.copy_(state["second"])
        self._steps = state["steps"]
