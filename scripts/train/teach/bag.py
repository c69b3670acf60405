"""What each token adds to what a text means: a sum of tokens that says what the teacher says.

A vector and a weight of each token, one matrix for all, trained to come near the teacher's vectors of
texts. See S. Arora et al., "A simple but tough-to-beat baseline for sentence embeddings", 2017, for the
weights, and "Model2Vec" by S. Tulkens and T. van Dongen, 2024, for words that a sentence encoder taught.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

# Texts of a step; the rate, which falls to nothing.
_TEXTS, _RATE = 4096, 6e-3
# By which the weight of a token falls as it becomes frequent, to begin with.
_RARE = 1e-3


class Bag(nn.Module):
    def __init__(self, kinds: Tensor, begin: Tensor, shares: Tensor, meanings: int) -> None:
        """
        :param kinds: Of each token; tokens of one kind have one vector.
        :param begin: Vectors of the kinds to begin with.
        :param shares: How often each kind stands in texts, of all.
        :param meanings: Numbers of a text's meaning.
        """
        super().__init__()
        self.kinds = kinds
        width = begin.shape[1]
        self.vectors = nn.Parameter(begin)
        self.weights = nn.Parameter((_RARE / (_RARE + shares)).log())
        self.out = nn.Linear(width, meanings)

    def forward(self, tokens: Tensor, begins: Tensor) -> Tensor:
        """
        :param tokens: Of all texts, one behind the other.
        :param begins: Where each text begins.
        :returns: A row of length 1 for each text.
        """
        kinds = self.kinds[tokens]
        weights = self.weights.exp()[kinds]
        pooled = F.embedding_bag(
            kinds, self.vectors, begins, mode="sum", per_sample_weights=weights
        )
        return F.normalize(self.out(F.normalize(pooled, dim=-1)), dim=-1)

    @torch.no_grad()
    def said(self) -> tuple[Tensor, Tensor]:
        """
        :returns: For each token its vector, turned so that the first numbers say the most, and the
            logarithm of its weight.
        """
        _, strengths, turned = torch.linalg.svd(self.out.weight, full_matrices=False)
        vectors = self.vectors @ turned.t() * strengths
        power = (vectors * self.weights.exp()[:, None]).pow(2).sum(0)
        vectors = vectors[:, power.argsort(descending=True)]
        return vectors[self.kinds], self.weights[self.kinds]


def train_bag(bag: Bag, texts: list[np.ndarray], meanings: Tensor, steps: int) -> float:
    """
    :param texts: Tokens of each.
    :param meanings: A row of length 1 for each text.
    :returns: The mean cosine in the last steps.
    """
    optimizer = torch.optim.Adam(bag.parameters(), lr=_RATE)
    random = np.random.default_rng(0)
    alike: list[float] = []
    for step in range(steps):
        chosen = random.integers(0, len(texts), _TEXTS)
        tokens = [texts[i] for i in chosen]
        begins = np.cumsum([0, *map(len, tokens[:-1])])
        found = bag(torch.from_numpy(np.concatenate(tokens)), torch.from_numpy(begins))
        loss = 1 - (found * meanings[chosen]).sum(1).mean()
        if not math.isfinite(float(loss.detach())):
            raise SystemExit("The bag's loss is no number.")
        optimizer.zero_grad()
        loss.backward()
        for group in optimizer.param_groups:
            group["lr"] = _RATE * (1 - step / steps)
        optimizer.step()
        alike.append(1 - float(loss.detach()))
    return float(np.mean(alike[-20:]))
