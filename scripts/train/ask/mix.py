"""The endless stream of examples: which task comes next."""

from __future__ import annotations

from pathlib import Path
from random import Random

from ask.concepts import ConceptTasks
from ask.decisions import DecisionTasks
from ask.made_up import names_for_fields
from ask.numbers import NumberTasks
from ask.question import Group
from ask.reading import ReadingTasks
from ask.record_tasks import RecordTasks
from ask.scales import ScaleTasks
from prefix.wordpiece import WordPiece
from source.material import Material
from source.nouns import read_nouns

#: Shares of groups, by task.
SHARES = {
    "check": 0.16,
    "decision": 0.14,
    "number": 0.13,
    "concept": 0.20,
    "reading": 0.15,
    "record": 0.11,
    "scale": 0.08,
    "matching": 0.01,
    "stray": 0.005,
}
_MOST_OPTIONS = 255


class Mix:
    def __init__(self, material: Material, words: WordPiece, folder: Path) -> None:
        """:param folder: With WordNet."""
        self._concepts = ConceptTasks(material)
        self._scales = ScaleTasks(material)
        nouns = names_for_fields(read_nouns(folder, words.frequent, material.hides))
        self._records = RecordTasks(material, nouns)
        self._numbers = NumberTasks(material, nouns)
        self._readings = ReadingTasks(material)
        self._decisions = DecisionTasks(material, ("choice", "score"))
        self._checks = DecisionTasks(material, ("noul",))
        self._has_strays = len(material.strays) > 0

    def one(self, random: Random) -> Group:
        task = random.choices(list(SHARES), list(SHARES.values()))[0]
        if task == "reading":
            return self._readings.group(random, 4)
        if task == "decision":
            return self._decisions.group(random)
        if task == "check":
            return self._checks.group(random)
        if task == "matching":
            return self._concepts.matching(random, 16)
        if task == "stray" and self._has_strays:
            return self._concepts.stray(random, 16)
        if task == "scale":
            return self._scales.group(random, random.randint(2, 3))
        if task == "record":
            return self._records.group(random, random.randint(2, 4))
        if task == "number":
            return self._numbers.group(random, random.randint(2, 4))
        return self._concepts.group(random, random.randint(2, 4), _MOST_OPTIONS)
