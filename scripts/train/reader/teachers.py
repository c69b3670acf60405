"""What several networks know of topics, together: what one is to learn from them.

Some answer, with their mean. Of the others only texts by themselves are read: their cosines, with weights, are
added to its own. Networks that went other ways from the same pretrained weights err on other texts, and
so does the pretrained encoder itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from reader.batch import Batch
from reader.network import Network
from reader.texts import Texts

# Choices about what a text is about. About what it says, or how much, cosines of others tell nothing.
_TOPICS = {f"{task} choice" for task in ("concept", "decision", "matching", "sense", "stray")}
# Yes or no about what a text is about.
_CHECKS = {"concept noul", "sense noul"}
# Answers are compared at this temperature: at 1, wrong options of a sure answer weigh nothing.
_TEMPERATURE = 2.0
# For an option that is not there, instead of -inf, times which 0 is no number.
_ABSENT = -1e4


class Teachers:
    def __init__(
        self,
        answering: Sequence[Network],
        others: Sequence[tuple[Network, float]],
        checked: float,
    ) -> None:
        """
        :param answering: Of which the mean logits are taught.
        :param others: Each with the weight of its cosines in a logit.
        :param checked: How much of the weights yes gets where it is asked what a text is about.
        """
        self._answering, self._others, self._checked = answering, others, checked
        self._own = float(answering[0].alone_scale)
        #: Sums of the cosines of yes in ``_CHECKS``, of each of the others, and how many there were:
        #: yes gets what is more than their mean, as half of these answers are yes.
        self._sums, self._count = [0.0] * len(others), 0

    @torch.no_grad()
    def logits(self, batch: Batch) -> Tensor:
        """For each option: ``[questions, options]``, those that are not there at -inf."""
        logits = sum(network(batch) for network in self._answering) / len(self._answering)
        topics = logits.new_tensor([asked.task in _TOPICS for asked in batch.asked])
        of, column = batch.of_question, batch.column
        checks = logits.new_tensor([asked.task in _CHECKS for asked in batch.asked])
        is_yes = (column == 1) & (checks[of] > 0)
        self._count += int(is_yes.sum())
        added = torch.zeros_like(logits)
        for i, (network, weight) in enumerate(self._others):
            asked_near, near = network.cosines(batch)
            # What a check asks for stands in its question, or in what yes means.
            most = torch.maximum(asked_near, near)
            self._sums[i] += float(most[is_yes].sum())
            yes = self._checked * (most - self._sums[i] / max(1, self._count))
            more = weight * torch.where(is_yes, yes, near * topics[of])
            added.index_put_((of, column), more, accumulate=True)
        return logits + added

    @torch.no_grad()
    def likeness(self, texts: Texts) -> Tensor:
        """Cosines of all texts with each other: the mean, by weights."""
        own = [(network, self._own / len(self._answering)) for network in self._answering]
        taught = [*own, *self._others]
        vectors = [(network.alone(texts), weight) for network, weight in taught]
        found = sum(weight * (each @ each.t()) for each, weight in vectors)
        return found / sum(weight for _, weight in taught)

    def likeness_loss(self, network: Network, texts: Texts) -> Tensor:
        """Of cosines of all texts, in units of the first one's logits, squared."""
        vectors = network.alone(texts)
        return ((vectors @ vectors.t() - self.likeness(texts)) * self._own).square().mean()


def answers_loss(logits: Tensor, taught: Tensor) -> Tensor:
    """Kullback and Leibler's divergence of the answers from those taught.

    See G. Hinton, O. Vinyals and J. Dean, "Distilling the knowledge in a neural network", 2015.

    :param logits: ``[questions, options]``, options that are not there at -inf, as in ``taught``.
    """
    absent = taught == -math.inf
    own, right = (
        F.log_softmax(table.masked_fill(absent, _ABSENT) / _TEMPERATURE, -1)
        for table in (logits, taught)
    )
    return F.kl_div(own, right, reduction="batchmean", log_target=True) * _TEMPERATURE**2
