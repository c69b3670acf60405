"""Two optimizers in one step: Muon for the layers' matrices, AdamW for the rest.

Muon makes the momentum of a matrix orthogonal before it is applied, so that rare directions move
as far as frequent ones. See K. Jordan et al., "Muon: An optimizer for hidden layers in neural
networks", 2024.
"""

from __future__ import annotations

from collections import defaultdict

import torch
from torch import Tensor

from net.losses import Helpers
from net.network import Network
from net.precision import PRODUCTS

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


class Optimizer:
    def __init__(
        self,
        network: Network,
        helpers: Helpers,
        *,
        matrix_rate: float = 0.02,
        token_rate: float = 0.03,
        other_rate: float = 3e-3,
        decay: float = 0.1,
    ) -> None:
        self._rate, self._decay = matrix_rate, decay
        self._matrices = dict(network.layers.named_parameters())
        self._momenta = {name: torch.zeros_like(x) for name, x in self._matrices.items()}
        groups = [
            {"params": [network.embedding, network.line_end], "lr": token_rate},
            {"params": [network.lift, *helpers.parameters()], "lr": other_rate},
        ]
        self._adam = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01)
        self._other_rates = (token_rate, other_rate)

    @torch.no_grad()
    def step(self, scale: float, momentum: float = 0.95) -> None:
        """Leaves the gradients as they are.

        :param scale: Of both learning rates: the schedule.
        """
        for group, rate in zip(self._adam.param_groups, self._other_rates):
            group["lr"] = rate * scale
        self._adam.step()
        waiting: defaultdict[tuple[int, int], list[tuple[Tensor, Tensor]]] = defaultdict(list)
        for name, matrix in self._matrices.items():
            gradient, moment = matrix.grad, self._momenta[name]
            moment.lerp_(gradient, 1 - momentum)
            update = gradient.lerp(moment, momentum)
            parts = _STACKED.get(name.rpartition(".")[2], 1)
            for part, target in zip(update.chunk(parts), matrix.chunk(parts)):
                waiting[tuple(part.shape)].append((part, target))
        # Matrices of one shape at once: few large products instead of many small ones.
        for (rows, columns), pairs in waiting.items():
            updates = orthogonal(torch.stack([part for part, _ in pairs]))
            rate = self._rate * scale * max(1.0, rows / columns) ** 0.5
            for update, (_, target) in zip(updates, pairs):
                target.mul_(1 - self._rate * scale * self._decay).add_(update, alpha=-rate)

    def state(self) -> dict:
        return {"momenta": self._momenta, "adam": self._adam.state_dict()}

    def load(self, state: dict) -> None:
        for name, momentum in state["momenta"].items():
            self._momenta[name].copy_(momentum)
        self._adam.load_state_dict(state["adam"])
