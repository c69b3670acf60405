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
        self.embedding = nn.Parameter(torch.randn(shape.vocabulary, shape.width))
        self.line_end = nn.Parameter(torch.randn(shape.width))
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        table = torch.tensor(fused, dtype=torch.long).reshape(-1, 2)
        self.register_buffer("fused", table, persistent=False)
        #: The layer whose first head is taught to look at the right option's end.
        self.taught = shape.layers - 2

    def embeddings(self) -> Tensor:
        """Of all tokens."""
        rows = self.embedding.index_select(0, self.fused[:, 1]) + self.line_end
        return self.embedding.index_copy(0, self.fused[:, 0], rows)

    def output(self, embeddings: Tensor) -> Tensor:
        """The matrix behind the last states, tied to the embeddings, in bfloat16."""
        return (embeddings * self.shape.output_gain).to(torch.bfloat16)

    def forward(self, batch: Tensors, embeddings: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """
        :returns: The last states, normed, in bfloat16; the same before the taught layer; and the
            taught head's weights on the ends of right options.
        """
        x = F.embedding(batch.tokens, embeddings)
        early, ends = x, x.new_zeros(0)
        for i, layer in enumerate(self.layers):
            early = x if i == self.taught else early
            x, weights = layer(x, batch, i == self.taught)
            ends = weights if i == self.taught else ends
        epsilon = self.shape.epsilon
        return _Norm.apply(x, epsilon), _Norm.apply(early, epsilon), ends
