"""A run on disk, whole at every moment, to go on from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from net.log import Log
from net.team import Team
from reader.adam import Adam
from reader.batch import Batch
from reader.export import load_model
from reader.network import Network
from reader.rows import Rows
from reader.watch import Watch

# Seconds from one checkpoint to the next.
_SAVE = 120


@dataclass
class Progress:
    steps: int = 0
    seconds: float = 0.0
    #: Seconds of the runs that it goes on from.
    earlier: float = 0.0
    #: Without padding; of the runs that it goes on from, too.
    tokens: int = 0
    #: Of those, of the runs that it goes on from.
    earlier_tokens: int = 0
    questions: int = 0
    #: How often the run was begun or gone on with.
    starts: int = 1

    def count(self, batch: Rows, processes: int) -> None:
        """Each process counts its own batch for that of all others, which are as large."""
        self.tokens += batch.length * processes
        if isinstance(batch, Batch):
            self.questions += len(batch.asked) * processes

    def figures(self) -> dict[str, int]:
        names = ("steps", "seconds", "tokens", "questions")
        return {name: round(getattr(self, name)) for name in names}


class Keeper:
    """Watches a run and writes its checkpoints, by the clock and at its end."""

    def __init__(
        self,
        team: Team,
        checkpoint: Path,
        parts: tuple[Network, Adam, Progress],
        watch: Watch,
        log: Log,
        minutes: float,
    ) -> None:
        """:param minutes: From figures to figures."""
        self._team, self._checkpoint, self._parts = team, checkpoint, parts
        self._watch, self._log, self._seconds = watch, log, minutes * 60
        progress = parts[2]
        self._next_watch = progress.seconds + (self._seconds if progress.steps else 0)
        self._next_save = progress.seconds + _SAVE

    def look(self, seconds: float, share: float) -> None:
        """
        :param seconds: Since the run began.
        :param share: Of the run, how much is over.
        """
        network, optimizer, progress = self._parts
        if seconds >= self._next_watch or share >= 1:
            found = self._watch.figures(network)
            self._log.write({"event": "watch", **progress.figures(), **found})
            self._next_watch = seconds + self._seconds
        if self._team.leads and progress.steps and (seconds > self._next_save or share >= 1):
            save_run(self._checkpoint, network, optimizer, progress)
            self._next_save = seconds + _SAVE


def load_network(saved: dict[str, Any]) -> Network:
    """Of a checkpoint, to be used and not to be trained."""
    tensors = saved["network"]
    network = Network(len(tensors["words"]), len(tensors["positions"]), saved["marker"])
    network.load_state_dict(tensors)
    network.recast()
    return network.eval()


def start_from(path: Path, network: Network) -> Progress:
    """Goes on from another run's network, as far as shapes are the same, with a new optimizer.

    Tokens are the pretrained ones.

    :param path: A checkpoint, or a model file, of which weights are rounded.
    """
    if path.suffix == ".gguf":
        return _behind(load_model(path, network))
    saved = torch.load(path, map_location="cpu")
    own = network.state_dict()
    same = {n: t for n, t in saved["network"].items() if n in own and t.shape == own[n].shape}
    network.load_state_dict({**own, **same, "words": own["words"]})
    return _behind(saved["progress"])


def mean_network(networks: Sequence[Network]) -> Network:
    """Of networks that began at the same weights: the first one gets the mean of all."""
    states = [network.state_dict() for network in networks]
    mean = {name: sum(state[name] for state in states) / len(states) for name in states[0]}
    networks[0].load_state_dict(mean)
    networks[0].recast()
    return networks[0]


def _behind(before: dict[str, Any]) -> Progress:
    """The beginning of a run behind another one."""
    earlier = before["seconds"] + before.get("earlier", 0.0)
    tokens, questions = before["tokens"], before["questions"]
    return Progress(tokens=tokens, earlier_tokens=tokens, questions=questions, earlier=earlier)


def load_run(path: Path, network: Network, optimizer: Adam) -> Progress:
    saved = torch.load(path, map_location="cpu")
    network.load_state_dict(saved["network"])
    optimizer.load(saved["optimizer"])
    progress = Progress(**saved["progress"])
    progress.starts += 1
    return progress


def save_run(path: Path, network: Network, optimizer: Adam, progress: Progress) -> None:
    unfinished = path.with_suffix(".tmp")
    parts = {"network": network.state_dict(), "optimizer": optimizer.state()}
    torch.save({**parts, "marker": network.marker_token, "progress": asdict(progress)}, unfinished)
    os.replace(unfinished, path)
