"""What is learned: the answer, and what helps to learn it.

Trained on answers alone, a small model stays at chance for long. The other losses show it on the
way what there is to be found; what they need besides the model is thrown away at the end.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ask.question import ABOVE, BELOW, INSIDE, RELATIONS
from net.batch import Batch
from net.digits import STEPS
from net.network import Network
from net.precision import PRODUCTS
from net.tensors import to_tensors
from net.told import Told


# The next token is asked for at some places only: the vocabulary is the largest matrix, and the
# answers need the time more.
_NEXT_EVERY = 6
# How much nearer one meaning must be than another to be told apart: a cosine.
_APART = 0.08
# What is known early of a comparison: less, equal or greater than its only number, or than the
# upper one; and of a range less or greater than the lower one. Inside or outside follows from both,
# and was at chance where it alone was told, behind the layer that sees the numbers.
_UPPER, _LOWER = 3, 2
_EARLY = {INSIDE: (0, 1), BELOW: (0, 0), ABOVE: (2, 1)}


@dataclass
class Weights:
    answer: float = 1.0
    #: Concepts, told at the ends of states, of options and of questions, with the same weights.
    concept: float = 0.5
    #: The same before the layer whose head compares them: known only behind it, it came too late.
    early: float = 0.5
    #: Heads that must look at the right option's end, and at what decides.
    right: float = 0.5
    again: float = 0.5
    evidence: float = 0.5
    #: Whether an option is the right one, told at its end before the last layer looks there.
    end: float = 0.5
    relation: float = 0.5
    #: The same as soon as both numbers are known: what is asked of them comes after.
    relation_early: float = 0.5
    #: How long a number is so far, and how it begins, told at its digits.
    digits: float = 1.0
    #: Which tokens a value has, told where it ends, and again before it is compared.
    content: float = 0.5
    content_later: float = 0.5
    #: What texts are about, by their tokens alone, told where they end.
    gist: float = 1.0
    gist_later: float = 1.0
    #: What texts mean as a whole, as the teacher says, told where they end.
    meaning: float = 2.0
    meaning_later: float = 2.0
    #: The same, as which of the batch's texts it is.
    apart: float = 0.3
    apart_later: float = 0.3
    #: The next token of states.
    next: float = 0.1


class Helpers(nn.Module):
    """Heads that are thrown away."""

    def __init__(self, width: int, concepts: int, gists: Tensor, meanings: Tensor) -> None:
        """
        :param gists: What each token adds to what a text is about.
        :param meanings: Vectors of whole texts, of length 1.
        """
        super().__init__()
        self.register_buffer("meanings", meanings, persistent=False)
        self.register_buffer("gists", gists, persistent=False)
        self.concept = nn.Parameter(torch.randn(concepts, width) * 0.02)
        self.relation = nn.Parameter(torch.zeros(RELATIONS, width))
        self.relation_early = nn.Parameter(torch.zeros(_UPPER + _LOWER, width))
        self.end = nn.Parameter(torch.zeros(1, width))
        self.digits = nn.Parameter(torch.zeros(STEPS, width))
        self.gist = nn.Parameter(torch.randn(gists.shape[1], width) * width**-0.5)
        self.meaning = nn.Parameter(torch.randn(meanings.shape[1], width) * width**-0.5)

    def wanted(self, told: Told) -> Tensor:
        """What the tokens of each place say together."""
        rows, tokens = (
            torch.from_numpy(index).to(self.gists.device) for index in (told.rows, told.tokens)
        )
        sums = self.gists.new_zeros(len(told.places), self.gists.shape[1])
        return sums.index_add_(0, rows, self.gists[tokens])


@dataclass
class Outcome:
    loss: Tensor
    #: Each loss by name, and how often the likeliest candidate is right.
    parts: dict[str, float]
    #: Of each question, on the CPU.
    correct: Tensor


def outcome(
    network: Network,
    helpers: Helpers | None,
    batch: Batch,
    device: str,
    weights: Weights,
) -> Outcome:
    """:param helpers: Without them, only the answers' loss."""
    tensors = to_tensors(batch, network.shape, device)
    embeddings = network.embeddings()
    states = network(tensors, embeddings)
    output = network.output(embeddings)

    def at(places, table: Tensor, of: Tensor = states.last) -> Tensor:
        chosen = of.index_select(0, torch.from_numpy(places).to(device))
        return F.linear(chosen, table.to(PRODUCTS)).float()

    def long(values) -> Tensor:
        return torch.from_numpy(values).to(device)

    logits = at(batch.last, output)
    losses = {"answer": F.cross_entropy(logits, long(batch.answer))}
    if helpers is not None:
        if len(batch.concepts):
            found = at(batch.concept_places, helpers.concept)
            losses["concept"] = F.cross_entropy(found, long(batch.concepts))
            found = at(batch.concept_places, helpers.concept, states.at_right)
            losses["early"] = F.cross_entropy(found, long(batch.concepts))
        for lesson, weights_there in states.looks.items():
            if len(weights_there):
                losses[lesson] = -weights_there.float().clamp_min(1e-6).log().mean()
        if len(batch.end_places):
            ends = at(batch.end_places, helpers.end, states.at_again)[:, 0]
            losses["end"] = F.binary_cross_entropy_with_logits(ends, long(batch.end_right))
        if len(batch.relations):
            found = at(batch.relation_places, helpers.relation)
            losses["relation"] = F.cross_entropy(found, long(batch.relations))
            found = at(batch.relation_places, helpers.relation_early, states.at_right)
            losses["relation_early"] = _early_loss(found, long(batch.relations))
        if len(batch.digits):
            found = at(batch.digit_places, helpers.digits, states.at_evidence)
            losses["digits"] = F.binary_cross_entropy_with_logits(found, long(batch.digits))
        for name, told, of in (
            ("content", batch.contents, states.at_evidence),
            ("content_later", batch.later_contents, states.at_right),
        ):
            if len(told.places):
                known = F.log_softmax(at(told.places, output, of), -1)
                shares = known[long(told.rows), long(told.tokens)] * long(told.shares)
                losses[name] = -shares.sum() / len(told.places)
        for name, told, of in (
            ("gist", batch.gists, states.at_evidence),
            ("gist_later", batch.later_gists, states.at_right),
        ):
            if len(told.places):
                alike = F.cosine_similarity(
                    at(told.places, helpers.gist, of), helpers.wanted(told)
                )
                losses[name] = (1 - alike).mean()
        for end, places, numbers, of in (
            ("", batch.meaning_places, batch.meanings, states.at_evidence),
            ("_later", batch.later_meaning_places, batch.later_meanings, states.at_right),
        ):
            if len(places):
                found = F.normalize(at(places, helpers.meaning, of), dim=-1)
                far, apart = _meaning_losses(found, long(numbers), helpers.meanings)
                losses[f"meaning{end}"], losses[f"apart{end}"] = far, apart
        some = slice(random.randrange(_NEXT_EVERY), None, _NEXT_EVERY)
        following = at(batch.next_places[some], output)
        losses["next"] = F.cross_entropy(following, long(batch.next_tokens[some]))
    total = sum(getattr(weights, name) * loss for name, loss in losses.items())
    with torch.no_grad():
        candidates = long(batch.candidates)
        scores = logits.gather(1, candidates.clamp_min(0))
        scores = scores.masked_fill(candidates < 0, float("-inf"))
        correct = (scores.argmax(1) == long(batch.right)).cpu()
    parts = {name: float(loss.detach()) for name, loss in losses.items()}
    return Outcome(total, parts, correct)


