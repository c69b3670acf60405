"""The encoder that reads in parts, and its heads: plain PyTorch, on a CPU and on a GPU."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from prefix.rows import Batch

#: Rows of the table of token types that a state, a question and an option have.
TYPES = 3


@dataclass(frozen=True)
class Shape:
    words: int
    layers: int
    width: int = 384
    heads: int = 12
    inner: int = 1536
    positions: int = 4096
    epsilon: float = 1e-12
    #: Of the hidden layer in front of the logits.
    hidden: int = 256


class Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.width
        self.heads = shape.heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, shape.inner)
        self.down = nn.Linear(shape.inner, width)
        self.norm1 = nn.LayerNorm(width, eps=shape.epsilon)
        self.norm2 = nn.LayerNorm(width, eps=shape.epsilon)

    def forward(self, x: Tensor, mask: Tensor, at: Tensor | None = None) -> Tensor:
        """:param at: Rows × places: of which tokens the states are wanted; of all, if it is None."""
        rows, size, width = x.shape
        if at is None:
            q, k, v = (self._heads(part) for part in self.qkv(x).chunk(3, 2))
        else:
            weights, biases = self.qkv.weight, self.qkv.bias
            k, v = (
                self._heads(part)
                for part in F.linear(x, weights[width:], biases[width:]).chunk(2, 2)
            )
            x = x.gather(1, at.unsqueeze(2).expand(-1, -1, width))
            q = self._heads(F.linear(x, weights[:width], biases[:width]))
            mask = mask.gather(2, at[:, None, :, None].expand(-1, -1, -1, size))
        if x.is_cuda:
            seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            # By hand: with a mask, PyTorch's own way back takes three times as long on a CPU.
            seen = ((q * (q.shape[-1] ** -0.5)) @ k.transpose(2, 3) + mask).softmax(3) @ v
        seen = self.out(seen.transpose(1, 2).flatten(2))
        x = self.norm1(x + seen)
        # The server computes the approximation by tanh; a CPU takes four times as long for its way back.
        form = "none" if self.training else "tanh"
        inner = self.down(F.gelu(self.up(x), approximate=form))
        return self.norm2(x + inner)

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(2, (self.heads, -1)).transpose(1, 2)


class Network(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        width = shape.width
        # Not trained, but for the marker's row: it is in Q4_0 from the beginning.
        self.register_buffer("words", torch.zeros(shape.words, width))
        self.marker = nn.Parameter(torch.zeros(width))
        self.positions = nn.Parameter(torch.zeros(shape.positions, width))
        self.types = nn.Parameter(torch.zeros(TYPES, width))
        self.norm = nn.LayerNorm(width, eps=shape.epsilon)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.hidden = nn.Linear(width, shape.hidden)
        self.output = nn.Linear(shape.hidden, 3)
        # In training only: does the text say so, leave it open, or contradict it.
        self.relation = nn.Linear(width, 3)

    def forward(self, batch: Batch, marker: int) -> tuple[Tensor, Tensor]:
        """
        :param marker: The marker's token.
        :returns: Of each place that is read its logit, and of each question its three relations.
        """
        x = F.embedding(batch.tokens, self.words)
        x = x + (batch.tokens == marker).unsqueeze(2) * self.marker
        x = x + F.embedding(batch.positions, self.positions) + F.embedding(batch.types, self.types)
        x = self.norm(x)
        mask = batch.mask()
        if torch.is_autocast_enabled(x.device.type):
            x = x.to(torch.get_autocast_dtype(x.device.type))
        mask = torch.zeros(mask.shape, dtype=x.dtype, device=x.device).masked_fill_(~mask, -3e4)
        for layer in self.layers[:-1]:
            x = layer(x, mask)
        # Of the last layer, what is read and nothing else.
        flat = self.layers[-1](x, mask, batch.wanted).flatten(0, 1)
        read = flat.index_select(0, batch.reads)
        with torch.autocast(x.device.type, enabled=False):
            z = F.gelu(self.hidden(read.float()))
            logits = self.output(z).gather(1, batch.kinds.unsqueeze(1)).squeeze(1)
            relations = self.relation(flat.index_select(0, batch.questions).float())
        return logits, relations

    def outer(self) -> list[nn.Parameter]:
        """What does not come from the pretrained encoder."""
        heads = (self.hidden, self.output, self.relation)
        return [self.marker, self.types, *(p for head in heads for p in head.parameters())]

    def facts(self) -> dict[str, float]:
        return asdict(self.shape)
