#!/usr/bin/env python3
"""Learns the vocabulary from the training side of the split: ``tokenizer.json``.

Or takes that of a model that training goes on from.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from pathlib import Path

from export.read import read_gguf
from source.assemble import load
from source.texts import texts_of
from tokens.learn import learn_merges, whole_words
from tokens.pretokens import pretokens
from tokens.vectors import read_vectors
from tokens.vocabulary import CONTROL, Vocabulary, required_merges


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--public", type=Path, help="folder of banking77 and clinc150")
    options.add_argument("--out", type=Path, default=Path("build/train/tokenizer.json"))
    options.add_argument("--vectors", type=Path, default=Path("build/train/vectors.npz"))
    options.add_argument("--size", type=int, default=20_000, help="tokens in all")
    options.add_argument("--start", type=Path, help="model file whose vocabulary it is to be")
    options.add_argument("--pieces", type=int, default=6000, help="of them, learned pair by pair")
    given = options.parse_args()

    vocabulary = vocabulary_of(given.start) if given.start else learned(given)
    vocabulary.write(given.out)
    print(f"{len(vocabulary.tokens)} tokens, {len(vocabulary.merges)} merges: {given.out}")


def vocabulary_of(path: Path) -> Vocabulary:
    return Vocabulary.of_lines(read_gguf(path).metadata["tokenizer.ggml.merges"])


def learned(given: argparse.Namespace) -> Vocabulary:
    training, _ = load(given.public)
    words: Counter[str] = Counter()
    for text in texts_of(training):
        # As an option's name stands behind a space and a state does not, and as people type.
        for form in (text, f" {text}", f" {text.lower()}", text.capitalize()):
            words.update(pretokens(form))
    merges = learn_merges(words, required_merges(), given.pieces)
    count = given.size - 256 - len(CONTROL)
    common = read_vectors(given.vectors)[0]
    merges = whole_words(merges, most_frequent(words, common), count)
    return Vocabulary.of_merges(merges)


# How often a word stands behind a space, begins a sentence, a text, or follows a quote.
FORMS = ((" {}", 0.62), (" {}", 0.08), ("{}", 0.07), ("{}", 0.23))


def most_frequent(words: Counter[str], common: list[str]) -> list[str]:
    """Words of the training side and of English, as they are spelled, by their frequency."""
    total = sum(words.values())
    expected = {
        word: count / total for word, count in words.items() if count > 3 and word.strip().isalpha()
    }
    for rank, word in enumerate(common, 1):
        for i, (form, share) in enumerate(FORMS):
            spelled = form.format(word.capitalize() if i in (1, 2) else word)
            # The rank's share by Zipf's law; the most frequent 60,000 words make nearly all.
            expected[spelled] = expected.get(spelled, 0) + share / (rank * math.log(len(common)))
    return sorted(expected, key=lambda word: (-expected[word], word))


if __name__ == "__main__":
    main()
