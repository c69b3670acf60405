"""Going on from a model file, where the checkpoint of its run is gone.

A file has what the network computes with. What it does not have begins anew: the heads that are
thrown away, and the optimizer's momenta. A token's vector is given apart into what its word's vector
says and what is its own.
"""

from __future__ import annotations

import json

import torch
from torch import Tensor

from export.read import Model
from net.network import Network


def start_from(model: Model, network: Network) -> None:
    """Sets the network's parameters.

    :raises ValueError: If a tensor of the file has another shape.
    """

    def read(name: str) -> Tensor:
        return torch.from_numpy(model.tensors[f"{name}.weight"].copy())

    with torch.no_grad():
        _set_embeddings(network, read("token_embd"))
        for i, layer in enumerate(network.layers):
            block = f"blk.{i}"
            qkv = (f"{block}.attn_q", f"{block}.attn_k", f"{block}.attn_v")
            _set(layer.qkv, torch.cat([read(name) for name in qkv]))
            _set(layer.out, read(f"{block}.attn_output"))
            gate_up = (f"{block}.ffn_gate", f"{block}.ffn_up")
            _set(layer.gate_up, torch.cat([read(name) for name in gate_up]))
            _set(layer.down, read(f"{block}.ffn_down"))


def trained_before(model: Model) -> dict[str, int]:
    """Steps, tokens, questions and seconds of the runs that the file comes from."""
    return json.loads(model.metadata["oi.training"])


def _set_embeddings(network: Network, table: Tensor) -> None:
    _set(network.embedding, table)
    words = network.words.float()
    spelled = (words != 0).any(1)
    # The matrix by which words' vectors alone come nearest to the table, so that what is left for
    # the tokens' own vectors is least; half of the words are seen without it at every step.
    network.lift.copy_(torch.linalg.lstsq(words[spelled], table[spelled]).solution.t())
    own = table - words @ network.lift.t()
    network.embedding.copy_(torch.where(spelled[:, None], own / network.own, table))
    fused, labels = network.fused.unbind(1)
    network.line_end.copy_((table[fused] - table[labels]).mean(0))


def _set(parameter: Tensor, values: Tensor) -> None:
    if parameter.shape != values.shape:
        raise ValueError(f"expected {list(parameter.shape)}, got {list(values.shape)}")
    parameter.copy_(values)
