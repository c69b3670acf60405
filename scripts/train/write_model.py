#!/usr/bin/env python3
"""Writes a checkpoint of `train.py` as a GGUF file, with head and temperatures inside.

Of a pretrained encoder it writes one with a head that has learned nothing: a smaller file to begin
with elsewhere.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from export.gguf import write_gguf
from export.temperatures import read_temperatures
from prefix.card import general
from prefix.export import hyperparameters, readout, tensors_of, tokenizer
from prefix.kept import Done, load_network
from prefix.start import start_of
from prefix.texts import Texts
from prefix.wordpiece import WordPiece

MOST_BYTES = 32_000_000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("tokenizer", type=Path)
    options.add_argument("model", type=Path, help="a checkpoint, or a pretrained encoder")
    options.add_argument(
        "--last", action="store_true", help="the last weights, not their mean over time"
    )
    options.add_argument("--calibration", type=Path, help="file that `oi calibrate` wrote")
    options.add_argument("--out", type=Path, default=Path("build/train/oi-small.gguf"))
    options.add_argument("--version", default="2")
    given = options.parse_args()

    words = WordPiece(given.tokenizer)
    if given.model.suffix == ".pt":
        network, done = load_network(given.model, not given.last)
    else:
        network, done = start_of(given.model), Done()
    temperature = read_temperatures(given.calibration) if given.calibration else None
    metadata = {
        **general(given.version, done.figures(), network.shape.layers),
        **hyperparameters(network),
        **tokenizer(words),
        **readout(network, temperature),
    }
    tensors = tensors_of(network, Texts(words).special.marker)
    write_gguf(given.out, metadata, tensors)
    size = given.out.stat().st_size
    print(json.dumps({"file": given.out.name, "bytes": size}))
    if size > MOST_BYTES:
        raise SystemExit(f"expected at most {MOST_BYTES} bytes, got {size}")


if __name__ == "__main__":
    main()
