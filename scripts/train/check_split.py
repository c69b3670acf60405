#!/usr/bin/env python3
"""Checks that nothing held out is in what the generator makes for training.

It looks at many examples as they leave the generator, for every text that a held-out thing would
bring along. Prints the figures, or ends with an error that names what leaked.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from ask.question import body_of
from ask.mix import Mix
from prefix.wordpiece import WordPiece
from source.assemble import load
from source.material import Material
from source.split import is_number_held_out, key_of, normal


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("tokenizer", type=Path, help="tokenizer.json of BERT uncased")
    options.add_argument("--public", type=Path, help="folder of banking77 and clinc150")
    options.add_argument("--folder", type=Path, default=Path("build/train"))
    options.add_argument("--groups", type=int, default=60_000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()

    training, held = load(given.public)
    secrets = {text for text in whole_texts(held) - whole_texts(training) if " " in text}
    # A level's name may be a field's value too; as a level it is looked for below.
    secrets -= {normal(text) for text in record_texts(training)}
    levels = level_names(held) - level_names(training)
    keys = {concept.key for concept in held.unseen_concepts}
    leaked = keys & {concept.key for concept in training.concepts}
    require(not leaked, f"concepts on both sides: {sorted(leaked)[:5]}")
    known = {key_of(name) for c in training.concepts for name in (c.name, c.group)}
    # As an option only: as a word, a concept's name may be in any text.
    forbidden = keys - known - {key_of(name) for name in training.wordings["other"]}
    forbidden -= {key_of(name) for name in level_names(training)}
    forbidden -= {key_of(text) for text in record_texts(training)}

    mix = Mix(training, WordPiece(given.tokenizer), given.folder)
    random, texts = Random(given.seed), 0
    for _ in range(given.groups):
        group = mix.one(random)
        body = body_of(group)
        for text in strings_of(body):
            texts += 1
            require(normal(text) not in secrets, f"held out: {text} (a {group.task})")
        for question in body["questions"].values():
            criteria = question.get("criteria") or {}
            if group.task == "scale":
                shown = {normal(name) for name in strings_of(criteria)}
                require(not shown & levels, f"held-out levels: {shown & levels}")
            for name in criteria if question["type"] == "choice" else ():
                require(key_of(name) not in forbidden, f"an unseen concept as an option: {name}")
        if group.task in ("number", "record"):
            for digits in numbers_of(body):
                require(not is_number_held_out(digits), f"a held-out number: {digits} in {body}")
    figures = {"groups": given.groups, "texts": texts, "held out": len(secrets), "leaks": 0}
    print(json.dumps(figures))


def whole_texts(material: Material) -> set[str]:
    """Texts that stand whole in an example: of states, options, descriptions and questions."""
    concepts = (*material.concepts, *material.unseen_concepts)
    # One word alone has other uses too, and is looked for where it counts.
    texts = {u for c in concepts for u in c.utterances}
    texts |= {d for c in material.unseen_concepts or material.concepts for d in c.descriptions}
    for scale in material.scales:
        texts |= set(scale.questions)
        texts |= {text for level in scale.levels for text in level.texts}
    texts |= level_names(material)
    texts |= {fact.text for fact in material.facts}
    # Their questions say nothing without them, and some are usual ones.
    texts |= {reading.text for reading in (*material.readings, *material.test_readings)}
    texts |= {w for words in material.wordings.values() for w in words if "{" not in w}
    return {normal(text) for text in texts}


def level_names(material: Material) -> set[str]:
    levels = (level for scale in material.scales for level in scale.levels)
    return {normal(name) for level in levels for name in level.names}


def record_texts(material: Material) -> Iterator[str]:
    for field in material.fields:
        yield from (*field.phrases, *field.values, field.name)
    for values in material.entities.values():
        yield from (value for value in values if isinstance(value, str))


def strings_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from strings_of(member)
    elif isinstance(value, list):
        for member in value:
            yield from strings_of(member)


def numbers_of(body: Any) -> Iterator[str]:
    """Whole numbers and decimals that stand by themselves: no dates, codes or versions."""
    text = json.dumps(body, ensure_ascii=False)
    yield from re.findall(r"(?<![\w.+-])\d+(?:\.\d+)?(?![\w-]|\.\d)", text)


def require(holds: bool, message: str) -> None:
    if not holds:
        raise SystemExit(message)


if __name__ == "__main__":
    main()
