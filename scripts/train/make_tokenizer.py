#!/usr/bin/env python3
"""Learns the vocabulary from the training side of the split: ``tokenizer.json``."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from source.assemble import load
from source.texts import texts_of
from tokens.learn import learn_merges
from tokens.pretokens import pretokens
from tokens.vocabulary import CONTROL, Vocabulary, required_merges


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--public", type=Path, help="folder of banking77 and clinc150")
    options.add_argument("--out", type=Path, default=Path("build/train/tokenizer.json"))
    options.add_argument("--size", type=int, default=8192, help="tokens in all")
    given = options.parse_args()

    training, _ = load(given.public)
    words: Counter[str] = Counter()
    for text in texts_of(training):
        # As an option's name stands behind a space and a state does not, and as people type.
        for form in (text, f" {text}", f" {text.lower()}", text.capitalize()):
            words.update(pretokens(form))
    count = given.size - 256 - len(CONTROL)
    vocabulary = Vocabulary.of_merges(learn_merges(words, required_merges(), count))
    vocabulary.write(given.out)
    print(f"{len(vocabulary.tokens)} tokens, {len(vocabulary.merges)} merges: {given.out}")


if __name__ == "__main__":
    main()
