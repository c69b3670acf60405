"""All parameters of a model in one piece of memory, which the processes of a team share.

Each process has gradients of its own examples, and applies the mean of all to its part of the
parameters: so no gradient is sent, nothing is updated twice, and copies cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from net.team import Team


class Flat:
    def __init__(self, team: Team, parameters: Sequence[nn.Parameter]) -> None:
        """Moves the parameters to memory of all, and lets their gradients gather in one's own."""
        self._team = team
        self.count = sum(parameter.numel() for parameter in parameters)
        device = parameters[0].device
        self.values = shared(team, "values", self.count, device)
        self._gradients = [
            shared(team, f"gradients{rank}", self.count, device) for rank in range(team.size)
        ]
        at = 0
        for parameter in parameters:
            part = slice(at, at + parameter.numel())
            self.values[part].copy_(parameter.data.reshape(-1))
            parameter.data = self.values[part].view_as(parameter)
            parameter.grad = self.gradients[part].view_as(parameter)
            at = part.stop

    @property
    def gradients(self) -> Tensor:
        """Of this process' examples."""
        return self._gradients[self._team.rank]

    def average(self, part: slice) -> Tensor:
        """The mean of all processes' gradients, which takes the place of this one's.

        For a part that no other process asks for, when all have theirs.
        """
        mine = self.gradients[part]
        for rank, gradients in enumerate(self._gradients):
            if rank != self._team.rank:
                mine.add_(gradients[part])
        return mine.div_(self._team.size)


def shared(team: Team, name: str, count: int, device: torch.device | str = "cpu") -> Tensor:
    """Zeros that all processes of a team see, if it has more than one."""
    if team.size == 1:
        return torch.zeros(count, device=device)
    path = team.folder / name
    found = torch.from_file(str(path), shared=True, size=count)
    team.wait()
    if team.leads:
        # It is there as long as somebody has it.
        path.unlink()
    return found
