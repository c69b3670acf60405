"""Figures on the held-out sets while a model is trained."""

from __future__ import annotations


import torch
from torch.nn import functional as F

from ask.sets import EvaluationSet
from net.batch import Batch, Batcher, make_batch
from net.network import Network
from net.tensors import to_tensors
from tokens.prompt import AskedGroup, Prompter


class Watch:
    """Of the side for tuning: what is watched is tuned on."""

    def __init__(self, sets: list[EvaluationSet], prompter: Prompter) -> None:
        self._batches = {
            found.name: list(_batches([prompter.ask(group) for group in found.groups]))
            for found in sets
            if found.figure != "median ms"
        }

    @torch.no_grad()
    def figures(self, network: Network, device: str) -> dict[str, float]:
        """How often the likeliest answer of each set is the right one."""
        network.eval()
        found = {
            name: sum(float(_correct(network, batch, device).sum()) for batch in batches)
            / sum(batch.questions for batch in batches)
            for name, batches in self._batches.items()
        }
        network.train()
        return found


def _batches(groups: list[AskedGroup]) -> list[Batch]:
    batcher = Batcher(8192)
    batches = [batch for group in groups for batch in batcher.add(group)]
    return batches + [make_batch(waiting) for waiting in batcher.rest()]


def _correct(network: Network, batch: Batch, device: str) -> torch.Tensor:
    embeddings = network.embeddings()
    states = network(to_tensors(batch, network.shape, device), embeddings)
    last = states.last.index_select(0, torch.from_numpy(batch.last).to(device))
    logits = F.linear(last, network.output(embeddings)).float()
    candidates = torch.from_numpy(batch.candidates).to(device)
    scores = logits.gather(1, candidates.clamp_min(0))
    scores = scores.masked_fill(candidates < 0, float("-inf"))
    return (scores.argmax(1) == torch.from_numpy(batch.right).to(device)).float()
