"""What examples are made of, on the two sides of the split.

The generator takes a ``Material`` and knows nothing of the split: given the training side it
cannot show what is held out, and given the other side it makes the evaluation sets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from source.split import key_of, normal


@dataclass(frozen=True)
class Concept:
    """Something that a text can be about, or be."""

    name: str
    #: The same for names that differ only in case, separators or a plural.
    key: str
    #: Concepts that can be confused with one another.
    group: str
    kind: str
    #: Which data set: ``corpus``, ``banking77`` or ``clinc150``.
    origin: str
    descriptions: tuple[str, ...]
    utterances: tuple[str, ...]


@dataclass(frozen=True)
class Level:
    names: tuple[str, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Scale:
    name: str
    questions: tuple[str, ...]
    #: Lowest first.
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class FactText:
    text: str
    questions: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class ReadingQuestion:
    text: str
    #: Of a choice; of levels, lowest first; neither is yes or no.
    options: tuple[str, ...]
    levels: tuple[str, ...]
    #: Index of the right option or level; of yes and no, 1 is yes.
    answer: int


@dataclass(frozen=True)
class ReadingText:
    text: str
    questions: tuple[ReadingQuestion, ...]
    #: The first of those versions that are asked the same: itself, unless it has twins.
    first: str


@dataclass(frozen=True)
class Answer:
    """What can be decided, with texts for which it is right."""

    #: That mean the same; none of yes and no.
    names: tuple[str, ...]
    description: str
    #: A question that is yes for these texts and no for all others'; none if it is held out.
    ask: str | None
    texts: tuple[str, ...]
    #: Whether it stands for all that no other answer fits.
    is_rest: bool = False


@dataclass(frozen=True)
class Decision:
    #: ``choice``, ``noul`` or ``score``.
    type: str
    #: Ways to ask.
    asks: tuple[str, ...]
    #: Options, no and yes, or levels, lowest first.
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Field:
    name: str
    #: ``string``, ``date``, ``money``, ``number``, ``boolean``, ``enum`` or ``list``.
    type: str
    phrases: tuple[str, ...]
    #: Of a boolean: whole questions.
    asks: tuple[str, ...] = ()
    #: Of an enum.
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class RecordKind:
    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Comparison:
    op: str
    of: str
    phrases: tuple[str, ...]


@dataclass(frozen=True)
class Material:
    #: With the utterances of this side.
    concepts: tuple[Concept, ...]
    #: Texts that fit no concept.
    strays: tuple[str, ...]
    scales: tuple[Scale, ...]
    facts: tuple[FactText, ...]
    readings: tuple[ReadingText, ...]
    decisions: tuple[Decision, ...]
    fields: tuple[Field, ...]
    records: tuple[RecordKind, ...]
    comparisons: tuple[Comparison, ...]
    #: Names of people, places, things, by what they are.
    entities: dict[str, tuple[Any, ...]]
    #: Ways to ask, by what is asked.
    wordings: dict[str, tuple[str, ...]]
    #: Whether generated numbers are those that training never shows.
    unseen_numbers: bool = False
    #: Wordings that are held out, which nothing may make; only on the training side.
    hidden_wordings: frozenset[str] = frozenset()
    #: Whole texts that are held out, ``normal``, and names of concepts and levels, as ``key_of``
    #: them: other sources have some of them too; only on the training side.
    hidden_texts: frozenset[str] = frozenset()
    hidden_names: frozenset[str] = frozenset()
    #: Concepts that are wholly unseen; only on the held-out side.
    unseen_concepts: tuple[Concept, ...] = field(default=())
    #: Texts of another author, for the figures alone; only on the held-out side.
    test_readings: tuple[ReadingText, ...] = field(default=())

    def hides_question(self, text: str) -> bool:
        """As ``hides``, of what is asked: whether it is a held-out wording, too."""
        return normal(text) in self._hidden_questions or self.hides(text)

    @cached_property
    def _hidden_questions(self) -> frozenset[str]:
        return frozenset(map(normal, self.hidden_wordings))

    def hides(self, text: str) -> bool:
        """Whether a text or a name from elsewhere is one that is held out."""
        return normal(text) in self.hidden_texts or key_of(text) in self.hidden_names
