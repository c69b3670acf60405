"""Several processes that train one model, each on its own examples.

One process on each core does twice what two threads in one do: most steps between products are too
short to be divided, and threads that wait for each other stall as soon as anything else runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch import distributed, multiprocessing


class Team:
    def __init__(self, rank: int, size: int, meeting: Path) -> None:
        """:param meeting: A file that is not there yet, where the processes find each other."""
        self.rank, self.size = rank, size
        if size > 1:
            os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
            place = f"file://{meeting.absolute()}"
            distributed.init_process_group("gloo", place, rank=rank, world_size=size)

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def told(self, *values: float) -> list[float]:
        """What the first process says."""
        if self.size == 1:
            return list(values)
        table = torch.tensor(values, dtype=torch.float64)
        distributed.broadcast(table, 0)
        return table.tolist()

    def average(self, values: Tensor) -> None:
        if self.size > 1:
            distributed.all_reduce(values)
            values.div_(self.size)


class Gradients:
    """The gradients of all parameters in one piece, to be averaged at once."""

    def __init__(self, parameters: list[nn.Parameter]) -> None:
        count = sum(parameter.numel() for parameter in parameters)
        self.values = torch.zeros(count, device=parameters[0].device)
        at = 0
        for parameter in parameters:
            part = self.values[at : at + parameter.numel()]
            parameter.grad = part.view_as(parameter)
            at += parameter.numel()


def run_team(size: int, meeting: Path, work: Callable[[Team, Any], None], given: Any) -> None:
    """Runs ``work(team, given)`` in so many processes."""
    if size == 1:
        work(Team(0, 1, meeting), given)
        return
    meeting.unlink(missing_ok=True)
    multiprocessing.spawn(_member, (size, meeting, work, given), nprocs=size)


def _member(rank: int, size: int, meeting: Path, work: Any, given: Any) -> None:
    work(Team(rank, size, meeting), given)
