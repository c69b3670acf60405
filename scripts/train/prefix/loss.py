"""What is learned from a batch: answers, relations, and that answers agree."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from prefix.rows import Batch


def log_probabilities(logits: Tensor, batch: Batch) -> Tensor:
    """Questions × outcomes, of yes and no first no; -inf behind a question's last one."""
    counts = torch.bincount(batch.of, minlength=len(batch.asked))
    columns = torch.arange(len(batch.of), device=logits.device) - batch.first[batch.of]
    table = logits.new_full((len(batch.asked), max(2, int(counts.max()))), -torch.inf)
    column = columns + batch.is_noul[batch.of]
    table = table.index_put((batch.of, column), logits)
    # A yes stands against zero.
    table = torch.cat((table[:, :1].masked_fill(batch.is_noul.unsqueeze(1), 0), table[:, 1:]), 1)
    return table.log_softmax(1)


def losses(logits: Tensor, relations: Tensor, batch: Batch) -> tuple[dict[str, Tensor], Tensor]:
    """The parts by name, and what is right."""
    known = log_probabilities(logits, batch)
    answer = F.nll_loss(known, batch.answers)
    parts = {"answer": answer}
    asked = batch.relations.any(1)
    if bool(asked.any()):
        possible = relations[asked].log_softmax(1).masked_fill(~batch.relations[asked], -torch.inf)
        parts["relation"] = -possible.logsumexp(1).mean() * asked.float().mean()
    if batch.links:
        parts["coherence"] = _coherence(known, batch)
    return parts, known.argmax(1) == batch.answers


def _coherence(known: Tensor, batch: Batch) -> Tensor:
    """Symmetric divergence of linked questions from what follows from the finer ones."""
    goes = torch.zeros(len(batch.links), known.shape[1], known.shape[1])
    for i, link in enumerate(batch.links):
        for outcome, place in enumerate(link):
            goes[i, outcome, place] = 1
    least = 1e-6
    p = torch.bmm(known[batch.firsts].exp().unsqueeze(1), goes.to(known.device)).squeeze(1)
    p, q = p.clamp_min(least), known[batch.twins].exp().clamp_min(least)
    return ((p - q) * (p.log() - q.log())).sum(1).mean()
