"""Questions about what a text says, written by hand with their texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from ask.noise import reworded
from ask.question import Choice, Group, Noul, Option, Question, Score
from source.material import FactText, Material, ReadingQuestion, ReadingText

# How often a choice is asked as whether one of its options is right.
_CHECKED = 0.25
_CHECKS = (
    "{q} Is the answer {x}?",
    '{q} Is "{x}" right?',
    "{q} - {x}. Is that so?",
    "Is this the right answer? {q} {x}",
    "Check this answer: {q} {x}",
)


class ReadingTasks:
    def __init__(self, material: Material) -> None:
        texts = (*material.readings, *map(_of_facts, material.facts))
        # A held-out concept or level is no option anywhere, a held-out wording no question.
        self._texts = tuple(_without(text, material.hides_question) for text in texts)
        self._versions: dict[str, list[ReadingText]] = {}
        for text in self._texts:
            self._versions.setdefault(text.first, []).append(text)
        #: Twins of the text before, with the places of what it was asked.
        self._twins: list[tuple[ReadingText, list[int]]] = []

    def group(self, random: Random, count: int) -> Group:
        """A text with so many of its questions; behind it, the same of each of its twins.

        What twins have in common is then no ground for either answer, in one batch or the next.
        """
        if not self._twins:
            versions = self._versions[random.choice(self._texts).first]
            places = range(len(versions[0].questions))
            asked = random.sample(places, min(count, len(places)))
            self._twins = [(one, asked) for one in random.sample(versions, len(versions))]
        text, asked = self._twins.pop()
        questions = [_varied(text.questions[at], random) for at in asked]
        return Group(text.text, questions, "reading")


def _without(text: ReadingText, hides: Callable[[str], bool]) -> ReadingText:
    def is_allowed(asked: ReadingQuestion) -> bool:
        return not any(map(hides, (asked.text, *asked.options, *asked.levels)))

    return replace(text, questions=tuple(filter(is_allowed, text.questions)))


def _of_facts(text: FactText) -> ReadingText:
    asked = (ReadingQuestion(q, (), (), int(answer)) for q, answer in text.questions)
    return ReadingText(text.text, tuple(asked), text.text)


def as_written(text: ReadingText, task: str = "reading") -> Group:
    return Group(text.text, [_question(one) for one in text.questions], task)


def _question(asked: ReadingQuestion) -> Question:
    if asked.options:
        return Choice(asked.text, [Option(name) for name in asked.options], asked.answer)
    if asked.levels:
        return Score(asked.text, [Option(name) for name in asked.levels], asked.answer)
    return Noul(asked.text, bool(asked.answer))


def _varied(asked: ReadingQuestion, random: Random) -> Question:
    if asked.options and random.random() < _CHECKED:
        return checked(asked.text, asked.options, asked.answer, random)
    question = _question(asked)
    # Without its question, nothing of this can be answered.
    question.instructions = reworded(asked.text, random) or asked.text
    if isinstance(question, Choice):
        right = question.options[question.answer]
        random.shuffle(question.options)
        question.answer = question.options.index(right)
    return question


def checked(asked: str, options: Sequence[str], right: int, random: Random) -> Noul:
    """A choice as yes or no: whether one of its options is right."""
    answer = random.random() < 0.5
    wrong = [i for i in range(len(options)) if i != right]
    option = options[right if answer else random.choice(wrong)]
    wording = random.choice(_CHECKS)
    return Noul(wording.replace("{q}", asked).replace("{x}", option), answer)
