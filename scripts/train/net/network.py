"""The model, as llama.cpp runs ``qwen3``, over batches of states and questions."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from net.layer import Layer
from net.passes import norm, norm_backward
from net.shape import Shape
from net.tensors import Tensors


class _Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor, epsilon: float) -> Tensor:
        y, scale = norm(x, epsilon)
        ctx.save_for_backward(y, scale)
        return y

    @staticmethod
    def backward(ctx, grad: Tensor):
        return norm_backward(grad, *ctx.saved_tensors).float(), None


class Network(nn.Module):
    def __init__(self, shape: Shape, fused: list[tuple[int, int]]) -> None:
        """
        :param fused: Tokens that are a label and a line's end, with the label's token. Their
            vector is the label's, moved by one vector that all of them share: so that an answer
            can be copied from the end of an option.
        """
        super().__init__()
        self.shape = shape
        self.embedding = nn.Parameter(torch.randn(shape.vocabulary, shape.width) * 0.05)
        self.line_end = nn.Parameter(torch.randn(shape.width) * 0.05)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        table = torch.tensor(fused, dtype=torch.long).reshape(-1, 2)
        self.register_buffer("fused", table, persistent=False)
        #: The layer whose first head is taught to look at the right option's end.
        self.taught = shape.layers - 2

    def embeddings(self) -> Tensor:
        """Of all tokens; also the output matrix, which is tied."""
        rows = self.embedding.index_select(0, self.fused[:, 1]) + self.line_end
        return self.embedding.index_copy(0, self.fused[:, 0], rows)

    def forward(self, batch: Tensors, embeddings: Tensor) -> tuple[Tensor, Tensor]:
        """
        :returns: The last states, normed, in bfloat16; and the taught head's weights on the ends
            of right options.
        """
        x = F.embedding(batch.tokens, embeddings)
        ends = x.new_zeros(0)
        for i, layer in enumerate(self.layers):
            x, weights = layer(x, batch, i == self.taught)
            ends = weights if i == self.taught else ends
        return _Norm.apply(x, self.shape.epsilon), ends
