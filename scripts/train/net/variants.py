"""Tokens that are spelled alike: with a space before them or not, and in any case.

They begin with one vector, so that what is learned of ``billing`` in a text is known of
`` Billing`` in a list of options from the first step on.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tokens.vocabulary import CONTROL, LABELS, Vocabulary, spell

_SPACE = spell(" ")


def first_of_kind(vocabulary: Vocabulary) -> Tensor:
    """For each token, the first one that is spelled alike; itself if there is none."""
    own = {spell(text) for label in LABELS for text in (label, label + "\n")} | set(CONTROL)
    first: dict[str, int] = {}
    numbers: list[int] = []
    for i, token in enumerate(vocabulary.tokens):
        bare = token.removeprefix(_SPACE).lower()
        is_word = token not in own and len(bare) > 1 and bare.isalpha()
        numbers.append(first.setdefault(bare, i) if is_word else i)
    return torch.tensor(numbers)


def begin_alike(embedding: Tensor, vocabulary: Vocabulary) -> None:
    """Gives tokens that are spelled alike one vector, each with a little of its own."""
    with torch.no_grad():
        shared = embedding[first_of_kind(vocabulary)]
        embedding.copy_(0.9 * shared + 0.3 * embedding)
