"""The encoder with its head: BERT's layers, forward and backward by hand, and logits of options.

A text by itself is the mean of its states, as the encoder learned it. An option's logit is the cosine of
its own and the state's, times what its marker makes of it, the same of the question's and the state's,
and what a hidden layer makes of a pass in which question, options and state see each other.

Matrices are multiplied in bfloat16 where that is fast; what runs from layer to layer is in float32.
The table of tokens is not trained but for the marker: 12 of 23 million parameters, and the corpus
has too few words to better them. It is in Q4_0 from the beginning, and the rest learns to live with that.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from export.gguf import Q4_0, dequantized
from net.precision import PRODUCTS
from reader.batch import Batch
from reader.rows import Rows
from reader.texts import Texts

WIDTH, LAYERS, HEADS, INNER, EPSILON = 384, 6, 12, 1536, 1e-12
_HEAD = WIDTH // HEADS
#: What the head's hidden layer reads, in this order; names as in the readout's page.
INPUTS = (
    "marker",
    "option",
    "state",
    "question",
    "option*state",
    "marker*option",
    "marker*question",
    "cos(alone.option,alone.state)",
    "cos(alone.question,alone.state)",
)
#: Of the inputs, those that are one number: cosines of texts by themselves.
NUMBERS = 2
#: What those are multiplied by: cosines differ by .1 where logits are to differ by 2, and weights of
#: 20 were not learned in 12 million tokens.
NEAR = 20.0
HIDDEN = 192
# Where markers are taught to look at what decides: the layer before the last, and heads of it.
_TAUGHT_LAYER, _TAUGHT_HEADS = LAYERS - 2, torch.arange(3)


class LayerFunction(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx, x, qkv, qkv_b, out, out_b, g1, b1, up, up_b, down, down_b, g2, b2, batch, cast, looks,
        dropout,
    ):  # fmt: skip
        """
        :param looks: Places in attention's weights, which are returned, too.
        :param dropout: Share of what attention and the inner layer add that is left out.
        """
        w_qkv, w_out, w_up, w_down = cast
        rows, size = batch.rows, batch.size
        low = x.to(PRODUCTS)
        mixed = torch.addmm(qkv_b.to(PRODUCTS), low, w_qkv.t())
        q, k, v = mixed.view(rows, size, 3, HEADS, _HEAD).permute(2, 0, 3, 1, 4).unbind(0)
        scores = torch.matmul(q, k.transpose(-1, -2)).mul_(_HEAD**-0.5).add_(batch.bias)
        weights = torch.softmax(scores, -1)
        seen = torch.matmul(weights, v).transpose(1, 2).reshape(rows * size, WIDTH)
        added = torch.addmm(out_b.to(PRODUCTS), seen, w_out.t()).float()
        left1, left2 = _left(added, dropout), _left(added, dropout)
        z = _without(added, left1).add_(x)
        y, mean1, rstd1 = torch.native_layer_norm(z, (WIDTH,), g1, b1, EPSILON)
        low_y = y.to(PRODUCTS)
        up_x = torch.addmm(up_b.to(PRODUCTS), low_y, w_up.t())
        inner = F.gelu(up_x)
        added = torch.addmm(down_b.to(PRODUCTS), inner, w_down.t()).float()
        z2 = _without(added, left2).add_(y)
        result, mean2, rstd2 = torch.native_layer_norm(z2, (WIDTH,), g2, b2, EPSILON)
        ctx.batch, ctx.cast, ctx.gains = batch, cast, (g1, b1, g2, b2)
        ctx.looks, ctx.left = looks, (left1, left2)
        ctx.kept = (
            low,
            q,
            k,
            v,
            weights,
            seen,
            z,
            mean1,
            rstd1,
            low_y,
            up_x,
            inner,
            z2,
            mean2,
            rstd2,
        )
        return result, weights[looks].float() if looks else x.new_zeros(0)

    @staticmethod
    def backward(ctx, grad, grad_looked):
        (
            low,
            q,
            k,
            v,
            weights,
            seen,
            z,
            mean1,
            rstd1,
            low_y,
            up_x,
            inner,
            z2,
            mean2,
            rstd2,
        ) = ctx.kept
        g1, b1, g2, b2 = ctx.gains
        w_qkv, w_out, w_up, w_down = ctx.cast
        rows, size = ctx.batch.rows, ctx.batch.size
        mask = [True, True, True]
        grad, grad_g2, grad_b2 = _norm_backward(grad, z2, (WIDTH,), mean2, rstd2, g2, b2, mask)
        left1, left2 = ctx.left
        below = _without(grad, left2)
        above, grad_down_b = below.to(PRODUCTS), below.sum(0)
        grad_down = above.t() @ inner
        grad_inner = torch.ops.aten.gelu_backward(above @ w_down, up_x)
        grad_up = grad_inner.t() @ low_y
        grad_up_b = _column_sums(grad_inner)
        grad = grad.add_(grad_inner @ w_up)
        grad, grad_g1, grad_b1 = _norm_backward(grad, z, (WIDTH,), mean1, rstd1, g1, b1, mask)
        below = _without(grad, left1)
        above, grad_out_b = below.to(PRODUCTS), below.sum(0)
        grad_out = above.t() @ seen
        grad_seen = (above @ w_out).view(rows, size, HEADS, _HEAD).transpose(1, 2)
        grad_mixed = low.new_empty(rows, size, 3, HEADS, _HEAD)
        parts = grad_mixed.permute(2, 0, 3, 1, 4)
        parts[2].copy_(torch.matmul(weights.transpose(-1, -2), grad_seen))
        grad_weights = torch.matmul(grad_seen, v.transpose(-1, -2))
        if ctx.looks:
            grad_weights.index_put_(ctx.looks, grad_looked.to(low.dtype), accumulate=True)
        scores = torch._softmax_backward_data(grad_weights, weights, -1, weights.dtype)
        scores.mul_(_HEAD**-0.5)
        parts[0].copy_(torch.matmul(scores, k))
        parts[1].copy_(torch.matmul(scores.transpose(-1, -2), q))
        flat = grad_mixed.view(rows * size, 3 * WIDTH)
        grad_qkv, grad_qkv_b = flat.t() @ low, _column_sums(flat)
        grad.add_(flat @ w_qkv)
        large = (m.float() for m in (grad_qkv, grad_out, grad_up, grad_down))
        gq, go, gu, gd = large
        return (
            grad, gq, grad_qkv_b, go, grad_out_b, grad_g1, grad_b1, gu, grad_up_b, gd, grad_down_b,
            grad_g2, grad_b2, None, None, None, None,
        )  # fmt: skip


def _left(x: Tensor, dropout: float) -> Tensor | None:
    """What each number is multiplied by, if any is left out: 0, or what makes up for those."""
    if dropout == 0:
        return None
    return torch.empty_like(x, dtype=PRODUCTS).bernoulli_(1 - dropout).div_(1 - dropout)


def _without(x: Tensor, left: Tensor | None) -> Tensor:
    return x if left is None else x * left


_norm_backward = torch.ops.aten.native_layer_norm_backward


def _column_sums(x: Tensor) -> Tensor:
    """In float32: the sum over thousands of rows would stand still in bfloat16."""
    return (x.new_ones(1, len(x)) @ x).float().view(-1)


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        for name, rows, columns in (
            ("qkv", 3 * WIDTH, WIDTH), ("out", WIDTH, WIDTH),
            ("up", INNER, WIDTH), ("down", WIDTH, INNER),
        ):  # fmt: skip
            setattr(self, name, nn.Parameter(torch.empty(rows, columns)))
            setattr(self, f"{name}_b", nn.Parameter(torch.empty(rows)))
        for name in ("g1", "b1", "g2", "b2"):
            setattr(self, name, nn.Parameter(torch.empty(WIDTH)))
        self.cast: tuple[Tensor, ...] = ()
        self.dropout = 0.0

    def recast(self) -> None:
        """After each change of the matrices: in the type of products."""
        matrices = (self.qkv, self.out, self.up, self.down)
        self.cast = tuple(matrix.detach().to(PRODUCTS) for matrix in matrices)

    def forward(
        self, x: Tensor, batch: Rows, looks: tuple[Tensor, ...] | None
    ) -> tuple[Tensor, Tensor]:
        """:returns: The states, and attention's weights at some places."""
        if torch.is_grad_enabled() or PRODUCTS == torch.bfloat16 and not batch.exact:
            return LayerFunction.apply(
                x, self.qkv, self.qkv_b, self.out, self.out_b, self.g1, self.b1, self.up, self.up_b,
                self.down, self.down_b, self.g2, self.b2, batch, self.cast, looks,
                self.dropout if torch.is_grad_enabled() else 0.0,
            )  # fmt: skip
        return self._exact(x, batch), x.new_zeros(0)

    def _exact(self, x: Tensor, batch: Rows) -> Tensor:
        """In float32, with GELU as llama.cpp approximates it."""
        mixed = F.linear(x, self.qkv, self.qkv_b).view(batch.rows, batch.size, 3, HEADS, _HEAD)
        q, k, v = mixed.permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-1, -2) * _HEAD**-0.5 + batch.bias
        seen = (scores.softmax(-1) @ v).transpose(1, 2).reshape(len(x), WIDTH)
        y = F.layer_norm(
            x + F.linear(seen, self.out, self.out_b), (WIDTH,), self.g1, self.b1, EPSILON
        )
        up = F.linear(y, self.up, self.up_b)
        z = y + F.linear(F.gelu(up, approximate="tanh"), self.down, self.down_b)
        return F.layer_norm(z, (WIDTH,), self.g2, self.b2, EPSILON)


