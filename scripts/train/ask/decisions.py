"""Everyday questions, written with texts for each answer: options, yes or no, levels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from ask.noise import pick_style, retyped, reworded, styled, wrapped
from ask.question import Choice, Group, Noul, Option, Question, Score
from ask.reading import checked
from source.material import Answer, Decision, Material

# Texts of a decision that are asked about one behind the other.
_TOGETHER = 4
# How often the right option is left out, where another one stands for the rest.
_LEFT_OUT = 0.08


class DecisionTasks:
    def __init__(self, material: Material, types: tuple[str, ...]) -> None:
        """:param types: Of the decisions that are asked: ``noul`` and the like."""
        self._material = material
        self._decisions = [one for one in material.decisions if one.type in types]
        self._weights = [sum(len(a.texts) for a in one.answers) for one in self._decisions]
        #: Texts that wait: of the decision before, with the places of their answers.
        self._waiting: list[tuple[Decision, int, str]] = []

    def group(self, random: Random) -> Group:
        """A text with a question or more; behind it, texts of other answers to the same."""
        if not self._waiting:
            decision = random.choices(self._decisions, self._weights)[0]
            self._waiting = list(_some(decision, random))
        decision, place, text = self._waiting.pop()
        questions = _ASK[decision.type](decision, place, random)
        if decision.type == "noul":
            # As it is: a slip would change what some texts say, and where it is said.
            return Group(text, questions, "check")
        shown = retyped(text, random)
        return Group(wrapped(shown, self._material, random), questions, "decision")


def _some(decision: Decision, random: Random) -> Iterator[tuple[Decision, int, str]]:
    """Texts with the places of their answers; of yes and no, those that are counterparts."""
    if decision.type == "noul":
        no, yes = (answer.texts for answer in decision.answers)
        for at in random.sample(range(min(len(no), len(yes))), _TOGETHER // 2):
            yield decision, 0, no[at]
            yield decision, 1, yes[at]
        return
    places = [i for i in range(len(decision.answers)) for _ in range(_TOGETHER)]
    for place in random.sample(places, _TOGETHER):
        yield decision, place, random.choice(decision.answers[place].texts)


def as_asked(decision: Decision) -> list[Group]:
    """Each text with the question as it stands first."""
    return [
        Group(text, [_plain(decision, place)], "decision")
        for place, answer in enumerate(decision.answers)
        for text in answer.texts
    ]


def _plain(decision: Decision, place: int) -> Question:
    if decision.type == "noul":
        return Noul(decision.asks[0], place == 1)
    options = [Option(a.names[0], a.description or None) for a in decision.answers]
    if decision.type == "score":
        return Score(decision.asks[0], options, place)
    return Choice(decision.asks[0], options, place)


def _nouls(decision: Decision, place: int, random: Random) -> list[Question]:
    asks = random.sample(decision.asks, min(len(decision.asks), random.choice((1, 1, 2))))
    return [Noul(reworded(ask, random) or ask, place == 1) for ask in asks]


def _choices(decision: Decision, place: int, random: Random) -> list[Question]:
    questions: list[Question] = [_choice(decision, place, random)]
    asked = [i for i, answer in enumerate(decision.answers) if answer.ask]
    wrong = [i for i in asked if i != place]
    if place in asked and (not wrong or random.random() < 0.5):
        questions.append(_whether(decision.answers[place], True, random))
    elif wrong:
        questions.append(_whether(decision.answers[random.choice(wrong)], False, random))
    if random.random() < 0.25:
        questions.append(_checked(_choice(decision, place, random), decision, random))
    return questions


def _checked(choice: Choice, decision: Decision, random: Random) -> Noul:
    names = [option.name for option in choice.options]
    return checked(random.choice(decision.asks), names, choice.answer, random)


def _whether(answer: Answer, holds: bool, random: Random) -> Noul:
    text = reworded(answer.ask or "", random)
    if answer.description and random.random() < 0.3:
        name = random.choice(answer.names)
        yes = answer.description if text or random.random() < 0.5 else name
        return Noul(text, holds, yes)
    return Noul(text or answer.ask, holds)


def _choice(decision: Decision, place: int, random: Random) -> Choice:
    answers = list(decision.answers)
    right = answers[place]
    rest = next((answer for answer in answers if answer.is_rest), None)
    if rest and rest is not right and len(answers) > 2 and random.random() < _LEFT_OUT:
        answers.remove(right)
        right = rest
    while len(answers) > 2 and random.random() < 0.12:
        answers.remove(random.choice([answer for answer in answers if answer is not right]))
    if random.random() < 0.7:
        random.shuffle(answers)
    described, style = random.choice((0.0, 0.0, 0.6, 1.0, 1.0)), pick_style(random)
    options = [
        Option(
            styled(random.choice(answer.names), style),
            answer.description or None if random.random() < described else None,
        )
        for answer in answers
    ]
    instructions = reworded(random.choice(decision.asks), random)
    return Choice(instructions, options, answers.index(right))


def _scores(decision: Decision, place: int, random: Random) -> list[Question]:
    questions: list[Question] = [_score(decision, place, random)]
    if random.random() < 0.4:
        score = _score(decision, place, random)
        right = score.levels[score.answer]
        random.shuffle(score.levels)
        questions.append(Choice(score.instructions, score.levels, score.levels.index(right)))
    if random.random() < 0.3:
        score = _score(decision, place, random)
        choice = Choice(score.instructions, score.levels, score.answer)
        questions.append(_checked(choice, decision, random))
    return questions


def _score(decision: Decision, place: int, random: Random) -> Score:
    names = random.randrange(len(decision.answers[0].names))
    style = random.choice(("as it is", "as it is", "as it is", "lower", "sentence", "snake"))
    levels = [Option(styled(answer.names[names], style)) for answer in decision.answers]
    # Without the question, levels such as "low" say nothing.
    ask = random.choice(decision.asks)
    ask = reworded(ask, random) or ask
    if random.random() < 0.12:
        return Score(ask, levels[::-1], len(levels) - 1 - place, True)
    return Score(ask, levels, place)


_ASK: dict[str, Callable[[Decision, int, Random], list[Question]]] = {
    "noul": _nouls,
    "choice": _choices,
    "score": _scores,
}
