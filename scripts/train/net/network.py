"""The model, as llama.cpp runs ``qwen3``, over batches of states and questions."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from net.layer import Layer
from net.passes import norm, norm_backward
from net.precision import PRODUCTS
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


@dataclass
class States:
    """All normed, as they are multiplied."""

    last: Tensor
    #: Before the layers that are taught to look at right options' ends, the last one first, and at
    #: what decides.
    at_again: Tensor
    at_right: Tensor
    at_evidence: Tensor
    #: Attention's weights, by the lesson.
    looks: dict[str, Tensor]


class Network(nn.Module):
    def __init__(
        self, shape: Shape, fused: list[tuple[int, int]], words: Tensor | None = None
    ) -> None:
        """
        :param fused: Tokens that are a label and a line's end, with the label's token. Their
            vector is the label's, moved by one vector that all of them share: so that an answer
            can be copied from the end of an option.
        :param words: For each token, what is known of it beforehand, or zeros.
        """
        super().__init__()
        self.shape = shape
        if words is None:
            words = torch.zeros(shape.vocabulary, shape.word)
        self.register_buffer("words", words.to(PRODUCTS))
        # A word's token is mostly what its vector is made to by one matrix, the same for all: so
        # what is learned of the words in the corpus is learned of their neighbours.
        own = torch.where((words != 0).any(1, keepdim=True), 0.2, 1.0)
        self.register_buffer("own", own)
        self.embedding = nn.Parameter(torch.randn(shape.vocabulary, shape.width))
        self.lift = nn.Parameter(torch.randn(shape.width, shape.word) * shape.word**-0.5)
        self.line_end = nn.Parameter(torch.randn(shape.width))
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        table = torch.tensor(fused, dtype=torch.long).reshape(-1, 2)
        self.register_buffer("fused", table, persistent=False)
        #: Layers whose heads are taught where to look: the last two at the right option's end, that
        #: before them at what decides.
        self.lessons = {
            shape.layers - 1: "again",
            shape.layers - 2: "right",
            shape.layers - 3: "evidence",
        }

    def embeddings(self) -> Tensor:
        """Of all tokens."""
        table = F.linear(self.words, self.lift.to(PRODUCTS)).float()
        own = self.own
        if self.training:
            # Half of the words are what their vectors say alone, other ones at every step: what is
            # learned by heart of a word is of no use for its neighbours.
            own = own.masked_fill((own < 1) & (torch.rand_like(own) < 0.5), 0.0)
        table = table.addcmul(own, self.embedding)
        rows = table.index_select(0, self.fused[:, 1]) + self.line_end
        return table.index_copy(0, self.fused[:, 0], rows)

    def output(self, embeddings: Tensor) -> Tensor:
        """The matrix behind the last states, tied to the embeddings, as it is multiplied."""
        return (embeddings * self.shape.output_gain).to(PRODUCTS)

    def forward(self, batch: Tensors, embeddings: Tensor) -> States:
        x = F.embedding(batch.tokens, embeddings)
        before: dict[str, Tensor] = {}
        looks: dict[str, Tensor] = {}
        for i, layer in enumerate(self.layers):
            lesson = self.lessons.get(i, "")
            if lesson:
                before[lesson] = x
            x, weights = layer(x, batch, lesson)
            if lesson:
                looks[lesson] = weights
        last, at_again, at_right, at_evidence = (
            _Norm.apply(y, self.shape.epsilon)
            for y in (x, before["again"], before["right"], before["evidence"])
        )
        return States(last, at_again, at_right, at_evidence, looks)
