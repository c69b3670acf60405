"""A reader of the GGUF files that are written here: metadata, and tensors."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from export.gguf import (
    ALIGNMENT, ARRAY, BLOCK, BOOL, F32, FLOAT32, INT32, Q4_0, Q8_0, STRING, UINT16, UINT32,
)  # fmt: skip

_SCALARS = {UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<?"}
_Q8_0_BLOCK = np.dtype([("scale", "<f2"), ("numbers", "i1", BLOCK)])
_Q4_0_BLOCK = np.dtype([("scale", "<f2"), ("numbers", "u1", BLOCK // 2)])


@dataclass(frozen=True)
class Model:
    metadata: dict[str, Any]
    #: In float32, by name.
    tensors: dict[str, np.ndarray]


def read_gguf(path: Path) -> Model:
    """:raises ValueError: If the file has anything that ``write_gguf`` does not write."""
    head = _Head(path.read_bytes())
    if head.take(4) != b"GGUF" or head.number("<I") != 3:
        raise ValueError(f"{path.name}: expected GGUF, version 3")
    tensors, entries = head.number("<Q"), head.number("<Q")
    metadata = {head.string(): head.value(head.number("<I")) for _ in range(entries)}
    places = []
    for _ in range(tensors):
        name, dimensions = head.string(), head.number("<I")
        # The fastest dimension comes first.
        shape = [head.number("<Q") for _ in range(dimensions)][::-1]
        places.append((name, shape, head.number("<I"), head.number("<Q")))
    begin = head.at + -head.at % ALIGNMENT
    return Model(
        metadata,
        {
            name: _tensor(head.data, begin + offset, shape, kind)
            for name, shape, kind, offset in places
        },
    )


def _tensor(data: bytes, at: int, shape: list[int], kind: int) -> np.ndarray:
    count = int(np.prod(shape))
    if kind == F32:
        return np.frombuffer(data, "<f4", count, at).reshape(shape)
    if kind == Q8_0:
        blocks = np.frombuffer(data, _Q8_0_BLOCK, count // BLOCK, at)
        numbers = blocks["numbers"]
    elif kind == Q4_0:
        blocks = np.frombuffer(data, _Q4_0_BLOCK, count // BLOCK, at)
        halves = blocks["numbers"] & 15, blocks["numbers"] >> 4
        numbers = np.concatenate(halves, axis=1).astype(np.int8) - 8
    else:
        raise ValueError(f"expected a tensor in F32, Q8_0 or Q4_0, got type {kind}")
    return (blocks["scale"].astype(np.float32)[:, None] * numbers).reshape(shape)


class _Head:
    """The part of a file before the tensors' values, read from front to back."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def string(self) -> str:
        return self.take(self.number("<Q")).decode()

    def value(self, kind: int) -> Any:
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            of, count = self.number("<I"), self.number("<Q")
            if of == UINT16:
                return np.frombuffer(self.take(2 * count), "<f2").astype(np.float32)
            return [self.value(of) for _ in range(count)]
        if kind not in _SCALARS:
            raise ValueError(f"expected metadata as they are written here, got type {kind}")
        return self.number(_SCALARS[kind])
