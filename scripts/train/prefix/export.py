"""What a model file holds: an encoder as llama.cpp names it, and a head for ``prefix@1``."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import torch

from export.gguf import Q4_0, Q8_0, Tensor, Value, dequantized
from prefix.network import Network
from prefix.wordpiece import WORD_MARK, WordPiece

_NORMAL, _CONTROL = 1, 3
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
MATRICES = {"out": "attn_output", "up": "ffn_up", "down": "ffn_down"}
NORMS = {"norm1": "attn_output_norm", "norm2": "layer_output_norm"}


def tensors_of(network: Network, marker: int) -> list[Tensor]:
    """Tokens in Q4_0, matrices of layers and positions in Q8_0, all else in F32."""

    def values(parameter: Any) -> np.ndarray:
        return parameter.detach().float().cpu().numpy()

    words = values(network.words).copy()
    words[marker] += values(network.marker)
    found = [
        Tensor("token_embd.weight", words, Q4_0),
        Tensor("position_embd.weight", values(network.positions), Q8_0),
        Tensor("token_types.weight", values(network.types)),
        Tensor("token_embd_norm.weight", values(network.norm.weight)),
        Tensor("token_embd_norm.bias", values(network.norm.bias)),
    ]
    for i, layer in enumerate(network.layers):
        prefix = f"blk.{i}."
        weights, biases = (
            values(part).reshape(3, network.shape.width, -1)
            for part in (layer.qkv.weight, layer.qkv.bias)
        )
        for name, weight, bias in zip(("attn_q", "attn_k", "attn_v"), weights, biases):
            found.append(Tensor(f"{prefix}{name}.weight", weight, Q8_0))
            found.append(Tensor(f"{prefix}{name}.bias", bias.reshape(-1)))
        for mine, name in MATRICES.items():
            found.append(
                Tensor(f"{prefix}{name}.weight", values(getattr(layer, mine).weight), Q8_0)
            )
            found.append(Tensor(f"{prefix}{name}.bias", values(getattr(layer, mine).bias)))
        for mine, name in NORMS.items():
            found.append(Tensor(f"{prefix}{name}.weight", values(getattr(layer, mine).weight)))
            found.append(Tensor(f"{prefix}{name}.bias", values(getattr(layer, mine).bias)))
    return found


@torch.no_grad()
def round_as_exported(network: Network, marker: int) -> None:
    """To the weights of the file."""

    def rounded(parameter: torch.Tensor, kind: int) -> None:
        parameter.copy_(torch.from_numpy(dequantized(parameter.float().numpy(), kind)))

    row = network.words[marker] + network.marker
    row = torch.from_numpy(dequantized(row.numpy().reshape(1, -1), Q4_0))[0]
    network.marker.copy_(row - network.words[marker])
    rounded(network.positions, Q8_0)
    for layer in network.layers:
        for part in (layer.qkv, layer.out, layer.up, layer.down):
            rounded(part.weight, Q8_0)
    network.hidden.weight.copy_(network.hidden.weight.half())


def hyperparameters(network: Network) -> dict[str, Value]:
    shape = network.shape
    return {
        "bert.vocab_size": shape.words,
        "bert.context_length": shape.positions,
        "bert.block_count": shape.layers,
        "bert.embedding_length": shape.width,
        "bert.feed_forward_length": shape.inner,
        "bert.attention.head_count": shape.heads,
        "bert.attention.layer_norm_epsilon": shape.epsilon,
        "bert.attention.causal": False,
        # None: states of single tokens are read.
        "bert.pooling_type": 0,
        "tokenizer.ggml.token_type_count": len(network.types),
    }


def tokenizer(words: WordPiece) -> dict[str, Value]:
    tokens, numbers = words.tokens, words.numbers
    return {
        "tokenizer.ggml.model": "bert",
        "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.tokens": list(map(_in_file, tokens)),
        "tokenizer.ggml.token_type": [_CONTROL if t in _SPECIAL else _NORMAL for t in tokens],
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


def readout(network: Network, temperature: dict[str, Any] | None) -> dict[str, Value]:
    def numbers(parameter: Any) -> np.ndarray:
        return parameter.detach().float().cpu().reshape(-1).numpy()

    metadata: dict[str, Value] = {
        "oi.readout": "prefix@1",
        # What is trained is what is served.
        "oi.exact_matmuls": True,
        "oi.prefix.token_types": np.arange(len(network.types), dtype=np.uint32),
        "oi.prefix.levels": "together",
        "oi.prefix.head.hidden.weight": numbers(network.hidden.weight).astype(np.float16),
        "oi.prefix.head.hidden.bias": numbers(network.hidden.bias),
        "oi.prefix.head.output.weight": numbers(network.output.weight),
        "oi.prefix.head.output.bias": numbers(network.output.bias),
    }
    if temperature is not None:
        metadata["oi.temperature"] = json.dumps(temperature)
    return metadata
