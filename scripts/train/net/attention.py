"""Attention of states to themselves, and of questions to their state and themselves.

Forward and backward by hand: slices of one flat list would cost autograd a list of zeros each.
"""

from __future__ import annotations

import torch
from torch import Tensor

from net.tensors import BucketTensors, Tensors


def attend(qk: Tensor, v: Tensor, batch: Tensors) -> tuple[Tensor, list[Tensor]]:
    """
    :param qk: Queries and keys, ``[tokens, 2 * heads, width]``.
    :param v: Values, ``[tokens, heads, width]``.
    :returns: ``[tokens, heads, width]``, and the weights: of the states, then of each bucket.
    """
    out = torch.empty_like(v, memory_format=torch.contiguous_format)
    kept: list[Tensor] = []
    for span in spans(batch):
        q, k, values = span.read(qk, v)
        weights = torch.softmax(torch.matmul(q, k.transpose(-1, -2)).add_(span.bias), -1)
        span.own(out).copy_(torch.matmul(weights, values).transpose(1, 2))
        kept.append(weights)
    return out, kept


def attend_backward(
    grad: Tensor,
    taught: list[tuple[tuple[Tensor, ...], Tensor]] | None,
    qk: Tensor,
    v: Tensor,
    kept: list[Tensor],
    batch: Tensors,
) -> tuple[Tensor, Tensor]:
    """:param taught: For each bucket, places in its weights, and their gradients."""
    heads = v.shape[1]
    grad_qk = torch.empty_like(qk)
    grad_v = torch.empty_like(v, memory_format=torch.contiguous_format)
    states = (batch.state_rows, batch.state_size, heads, v.shape[2])
    shared_k, shared_v = v.new_zeros(states), v.new_zeros(states)
    # The states come last: questions add to what their keys and values are held for.
    for i, span in reversed(list(enumerate(spans(batch)))):
        q, k, values = span.read(qk, v)
        weights = kept[i]
        above = span.own(grad).transpose(1, 2)
        grad_values = torch.matmul(weights.transpose(-1, -2), above).transpose(1, 2)
        grad_weights = torch.matmul(above, values.transpose(-1, -2))
        if taught is not None and span.bucket is not None:
            at, grads = taught[i - 1]
            grad_weights[at] += grads
        scores = torch._softmax_backward_data(grad_weights, weights, -1, weights.dtype)
        span.own(grad_qk[:, :heads]).copy_(torch.matmul(scores, k).transpose(1, 2))
        grad_k = torch.matmul(scores.transpose(-1, -2), q).transpose(1, 2)
        own_k, own_v = span.own(grad_qk[:, heads:]), span.own(grad_v)
        if span.bucket is None:
            torch.add(grad_k, shared_k, out=own_k)
            torch.add(grad_values, shared_v, out=own_v)
        else:
            size = batch.state_size
            shared_k.index_add_(0, span.bucket.states, grad_k[:, :size])
            shared_v.index_add_(0, span.bucket.states, grad_values[:, :size])
            own_k.copy_(grad_k[:, size:])
            own_v.copy_(grad_values[:, size:])
    return grad_qk, grad_v


class Span:
    """A run of the flat list: the states, or one bucket of questions."""

    def __init__(self, batch: Tensors, bucket: BucketTensors | None) -> None:
        self.bucket = bucket
        self._batch = batch
        if bucket is None:
            self.start, self.rows, self.size = 0, batch.state_rows, batch.state_size
            self.bias = batch.state_bias
        else:
            self.start, self.rows, self.size = bucket.start, bucket.rows, bucket.size
            self.bias = bucket.bias

    def own(self, x: Tensor) -> Tensor:
        """Its part of a flat list, as ``[rows, size, heads, width]``."""
        part = x[self.start : self.start + self.rows * self.size]
        return part.view(self.rows, self.size, *x.shape[1:])

    def read(self, qk: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, and all keys and values that they see: ``[rows, heads, …, width]``."""
        heads = v.shape[1]
        q = self.own(qk[:, :heads]).transpose(1, 2)
        return q, self._all(qk[:, heads:]).transpose(1, 2), self._all(v).transpose(1, 2)

    def _all(self, x: Tensor) -> Tensor:
        if self.bucket is None:
            return self.own(x)
        batch = self._batch
        states = x[: batch.state_rows * batch.state_size]
        states = states.view(batch.state_rows, batch.state_size, *x.shape[1:])
        return torch.cat((states.index_select(0, self.bucket.states), self.own(x)), 1)


def spans(batch: Tensors) -> list[Span]:
    return [Span(batch, None), *(Span(batch, bucket) for bucket in batch.buckets)]
