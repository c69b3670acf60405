"""A writer of GGUF files, version 3: metadata, and tensors in F32, Q8_0 or Q4_0."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Union

import numpy as np

ALIGNMENT = 32
STRING, ARRAY, FLOAT32, UINT32, INT32, BOOL, UINT16 = 8, 9, 6, 4, 5, 7, 2
F32, Q4_0, Q8_0 = 0, 2, 8
BLOCK = 32
#: What the largest number of a block in Q4_0 may become: the best of these is taken.
_TOPS = (-8, 8, -8.5, 8.5, -7, 7, -7.5, 7.5, -6, 6)

Value = Union[str, bool, int, float, list[str], list[int], np.ndarray]


@dataclass(frozen=True)
class Tensor:
    name: str
    #: Rows and columns, or one row.
    values: np.ndarray
    kind: int = F32


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
    if tensor.kind == F32:
        return tensor.values.astype("<f4").tobytes()
    scales, numbers = _BLOCKS[tensor.kind](tensor.values)
    if tensor.kind == Q4_0:
        # The first 16 numbers are the lower halves of the bytes.
        low, high = np.split((numbers + 8).astype(np.uint8), 2, axis=1)
        numbers = low | high << 4
    blocks = np.empty((len(scales), 2 + numbers.shape[1]), np.uint8)
    blocks[:, :2] = scales.astype("<f2").view(np.uint8).reshape(-1, 2)
    blocks[:, 2:] = numbers.view(np.uint8)
    return blocks.tobytes()


def dequantized(values: np.ndarray, kind: int) -> np.ndarray:
    """What is left of a matrix in Q8_0 or Q4_0; of what is left, everything."""
    scales, numbers = _BLOCKS[kind](values)
    return (scales.astype(np.float32)[:, None] * numbers).reshape(values.shape)


def _blocks_of_q8_0(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of 32 numbers each: a scale in half precision, and signed bytes."""
    blocks = values.astype(np.float32).reshape(-1, BLOCK)
    scales = np.abs(blocks).max(axis=1) / np.float32(127)
    inverse = np.divide(1, scales, out=np.zeros_like(scales), where=scales > 0)
    scaled = blocks * inverse[:, None]
    # As C's roundf: halves go away from zero.
    numbers = np.trunc(scaled + np.copysign(np.float32(0.5), scaled)).astype(np.int8)
    return scales.astype(np.float16), numbers


def _blocks_of_q4_0(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of 32 numbers each: a scale in half precision, and numbers from -8 to 7."""
    blocks = values.astype(np.float32).reshape(-1, BLOCK)
    largest = np.abs(blocks).max(axis=1)
    scales = np.zeros(len(blocks), np.float16)
    numbers, least = np.zeros(blocks.shape, np.int8), (blocks**2).sum(axis=1)
    for top in _TOPS:
        tried = (largest / np.float32(top)).astype(np.float16)
        step = tried.astype(np.float32)[:, None]
        scaled = np.divide(blocks, step, out=np.zeros_like(blocks), where=step != 0)
        rounded = np.clip(np.rint(scaled), -8, 7)
        error = ((rounded * step - blocks) ** 2).sum(axis=1)
        better = error < least
        scales[better], least[better] = tried[better], error[better]
        numbers[better] = rounded[better].astype(np.int8)
    return scales, numbers


_BLOCKS = {Q8_0: _blocks_of_q8_0, Q4_0: _blocks_of_q4_0}


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
        if value.dtype == np.float16:
            # There is no type for half precision: its bits, as the readout's page says.
            return struct.pack("<IIQ", ARRAY, UINT16, value.size) + value.astype("<f2").tobytes()
        if value.dtype == np.uint32:
            return struct.pack("<IIQ", ARRAY, UINT32, value.size) + value.astype("<u4").tobytes()
        return struct.pack("<IIQ", ARRAY, FLOAT32, value.size) + value.astype("<f4").tobytes()
    if all(isinstance(item, str) for item in value):
        items = b"".join(_string(item) for item in value)
        return struct.pack("<IIQ", ARRAY, STRING, len(value)) + items
    items = b"".join(struct.pack("<i", item) for item in value)
    return struct.pack("<IIQ", ARRAY, INT32, len(value)) + items
