"""What training begins with: a pretrained encoder, or a model that was exported here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from export.gguf import Q4_0, dequantized
from export.read import read_gguf
from prefix.export import MATRICES, NORMS
from prefix.network import Network, Shape

_PARTS = {
    "out": "attention.output.dense", "up": "intermediate.dense", "down": "output.dense",
    "norm1": "attention.output.LayerNorm", "norm2": "output.LayerNorm",
}  # fmt: skip


def start_of(path: Path) -> Network:
    """:param path: ``.onnx`` or ``.safetensors`` with BERT's names, or ``.gguf``."""
    if path.suffix == ".gguf":
        return exported(path)
    if path.suffix == ".onnx":
        return pretrained(read_onnx(path))
    return pretrained(read_safetensors(path))


def pretrained(tensors: Mapping[str, np.ndarray]) -> Network:
    layers = 1 + max(int(n.split(".")[2]) for n in tensors if n.startswith("encoder.layer."))
    words = tensors["embeddings.word_embeddings.weight"]
    network = Network(Shape(len(words), layers))
    with torch.no_grad():
        put(network.words, dequantized(words.astype(np.float32), Q4_0))
        places = tensors["embeddings.position_embeddings.weight"]
        put(network.positions, lengthened(places, network.shape.positions))
        kinds = tensors["embeddings.token_type_embeddings.weight"]
        put(network.types, np.repeat(kinds[:1], len(network.types), 0))
        for part in ("weight", "bias"):
            put(getattr(network.norm, part), tensors[f"embeddings.LayerNorm.{part}"])
            for i, layer in enumerate(network.layers):
                prefix = f"encoder.layer.{i}"
                names = (f"{prefix}.attention.self.{n}.{part}" for n in ("query", "key", "value"))
                put(getattr(layer.qkv, part), np.concatenate([tensors[name] for name in names]))
                for mine, name in _PARTS.items():
                    put(getattr(getattr(layer, mine), part), tensors[f"{prefix}.{name}.{part}"])
    return network


def exported(path: Path) -> Network:
    """Of a model's file, with its rounded weights; and its head, if that is one for this readout."""
    model = read_gguf(path)
    tensors, metadata, head = model.tensors, model.metadata, "oi.prefix.head."
    same = metadata["oi.readout"] == "prefix@1"
    own = {}
    if same:
        own["positions"] = metadata["bert.context_length"]
        own["hidden"] = len(metadata[f"{head}hidden.bias"])
    shape = Shape(
        words=len(tensors["token_embd.weight"]),
        layers=metadata["bert.block_count"],
        width=metadata["bert.embedding_length"],
        heads=metadata["bert.attention.head_count"],
        inner=metadata["bert.feed_forward_length"],
        **own,
    )
    network = Network(shape)
    with torch.no_grad():
        put(network.words, tensors["token_embd.weight"])
        put(network.positions, lengthened(tensors["position_embd.weight"], shape.positions))
        kinds = tensors["token_types.weight"]
        put(network.types, kinds if same else np.repeat(kinds[:1], len(network.types), 0))
        for part in ("weight", "bias"):
            put(getattr(network.norm, part), tensors[f"token_embd_norm.{part}"])
            if same:
                put(getattr(network.hidden, part), metadata[f"{head}hidden.{part}"])
                put(getattr(network.output, part), metadata[f"{head}output.{part}"])
            for i, layer in enumerate(network.layers):
                three = [tensors[f"blk.{i}.attn_{name}.{part}"] for name in "qkv"]
                put(getattr(layer.qkv, part), np.concatenate(three))
                for mine, name in {**MATRICES, **NORMS}.items():
                    put(getattr(getattr(layer, mine), part), tensors[f"blk.{i}.{name}.{part}"])
    # The marker is a row of the table there.
    return network


def lengthened(places: np.ndarray, count: int) -> np.ndarray:
    """Behind the last position, their second half again and again."""
    half = places[len(places) // 2 :]
    more = -(-(count - len(places)) // len(half))
    return np.concatenate((places, *[half] * more))[:count]


def put(to: torch.Tensor, values: Any) -> None:
    to.copy_(torch.from_numpy(np.array(values, np.float32)).view(to.shape))


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """All tensors in half precision. Format: a length, a header in JSON, the data."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, told in json.loads(data[8:begin]).items():
        if told.get("dtype") == "F16":
            first, end = (begin + offset for offset in told["data_offsets"])
            tensors[name] = np.frombuffer(data[first:end], np.float16).reshape(told["shape"])
    return tensors


def read_onnx(path: Path) -> dict[str, np.ndarray]:
    """Of an encoder as PyTorch writes it: its matrices have no names, but those of their users."""
    # Needed for this alone.
    import onnx
    from onnx.numpy_helper import to_array

    graph = onnx.load(path).graph
    values = {tensor.name: to_array(tensor) for tensor in graph.initializer}
    found = {name: value for name, value in values.items() if not name.startswith("onnx::")}
    for node in graph.node:
        for name in node.input if node.op_type == "MatMul" else ():
            if name in values:
                place = node.name.strip("/").removesuffix("/MatMul").replace("/", ".")
                found[f"{place}.weight"] = values[name].T
    return found
