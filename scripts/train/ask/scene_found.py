"""What every kind of scene makes: sentences, with questions about them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from ask.question import Choice, Option, Question


@dataclass(slots=True)
class Found:
    sentences: list[str]
    questions: list[Question]


def pick(text: str, names: list[str], right: str, random: Random) -> Question:
    """A choice among names in any order."""
    names = random.sample(names, len(names))
    return Choice(text, [Option(name) for name in names], names.index(right))
