"""Sizes of a model, in llama.cpp's words for the architecture ``qwen3``."""

from __future__ import annotations

from dataclasses import dataclass

from tokens.vectors import WIDTH


CONTEXT = 4096


@dataclass(frozen=True)
class Shape:
    vocabulary: int
    layers: int
    width: int
    heads: int
    #: Width of a head.
    head: int
    feed_forward: int
    #: Tokens of a state and a question together.
    context: int = CONTEXT
    #: A small base: prompts are short, and distances of a few tokens must be told apart.
    rope_base: float = 10_000.0
    epsilon: float = 1e-6
    #: Numbers that are known of a token beforehand: its vector, its weight, and that it has them.
    word: int = WIDTH + 2
    #: What normed queries and keys are multiplied by, each: how sharply attention can look.
    gain: float = 1.5
    #: The last norm's gain. Tokens begin with vectors of length √width, which what the layers add
    #: does not drown, so that labels and digits can still be copied by the last layers; the same
    #: vectors read the answer, and would shout without this.
    output_gain: float = 0.1

    @property
    def parameters(self) -> int:
        attention = 4 * self.width * self.heads * self.head + 2 * self.head
        feed_forward = 3 * self.width * self.feed_forward
        layer = attention + feed_forward + 2 * self.width
        return self.vocabulary * self.width + self.layers * layer + self.width


# Every dimension is a multiple of 32, as Q8_0 needs, and a file stays under 12 MB.
SIZES: dict[str, dict[str, int]] = {
    "toy": {"layers": 4, "width": 192, "heads": 3, "head": 64, "feed_forward": 512},
    "small": {"layers": 6, "width": 256, "heads": 4, "head": 64, "feed_forward": 768},
    "deep": {"layers": 8, "width": 256, "heads": 4, "head": 64, "feed_forward": 768},
    "wide": {"layers": 6, "width": 320, "heads": 5, "head": 64, "feed_forward": 896},
}


def shape_of(size: str, vocabulary: int) -> Shape:
    return Shape(vocabulary=vocabulary, **SIZES[size])
