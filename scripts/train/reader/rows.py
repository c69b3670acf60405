"""Tokens in rows of one length, as the encoder reads them: which of them sees which."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from net.precision import PRODUCTS

# Added to what attention must not see.
_HIDDEN = -30_000.0


class Rows:
    def __init__(
        self,
        rows: Sequence[tuple[Sequence[int], Sequence[int], Sequence[int]]],
        exact: bool = False,
    ) -> None:
        """
        :param rows: Tokens, positions and owners of each. Tokens of one owner see each other, and
            those of owner 0, who sees all.
        :param exact: In float32 throughout, as a check wants it.
        """
        self.rows, self.exact = len(rows), exact
        self._device: torch.device | None = None
        self.size = max(1, *(len(row[0]) for row in rows))
        #: Of all rows without padding.
        self.length = sum(len(row[0]) for row in rows)
        tokens, positions = (torch.zeros(self.rows, self.size, dtype=torch.long) for _ in range(2))
        owners = torch.full((self.rows, self.size), -1)
        for table, parts in zip((tokens, positions, owners), zip(*rows)):
            for row, numbers in zip(table, parts):
                row[: len(numbers)] = torch.tensor(numbers)
        self._tensors = {
            "tokens": tokens.view(-1), "positions": positions.view(-1), "owners": owners,
        }  # fmt: skip

    def to(self, device: torch.device) -> None:
        """Moves it there, once; what the network reads of it is there only then."""
        if self._device == device:
            return
        self._device = device
        for name, tensor in self._tensors.items():
            setattr(self, name, tensor.to(device))
        self.bias = _bias(self.owners, torch.float32 if self.exact else PRODUCTS)

    def means(self, x: Tensor, name: str) -> Tensor:
        """Of runs of the flat list ``x``, as ``keep`` got them; a mean over nothing is zero."""
        places, runs, counts = (getattr(self, f"{name}_{part}") for part in Runs.PARTS)
        sums = x.new_zeros(len(counts), x.shape[1])
        return sums.index_add(0, runs, x.index_select(0, places)) / counts[:, None]

    def keep(self, **tensors: Tensor | Runs) -> None:
        """What is to be moved, too, by its names."""
        for name, found in tensors.items():
            if isinstance(found, Runs):
                self._tensors |= {f"{name}_{part}": t for part, t in found.tensors().items()}
            else:
                self._tensors[name] = found


def _bias(owners: Tensor, kind: torch.dtype) -> Tensor:
    """Nobody sees padding."""
    keys, queries = owners[:, None, :], owners[:, :, None]
    seen = (keys == 0) | (queries == 0) | (keys == queries)
    seen &= keys >= 0
    bias = torch.zeros(seen.shape, dtype=kind, device=owners.device)
    return bias.masked_fill_(~seen, _HIDDEN)[:, None]


class Runs:
    """Runs of a flat list, as tensors that tell which place belongs to which."""

    PARTS = ("places", "runs", "counts")

    def __init__(self) -> None:
        self._places: list[int] = []
        self._runs: list[int] = []
        self._counts: list[int] = []

    def add(self, first: int, end: int) -> None:
        self._runs += [len(self._counts)] * (end - first)
        self._places += range(first, end)
        self._counts.append(max(1, end - first))

    def tensors(self) -> dict[str, Tensor]:
        parts = (self._places, self._runs, self._counts)
        return {
            part: torch.tensor(numbers, dtype=torch.long)
            for part, numbers in zip(self.PARTS, parts)
        }
