"""The pretrained encoder that training begins with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from export.gguf import Q4_0, dequantized
from reader.network import LAYERS, Network
from reader.passes import POSITIONS
from reader.wordpiece import WordPiece

_LAYER = {
    "out": "attention.output.dense", "up": "intermediate.dense", "down": "output.dense",
}  # fmt: skip
_NORMS = {"1": "attention.output.LayerNorm", "2": "output.LayerNorm"}


def pretrained(folder: Path, words: WordPiece, marker: str) -> Network:
    """:param folder: Of all-MiniLM-L6-v2: its tokenizer and tensors."""
    tensors = read_safetensors(folder / "model.fp16.safetensors")
    table = tensors["embeddings.word_embeddings.weight"]
    places = tensors["embeddings.position_embeddings.weight"]
    network = Network(len(table), POSITIONS, words.numbers[marker])
    with torch.no_grad():
        # Every token is of type 0, so its vector is a part of all positions.
        network.words.copy_(torch.from_numpy(dequantized(table.numpy(), Q4_0)))
        places = places + tensors["embeddings.token_type_embeddings.weight"][0]
        # Behind the last one, its second half again and again.
        half = places[len(places) // 2 :]
        network.positions.copy_(
            torch.cat((places, half.repeat(POSITIONS // len(half), 1)))[:POSITIONS]
        )
        network.gain.copy_(tensors["embeddings.LayerNorm.weight"])
        network.shift.copy_(tensors["embeddings.LayerNorm.bias"])
        for i in range(LAYERS):
            layer, prefix = network.layers[i], f"encoder.layer.{i}"
            for part, suffix in (("weight", ""), ("bias", "_b")):
                three = [
                    tensors[f"{prefix}.attention.self.{n}.{part}"]
                    for n in ("query", "key", "value")
                ]
                getattr(layer, f"qkv{suffix}").copy_(torch.cat(three))
                for name, place in _LAYER.items():
                    getattr(layer, name + suffix).copy_(tensors[f"{prefix}.{place}.{part}"])
            for number, place in _NORMS.items():
                getattr(layer, f"g{number}").copy_(tensors[f"{prefix}.{place}.weight"])
                getattr(layer, f"b{number}").copy_(tensors[f"{prefix}.{place}.bias"])
    network.recast()
    return network


def read_safetensors(path: Path) -> dict[str, Tensor]:
    """All tensors in half precision, as float32. Format: a length, a header in JSON, the data."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    tensors = {}
    for name, told in header.items():
        if told.get("dtype") == "F16":
            first, end = told["data_offsets"]
            values = np.frombuffer(data[begin + first : begin + end], np.float16)
            tensors[name] = torch.from_numpy(values.astype(np.float32)).view(told["shape"])
    return tensors
