#!/usr/bin/env python3
"""Makes the vectors that tokens begin with: ``tokens.npz``.

What each token adds to what the teacher says of a text, learned from ``texts.f32``.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from random import Random

import teach.start  # Before torch is loaded, for the processor's widest products.

import numpy as np
import torch

from ask.noise import retyped
from teach.bag import Bag, train_bag
from tokens.encode import Encoder
from tokens.meanings import Meanings
from tokens.vectors import WIDTH, kinds_of, words_by_token, write_token_vectors
from tokens.vocabulary import Vocabulary

# Numbers of a token's vector while it is learned; those that say the most are kept.
_LEARNED = 224


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tokenizer", type=Path, default=Path("build/train/tokenizer.json"))
    options.add_argument("--folder", type=Path, default=Path("build/train"))
    options.add_argument("--steps", type=int, default=400)
    given = options.parse_args()

    begun = time.monotonic()
    torch.manual_seed(0)
    vocabulary = Vocabulary.read(given.tokenizer)
    meanings = Meanings(given.folder)
    words = words_by_token(vocabulary, given.folder / "vectors.npz")
    kinds = kinds_of(vocabulary, words)
    tokens, numbers = tokenized(meanings.texts, Encoder(vocabulary))
    counts = np.bincount(kinds[np.concatenate(tokens)], minlength=kinds.max() + 1) + 1.0
    bag = Bag(
        torch.from_numpy(kinds),
        torch.from_numpy(beginning(words, kinds)),
        torch.from_numpy((counts / counts.sum()).astype(np.float32)),
        meanings.vectors.shape[1],
    )
    told = torch.from_numpy(meanings.vectors[numbers])
    alike = train_bag(bag, tokens, told, given.steps)
    vectors, weights = (part.numpy() for part in bag.said())
    path = given.folder / "tokens.npz"
    write_token_vectors(path, vocabulary, vectors[:, :WIDTH], weights)
    seconds = time.monotonic() - begun
    print(f"cosine {alike:.3f} with the teacher's, {seconds:.0f} s: {path}")


def tokenized(texts: list[str], encoder: Encoder) -> tuple[list[np.ndarray], np.ndarray]:
    """:returns: Tokens of texts as people type them, and the texts' numbers."""
    random = Random(1)
    typed = ((" " if random.random() < 0.3 else "") + retyped(text, random) for text in texts)
    found = [np.array(encoder.encode(text), np.int64) for text in typed]
    numbers = np.array([i for i, tokens in enumerate(found) if len(tokens)])
    return [found[i] for i in numbers], numbers


def beginning(words: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Vectors of the kinds: the directions in which words differ most, and some noise."""
    of_kind = np.zeros((kinds.max() + 1, words.shape[1]), np.float32)
    of_kind[kinds] = words
    spelled = of_kind[(of_kind != 0).any(1)]
    directions = np.linalg.svd(spelled[:6000], full_matrices=False)[2][:_LEARNED]
    begin = 0.1 * np.random.default_rng(0).standard_normal((len(of_kind), _LEARNED))
    return ((begin + of_kind @ directions.T / 4) * 4 / _LEARNED**0.5).astype(np.float32)


if __name__ == "__main__":
    main()
