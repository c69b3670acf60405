#!/usr/bin/env python3
"""Lists the texts of the training side whose meanings are told: ``texts.json``.

``teach/embed.ts`` makes a vector of each.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from ask.noise import plain
from ask.senses import SenseTasks
from source.assemble import load
from source.material import Material


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--public", type=Path, help="folder of banking77 and clinc150")
    options.add_argument("--folder", type=Path, default=Path("build/train"))
    given = options.parse_args()

    training, _ = load(given.public)
    tasks = SenseTasks(given.folder, training)
    texts = list(dict.fromkeys([*texts_of(training), *explained(tasks)]))
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


def explained(tasks: SenseTasks) -> Iterator[str]:
    for sense in tasks.senses:
        yield from (*sense.words, sense.definition, *sense.examples)
        if sense.area:
            yield sense.area


if __name__ == "__main__":
    main()
