"""What every kind of scene makes: sentences, with questions about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from ask.question import Choice, Option, Question


@dataclass(slots=True)
class Found:
    sentences: list[str]
    questions: list[Question]
    #: Questions with the sentence and what of it decides them, where that is known.
    evidence: list[tuple[Question, str, list[str]]] = field(default_factory=list)


def pick(text: str, names: list[str], right: str, random: Random) -> Question:
    """A choice among names in any order."""
    names = random.sample(names, len(names))
    return Choice(text, [Option(name) for name in names], names.index(right))
