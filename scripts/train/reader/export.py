"""What a model file holds: an encoder as llama.cpp reads it, and a head for ``markers@1``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from export.gguf import F32, Q4_0, Q8_0, Tensor, Value, dequantized
from export.read import read_gguf
from reader.network import (
    EPSILON, HEADS, INNER, INPUTS, LAYERS, NEAR, NUMBERS, WIDTH, Network,
)  # fmt: skip
from reader.passes import ALONE, MARKER, TEMPLATE
from reader.wordpiece import WORD_MARK, WordPiece

_NORMAL, _CONTROL = 1, 3
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_MATRICES = {"out": "attn_output", "up": "ffn_up", "down": "ffn_down"}
_NORMS = {"1": "attn_output_norm", "2": "layer_output_norm"}


def tensors_of(network: Network, quantized: bool = True) -> list[Tensor]:
    """
    :param quantized: Tokens in Q4_0, matrices of layers and positions in Q8_0, all else in F32.
    """

    def values(parameter: Any) -> np.ndarray:
        return parameter.detach().float().numpy()

    tokens, matrices = (Q4_0, Q8_0) if quantized else (F32, F32)
    words = values(network.words).copy()
    words[network.marker_token] = values(network.marker_row())
    found = [
        Tensor("token_embd.weight", words, tokens),
        Tensor("position_embd.weight", values(network.positions), matrices),
        # What every token has is in the positions.
        Tensor("token_types.weight", np.zeros((1, WIDTH), np.float32)),
        Tensor("token_embd_norm.weight", values(network.gain)),
        Tensor("token_embd_norm.bias", values(network.shift)),
    ]
    for i, layer in enumerate(network.layers):
        prefix = f"blk.{i}."
        for j, name in enumerate(("attn_q", "attn_k", "attn_v")):
            rows = slice(j * WIDTH, (j + 1) * WIDTH)
            found.append(Tensor(f"{prefix}{name}.weight", values(layer.qkv)[rows], matrices))
            found.append(Tensor(f"{prefix}{name}.bias", values(layer.qkv_b)[rows]))
        for mine, name in _MATRICES.items():
            matrix, bias = getattr(layer, mine), getattr(layer, f"{mine}_b")
            found.append(Tensor(f"{prefix}{name}.weight", values(matrix), matrices))
            found.append(Tensor(f"{prefix}{name}.bias", values(bias)))
        for number, name in _NORMS.items():
            found.append(Tensor(f"{prefix}{name}.weight", values(getattr(layer, f"g{number}"))))
            found.append(Tensor(f"{prefix}{name}.bias", values(getattr(layer, f"b{number}"))))
    return found


@torch.no_grad()
def round_as_exported(network: Network) -> None:
    """To the weights of the quantized file."""

    matrices = (getattr(layer, name) for layer in network.layers for name in ("qkv", *_MATRICES))
    for matrix in (network.positions, *matrices):
        matrix.copy_(torch.from_numpy(dequantized(matrix.float().numpy(), Q8_0)))
    network.hidden[:, -NUMBERS:] *= NEAR
    network.hidden.copy_(network.hidden.half())
    network.hidden[:, -NUMBERS:] /= NEAR
    network.recast()


@torch.no_grad()
def load_model(path: Path, network: Network) -> dict[str, Any]:
    """Layers, positions and head of a file that was exported here; tokens are the pretrained ones.

    :returns: What it tells of its training.
    """
    model = read_gguf(path)

    def put(parameter: torch.Tensor, values: Any) -> None:
        parameter.copy_(torch.as_tensor(np.array(values, np.float32)).view(parameter.shape))

    for tensor in tensors_of(network):
        tensor.values[...] = model.tensors[tensor.name]
    row = torch.tensor(model.tensors["token_embd.weight"][network.marker_token])
    network.marker.copy_(row - network.words[network.marker_token])
    head = {
        name.removeprefix("oi.markers.head."): value for name, value in model.metadata.items()
    }
    put(network.alone_scale, head["cosine.scale"])
    put(network.alone_gate, head["cosine.gate"])
    put(network.question_gate, head["question.gate"])
    network.question_gate /= NEAR
    put(network.hidden, head["hidden.weight"])
    network.hidden[:, -NUMBERS:] /= NEAR
    put(network.hidden_b, head["hidden.bias"])
    put(network.output, head["output.weight"])
    put(network.output_b, head["output.bias"])
    network.recast()
    return json.loads(model.metadata["oi.training"])


def hyperparameters(network: Network) -> dict[str, Value]:
    return {
        "bert.vocab_size": len(network.words),
        "bert.context_length": len(network.positions),
        "bert.block_count": LAYERS,
        "bert.embedding_length": WIDTH,
        "bert.feed_forward_length": INNER,
        "bert.attention.head_count": HEADS,
        "bert.attention.layer_norm_epsilon": EPSILON,
        "bert.attention.causal": False,
        # None: states of single tokens are read.
        "bert.pooling_type": 0,
        "tokenizer.ggml.token_type_count": 1,
    }


def tokenizer(words: WordPiece) -> dict[str, Value]:
    tokens = words.tokens
    types = [_CONTROL if token in _SPECIAL else _NORMAL for token in tokens]
    numbers = words.numbers
    return {
        "tokenizer.ggml.model": "bert",
        "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.tokens": list(map(_in_file, tokens)),
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.padding_token_id": numbers["[PAD]"],
        "tokenizer.ggml.unknown_token_id": numbers["[UNK]"],
        "tokenizer.ggml.bos_token_id": numbers["[CLS]"],
        "tokenizer.ggml.cls_token_id": numbers["[CLS]"],
        # llama.cpp spells it so.
        "tokenizer.ggml.seperator_token_id": numbers["[SEP]"],
        "tokenizer.ggml.mask_token_id": numbers["[MASK]"],
    }


def _in_file(token: str) -> str:
    if token in _SPECIAL:
        return token
    return token[2:] if token.startswith("##") else WORD_MARK + token


def readout(
    network: Network, temperature: dict[str, Any] | None, quantized: bool = True
) -> dict[str, Value]:
    """:param quantized: The hidden layer in half precision."""

    def numbers(parameter: Any) -> np.ndarray:
        return parameter.detach().float().reshape(-1).numpy()

    hidden = network.hidden.detach().clone()
    hidden[:, -NUMBERS:] *= NEAR
    head = {
        "cosine.alone": True,
        "cosine.scale": float(network.alone_scale),
        "cosine.gate": numbers(network.alone_gate),
        "question.gate": numbers(network.question_gate * NEAR),
        "inputs": list(INPUTS),
        "hidden.weight": numbers(hidden).astype(np.float16 if quantized else np.float32),
        "hidden.bias": numbers(network.hidden_b),
        "output.weight": numbers(network.output),
        "output.bias": float(network.output_b),
    }
    metadata: dict[str, Value] = {
        "oi.readout": "markers@1",
        # What is trained is what is served.
        "oi.exact_matmuls": True,
        "oi.markers.template": TEMPLATE,
        "oi.markers.marker": MARKER,
        "oi.markers.positions": "sequential",
        "oi.markers.alone": ALONE,
        **{f"oi.markers.head.{name}": value for name, value in head.items()},
    }
    if temperature is not None:
        metadata["oi.temperature"] = json.dumps(temperature)
    return metadata
