"""The endless stream of examples: which task comes next, and how hard it is."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from ask.alike import AlikeTasks
from ask.concepts import ConceptTasks
from ask.made_up import names_for_fields
from ask.numbers import NumberTasks
from ask.question import Group
from ask.record_tasks import KINDS, RecordTasks
from ask.scales import ScaleTasks, scale_key
from ask.senses import SenseTasks
from ask.valence import ValenceTasks
from ask.words import WordTasks
from source.material import Material
from tokens.meanings import Meanings
from tokens.vocabulary import Vocabulary

# Shares of groups, by task. The short texts with facts are not among them: they are few, were
# learned by heart (right in .77 of the cases, of held-out ones in .50), and made every yes and no
# surer than it should be. They are asked about in the evaluation alone.
SHARES = {
    "concept": 0.24,
    "matching": 0.03,
    "stray": 0.02,
    "scale": 0.11,
    "record": 0.31,
    "number": 0.22,
    "words": 0.01,
    "sense": 0.02,
    "alike": 0.03,
    "valence": 0.01,
}

# Texts without a question for each group with some, from stage to stage. They cost a tenth, and
# tell what a text is about, which has to be known before any question can be answered.
BARE = (3, 3, 2, 2, 2, 2)

# How many concepts the first stages are about, those with the most texts: to compare a text with
# options is learned long before all that can be compared.
_FEW = (150, 300, 800)

# From stage to stage, at most: options; fields of a record; digits of a number, and numbers with a
# name each; and the share of comparisons that ask for something else than more or less.
_OPTIONS = (2, 4, 8, 16, 80, 255)
_FIELDS = (1, 2, 3, 4, 6, 9)
_NUMBERS = ((2, 1, 0.0), (3, 1, 0.15), (4, 2, 0.4), (6, 4, 0.7), (6, 5, 1.0))

# And the share of states with two or three numbers that are only asked which is larger: among all
# other questions, where these are one in thirty, they stayed at chance.
_RANKED = (0.0, 0.0, 0.4, 0.4, 0.4)

# What a record is asked for, from stage to stage. With negations and comparisons as frequent as
# look-ups, nothing tells at first which way an answer leans.
_LOOK_UPS = ("choice", "choice", "lookup")
_READ = (*_LOOK_UPS, "lookup", "presence", "flag", "field")
_WEIGHED = ("negation", "compare", "count", "range")
# Which of them unseen records and ways to ask bring down most.
_HARD = ("presence", "presence", "lookup", "lookup", "negation", "choice")
_KINDS = (
    _LOOK_UPS,
    _LOOK_UPS,
    _READ,
    (*_READ, *_READ, *_READ, *_WEIGHED),
    (*_READ, *_READ, *_WEIGHED, *_WEIGHED),
    (*KINDS, *KINDS, *_HARD, *_HARD, *_HARD),
)


class Stages(NamedTuple):
    """How far the curriculum is, in each kind of task: they are learned at different speeds."""

    concept: int = len(_OPTIONS) - 1
    record: int = len(_FIELDS) - 1
    number: int = len(_NUMBERS) - 1


LAST = Stages()


def concept_numbers(material: Material) -> dict[str, int]:
    """A number for every concept and every level, for the heads that are thrown away."""
    keys = dict.fromkeys(concept.key for concept in material.concepts)
    for scale in material.scales:
        keys.update(dict.fromkeys(scale_key(scale, i) for i in range(len(scale.levels))))
    return {key: i for i, key in enumerate(keys)}


class Mix:
    def __init__(self, material: Material, vocabulary: Vocabulary, meanings: Meanings) -> None:
        """:param meanings: Of a folder with words' vectors, WordNet and the lexicon."""
        numbers, vectors = concept_numbers(material), meanings.folder / "vectors.npz"
        words = WordTasks(vectors, vocabulary, material)
        self._concepts = ConceptTasks(material, numbers, words=words)
        self._few = [
            ConceptTasks(material, numbers, few=count, words=words) for count in _FEW
        ]
        self._scales = ScaleTasks(material, numbers)
        self._valence = ValenceTasks(meanings.folder, material, self._scales)
        self._words = words
        self._senses = SenseTasks(meanings.folder, material)
        nouns = names_for_fields(self._senses.nouns)
        self._records = RecordTasks(material, nouns)
        self._numbers = NumberTasks(material, nouns)
        self._alike = AlikeTasks(meanings, material)
        self._has_strays = len(material.strays) > 0

    def one(self, random: Random, stages: Stages = LAST) -> Group:
        bare = BARE[stages.concept]
        if random.random() < bare / (1 + bare):
            return self._bare(random, stages.concept)
        return self.asked(random, stages)

    def asked(self, random: Random, stages: Stages = LAST) -> Group:
        """One with questions."""
        most, stage = _OPTIONS[stages.concept], stages.concept
        concepts = self._few[stage] if stage < len(_FEW) else self._concepts
        task = random.choices(list(SHARES), list(SHARES.values()))[0]
        if task == "matching":
            return self._concepts.matching(random, min(most, 16))
        if task == "stray" and self._has_strays:
            return self._concepts.stray(random, min(most, 16))
        if task == "scale":
            return self._scales.group(random, random.randint(2, 4))
        if task == "record":
            kinds, most_fields = _KINDS[stages.record], _FIELDS[stages.record]
            return self._records.group(random, random.randint(3, 6), kinds, most_fields)
        if task == "valence":
            return self._valence.group(random, random.randint(2, 4))
        if task == "words":
            return self._words.group(random, random.randint(2, 4), min(most, 16))
        if task == "alike":
            return self._alike.group(random, random.randint(2, 4), min(most, 16))
        if task == "sense":
            return self._senses.group(random, random.randint(2, 4), min(most, 16))
        if task == "number":
            numbers, ranked = _NUMBERS[stages.number], _RANKED[stages.number]
            return self._numbers.group(random, random.randint(3, 6), *numbers, ranked)
        return concepts.group(random, random.randint(3, 5), most)

    def _bare(self, random: Random, stage: int) -> Group:
        chance = random.random()
        if chance < 0.08:
            return self._scales.bare(random)
        if chance < 0.18:
            return self._senses.bare(random)
        if chance < 0.45:
            return self._alike.bare(random)
        few = stage < len(_FEW) and random.random() < 0.5
        return (self._few[stage] if few else self._concepts).bare(random)
