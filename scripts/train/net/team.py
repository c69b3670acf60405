"""Several processes that train one model, each on its own examples.

One process on each core does twice what two threads in one do: most steps between products are too
short to be divided, and threads that wait for each other stall as soon as anything else runs.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import distributed, multiprocessing

from net.heap import keep_freed_memory
from net.parent import end_with_parent

# Bytes that a team may come to share: a model of 50 million parameters for two processes.
_SHARED_MOST = 2**30


class Team:
    def __init__(self, rank: int, size: int, folder: Path) -> None:
        """:param folder: Of this team alone, where the processes find each other."""
        self.rank, self.size, self.folder = rank, size, folder
        if size > 1:
            os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
            place = f"file://{folder}/meeting"
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

    def sum(self, *values: float) -> list[float]:
        """Of what each process has, one by one."""
        table = torch.tensor(values, dtype=torch.float64)
        if self.size > 1:
            distributed.all_reduce(table)
        return table.tolist()

    def wait(self) -> None:
        """Until all processes are here."""
        if self.size > 1:
            distributed.barrier()


def run_team(size: int, work: Callable[[Team, Any], None], given: Any) -> None:
    """Runs ``work(team, given)`` in so many processes."""
    # In memory, where there is such a folder; those of containers are often too small.
    memory = Path("/dev/shm")
    fits = memory.is_dir() and shutil.disk_usage(memory).free > _SHARED_MOST
    with tempfile.TemporaryDirectory(dir=memory if fits else None) as name:
        folder = Path(name)
        if size == 1:
            _prepare()
            work(Team(0, 1, folder), given)
        else:
            multiprocessing.spawn(_member, (size, folder, work, given, os.getpid()), nprocs=size)


def _member(rank: int, size: int, folder: Path, work: Any, given: Any, parent: int) -> None:
    end_with_parent(parent)
    _prepare()
    work(Team(rank, size, folder), given)


def _prepare() -> None:
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    keep_freed_memory()
