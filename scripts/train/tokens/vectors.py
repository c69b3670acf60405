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
    return _by_token(vocabulary, words, vectors)


def gists_of(vocabulary: Vocabulary, path: Path) -> np.ndarray:
    """What each token adds to what a text is about: a row for each, longer for rarer words.

    Of the words' vectors, without what all of them share. By Zipf's law, how rare a word is is the
    logarithm of its rank.
    """
    words, vectors = read_vectors(path)
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = (vectors - vectors.mean(0)) * np.log1p(np.arange(len(words)))[:, None]
    return _by_token(vocabulary, words, vectors)


def _by_token(vocabulary: Vocabulary, words: list[str], vectors: np.ndarray) -> np.ndarray:
    """For each token the row of the word that it spells, or zeros."""
    found = np.zeros((len(vocabulary.tokens), vectors.shape[1]), np.float32)
    places = {word: i for i, word in enumerate(words)}
    own = {spell(text) for label in LABELS for text in (label, label + "\n")} | set(CONTROL)
    for i, token in enumerate(vocabulary.tokens):
        place = places.get(token.removeprefix(_SPACE).lower())
        if token not in own and len(token) > 1 and place is not None:
            found[i] = vectors[place]
    return found
