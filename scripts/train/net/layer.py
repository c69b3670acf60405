"""One layer, forward and backward by hand.

Matrices are multiplied in bfloat16 where that is fast; what runs from layer to layer is kept in
float32. Norms have no gains of their own: the matrix behind can hold them, and for queries and keys
one constant is enough.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from net.attention import attend, attend_backward
from net.passes import gate, gate_backward, norm, norm_backward, rotate
from net.precision import PRODUCTS
from net.shape import Shape
from net.tensors import Tensors


class LayerFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, qkv, out, gate_up, down, shape: Shape, batch: Tensors, lesson: str):
        weights = [matrix.to(PRODUCTS) for matrix in (qkv, out, gate_up, down)]
        first, first_scale = norm(x, shape.epsilon)
        mixed = (first @ weights[0].t()).view(len(x), 3 * shape.heads, shape.head)
        qk, v = mixed[:, : 2 * shape.heads], mixed[:, 2 * shape.heads :]
        normed, qk_scale = norm(qk, shape.epsilon)
        turned = rotate(normed, batch.cosine, batch.sine)
        mixture, kept = attend(turned, v, batch)
        x = x + mixture.view(len(x), -1) @ weights[1].t()
        second, second_scale = norm(x, shape.epsilon)
        both = second @ weights[2].t()
        hidden = gate(both)
        x.add_(hidden @ weights[3].t())
        ctx.batch, ctx.shape, ctx.lesson, ctx.kept = batch, shape, lesson, kept
        ctx.tensors = (first, first_scale, normed, qk_scale, turned, v, mixture)
        ctx.tensors += (second, second_scale, both, hidden, weights)
        return x, _looked(kept, batch, lesson) if lesson else x.new_zeros(0, dtype=PRODUCTS)

    @staticmethod
    def backward(ctx, grad: Tensor, grad_looks: Tensor):
        (first, first_scale, normed, qk_scale, turned, v, mixture) = ctx.tensors[:7]
        (second, second_scale, both, hidden, weights) = ctx.tensors[7:]
        shape, batch = ctx.shape, ctx.batch
        above = grad.to(PRODUCTS)
        grad_down = above.t() @ hidden
        grad_both = gate_backward(above @ weights[3], both)
        grad_gate_up = grad_both.t() @ second
        grad = grad + norm_backward(grad_both @ weights[2], second, second_scale)
        above = grad.to(PRODUCTS)
        grad_out = above.t() @ mixture.view(len(grad), -1)
        taught = None
        if ctx.lesson:
            looks = [bucket.looks[ctx.lesson] for bucket in batch.buckets]
            taught = list(zip(looks, grad_looks.split([len(rows) for rows, *_ in looks])))
        grad_mixture = (above @ weights[1]).view_as(mixture)
        grad_qk, grad_v = attend_backward(grad_mixture, taught, turned, v, ctx.kept, batch)
        grad_mixed = torch.empty(
            len(grad), 3 * shape.heads, shape.head, dtype=PRODUCTS, device=grad.device
        )
        grad_qk = rotate(grad_qk, batch.cosine, batch.sine, -1)
        grad_mixed[:, : 2 * shape.heads] = norm_backward(grad_qk, normed, qk_scale)
        grad_mixed[:, 2 * shape.heads :] = grad_v
        flat = grad_mixed.view(len(grad), -1)
        grad_qkv = flat.t() @ first
        grad.add_(norm_backward(flat @ weights[0], first, first_scale))
        matrices = (grad_qkv, grad_out, grad_gate_up, grad_down)
        return grad, *(matrix.float() for matrix in matrices), None, None, None


def _looked(kept: list[Tensor], batch: Tensors, lesson: str) -> Tensor:
    """Of attention's weights, those that a lesson is about."""
    pairs = zip(kept[1:], batch.buckets)
    return torch.cat([weights[bucket.looks[lesson]] for weights, bucket in pairs])


class Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        inner = shape.heads * shape.head
        final = 1 / math.sqrt(2 * shape.layers)
        self.shape = shape
        self.qkv = _matrix(shape.width, 3 * inner)
        self.out = _matrix(inner, shape.width, final)
        self.gate_up = _matrix(shape.width, 2 * shape.feed_forward)
        self.down = _matrix(shape.feed_forward, shape.width, final)

    def forward(self, x: Tensor, batch: Tensors, lesson: str) -> tuple[Tensor, Tensor]:
        """
        :param lesson: What its heads are taught to look at: a key of ``looks``, or nothing.
        :returns: ``x`` further on, and attention's weights on that.
        """
        matrices = (self.qkv, self.out, self.gate_up, self.down)
        return LayerFunction.apply(x, *matrices, self.shape, batch, lesson)


def _matrix(inputs: int, outputs: int, scale: float = 1.0) -> nn.Parameter:
    return nn.Parameter(torch.randn(outputs, inputs) * (scale * inputs**-0.5))