def _early_loss(found: Tensor, relations: Tensor) -> Tensor:
    upper, lower = relations.clone(), torch.full_like(relations, -1)
    for relation, (above, below) in _EARLY.items():
        here = relations == relation
        upper[here], lower[here] = above, below
    loss = F.cross_entropy(found[:, :_UPPER], upper)
    ranges = lower >= 0
    if ranges.any():
        loss = loss + F.cross_entropy(found[ranges, _UPPER:], lower[ranges])
    return loss


def _meaning_losses(found: Tensor, numbers: Tensor, meanings: Tensor) -> tuple[Tensor, Tensor]:
    """How far from the right meaning, and how hard to tell from the others of the batch.

    The second is the cross entropy with what the teacher would say, which finds some texts alike
    itself. See Y. Tian et al., "Contrastive representation distillation", 2020, for the idea.

    :param found: Vectors of length 1.
    :param numbers: Rows of ``meanings`` that are right.
    """
    unique, of = numbers.unique(return_inverse=True)
    wanted = meanings[unique].float()
    alike = found @ wanted.t()
    right = alike.gather(1, of[:, None])[:, 0]
    teacher = torch.softmax(wanted @ wanted.t() / _APART, -1)
    apart = F.cross_entropy(alike / _APART, teacher.index_select(0, of))
    return (1 - right).mean(), apart
