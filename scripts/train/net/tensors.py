"""A batch as tensors, with what all layers share: rotations and masks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from net.batch import Batch, Bucket
from net.precision import PRODUCTS
from net.shape import Shape
from net.told import Looks


@dataclass
class BucketTensors:
    start: int
    rows: int
    size: int
    states: Tensor
    bias: Tensor
    #: Indices of attention's weights, by the lesson: of right options' ends, and of what decides.
    looks: dict[str, tuple[Tensor, ...]]


@dataclass
class Tensors:
    tokens: Tensor
    cosine: Tensor
    sine: Tensor
    state_rows: int
    state_size: int
    state_bias: Tensor
    buckets: list[BucketTensors]


@lru_cache
def _rotations(shape: Shape, device: str) -> tuple[Tensor, Tensor]:
    """By position, for both halves of a head; with the constant gain and the root of the width."""
    half = shape.head // 2
    frequency = shape.rope_base ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = torch.arange(shape.context, dtype=torch.float64)[:, None] * frequency
    gain = shape.gain * shape.head**-0.25
    cosine = torch.cat((angle.cos(), angle.cos()), -1) * gain
    sine = torch.cat((-angle.sin(), angle.sin()), -1) * gain
    cosine, sine = (table.to(PRODUCTS).to(device)[:, None, :] for table in (cosine, sine))
    return cosine, sine


@lru_cache
def _causal(size: int, device: str) -> Tensor:
    hidden = torch.full((size, size), float("-inf"), dtype=PRODUCTS).triu(1)
    return hidden.to(device)


def to_tensors(batch: Batch, shape: Shape, device: str) -> Tensors:
    cosine, sine = _rotations(shape, device)
    positions = torch.from_numpy(batch.positions).to(device)
    lengths = torch.from_numpy(batch.state_lengths).to(device)
    places = torch.arange(batch.state_size, device=device)
    hidden = torch.zeros(batch.state_rows, 1, 1, batch.state_size, device=device)
    hidden.masked_fill_((places >= lengths[:, None])[:, None, None], float("-inf"))
    hidden = hidden.to(PRODUCTS)
    return Tensors(
        tokens=torch.from_numpy(batch.tokens).to(device),
        cosine=cosine[positions],
        sine=sine[positions],
        state_rows=batch.state_rows,
        state_size=batch.state_size,
        state_bias=_causal(batch.state_size, device),
        buckets=[_bucket(bucket, hidden, device) for bucket in batch.buckets],
    )


def _bucket(bucket: Bucket, hidden: Tensor, device: str) -> BucketTensors:
    states = torch.from_numpy(bucket.states).to(device)
    own = _causal(bucket.size, device).expand(bucket.rows, 1, -1, -1)
    state = hidden.index_select(0, states).expand(-1, -1, bucket.size, -1)
    return BucketTensors(
        start=bucket.start,
        rows=bucket.rows,
        size=bucket.size,
        states=states,
        bias=torch.cat((state, own), -1),
        looks={
            "evidence": _indices(bucket.evidence, device),
            "right": _indices(bucket.right, device),
            "again": _indices(bucket.again, device),
        },
    )


def _indices(looks: Looks, device: str) -> tuple[Tensor, ...]:
    found = (looks.rows, looks.heads, looks.last, looks.keys)
    return tuple(torch.from_numpy(index.copy()).to(device) for index in found)
