"""A trained network as the tensors of llama.cpp's ``qwen3``."""

from __future__ import annotations

import numpy as np
import torch

from export.gguf import Tensor
from net.network import Network


def tensors_of(network: Network) -> list[Tensor]:
    """Helpers stay behind. Norms, which have no gains here, get constant ones."""
    shape = network.shape
    ones = np.ones(shape.width, np.float32)
    gain = np.full(shape.head, shape.gain, np.float32)
    with torch.no_grad():
        tensors = [_matrix("token_embd", network.embeddings())]
        for i, layer in enumerate(network.layers):
            block = f"blk.{i}"
            q, k, v = layer.qkv.chunk(3)
            gate, up = layer.gate_up.chunk(2)
            tensors += [
                Tensor(f"{block}.attn_norm.weight", ones),
                _matrix(f"{block}.attn_q", q),
                _matrix(f"{block}.attn_k", k),
                _matrix(f"{block}.attn_v", v),
                _matrix(f"{block}.attn_output", layer.out),
                Tensor(f"{block}.attn_q_norm.weight", gain),
                Tensor(f"{block}.attn_k_norm.weight", gain),
                Tensor(f"{block}.ffn_norm.weight", ones),
                _matrix(f"{block}.ffn_gate", gate),
                _matrix(f"{block}.ffn_up", up),
                _matrix(f"{block}.ffn_down", layer.down),
            ]
    return [*tensors, Tensor("output_norm.weight", shape.output_gain * ones)]


def _matrix(name: str, matrix: torch.Tensor) -> Tensor:
    return Tensor(f"{name}.weight", matrix.float().cpu().numpy(), quantized=True)
