"""The evaluation sets: one for each figure that the model is to reach.

All of them come from what is held out, with a fixed seed, and have one question or a few on each state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from ask.concepts import ConceptTasks
from ask.facts import FactTasks
from ask.numbers import NumberTasks
from ask.question import Choice, Group, Option
from ask.record_tasks import RecordTasks
from ask.scales import ScaleTasks
from source.material import Concept, Material

SEED = 20_260_101


@dataclass(frozen=True)
class EvaluationSet:
    name: str
    #: What its rows hold, in a line.
    about: str
    #: ``accuracy``, ``within half`` or ``auroc``, and what is to be reached.
    figure: str
    goal: float | None
    groups: list[Group]


def evaluation_sets(held: Material, test: list[Concept], rows: int = 600) -> list[EvaluationSet]:
    """
    :param held: The held-out side.
    :param test: BANKING77's intents with the texts of its test part; empty to leave it out.
    """
    seen, unseen = ConceptTasks(held, {}), ConceptTasks(held, {}, unseen=True)
    scales, facts = ScaleTasks(held, {}), FactTasks(held)
    records, numbers = RecordTasks(held), NumberTasks(held)

    def corpus(tasks: ConceptTasks, random: Random) -> Concept:
        return random.choice([c for c in tasks.concepts if c.origin == "corpus"])

    def choice(tasks: ConceptTasks, count: int, described: float) -> Callable[[Random], Group]:
        def one(random: Random) -> Group:
            concept = corpus(tasks, random)
            question = tasks.choice(concept, random, count, described, hard=0.3)
            return Group(random.choice(concept.utterances), [question])

        return one

    def noul(tasks: ConceptTasks) -> Callable[[Random], Group]:
        def one(random: Random) -> Group:
            concept = corpus(tasks, random)
            question = tasks.noul(concept, random, hard=0.3)
            return Group(random.choice(concept.utterances), [question])

        return one

    def level_choice(random: Random) -> Group:
        scale, level = random.choice(held.scales), random.choice((0, 2, 4))
        question = scales.choice(scale, level, random, [0, 2, 4])
        return Group(random.choice(scale.levels[level].texts), [question])

    def level_score(random: Random) -> Group:
        scale = random.choice(held.scales)
        level = random.randrange(len(scale.levels))
        question = scales.score(scale, level, random, list(range(len(scale.levels))))
        while question.reversed or not question.levels[0].name:
            question = scales.score(scale, level, random, list(range(len(scale.levels))))
        return Group(random.choice(scale.levels[level].texts), [question])

    def outside(random: Random) -> Group:
        concept = corpus(seen, random)
        fits_none = random.random() < 0.5
        question = seen.choice_with_other(concept, random, 8, outside=fits_none)
        return Group(random.choice(concept.utterances), [question])

    def of(kinds: tuple[str, ...]) -> Callable[[Random], Group]:
        return lambda random: records.group(random, 3, kinds)

    makers: list[tuple[str, str, str, float | None, Callable[[Random], Group]]] = [
        ("seen-10", "unseen texts of seen concepts, 10 options", "accuracy", 0.97, choice(seen, 10, 0)),
        ("unseen-5-names", "unseen concepts, 5 names", "accuracy", 0.75, choice(unseen, 5, 0)),
        ("unseen-5-described", "unseen concepts, 5 described", "accuracy", 0.88, choice(unseen, 5, 1)),
        ("noul-seen", "noul about seen concepts", "accuracy", 0.95, noul(seen)),
        ("noul-unseen", "noul about unseen concepts", "accuracy", 0.78, noul(unseen)),
        ("wordings-choice", "unseen wordings and texts, 3 levels", "accuracy", 0.85, level_choice),
        ("wordings-score", "unseen wordings and texts, 5 levels", "within half", 0.80, level_score),
        (
            "json-lookup",
            "look-up and presence in unseen records",
            "accuracy",
            0.95,
            of(("lookup", "negation", "presence", "choice", "flag")),
        ),
        ("json-other", "counts, dates and ranges in unseen records", "accuracy", None, of(("count", "compare", "range", "field"))),
        ("numbers", "comparisons of unseen numbers", "accuracy", 0.90, lambda r: numbers.group(r, 3)),
        ("out-of-scope", "a text that fits no option but `other`, or fits one", "auroc", 0.85, outside),
        ("facts", "questions about unseen short texts", "accuracy", None, facts.group),
    ]
    sets = [
        EvaluationSet(name, about, figure, goal, list(_rows(name, make, rows)))
        for name, about, figure, goal, make in makers
    ]
    if test:
        sets.insert(0, _banking(test))
    return sets


def _rows(name: str, make: Callable[[Random], Group], rows: int) -> Iterator[Group]:
    # Of its own, so that no set moves when another one changes.
    random = Random(f"{SEED} {name}")
    for _ in range(rows):
        yield make(random)


def _banking(test: list[Concept]) -> EvaluationSet:
    random = Random(f"{SEED} banking77")
    names = [concept.name for concept in test]
    groups: list[Group] = []
    for concept in test:
        for text in concept.utterances:
            options = [Option(name) for name in names]
            question = Choice("What does the customer want?", options, names.index(concept.name))
            groups.append(Group(text, [question]))
    random.shuffle(groups)
    return EvaluationSet("banking77-77", "BANKING77 test, 77 names", "accuracy", 0.80, groups)
