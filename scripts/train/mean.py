#!/usr/bin/env python3
"""Writes a checkpoint whose weights are the mean of another one's and of a model's file, which that
run began with: it has most of what both know."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from prefix.kept import load_network
from prefix.start import exported


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("checkpoint", type=Path)
    options.add_argument("model", type=Path, help="a .gguf of the same shape")
    options.add_argument("out", type=Path)
    options.add_argument("--share", type=float, default=0.5, help="of the checkpoint")
    given = options.parse_args()

    network, _ = load_network(given.checkpoint, averaged=True)
    model = dict(exported(given.model).named_parameters())
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.copy_(torch.lerp(model[name], parameter, given.share))
    saved = torch.load(given.checkpoint, map_location="cpu", weights_only=False)
    weights = {name: p.detach().clone() for name, p in network.named_parameters()}
    torch.save({**saved, "network": network.state_dict(), "averages": weights}, given.out)


if __name__ == "__main__":
    main()
