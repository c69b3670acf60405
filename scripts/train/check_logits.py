#!/usr/bin/env python3
"""Holds the answers of an exported model, as the library gives them, against those of PyTorch.

What may differ is what Q8_0 rounds away: probabilities by hundredths, and the likeliest option only
where two are level.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from random import Random

import numpy as np
import torch
from torch.nn import functional as F

import net.precision

# Before others read it: bfloat16, in which is trained, rounds away more than Q8_0 does.
net.precision.PRODUCTS = torch.float32

from ask.mix import Mix
from ask.question import Choice, body_of
from export_model import load_network
from net.batch import make_batch
from net.network import Network
from net.tensors import to_tensors
from source.assemble import load
from tokens.meanings import Meanings
from tokens.prompt import AskedGroup, Prompter
from tokens.vocabulary import Vocabulary

# How many answers turn depends on how many were level, so that bound is wide: what finds a question
# that is served otherwise is that no probability at all is far off.
MOST_MEAN, MOST_OF_ALL, MOST_TURNED = 0.005, 0.05, 0.03


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--public", type=Path)
    options.add_argument("--tokenizer", type=Path, default=Path("build/train/tokenizer.json"))
    options.add_argument("--folder", type=Path, default=Path("build/train"))
    options.add_argument("--checkpoint", type=Path, default=Path("build/train/run/checkpoint.pt"))
    options.add_argument("--model", type=Path, default=Path("build/train/oi-small.gguf"))
    options.add_argument("--tool", type=Path, default=Path("dist/scripts/train/check/answers.js"))
    options.add_argument("--start", type=Path, help="as the model was exported")
    options.add_argument("--share", type=float, default=1.0, help="as the model was exported")
    options.add_argument("--requests", type=int, default=300)
    given = options.parse_args()

    vocabulary = Vocabulary.read(given.tokenizer)
    saved = torch.load(given.checkpoint, map_location="cpu")
    network = load_network(saved, vocabulary, given.start, given.share)
    held, random = load(given.public)[1], Random(7)
    mix = Mix(held, vocabulary, Meanings(given.folder))
    groups = [mix.asked(random) for _ in range(given.requests)]
    for question in (q for group in groups for q in group.questions):
        if not isinstance(question, Choice):
            question.reversed = False
    lines = "".join(json.dumps(body_of(group), ensure_ascii=False) + "\n" for group in groups)
    command = ["node", str(given.tool), str(given.model)]
    done = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE, check=True)
    prompter = Prompter(vocabulary)
    differences: list[float] = []
    turned = 0
    for group, line in zip(groups, done.stdout.decode().splitlines(), strict=True):
        theirs = json.loads(line)["logits"]
        for mine, other in zip(logits_of(network, prompter.ask(group)), theirs, strict=True):
            p, q = softmax(mine), softmax(np.array(other))
            differences.append(float(np.abs(p - q).max()))
            turned += int(p.argmax() != q.argmax())
    share = turned / len(differences)
    figures = {
        "questions": len(differences),
        "mean difference": round(float(np.mean(differences)), 5),
        "99 %": round(float(np.quantile(differences, 0.99)), 5),
        "largest": round(max(differences), 5),
        "other answers": round(share, 5),
    }
    print(json.dumps(figures))
    far_off = figures["mean difference"] > MOST_MEAN or figures["largest"] > MOST_OF_ALL
    if far_off or share > MOST_TURNED:
        raise SystemExit("the exported model is not the one that was trained")


@torch.no_grad()
def logits_of(network: Network, asked: AskedGroup) -> list[np.ndarray]:
    """In the order of the group's questions."""
    found: list[np.ndarray] = []
    for question in asked.questions:
        batch = make_batch([AskedGroup(asked.group, asked.state, [question])])
        embeddings = network.embeddings()
        states = network(to_tensors(batch, network.shape, "cpu"), embeddings)
        last = states.last[torch.from_numpy(batch.last)]
        logits = F.linear(last, network.output(embeddings)).float()[0]
        found.append(logits[question.candidates].double().numpy())
    return found


def softmax(logits: np.ndarray) -> np.ndarray:
    shifted = np.exp(logits - logits.max())
    return shifted / shifted.sum()


if __name__ == "__main__":
    main()