class Network(nn.Module):
    def __init__(self, words: int, positions: int, marker: int) -> None:
        """:param marker: The token before each option."""
        super().__init__()
        #: As they are left of Q4_0.
        self.register_buffer("words", torch.empty(words, WIDTH))
        self.marker_token = marker
        #: Lowest layers that are not trained.
        self.frozen = 0
        #: What is added to the marker's token, before Q4_0 rounds the sum by ``_rounding``.
        self.marker = nn.Parameter(torch.zeros(WIDTH))
        self._rounding = torch.zeros(WIDTH)
        self.positions = nn.Parameter(torch.empty(positions, WIDTH))
        self.gain, self.shift = nn.Parameter(torch.ones(WIDTH)), nn.Parameter(torch.zeros(WIDTH))
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.alone_scale = nn.Parameter(torch.tensor(20.0))
        self.alone_gate = nn.Parameter(torch.zeros(WIDTH))
        columns = (len(INPUTS) - NUMBERS) * WIDTH + NUMBERS
        self.hidden = nn.Parameter(torch.randn(HIDDEN, columns) * 0.02)
        self.hidden_b = nn.Parameter(torch.zeros(HIDDEN))
        self.output = nn.Parameter(torch.zeros(HIDDEN))
        self.output_b = nn.Parameter(torch.zeros(1))
        self.question_gate = nn.Parameter(torch.zeros(WIDTH))

    def recast(self) -> None:
        """After each change of the parameters."""
        for layer in self.layers:
            layer.recast()
        row = (self.words[self.marker_token] + self.marker).detach()
        rounded = torch.from_numpy(dequantized(row.cpu().numpy(), Q4_0)).to(row.device)
        self._rounding = rounded - row

    def marker_row(self) -> Tensor:
        """The marker's token, as the file has it."""
        return self.words[self.marker_token] + self.marker + self._rounding

    def states(self, rows: Rows, looks: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """
        :param looks: Rows, queries and keys: where to look at attention's weights.
        :returns: States of all places, ``[rows · size, width]``, and those weights, by head.
        """
        grad = torch.is_grad_enabled()
        with torch.set_grad_enabled(grad and not self.frozen):
            x = F.embedding(rows.tokens, self.words) + F.embedding(rows.positions, self.positions)
            is_marker = (rows.tokens == self.marker_token).unsqueeze(1)
            x = x + is_marker * (self.marker + self._rounding)
            x = F.layer_norm(x, (WIDTH,), self.gain, self.shift, EPSILON)
        places = None
        if looks is not None:
            row, query, key = (part[:, None] for part in looks)
            places = (row, _TAUGHT_HEADS.to(x.device)[None, :], query, key)
        looked = x
        for i, layer in enumerate(self.layers):
            taught = i == _TAUGHT_LAYER
            with torch.set_grad_enabled(grad and i >= self.frozen):
                x, found = layer(x, rows, places if taught else None)
            looked = found if taught else looked
        return x, looked

    def alone(self, texts: Texts) -> Tensor:
        """Each text's mean state, of length 1; of no text, zero."""
        texts.to(self.words.device)
        x, _ = self.states(texts)
        return F.normalize(texts.means(x, "text"), dim=-1)

    def forward(self, batch: Batch) -> Tensor:
        """A logit for each option: ``[questions, options]``, those that are not there at -inf."""
        return self.learn(batch)[0]

    def learn(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """As ``forward``, and the loss of what markers look at; moves the batch to the network."""
        batch.to(self.words.device)
        x, looked = self.states(batch, batch.looks)
        option = batch.mean_options(x)
        state = batch.mean_states(x)
        marker = x.index_select(0, batch.markers)
        question = batch.mean_questions(x)
        asked_near, near = self.cosines(batch)
        products = (option * state, marker * option, marker * question)
        numbers = (near[:, None] * NEAR, asked_near[:, None] * NEAR)
        inputs = torch.cat((marker, option, state, question, *products, *numbers), 1)
        hidden = F.gelu(F.linear(inputs, self.hidden, self.hidden_b))
        logits = hidden @ self.output + self.output_b
        logits = logits + (self.alone_scale + marker @ self.alone_gate) * near
        logits = logits + marker @ self.question_gate * asked_near * NEAR
        table = logits.new_full((len(batch.asked), batch.options), -math.inf)
        table = table.index_put((batch.of_question, batch.column), logits)
        return table, batch.looks_loss(looked) if torch.is_grad_enabled() else looked

    def cosines(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Of each option: of its question and the state, and of itself and the state."""
        learned, others = batch.texts
        found = [self.alone(learned)] if learned else []
        if others:
            with torch.no_grad():
                found.append(self.alone(others))
        state, question, option = (torch.cat(found).index_select(0, n) for n in batch.pairs)
        return (question * state).sum(1), (option * state).sum(1)
