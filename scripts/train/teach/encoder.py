"""A sentence encoder: BERT's layers, the mean of their places, of length 1.

See J. Devlin et al., "BERT", 2019, and N. Reimers and I. Gurevych, "Sentence-BERT", 2019.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from net.precision import PRODUCTS
from reader.start import read_safetensors
from teach.wordpiece import WordPiece

_EPSILON = 1e-12
# Tokens that are computed together, padding counted.
_BATCH = 2048


class Encoder:
    def __init__(self, folder: Path) -> None:
        """:param folder: With the model's configuration, tokenizer and tensors."""
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.width: int = config["hidden_size"]
        self._layers: int = config["num_hidden_layers"]
        self._heads: int = config["num_attention_heads"]
        self._tensors = read_safetensors(folder / "model.fp16.safetensors")
        self._words = WordPiece(folder / "tokenizer.json")

    def embed(self, texts: list[str]) -> np.ndarray:
        """A row for each text."""
        tokens = [self._words.encode(text) for text in texts]
        order = sorted(range(len(texts)), key=lambda i: len(tokens[i]))
        rows = np.empty((len(texts), self.width), np.float32)
        while order:
            # The longest last: as many as fit if all were as long as the first one taken.
            some = order[-max(1, _BATCH // len(tokens[order[-1]])) :]
            del order[-len(some) :]
            rows[some] = self._together([tokens[i] for i in some]).numpy()
        return rows

    @torch.no_grad()
    def _together(self, tokens: list[list[int]]) -> Tensor:
        longest = max(map(len, tokens))
        ids = torch.zeros(len(tokens), longest, dtype=torch.long)
        for row, some in zip(ids, tokens):
            row[: len(some)] = torch.tensor(some)
        there = torch.tensor([len(some) for some in tokens])[:, None] > torch.arange(longest)
        outside = torch.zeros(there.shape).masked_fill(~there, float("-inf"))[:, None, None]
        table = "embeddings.{}_embeddings.weight"
        x = self._tensors[table.format("word")][ids]
        x = x + self._tensors[table.format("position")][:longest]
        x = self._norm(x + self._tensors[table.format("token_type")][0], "embeddings")
        for i in range(self._layers):
            x = self._layer(x, outside, f"encoder.layer.{i}")
        shares = there[..., None].float()
        return F.normalize((x * shares).sum(1) / shares.sum(1), dim=-1)

    def _layer(self, x: Tensor, outside: Tensor, name: str) -> Tensor:
        def heads(part: str) -> Tensor:
            found = self._linear(x, f"{name}.attention.self.{part}")
            return found.view(*x.shape[:2], self._heads, -1).transpose(1, 2)

        queries, keys, values = heads("query"), heads("key"), heads("value")
        scores = queries @ keys.transpose(-1, -2) / queries.shape[-1] ** 0.5 + outside
        seen = (scores.softmax(-1) @ values).transpose(1, 2).flatten(2)
        x = self._norm(
            x + self._linear(seen, f"{name}.attention.output.dense"), f"{name}.attention.output"
        )
        inner = F.gelu(self._linear(x, f"{name}.intermediate.dense"))
        return self._norm(x + self._linear(inner, f"{name}.output.dense"), f"{name}.output")

    def _linear(self, x: Tensor, name: str) -> Tensor:
        weight, bias = self._tensors[f"{name}.weight"], self._tensors[f"{name}.bias"]
        return F.linear(x.to(PRODUCTS), weight.to(PRODUCTS)).float() + bias

    def _norm(self, x: Tensor, name: str) -> Tensor:
        weight, bias = (self._tensors[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias"))
        return F.layer_norm(x, x.shape[-1:], weight, bias, _EPSILON)
