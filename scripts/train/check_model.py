#!/usr/bin/env python3
"""Holds what is trained against what the server does: tokens of each question, and its logits.

Of tokens nothing may differ. The weights are those in the file: of states of tokens, and of
probabilities, only what sums in another order give may differ. `--exact`: of a file in F32.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from random import Random

from net.processor import has_avx512

if has_avx512():
    os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx512")

import numpy as np
import torch

from ask.question import Group, body_of
from ask.reading import as_written
from ask.strange import strange_group
from reader.batch import batches_of
from reader.export import round_as_exported
from reader.mix import Mix
from reader.network import Network
from reader.passes import Pass, Passes
from reader.rows import Rows
from reader.run import load_network
from reader.wordpiece import WordPiece
from source.assemble import load

@dataclass(frozen=True)
class Bounds:
    #: Of probabilities: the mean and the largest difference.
    mean: float
    largest: float
    #: Of a token's state, relative to its length.
    state: float


# Exact matmuls round to 16 bits what is multiplied with Q8_0.
BOUNDS = {False: Bounds(1e-4, 1e-3, 1e-3), True: Bounds(5e-6, 5e-5, 5e-5)}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("encoder", type=Path, help="folder of all-MiniLM-L6-v2")
    options.add_argument("--public", type=Path, help="folder of banking77 and clinc150")
    options.add_argument("--folder", type=Path, default=Path("build/train"))
    options.add_argument("--checkpoint", type=Path, default=Path("build/train/run/checkpoint.pt"))
    options.add_argument("--model", type=Path, default=Path("build/train/oi-small.gguf"))
    options.add_argument("--exact", action="store_true", help="the model is in F32")
    options.add_argument("--tools", type=Path, default=Path("dist/scripts/train/check"))
    options.add_argument("--tokens", action="store_true", help="compare tokens alone")
    options.add_argument("--requests", type=int, default=300)
    given = options.parse_args()

    words, random = WordPiece(given.encoder / "tokenizer.json"), Random(7)
    network = load_network(torch.load(given.checkpoint, map_location="cpu"))
    if not given.exact:
        round_as_exported(network)
    held = load(given.public)[1]
    mix = Mix(held, words, given.folder)
    groups = [mix.one(random) for _ in range(given.requests)]
    groups += map(as_written, held.test_readings[:30])
    groups += [strange_group(random) for _ in range(given.requests // 3)]
    asked = [Passes(words).of(group) for group in groups]
    compare_tokens(asked, answers_of(given.tools / "prompts.js", given.model, groups))
    if given.tokens:
        return
    served = answers_of(given.tools / "answers.js", given.model, groups)
    bounds = BOUNDS[given.exact]
    compare_logits(network, asked, served, bounds)
    compare_states(network, [one for some in asked for one in some][::5], given, bounds)


def answers_of(tool: Path, model: Path, groups: list[Group]) -> list[dict]:
    lines = "".join(json.dumps(body_of(group), ensure_ascii=False) + "\n" for group in groups)
    done = subprocess.run(
        ["node", str(tool), str(model)], input=lines.encode(), stdout=subprocess.PIPE, check=True
    )
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def compare_tokens(asked: list[list[Pass]], theirs: list[dict]) -> None:
    for passes, other in zip(asked, theirs, strict=True):
        for one, question in zip(passes, other["questions"], strict=True):
            # The template has the state last.
            tokens = question["tokens"] + other["state"]
            if one.tokens != tokens:
                raise SystemExit(f"here   {one.tokens}\nserver {tokens}")
    print(json.dumps({"questions": sum(map(len, asked)), "other tokens": 0}))


@torch.no_grad()
def compare_logits(
    network: Network, asked: list[list[Pass]], theirs: list[dict], bounds: Bounds
) -> None:
    passes = [one for some in asked for one in some]
    served = [logits for other in theirs for logits in other["logits"]]
    differences, turned = [], 0
    for places, batch in batches_of(passes, 4096, exact=True):
        for place, row in zip(places, network(batch).double()):
            mine = row[torch.isfinite(row)].softmax(-1).numpy()
            other = torch.tensor(served[place]).double().softmax(-1).numpy()
            differences.append(float(np.abs(mine - other).max()))
            turned += int(mine.argmax() != other.argmax())
    mean, largest = float(np.mean(differences)), max(differences)
    figures = {"questions": len(differences), "mean difference": mean, "largest": largest}
    print(json.dumps({**figures, "other answers": turned}))
    if mean > bounds.mean or largest > bounds.largest:
        raise SystemExit("the exported model is not the one that was trained")


@torch.no_grad()
def compare_states(
    network: Network, passes: list[Pass], given: argparse.Namespace, bounds: Bounds
) -> None:
    lines = "".join(" ".join(map(str, one.tokens)) + "\n" for one in passes)
    command = ["node", str(given.tools / "states.js"), str(given.model)]
    done = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE, check=True)
    found: list[float] = []
    # What compiling the tool says comes first.
    for one, line in zip(passes, done.stdout.splitlines()[-len(passes) :], strict=True):
        rows = Rows([(one.tokens, one.positions, [0] * len(one.tokens))], exact=True)
        rows.to(torch.device("cpu"))
        mine, _ = network.states(rows)
        theirs = torch.tensor([float(n) for n in line.split()]).view(mine.shape)
        found += ((mine - theirs).norm(dim=1) / mine.norm(dim=1)).tolist()
    figures = {"mean difference": float(np.mean(found)), "largest": max(found)}
    print(json.dumps({"states of tokens": len(found), **figures}))
    if max(found) > bounds.state:
        raise SystemExit("states are not those that were trained")


if __name__ == "__main__":
    main()
