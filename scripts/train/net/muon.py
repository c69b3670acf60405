"""Two optimizers in one step: Muon for the layers' matrices, AdamW for the rest.

Muon makes the momentum of a matrix orthogonal before it is applied, so that rare directions move
as far as frequent ones. See K. Jordan et al., "Muon: An optimizer for hidden layers in neural
networks", 2024.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import torch
from torch import Tensor

from net.flat import Flat, shared
from net.losses import Helpers
from net.network import Network
from net.precision import PRODUCTS
from net.team import Team

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def orthogonal(matrices: Tensor, steps: int = 5) -> Tensor:
    """
    :param matrices: A batch of them.
    :returns: The nearest orthogonal ones, roughly: Newton and Schulz.
    """
    a, b, c = _COEFFICIENTS
    x = matrices.to(PRODUCTS)
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.transpose(-1, -2)
    x = x / (x.float().norm(dim=(-2, -1), keepdim=True) + 1e-7).to(x.dtype)
    x = x.contiguous()
    for _ in range(steps):
        square = x @ x.transpose(-1, -2)
        x = a * x + (b * square + c * square @ square) @ x
    return x.transpose(-1, -2) if tall else x


# Matrices that are several in one, and how many.
_STACKED = {"qkv": 3, "gate_up": 2}


_BETAS, _EPSILON, _DECAY = (0.9, 0.98), 1e-8, 0.01


class Optimizer:
    """Each process of a team updates its own part of the parameters."""

    def __init__(
        self,
        network: Network,
        helpers: Helpers,
        team: Team,
        *,
        matrix_rate: float = 0.02,
        token_rate: float = 0.03,
        lift_rate: float = 2e-4,
        other_rate: float = 3e-3,
        first_layer: float = 0.25,
        decay: float = 0.1,
    ) -> None:
        """:param first_layer: Its share of the rate of matrices: it begins with what it should do."""
        self._rate, self._decay, self._team = matrix_rate, decay, team
        matrices = list(network.layers.parameters())
        tokens = [network.embedding, network.line_end]
        heads = list(helpers.parameters())
        groups = (matrices, tokens, [network.lift], heads)
        self._flat = Flat(team, [parameter for group in groups for parameter in group])
        ends = torch.tensor([sum(x.numel() for x in group) for group in groups])
        self._first_token, self._first_other, self._first_head, _ = ends.cumsum(0).tolist()
        # Momenta; behind the matrices, means of gradients and of their squares.
        device = network.embedding.device
        self._first = shared(team, "first", self._flat.count, device)
        self._second = shared(team, "second", self._flat.count - self._first_token, device)
        self._steps = 0
        self._token_rate, self._lift_rate, self._other_rate = token_rate, lift_rate, other_rate
        self._own: list[_Matrix] = []
        at = 0
        for i, layer in enumerate(network.layers):
            for name, matrix in layer.named_parameters():
                part = slice(at, at + matrix.numel())
                if i % team.size == team.rank:
                    share = first_layer if i == 0 else 1.0
                    self._own.append(_Matrix(matrix.data, part, _STACKED.get(name, 1), share))
                at = part.stop

    @property
    def gradients(self) -> Tensor:
        """All of this process, to be set to zero before each step."""
        return self._flat.gradients

    @torch.no_grad()
    def step(self, scale: float, heads_alone: bool = False, momentum: float = 0.95) -> None:
        """
        :param scale: Of all learning rates: the schedule.
        :param heads_alone: Leaves the network as it is.
        """
        self._team.wait()
        self._steps += 1
        self._adam(self._first_head, self._flat.count, self._other_rate * scale)
        if not heads_alone:
            self._adam(self._first_token, self._first_other, self._token_rate * scale)
            self._adam(self._first_other, self._first_head, self._lift_rate * scale)
            self._muon(scale, momentum)
        self._team.wait()

    def _adam(self, begin: int, end: int, rate: float) -> None:
        """See I. Loshchilov and F. Hutter, "Decoupled weight decay regularization", 2019."""
        bounds = [begin + (end - begin) * i // self._team.size for i in range(self._team.size + 1)]
        part = slice(bounds[self._team.rank], bounds[self._team.rank + 1])
        gradient, values = self._flat.average(part), self._flat.values[part]
        first, second = self._first[part], self._second[_moved(part, -self._first_token)]
        first.lerp_(gradient, 1 - _BETAS[0])
        second.mul_(_BETAS[1]).addcmul_(gradient, gradient, value=1 - _BETAS[1])
        whole, whole_square = (1 - beta**self._steps for beta in _BETAS)
        spread = second.sqrt().mul_(whole_square**-0.5).add_(_EPSILON)
        values.mul_(1 - rate * _DECAY).addcdiv_(first, spread, value=-rate / whole)

    def _muon(self, scale: float, momentum: float) -> None:
        waiting: defaultdict[tuple[int, int], list[tuple[Tensor, Tensor, float]]]
        waiting = defaultdict(list)
        for matrix in self._own:
            gradient, moment = self._flat.average(matrix.part), self._first[matrix.part]
            moment.lerp_(gradient, 1 - momentum)
            update = gradient.lerp(moment, momentum).view_as(matrix.values)
            parts = (x.chunk(matrix.stacked) for x in (update, matrix.values))
            for some, target in zip(*parts):
                waiting[tuple(some.shape)].append((some, target, self._rate * scale * matrix.share))
        # Matrices of one shape at once: few large products instead of many small ones.
        for (rows, columns), pairs in waiting.items():
            updates = orthogonal(torch.stack([some for some, *_ in pairs]))
            tall = max(1.0, rows / columns) ** 0.5
            for update, (_, target, rate) in zip(updates, pairs):
                target.mul_(1 - rate * self._decay).add_(update, alpha=-rate * tall)

    def state(self) -> dict:
        return {"first": self._first, "second": self._second, "steps": self._steps}

    def load(self, state: dict) -> None:
        self._first.copy_(state["first"])
        self._second.copy_(state["second"])
        self._steps = state["steps"]


def _moved(part: slice, by: int) -> slice:
    return slice(part.start + by, part.stop + by)


@dataclass
class _Matrix:
    values: Tensor
    #: Of all parameters.
    part: slice
    #: How many matrices it is in one.
    stacked: int
    #: Of the rate.
    share: float
