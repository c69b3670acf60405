"""Vectors of words and of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tokens.vocabulary import CONTROL, LABELS, Vocabulary, spell

_SPACE = spell(" ")
# Of a token's vector.
WIDTH = 192
_OWN = {spell(text) for label in LABELS for text in (label, label + "\n")} | set(CONTROL)


def read_vectors(path: Path) -> tuple[list[str], np.ndarray]:
    """Words, the most frequent first, and a row for each."""
    with np.load(path) as content:
        return content["words"].tolist(), content["vectors"]


def words_by_token(vocabulary: Vocabulary, path: Path) -> np.ndarray:
    """For each token the row of the word that it spells, or zeros.

    With a space before it or not, and in any case, a word is the same.
    """
    words, vectors = read_vectors(path)
    found = np.zeros((len(vocabulary.tokens), vectors.shape[1]), np.float32)
    places = {word: i for i, word in enumerate(words)}
    for i, token in enumerate(vocabulary.tokens):
        place = places.get(_word(token))
        if _has_letters(token) and place is not None:
            found[i] = vectors[place]
    return found


def kinds_of(vocabulary: Vocabulary, words: np.ndarray) -> np.ndarray:
    """:returns: A number for each token, which those that spell one word have in common."""
    numbers: dict[str | int, int] = {}
    spelled = (words != 0).any(1)
    keys = [_word(token) if spelled[i] else i for i, token in enumerate(vocabulary.tokens)]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys])


@dataclass
class TokenVectors:
    """Zeros for tokens that say nothing of what a text means: digits, signs, labels."""

    #: A row of ``WIDTH`` for each, with a mean square of 1.
    directions: np.ndarray
    #: How much each adds: logarithms, in standard deviations from their mean.
    weights: np.ndarray
    #: The standard deviation.
    spread: float

    @property
    def taught(self) -> np.ndarray:
        return (self.directions != 0).any(1)

    @property
    def gists(self) -> np.ndarray:
        """What each adds to what a text is about: its direction by its weight."""
        return self.directions * np.exp(self.weights * self.spread)[:, None]


def write_token_vectors(
    path: Path, vocabulary: Vocabulary, vectors: np.ndarray, weights: np.ndarray
) -> None:
    """
    :param vectors: A row for each token.
    :param weights: Logarithms of what a row is to be multiplied by in a sum.
    """
    lengths = np.sqrt((vectors**2).mean(1)).clip(1e-6)
    taught = np.array([_has_letters(token) for token in vocabulary.tokens])
    weights = weights + np.log(lengths)
    spread = weights[taught].std()
    weights = ((weights - weights[taught].mean()) / spread).clip(-3, 3)
    np.savez(
        path,
        directions=(vectors / lengths[:, None] * taught[:, None]).astype(np.float32),
        weights=(weights * taught).astype(np.float32),
        spread=spread,
    )


def read_token_vectors(path: Path) -> TokenVectors:
    with np.load(path) as content:
        return TokenVectors(content["directions"], content["weights"], float(content["spread"]))


def _word(token: str) -> str:
    return token.removeprefix(_SPACE).lower()


def _has_letters(token: str) -> bool:
    return token not in _OWN and len(_word(token)) > 1 and _word(token).isalpha()
