#!/usr/bin/env python3
"""Holds the prompts that are trained on against those that the server evaluates, token by token."""

from __future__ import annotations

import argparse
import json
import subprocess
import unicodedata
from pathlib import Path
from random import Random

from ask.mix import Mix
from ask.question import Choice, Group, Noul, Option, Score, body_of
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


_PIECES = (
    *("", " ", "  ", "\n", "\r\n", "\t", "\u2028", "\u0085", "\u00a0", "\ufeff", "\u200b"),
    *("'", '"', "\\", "'s", "'LL", "{}", "...", "?!", "—", "½", "²", "= =", "a" * 70),
    *("<|state|>", "<|answer|>", "<|end|>", "⠁", "⠁\n", "A", "Yes", " No", "__proto__"),
    *("oiMark0x9c41e7", "{{ state }}", "{% if", "\u0000", "\u001f", "\u007f"),
    *("Größe", "naïve", "Привет", "你好", "こんにちは", "नमस्ते", "مرحبا", "🙂", "👩\u200d👧"),
    *("e\u0301", "ﬁ", "123", "4.5", "Ⅷ", "٣"),
)


def strange_text(random: Random) -> str:
    """Of all that Unicode has, and what looks like ours."""
    pieces: list[str] = []
    for _ in range(random.randint(0, 8)):
        if random.random() < 0.6:
            pieces.append(random.choice(_PIECES))
            continue
        character = chr(random.randrange(0x11000))
        # Not assigned here may be a letter there: a newer Unicode.
        if unicodedata.category(character) not in ("Cs", "Cn", "Co"):
            pieces.append(character)
        pieces.append(random.choice(("", " ", "word ")))
    return "".join(pieces)


def strange_group(random: Random) -> Group:
    def text() -> str:
        return strange_text(random)

    record = {text(): text(), "n": [1, None, True, text()]}
    state = random.choice((text(), record, [text(), -3, 2.5]))
    names = list(dict.fromkeys([text(), text(), text(), "x", "y"]))
    options = [Option(name, random.choice((None, "", text()))) for name in names]
    levels = [Option(text()) for _ in range(random.randint(2, 4))]
    asked = text() or None
    yes, no = random.choice((None, text() or None)), random.choice((None, text() or None))
    if asked is None and yes is None and no is None:
        asked = "?"
    noul = Noul(asked, True, yes, no)
    return Group(state, [noul, Choice(asked, options, 0), Score(text() or None, levels, 0)])


if __name__ == "__main__":
    main()
