"""Texts and names of all kinds, whose cosines are to be as others have them."""

from __future__ import annotations

from pathlib import Path
from random import Random

from ask.senses import SenseTasks
from reader.passes import Passes
from reader.texts import Texts
from reader.wordpiece import WordPiece
from source.material import Material

# Of a batch: concepts, options of decisions, senses of words, and longer texts.
_CONCEPTS, _DECISIONS, _SENSES, _READINGS = 14, 5, 10, 4
# Tokens of a text that are read, at most.
_MOST = 60


class AnyTexts:
    def __init__(self, material: Material, words: WordPiece, folder: Path) -> None:
        """:param folder: With WordNet."""
        self._words, self._passes = words, Passes(words)
        self._concepts, self._readings = material.concepts, material.readings
        self._decisions = [one for one in material.decisions if one.type == "choice"]
        self._senses = SenseTasks(folder, material, words.frequent).senses

    def batch(self, random: Random) -> Texts:
        found: list[str] = []
        for concept in random.sample(self._concepts, _CONCEPTS):
            found += (random.choice(concept.utterances), concept.name.replace("_", " "))
            if concept.descriptions and random.random() < 0.5:
                found.append(random.choice(concept.descriptions))
        for decision in random.sample(self._decisions, _DECISIONS):
            answer = random.choice(decision.answers)
            found += (random.choice(answer.texts), random.choice(answer.names))
        for sense in random.sample(self._senses, _SENSES):
            found += (sense.definition, random.choice(sense.words))
            found += random.sample(sense.examples, min(1, len(sense.examples)))
        found += (text.text for text in random.sample(self._readings, _READINGS))
        tokens = (self._words.encode(text)[:_MOST] for text in dict.fromkeys(found))
        return Texts([self._passes.alone(one) for one in tokens])
