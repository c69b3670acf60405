#!/usr/bin/env python3
"""Lists the texts of the training side whose meanings are told: ``texts.json``.

``embed_texts.py`` makes a vector of each.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

from ask.noise import plain
from ask.senses import SenseTasks
from ask.words import WordTasks
from source.assemble import load
from source.material import Material
from tokens.vocabulary import Vocabulary

# Of each text, how many with other words, and how many of its words become others.
_VARIANTS, _VARIED = 3, 0.35


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--public", type=Path, help="folder of banking77 and clinc150")
    options.add_argument("--tokenizer", type=Path, default=Path("build/train/tokenizer.json"))
    options.add_argument("--folder", type=Path, default=Path("build/train"))
    given = options.parse_args()

    training, _ = load(given.public)
    tasks = SenseTasks(given.folder, training)
    vocabulary = Vocabulary.read(given.tokenizer)
    words = WordTasks(given.folder / "vectors.npz", vocabulary, training)
    texts = list(dict.fromkeys([*texts_of(training), *explained(tasks), *varied(training, words)]))
    path = given.folder / "texts.json"
    path.write_text(json.dumps(texts, ensure_ascii=False), encoding="utf-8")
    print(f"{len(texts)} texts: {path}")


def texts_of(material: Material) -> Iterator[str]:
    for concept in material.concepts:
        name = plain(concept.name)
        yield from (name, concept.name, plain(concept.group.removeprefix("clinc ")))
        yield from concept.utterances
        yield from concept.descriptions
        yield from (f"{name}: {text}" for text in concept.descriptions)
    for scale in material.scales:
        for level in scale.levels:
            yield from (*level.names, *level.texts)
    yield from material.strays


def varied(material: Material, words: WordTasks) -> Iterator[str]:
    """Texts with other words of the same neighbourhoods, whose meanings only the teacher tells.

    So a student learns what the teacher makes of words, not which texts there are. See X. Jiao et
    al., "TinyBERT: Distilling BERT for natural language understanding", 2020.
    """
    random = Random(1)
    texts = [text for concept in material.concepts for text in concept.utterances]
    texts += [text for scale in material.scales for level in scale.levels for text in level.texts]
    for text in texts:
        for _ in range(_VARIANTS):
            other = words.varied(text, random, _VARIED)
            if not material.hides(other):
                yield other


def explained(tasks: SenseTasks) -> Iterator[str]:
    for sense in tasks.senses:
        yield from (*sense.words, sense.definition, *sense.examples)
        if sense.area:
            yield sense.area


if __name__ == "__main__":
    main()
