#!/usr/bin/env python3
"""Writes a checkpoint of `train.py` as a GGUF file, with head and calibration inside."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

from export.gguf import Q8_0, quantization_error, write_gguf
from export.temperatures import read_temperatures
from reader.card import general
from reader.export import hyperparameters, readout, tensors_of, tokenizer
from reader.run import load_network
from reader.wordpiece import WordPiece

# An application's installation is to stay under 60 MB.
MOST_BYTES = 21_000_000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("encoder", type=Path, help="folder of all-MiniLM-L6-v2")
    options.add_argument("--checkpoint", type=Path, default=Path("build/train/run/checkpoint.pt"))
    options.add_argument("--calibration", type=Path, help="file that `oi calibrate` wrote")
    options.add_argument("--out", type=Path, default=Path("build/train/oi-small.gguf"))
    options.add_argument("--version", default="1")
    options.add_argument("--exact", action="store_true", help="in F32 throughout, for checks")
    given = options.parse_args()

    words = WordPiece(given.encoder / "tokenizer.json")
    saved = torch.load(given.checkpoint, map_location="cpu")
    network = load_network(saved)
    temperature = read_temperatures(given.calibration) if given.calibration else None
    metadata = {
        **general(given.version, saved["progress"]),
        **hyperparameters(network),
        **tokenizer(words),
        **readout(network, temperature, not given.exact),
    }
    tensors = tensors_of(network, not given.exact)
    write_gguf(given.out, metadata, tensors)
    size = given.out.stat().st_size
    errors = [quantization_error(tensor) for tensor in tensors if tensor.kind == Q8_0]
    facts = {"bytes": size, "quantization": round(max(errors, default=0), 5)}
    print(json.dumps({"file": given.out.name, **facts}))
    if size > MOST_BYTES and not given.exact:
        raise SystemExit(f"expected at most {MOST_BYTES} bytes, got {size}")


if __name__ == "__main__":
    main()
