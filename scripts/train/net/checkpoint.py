"""A run on disk, whole at every moment, to go on from."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from torch import nn

from net.batch import Batch
from net.muon import Optimizer
from net.schedule import Curriculum


@dataclass
class Progress:
    steps: int = 0
    seconds: float = 0.0
    tokens: int = 0
    questions: int = 0
    #: How often the run was begun or gone on with.
    starts: int = 0
    #: Steps, tokens, questions and seconds of the file that the run began with.
    before: dict[str, int] = field(default_factory=dict)

    def count(self, batch: Batch, seconds: float, processes: int) -> None:
        """Each process counts its own batch for that of all others, which are as large."""
        self.steps += 1
        self.seconds = seconds
        self.tokens += len(batch.tokens) * processes
        self.questions += batch.questions * processes

    def figures(self) -> dict[str, float]:
        return {
            "steps": self.steps,
            "seconds": round(self.seconds),
            "tokens": self.tokens,
            "questions": self.questions,
        }


class Checkpoint:
    def __init__(
        self,
        path: Path,
        network: nn.Module,
        helpers: nn.Module,
        optimizer: Optimizer,
        curriculum: Curriculum,
    ) -> None:
        self._path = path
        self._parts = (network, helpers, optimizer, curriculum)

    def load(self) -> Progress:
        """What there is, or a beginning."""
        if not self._path.exists():
            return Progress(starts=1)
        network, helpers, optimizer, curriculum = self._parts
        saved = torch.load(self._path, map_location="cpu")
        network.load_state_dict(saved["network"])
        helpers.load_state_dict(saved["helpers"])
        optimizer.load(saved["optimizer"])
        curriculum.load(saved["curriculum"])
        progress = Progress(**saved["progress"])
        progress.starts += 1
        return progress

    def save(self, progress: Progress) -> None:
        network, helpers, optimizer, curriculum = self._parts
        unfinished = self._path.with_suffix(".tmp")
        torch.save(
            {
                "shape": asdict(network.shape),
                "network": network.state_dict(),
                "helpers": helpers.state_dict(),
                "optimizer": optimizer.state(),
                "curriculum": curriculum.state(),
                "progress": asdict(progress),
            },
            unfinished,
        )
        os.replace(unfinished, self._path)
