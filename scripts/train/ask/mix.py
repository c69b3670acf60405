"""The endless stream of examples: which task comes next, and how hard it is."""

from __future__ import annotations

from random import Random

from ask.concepts import ConceptTasks
from ask.facts import FactTasks
from ask.numbers import NumberTasks
from ask.question import Group
from ask.record_tasks import RecordTasks
from ask.scales import ScaleTasks, scale_key
from source.material import Material

# Shares of groups, by task.
SHARES = {
    "concept": 0.46,
    "matching": 0.08,
    "stray": 0.01,
    "scale": 0.13,
    "fact": 0.05,
    "record": 0.14,
    "number": 0.13,
}

# Texts without a question for each group with some, from stage to stage. They cost a tenth, and
# tell what a text is about, which has to be known before any question can be answered.
BARE = (4, 4, 3, 3, 2, 2)

# How many concepts the first stages are about, those with the most texts: to compare a text with
# options is learned long before all that can be compared.
_FEW = (150, 300, 800)

# From stage to stage of the curriculum, at most: options, digits of a number, fields of a record, and
# numbers with a name each.
STAGES = ((2, 2, 1, 2), (4, 3, 2, 2), (8, 4, 4, 3), (16, 6, 6, 4), (80, 6, 9, 5), (255, 6, 9, 5))


def concept_numbers(material: Material) -> dict[str, int]:
    """A number for every concept and every level, for the heads that are thrown away."""
    keys = dict.fromkeys(concept.key for concept in material.concepts)
    for scale in material.scales:
        keys.update(dict.fromkeys(scale_key(scale, i) for i in range(len(scale.levels))))
    return {key: i for i, key in enumerate(keys)}


class Mix:
    def __init__(self, material: Material) -> None:
        numbers = concept_numbers(material)
        self._concepts = ConceptTasks(material, numbers)
        self._few = [ConceptTasks(material, numbers, few=count) for count in _FEW]
        self._scales = ScaleTasks(material, numbers)
        self._facts = FactTasks(material)
        self._records = RecordTasks(material)
        self._numbers = NumberTasks(material)
        self._has_strays = len(material.strays) > 0

    def one(self, random: Random, stage: int) -> Group:
        if random.random() < BARE[stage] / (1 + BARE[stage]):
            return self._bare(random, stage)
        return self.asked(random, stage)

    def asked(self, random: Random, stage: int) -> Group:
        """One with questions."""
        most, digits, fields, names = STAGES[stage]
        concepts = self._few[stage] if stage < len(_FEW) else self._concepts
        task = random.choices(list(SHARES), list(SHARES.values()))[0]
        if task == "matching":
            return self._concepts.matching(random, min(most, 16))
        if task == "stray" and self._has_strays:
            return self._concepts.stray(random, min(most, 16))
        if task == "scale":
            return self._scales.group(random, random.randint(2, 4))
        if task == "fact":
            return self._facts.group(random)
        if task == "record":
            return self._records.group(random, random.randint(3, 6), most=fields)
        if task == "number":
            return self._numbers.group(random, random.randint(3, 6), digits, names)
        return concepts.group(random, random.randint(3, 5), most)

    def _bare(self, random: Random, stage: int) -> Group:
        if random.random() > 0.92:
            return self._scales.bare(random)
        few = stage < len(_FEW) and random.random() < 0.5
        return (self._few[stage] if few else self._concepts).bare(random)
