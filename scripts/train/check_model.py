#!/usr/bin/env python3
"""Checks that what was trained is what is served: a checkpoint's probabilities, with its weights as
they are exported, and those of its file, by the library."""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import torch

from prefix.export import round_as_exported
from prefix.kept import load_network
from prefix.loss import log_probabilities
from prefix.rows import Batch, Group, Row
from prefix.texts import Texts
from prefix.wordpiece import WordPiece

_ANSWERS = Path(__file__).parents[2] / "dist/scripts/train/check/answers.js"
#: Our kernels multiply 16 bits of each activation with the weights.
_MOST_APART = 1e-3


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("tokenizer", type=Path)
    options.add_argument("checkpoint", type=Path)
    options.add_argument("model", type=Path, help="the file that was written of it")
    options.add_argument("--sets", type=Path, default=Path("build/train/sets"))
    options.add_argument("--rows", type=int, default=10, help="of each set")
    options.add_argument("--last", action="store_true", help="as of write_model.py")
    given = options.parse_args()

    texts = Texts(WordPiece(given.tokenizer))
    network, _ = load_network(given.checkpoint, not given.last)
    round_as_exported(network, texts.special.marker)
    bodies = chosen(given.sets, given.rows)
    served = answers(given.model, bodies)
    apart = []
    for body, logits in zip(bodies, served, strict=True):
        asked = [texts.of_body(one, first_of(one)) for one in body["questions"].values()]
        batch = Batch([Row(Group(0, texts.state(body["state"]), asked), texts.special)]).to("cpu")
        with torch.no_grad():
            known = log_probabilities(network(batch, texts.special.marker)[0], batch)
        for own, theirs in zip(known, logits, strict=True):
            theirs = torch.tensor(theirs).softmax(0)
            apart.append(float((own.exp()[: len(theirs)] - theirs).abs().max()))
    print(json.dumps({"questions": len(apart), "apart": max(apart), "mean": sum(apart) / len(apart)}))
    if max(apart) > _MOST_APART:
        raise SystemExit(f"expected probabilities at most {_MOST_APART} apart")


def chosen(folder: Path, count: int) -> list[dict[str, Any]]:
    found = []
    for path in sorted(folder.glob("*.jsonl")):
        lines = path.read_text(encoding="utf-8").splitlines()
        for line in Random(path.name).sample(lines, min(count, len(lines))):
            body = json.loads(line)
            found.append({"state": body["state"], "questions": body["questions"]})
    return found


def answers(model: Path, bodies: list[dict[str, Any]]) -> list[list[list[float]]]:
    """By request and question, no before yes."""
    given = "".join(json.dumps(body, ensure_ascii=False) + "\n" for body in bodies)
    command = ["node", str(_ANSWERS), str(model)]
    run = subprocess.run(command, input=given, encoding="utf-8", stdout=subprocess.PIPE, check=True)
    return [json.loads(line)["logits"] for line in run.stdout.splitlines()]


def first_of(question: dict[str, Any]) -> Any:
    """Any answer: none is compared with it."""
    kind = question["type"]
    return next(iter(question["criteria"])) if kind == "choice" else kind == "noul"


if __name__ == "__main__":
    main()
