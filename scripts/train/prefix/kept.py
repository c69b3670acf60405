"""What is on disk: networks of checkpoints, and development rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import torch

from prefix.network import Network, Shape
from prefix.rows import Group
from prefix.stream import read
from source.labelled import is_for_card

#: Development rows longer than this are left out.
_LONGEST = 1500


@dataclass
class Done:
    """How far a run is. Of tokens: those of all processes, without padding."""

    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0
    #: Groups taken of each source, by this process.
    groups: Counter[str] = field(default_factory=Counter)

    def figures(self) -> dict[str, int]:
        return {"steps": self.steps, "tokens": self.tokens, "seconds": round(self.seconds)}


def load_network(path: Path, averaged: bool) -> tuple[Network, Done]:
    """:param averaged: The mean of the weights over the last steps.

    :returns: The network, and what the run has done.
    """
    saved = torch.load(path, map_location="cpu", weights_only=False)
    network = Network(Shape(**saved["shape"]))
    network.load_state_dict(saved["network"])
    if averaged:
        network.load_state_dict(saved["averages"], strict=False)
    network.eval()
    return network, saved["done"]


def watched(cache: Path, most: int) -> list[tuple[str, Group]]:
    """Development rows with their sets, but for those of the card.

    :param most: Groups of each set.
    """
    found = []
    for path in sorted(cache.glob("*.dev.pickle")):
        name, groups = path.name.split(".")[0], read(path)
        if name == "corpus":
            Random(name).shuffle(groups)
            found += groups[: most * 12]
            continue
        groups = [group for document, group in groups if not is_for_card(document)]
        Random(name).shuffle(groups)
        found += [(name, group) for group in groups[:most] if group.size() < _LONGEST]
    return found
