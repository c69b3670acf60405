"""A writer of GGUF files, version 3: metadata, and tensors in F32, F16 or Q8_0."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Union

import numpy as np

ALIGNMENT = 32
STRING, ARRAY, FLOAT32, UINT32, INT32, BOOL = 8, 9, 6, 4, 5, 7
F32, F16, Q8_0 = 0, 1, 8
BLOCK = 32

Value = Union[str, bool, int, float, list[str], list[int], np.ndarray]


@dataclass(frozen=True)
class Tensor:
    name: str
    #: Rows and columns, or one row.
    values: np.ndarray
    quantized: bool = False
    half: bool = False

    @property
    def kind(self) -> int:
        return Q8_0 if self.quantized else F16 if self.half else F32


def write_gguf(path: Path, metadata: dict[str, Value], tensors: list[Tensor]) -> None:
    """The file appears when it is whole."""
    blobs = [_bytes(tensor) for tensor in tensors]
    head = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata)))
    for key, value in metadata.items():
        head += _string(key) + _value(value)
    offset = 0
    for tensor, blob in zip(tensors, blobs):
        head += _string(tensor.name) + struct.pack("<I", tensor.values.ndim)
        # The fastest dimension first.
        head += b"".join(struct.pack("<Q", n) for n in reversed(tensor.values.shape))
        head += struct.pack("<IQ", tensor.kind, offset)
        offset += len(blob) + _padding(len(blob))
    head += bytes(_padding(len(head)))
    unfinished = path.with_suffix(".tmp")
    with unfinished.open("wb") as file:
        file.write(head)
        for blob in blobs:
            file.write(blob + bytes(_padding(len(blob))))
    unfinished.replace(path)


def _bytes(tensor: Tensor) -> bytes:
    if tensor.quantized:
        return _q8_0(tensor.values)
    return tensor.values.astype("<f2" if tensor.half else "<f4").tobytes()


def q8_0_error(values: np.ndarray) -> float:
    """What quantizing changes, relative to the values: root mean square."""
    back = dequantized(values)
    return float(np.sqrt(np.mean((back - values) ** 2) / np.mean(values**2)))


def dequantized(values: np.ndarray) -> np.ndarray:
    """What is left of a matrix in Q8_0."""
    scales, numbers = _blocks(values)
    return (scales.astype(np.float32)[:, None] * numbers).reshape(values.shape)


def _blocks(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    blocks = values.astype(np.float32).reshape(-1, BLOCK)
    scales = np.abs(blocks).max(axis=1) / np.float32(127)
    inverse = np.divide(1, scales, out=np.zeros_like(scales), where=scales > 0)
    scaled = blocks * inverse[:, None]
    # As C's roundf: halves go away from zero.
    numbers = np.trunc(scaled + np.copysign(np.float32(0.5), scaled)).astype(np.int8)
    return scales.astype(np.float16), numbers


def _q8_0(values: np.ndarray) -> bytes:
    """Blocks of 32 numbers: a half-precision scale and 32 signed bytes."""
    scales, numbers = _blocks(values)
    blocks = np.empty((len(scales), 2 + BLOCK), np.uint8)
    blocks[:, :2] = scales.astype("<f2").view(np.uint8).reshape(-1, 2)
    blocks[:, 2:] = numbers.view(np.uint8)
    return blocks.tobytes()


def _padding(length: int) -> int:
    return -length % ALIGNMENT


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Value) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", STRING) + _string(value)
    if isinstance(value, bool):
        return struct.pack("<IB", BOOL, value)
    if isinstance(value, int):
        return struct.pack("<II", UINT32, value)
    if isinstance(value, float):
        return struct.pack("<If", FLOAT32, value)
    if isinstance(value, np.ndarray):
        return struct.pack("<IIQ", ARRAY, FLOAT32, value.size) + value.astype("<f4").tobytes()
    if all(isinstance(item, str) for item in value):
        items = b"".join(_string(item) for item in value)
        return struct.pack("<IIQ", ARRAY, STRING, len(value)) + items
    items = b"".join(struct.pack("<i", item) for item in value)
    return struct.pack("<IIQ", ARRAY, INT32, len(value)) + items
