#!/usr/bin/env python3
"""Figures of a checkpoint on development rows, with the weights as they are exported."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from prefix.export import round_as_exported
from prefix.figures import figures, reading_mean
from prefix.kept import load_network, watched
from prefix.texts import Texts
from prefix.wordpiece import WordPiece


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("tokenizer", type=Path)
    options.add_argument("checkpoint", type=Path)
    options.add_argument("--cache", type=Path, default=Path("build/train/cache"))
    options.add_argument("--groups", type=int, default=100, help="of each set")
    options.add_argument(
        "--last", action="store_true", help="the last weights, not their mean over time"
    )
    given = options.parse_args()
    special = Texts(WordPiece(given.tokenizer)).special
    network, done = load_network(given.checkpoint, not given.last)
    round_as_exported(network, special.marker)
    found = figures(network, special, watched(given.cache, given.groups))
    for name, (share, count) in found.items():
        print(f"{name:32} {share:.3f} {count:6}")
    print(json.dumps({**done.figures(), "reading": reading_mean(found)}))


if __name__ == "__main__":
    main()
