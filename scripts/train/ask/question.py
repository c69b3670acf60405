"""A state with questions whose answers are known: what every task makes."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from random import Random
from typing import Any, Union


@dataclass(slots=True)
class Option:
    name: str
    description: str | None = None


@dataclass(slots=True)
class Choice:
    instructions: str | None
    options: list[Option]
    #: Index of the right option.
    answer: int


@dataclass(slots=True)
class Score:
    instructions: str | None
    #: Lowest first; ``None`` for a level without a text.
    levels: list[Option]
    answer: int
    #: Highest first.
    reversed: bool = False


@dataclass(slots=True)
class Noul:
    instructions: str | None
    answer: bool
    #: What counts as yes and as no.
    yes: str | None = None
    no: str | None = None


Question = Union[Choice, Score, Noul]


@dataclass(slots=True)
class Group:
    """One request: a state, and questions about it."""

    #: A text, or any JSON value.
    state: Any
    questions: list[Question]
    #: What made it, for figures by task.
    task: str = ""


def body_of(group: Group) -> dict[str, Any]:
    """As the body of a request, with the right answers in ``expected``."""
    questions: dict[str, Any] = {}
    expected: dict[str, Any] = {}
    for i, question in enumerate(group.questions):
        name = f"q{i + 1}"
        questions[name], expected[name] = _question(question)
    return {"state": group.state, "questions": questions, "expected": expected}


def _question(question: Question) -> tuple[dict[str, Any], Any]:
    body: dict[str, Any] = {}
    if question.instructions is not None:
        body["instructions"] = question.instructions
    if isinstance(question, Noul):
        criteria = {"true": question.yes, "false": question.no}
        given = {name: text for name, text in criteria.items() if text is not None}
        return {"type": "noul", **body, **({"criteria": given} if given else {})}, question.answer
    if isinstance(question, Score):
        # A level without a text is an empty one.
        levels = [level.name or "" for level in question.levels]
        return {"type": "score", **body, "criteria": levels}, question.answer
    criteria = {option.name: option.description for option in question.options}
    right = question.options[question.answer].name
    return {"type": "choice", **body, "criteria": criteria}, right


def compact_json(value: Any) -> str:
    """As the server writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def state_text(state: Any) -> str:
    """A state as a model reads it."""
    return state if isinstance(state, str) else compact_json(state)


def distinct(choice: Choice) -> Choice:
    """Options are keys of an object: the same text twice would be one."""
    right = choice.options[choice.answer]
    options: dict[str, Option] = {right.name: right}
    for option in choice.options:
        options.setdefault(option.name, option)
    kept = [option for option in choice.options if options[option.name] is option]
    choice.options, choice.answer = kept, kept.index(right)
    return choice


def draw_unused(random: Random) -> None:
    """A number that nothing reads any more: without it, all that is drawn later would be other."""
    random.random()


def pick_count(random: Random, most: int) -> int:
    """How many options: small numbers are the usual ones."""
    if most <= 2:
        return 2
    usual = min(most, 16)
    if most > 16 and random.random() < 0.02:
        return int(math.exp(random.uniform(math.log(17), math.log(most + 1))))
    if usual > 8:
        return min(random.randint(2, usual), random.randint(2, usual))
    return random.randint(2, usual)
