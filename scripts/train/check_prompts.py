#!/usr/bin/env python3
"""Holds the prompts that are trained on against those that the server evaluates, token by token."""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from random import Random

from ask.mix import Mix
from ask.question import Choice, body_of
from ask.strange import strange_group
from source.assemble import load
from tokens.meanings import Meanings
from tokens.prompt import AskedGroup, Prompter
from tokens.vocabulary import Vocabulary


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--public", type=Path)
    options.add_argument("--tokenizer", type=Path, default=Path("build/train/tokenizer.json"))
    options.add_argument("--folder", type=Path, default=Path("build/train"))
    options.add_argument("--model", type=Path, default=Path("build/train/oi-small.gguf"))
    options.add_argument("--tool", type=Path, default=Path("dist/scripts/train/check/prompts.js"))
    options.add_argument("--requests", type=int, default=3000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()

    random = Random(given.seed)
    training, vocabulary = load(given.public)[0], Vocabulary.read(given.tokenizer)
    mix = Mix(training, vocabulary, Meanings(given.folder))
    groups = [mix.asked(random) for _ in range(given.requests)]
    for question in (q for group in groups for q in group.questions):
        # Asked for by a header, which no line here has.
        if not isinstance(question, Choice):
            question.reversed = False
    groups += [strange_group(random) for _ in range(given.requests)]
    lines = "".join(json.dumps(body_of(group), ensure_ascii=False) + "\n" for group in groups)
    command = ["node", str(given.tool), str(given.model)]
    done = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE, check=True)
    prompter = Prompter(vocabulary)
    questions = 0
    for group, line in zip(groups, done.stdout.decode().splitlines(), strict=True):
        mine, theirs = shown(prompter.ask(group)), json.loads(line)
        if mine != theirs:
            raise SystemExit(f"{json.dumps(body_of(group))}\nhere   {mine}\nserver {theirs}")
        questions += len(group.questions)
    print(json.dumps({"requests": len(groups), "questions": questions, "differences": 0}))


def shown(asked: AskedGroup) -> object:
    questions = [{"tokens": q.tokens, "candidates": q.candidates} for q in asked.questions]
    return {"state": asked.state, "questions": questions}


if __name__ == "__main__":
    main()
