#!/usr/bin/env python3
"""Writes a checkpoint as a GGUF file in Q8_0, with tokenizer, readout and calibration inside."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

from export.gguf import q8_0_error, write_gguf
from export.metadata import general, hyperparameters, readout, tokenizer
from export.read import read_gguf
from export.temperatures import read_temperatures
from export.weights import tensors_of
from net.network import Network
from net.shape import Shape
from net.start import start_from
from tokens.prompt import Prompter
from tokens.vocabulary import LABELS, Vocabulary

MOST_BYTES = 12_000_000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tokenizer", type=Path, default=Path("build/train/tokenizer.json"))
    options.add_argument("--checkpoint", type=Path, default=Path("build/train/run/checkpoint.pt"))
    options.add_argument("--calibration", type=Path, help="file that `oi calibrate` wrote")
    options.add_argument("--out", type=Path, default=Path("build/train/oi-small.gguf"))
    options.add_argument("--start", type=Path, help="model file that the run went on from")
    options.add_argument("--share", type=float, default=1.0, help="of the run; of the file the rest")
    options.add_argument("--version", default="1")
    given = options.parse_args()

    vocabulary = Vocabulary.read(given.tokenizer)
    saved = torch.load(given.checkpoint, map_location="cpu")
    network = load_network(saved, vocabulary, given.start, given.share)
    temperature = read_temperatures(given.calibration) if given.calibration else None
    progress = saved["progress"]
    trained = {
        name: round(progress[name]) + progress["before"].get(name, 0)
        for name in ("steps", "tokens", "questions", "seconds")
    }
    metadata = {
        **general(given.version, trained),
        **hyperparameters(network.shape),
        **tokenizer(vocabulary),
        **readout(LABELS, temperature),
    }
    tensors = tensors_of(network)
    write_gguf(given.out, metadata, tensors)
    size = given.out.stat().st_size
    worst = max(q8_0_error(tensor.values) for tensor in tensors if tensor.quantized)
    facts = {"parameters": network.shape.parameters, "bytes": size, "quantization": round(worst, 5)}
    print(json.dumps({"file": given.out.name, **facts}))
    if size > MOST_BYTES:
        raise SystemExit(f"expected at most {MOST_BYTES} bytes, got {size}")


def load_network(
    saved: dict, vocabulary: Vocabulary, start: Path | None = None, share: float = 1.0
) -> Network:
    """
    :param start: Model file that the run went on from, to blend it with.
    :param share: Of the run.
    """
    prompter = Prompter(vocabulary)
    network = Network(Shape(**saved["shape"]), list(zip(prompter.line_labels, prompter.labels)))
    network.load_state_dict(saved["network"])
    if start:
        _blend(network, start, share)
    return network.eval()


def _blend(network: Network, start: Path, share: float) -> None:
    """Weights between those that a run began with and those that it ended with.

    See M. Wortsman et al., "Robust fine-tuning of zero-shot models", 2022.
    """
    ended = {name: value.clone() for name, value in network.named_parameters()}
    start_from(read_gguf(start), network)
    with torch.no_grad():
        for name, value in network.named_parameters():
            value.lerp_(ended[name], share)


if __name__ == "__main__":
    main()
