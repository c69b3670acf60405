"""How a network begins that is not quite random: it says what texts mean before it has learned anything.

Tokens begin with what they add to a text's meaning. In the first layer three heads look at all tokens
before a place, at each by its weight, and hand on what they say; the heads that tell meanings begin
with the best linear guess from there. All else is random, and all of it is trained.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import torch
from torch import Tensor
from torch.nn import functional as F

from net.batch import Batch
from net.losses import Helpers
from net.network import Network
from net.tensors import to_tensors
from tokens.vectors import TokenVectors

# Heads that look at all tokens, and how loud they are.
_HEADS, _LOUD = 3, 1.0
# What all tokens have in common, which queries begin with, and how loud a token's weight is in it.
_CONSTANT, _WEIGHT = 4.0, 2.0
# The root of what a word's numbers have of its vector's square.
_SHARE = 0.94
# Of a layer of heads that compare meanings, which heads carry a text's meaning to a place, and which
# compare it there. Of a head's pairs, these turn slowly enough to compare by.
_CARRYING, _COMPARING, _SLOW = (0, 3), (0, 1, 2), 18
# Texts' ends to guess from are those of so many batches.
_BATCHES, _RIDGE = 40, 0.01


def columns_of(vectors: TokenVectors) -> Tensor:
    """What ``Network`` takes for words: directions, then weights, then a constant."""
    directions = torch.from_numpy(vectors.directions)
    taught = torch.from_numpy(vectors.taught)[:, None]
    weights = torch.from_numpy(vectors.weights)[:, None] * _WEIGHT
    return torch.cat((directions, weights, taught.float()), 1)


@torch.no_grad()
def begin(network: Network, vectors: TokenVectors) -> None:
    """Tokens and the first layer."""
    shape, layer = network.shape, network.layers[0]
    head, count = shape.head, vectors.directions.shape[1]
    # What is told apart has directions of its own, in no relation to the single numbers.
    turn = torch.linalg.qr(torch.randn(shape.width, shape.width))[0]
    weight, constant = turn[:, -2], turn[:, -1]
    network.lift.zero_()
    network.lift[:, :count] = turn[:, :count] * (_SHARE * (shape.width / count) ** 0.5)
    network.lift[:, count] = weight
    network.lift[:, count + 1] = constant * _CONSTANT
    untaught = ~torch.from_numpy(vectors.taught)
    network.embedding[untaught] += constant * _CONSTANT

    qkv = layer.qkv.view(3, shape.heads, head, shape.width)
    # The last pair turns slowest: there, two places look alike however far they are apart.
    slow = head // 2 - 1
    sharp = shape.gain**2 * head**0.5
    qkv[:2, :_HEADS] *= 0.02
    qkv[0, :_HEADS, slow] = constant * _CONSTANT
    # Of a key of length 1, so much lies where the query looks that the product is nearly the
    # logarithm of the weight.
    qkv[1, :_HEADS, slow] = weight * (vectors.spread / _WEIGHT)
    qkv[1, :_HEADS, slow - 1] = constant * (sharp / _CONSTANT)
    for h in range(_HEADS):
        qkv[2, h] = turn[:, h * head : (h + 1) * head].t()
    out = torch.linalg.qr(torch.randn(shape.width, shape.width))[0]
    layer.out[:, : _HEADS * head] = out[:, : _HEADS * head] * _LOUD


@torch.no_grad()
def begin_helpers(
    helpers: Helpers, network: Network, batches: Iterable[Batch], device: str
) -> dict[str, float]:
    """
    Sets what tells meanings and gists, by ridge regression.

    :param batches: Of which the first ones are taken.
    :returns: Cosines with what is told, of the very same texts.
    """
    network.eval()
    embeddings = network.embeddings()
    found: dict[str, list[tuple[Tensor, Tensor]]] = {"meaning": [], "gist": []}
    for batch in islice(batches, _BATCHES):
        states = network(to_tensors(batch, network.shape, device), embeddings).at_evidence

        def at(places) -> Tensor:
            return states.index_select(0, torch.from_numpy(places).to(device)).float()

        meanings = helpers.meanings[torch.from_numpy(batch.meanings).to(device)].float()
        found["meaning"].append((at(batch.meaning_places), meanings))
        found["gist"].append((at(batch.gists.places), helpers.wanted(batch.gists)))
    network.train()
    cosines = {}
    for name, pairs in found.items():
        known, wanted = (torch.cat(parts) for parts in zip(*pairs))
        wanted = F.normalize(wanted, dim=-1)
        square = known.t() @ known
        square += torch.eye(len(square), device=device) * square.diagonal().mean() * _RIDGE
        guess = torch.linalg.solve(square, known.t() @ wanted)
        cosines[name] = float(F.cosine_similarity(known @ guess, wanted).mean())
        table = getattr(helpers, name)
        table.copy_(guess.t() / guess.pow(2).mean().sqrt() * len(square) ** -0.5)
    return cosines


@torch.no_grad()
def begin_comparing(helpers: Helpers, network: Network) -> None:
    """
    Sets two of the last layers, so that they compare what the heads that tell meanings read: one
    carries a text's meaning to places of the question, and the one behind looks there for an option
    of like meaning.
    """
    shape = network.shape
    head, half = shape.head, shape.head // 2
    layers = {lesson: network.layers[i] for i, lesson in network.lessons.items()}
    # Two meanings are as much alike as their products along these directions, strongest first.
    strengths, directions = torch.linalg.eigh(helpers.meaning.t() @ helpers.meaning)
    strengths, directions = strengths.flip(0).sqrt(), directions.flip(1).t()
    there = torch.linalg.qr(torch.randn_like(directions))[0]
    carrying = layers["evidence"]
    values = carrying.qkv.view(3, shape.heads, head, shape.width)[2]
    for slot, h in enumerate(_CARRYING):
        part = slice(slot * head, (slot + 1) * head)
        values[h] = directions[part]
        carrying.out[:, h * head : (h + 1) * head] = there[part].t()
    slow = torch.cat((torch.arange(_SLOW, half), torch.arange(half + _SLOW, head)))
    queries, keys, _ = layers["right"].qkv.view(3, shape.heads, head, shape.width)
    for slot, h in enumerate(_COMPARING):
        part = slice(slot * len(slow), (slot + 1) * len(slow))
        for table, read in ((queries, there), (keys, directions)):
            table[h] *= 0.1
            table[h, slow] = read[part] * (strengths[part] / strengths[part].mean())[:, None]
