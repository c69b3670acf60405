"""Vectors that tokens begin with: those of the words that they spell."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tokens.vocabulary import CONTROL, LABELS, Vocabulary, spell

_SPACE = spell(" ")


def read_vectors(path: Path) -> tuple[list[str], np.ndarray]:
    """Words, the most frequent first, and a row for each."""
    with np.load(path) as content:
        return content["words"].tolist(), content["vectors"]


def vectors_of(vocabulary: Vocabulary, path: Path) -> np.ndarray:
    """A row for each token: zeros for those that spell no word.

    With a space before it or not, and in any case, a word is the same.
    """
    words, vectors = read_vectors(path)
    places = {word: i for i, word in enumerate(words)}
    own = {spell(text) for label in LABELS for text in (label, label + "\n")} | set(CONTROL)
    found = np.zeros((len(vocabulary.tokens), vectors.shape[1]), np.float32)
    for i, token in enumerate(vocabulary.tokens):
        place = places.get(token.removeprefix(_SPACE).lower())
        if token not in own and len(token) > 1 and place is not None:
            found[i] = vectors[place]
    return found
