"""The steps between products, forward and backward, in as few passes over memory as torch allows.

On a CPU these steps take more time than the products. All of them but for sums are in the type of
products.
"""

from __future__ import annotations

import torch
from torch import Tensor

from net.precision import PRODUCTS


def norm(x: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """Root mean square norm without a gain.

    :returns: The normed rows, in the type of products, and what they were multiplied by.
    """
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=torch.float32)
    scale = length.square_().div_(x.shape[-1]).add_(epsilon).rsqrt_()
    if x.dtype == PRODUCTS:
        scale = scale.to(PRODUCTS)
        return x * scale, scale
    y = torch.empty_like(x, dtype=PRODUCTS)
    torch.mul(x, scale, out=y)
    return y, scale.to(PRODUCTS)


def norm_backward(grad: Tensor, y: Tensor, scale: Tensor) -> Tensor:
    inner = (grad * y).sum(-1, keepdim=True).div_(-y.shape[-1])
    return torch.addcmul(grad, y, inner).mul_(scale)


def rotate(x: Tensor, cosine: Tensor, sine: Tensor, sign: int = 1) -> Tensor:
    """Rotary positions, NeoX style: a head's first half is turned against its second.

    :param sign: -1 turns back.
    """
    half = x.shape[-1] // 2
    y = x * cosine
    y[..., :half].addcmul_(x[..., half:], sine[..., :half], value=sign)
    y[..., half:].addcmul_(x[..., :half], sine[..., half:], value=sign)
    return y


def gate(both: Tensor) -> Tensor:
    """SwiGLU: the first half, through SiLU, times the second."""
    first, second = both.chunk(2, dim=-1)
    return torch.nn.functional.silu(first).mul_(second)


def gate_backward(grad: Tensor, both: Tensor) -> Tensor:
    first, second = both.chunk(2, dim=-1)
    out = torch.empty_like(both)
    out_first, out_second = out.chunk(2, dim=-1)
    sigmoid = torch.sigmoid(first)
    # silu' = s + silu (1 - s)
    silu = first * sigmoid
    torch.mul(grad, silu, out=out_second)
    torch.addcmul(silu, sigmoid, silu, value=-1, out=out_first)
    out_first.add_(sigmoid).mul_(second).mul_(grad)
    return out
