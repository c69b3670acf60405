"""The evaluation sets: one for each figure that the model is to reach.

All of them come from what is held out, with a fixed seed. What is held out has two sides of its
own, by the texts of states and by concepts: ``tune`` is watched during training and calibrated on,
``report`` is for the figures alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from ask.concepts import ConceptTasks
from ask.decisions import as_asked
from ask.facts import FactTasks
from ask.numbers import NumberTasks
from ask.question import Choice, Group, Noul, Option, Question, Score, body_of, state_text
from ask.reading import as_written
from ask.record_tasks import RecordTasks
from ask.scales import ScaleTasks
from source.files import everyday_lines
from source.material import Concept, Decision, Material, ReadingText
from source.split import is_held_out

SEED = 20_260_101

_RIGHT = "accuracy"

Pick = Callable[[ConceptTasks, Random], Concept]


@dataclass(frozen=True)
class EvaluationSet:
    name: str
    #: What its rows hold, in a line.
    about: str
    #: ``accuracy``, ``within half``, ``auroc`` or ``median ms``, and what is to be reached.
    figure: str
    goal: float | None
    groups: list[Group]


@dataclass(frozen=True)
class PublicTest:
    """Parts of the public sets that nothing is trained or tuned on."""

    #: BANKING77's intents with the texts of its test part, and CLINC150's with those of ``val``.
    banking: list[Concept]
    clinc: list[Concept]
    #: Requests of ``oos_val``, which fit no intent.
    strays: list[str]


def evaluation_sets(
    held: Material, side: str, test: PublicTest | None = None, rows: int = 600
) -> list[EvaluationSet]:
    """
    :param held: The held-out side.
    :param side: ``tune`` or ``report``.
    :param test: None to leave it out.
    """
    concepts = [c for c in held.unseen_concepts if is_held_out("tuning", c.key) == (side == "tune")]
    held = replace(held, unseen_concepts=tuple(concepts))
    seen, unseen = ConceptTasks(held), ConceptTasks(held, unseen=True)
    scales, facts = ScaleTasks(held), FactTasks(held)
    records, numbers = RecordTasks(held), NumberTasks(held)

    def corpus(tasks: ConceptTasks, random: Random) -> Concept:
        return random.choice([c for c in tasks.concepts if c.origin == "corpus"])

    def public(tasks: ConceptTasks, random: Random) -> Concept:
        return random.choice([c for c in tasks.concepts if c.origin != "corpus"])

    def choice(
        tasks: ConceptTasks, count: int, described: float, pick: Pick = corpus
    ) -> Callable[[Random], Group]:
        def one(random: Random) -> Group:
            concept = pick(tasks, random)
            question = tasks.choice(concept, random, count, described, hard=0.3)
            return Group(random.choice(concept.utterances), [question])

        return one

    def noul(tasks: ConceptTasks, pick: Pick = corpus) -> Callable[[Random], Group]:
        return lambda random: _noul(tasks, pick(tasks, random), random)

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

    def three(random: Random) -> Group:
        concept = corpus(seen, random)
        questions = [
            seen.choice(concept, random, 5, 0),
            Noul(random.choice(held.wordings["noul concept"]).replace("{x}", concept.name), True),
            level_score(random).questions[0],
        ]
        return Group(random.choice(concept.utterances), questions)

    lookup = ("lookup", "negation", "presence", "choice", "flag")
    other = ("count", "compare", "range", "field")
    makers: list[tuple[str, str, str, float | None, Callable[[Random], Group]]] = [
        ("seen-10", "seen concepts, 10 options", _RIGHT, 0.80, choice(seen, 10, 0)),
        ("unseen-5-names", "unseen concepts, 5 names", _RIGHT, 0.88, choice(unseen, 5, 0)),
        ("unseen-5-described", "the same, described", _RIGHT, 0.92, choice(unseen, 5, 1)),
        ("noul-seen", "noul about seen concepts", _RIGHT, 0.90, noul(seen)),
        ("noul-unseen", "noul about unseen concepts", _RIGHT, 0.85, noul(unseen)),
        ("wordings-choice", "unseen wordings, 3 levels", _RIGHT, 0.82, level_choice),
        ("wordings-score", "unseen wordings, 5 levels", "within half", 0.70, level_score),
        ("json-lookup", "look-up and presence, unseen records", _RIGHT, 0.95, of(lookup)),
        ("json-other", "counts, dates, ranges, unseen records", _RIGHT, 0.92, of(other)),
        ("numbers", "unseen numbers compared", _RIGHT, 0.92, lambda r: numbers.group(r, 3)),
        ("out-of-scope", "a text that fits `other`, or not", "auroc", 0.90, outside),
        ("three-questions", "one text, three questions", "median ms", 25, three),
        ("facts", "yes or no about unseen short texts", _RIGHT, 0.80, facts.group),
    ]
    if any(concept.origin != "corpus" for concept in seen.concepts):
        # Of these there are a hundred texts each to learn from; of the corpus' concepts fourteen.
        intents = "seen intents of the public sets"
        makers += [
            ("intents-10", f"{intents}, 10 options", _RIGHT, 0.98, choice(seen, 10, 0, public)),
            ("noul-intents", f"noul about {intents}", _RIGHT, 0.95, noul(seen, public)),
        ]
    sets = [
        EvaluationSet(name, about, figure, goal, _rows(name, make, rows, side))
        for name, about, figure, goal, make in makers
    ]
    sets += _readings(held.readings if side == "tune" else held.test_readings)
    if side == "tune":
        sets += _decisions(held.decisions)
    if side == "report":
        sets.append(_everyday())
    if test is not None:
        sets.insert(0, _banking(test.banking))
        sets.append(_strays(test, held, rows))
    return sets


def _readings(texts: Sequence[ReadingText]) -> list[EvaluationSet]:
    """All questions about what texts say, by their type."""
    groups = [as_written(text) for text in texts]
    sets = []
    for name, about, kind, goal in (
        ("reading-noul", "yes or no about what a text says", Noul, 0.80),
        ("reading-choice", "choices about what a text says", Choice, None),
        ("reading-score", "levels of what a text says", Score, None),
    ):
        asked = [
            replace(g, questions=[q for q in g.questions if isinstance(q, kind)]) for g in groups
        ]
        found = [group for group in asked if group.questions]
        sets.append(EvaluationSet(name, about, _RIGHT, goal, found))
    return sets


def _decisions(decisions: Sequence[Decision]) -> list[EvaluationSet]:
    """All texts of the decisions, by the type of their question."""
    sets = []
    for kind in ("noul", "choice", "score"):
        found = [group for one in decisions if one.type == kind for group in as_asked(one)]
        Random(f"{SEED} decisions {kind}").shuffle(found)
        about = "everyday decisions, by those who wrote them for training"
        sets.append(EvaluationSet(f"decisions-{kind}", about, _RIGHT, None, found))
    return sets


def _everyday() -> EvaluationSet:
    def question(line: Any, expect: Any) -> Question:
        asked = line["criteria"]
        if line["type"] == "noul":
            return Noul(asked, expect)
        if line["type"] == "score":
            return Score(asked, [Option(name) for name in line["levels"]], expect)
        names = line["options"]
        return Choice(asked, [Option(name) for name in names], names.index(expect))

    lines = everyday_lines()
    groups = [Group(line["state"], [question(line["question"], line["expect"])]) for line in lines]
    about = "requests as a first user would try them"
    return EvaluationSet("everyday", about, _RIGHT, 0.82, groups)


def calibration_groups(held: Material, rows: int) -> list[Group]:
    """Questions of all kinds and numbers of options, of the side for tuning."""
    concepts = [c for c in held.unseen_concepts if is_held_out("tuning", c.key)]
    unseen = ConceptTasks(replace(held, unseen_concepts=tuple(concepts)), unseen=True)
    seen, scales, records = ConceptTasks(held), ScaleTasks(held), RecordTasks(held)
    numbers, facts = NumberTasks(held), FactTasks(held)
    makers: list[Callable[[Random], Group]] = [
        lambda random: seen.group(random, 2, 16),
        lambda random: seen.group(random, 1, 80),
        lambda random: unseen.group(random, 2, 12),
        lambda random: scales.group(random, 3),
        lambda random: records.group(random, 3),
        lambda random: numbers.group(random, 3),
        # One of its questions: of all, they would be most of the yes and no.
        lambda random: _first(facts.group(random)),
        lambda random: _noul(seen, random.choice(seen.concepts), random),
        lambda random: _noul(unseen, random.choice(unseen.concepts), random),
        *(_one_of(found.groups) for found in _decisions(held.decisions)),
    ]
    each = rows // len(makers)
    return [
        group
        for i, make in enumerate(makers)
        for group in _rows(f"calibration {i}", make, each, "tune")
    ]


def _noul(tasks: ConceptTasks, concept: Concept, random: Random) -> Group:
    question = tasks.noul(concept, random, hard=0.3)
    return Group(random.choice(concept.utterances), [question])


def _one_of(groups: list[Group]) -> Callable[[Random], Group]:
    return lambda random: random.choice(groups)


def _first(group: Group) -> Group:
    return replace(group, questions=group.questions[:1])


def _rows(name: str, make: Callable[[Random], Group], rows: int, side: str) -> list[Group]:
    # Of its own, so that no set moves when another one changes.
    random = Random(f"{SEED} {name} {side}")
    found: dict[str, Group] = {}
    for _ in range(20 * rows):
        group = make(random)
        if is_held_out("tuning", state_text(group.state)) == (side == "tune"):
            # Few texts make the same row twice; of those written with their questions, each is one.
            key = state_text(group.state) if group.task == "fact" else json.dumps(body_of(group))
            found.setdefault(key, group)
        if len(found) == rows:
            break
    return list(found.values())


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
    return EvaluationSet("banking77-77", "BANKING77 test, 77 names", _RIGHT, 0.88, groups)


def _strays(test: PublicTest, held: Material, rows: int) -> EvaluationSet:
    """Requests within CLINC150's intents and outside of them, as many of each."""
    random = Random(f"{SEED} strays")
    tasks = ConceptTasks(replace(held, concepts=tuple(test.clinc)))
    groups: list[Group] = []
    for i in range(rows):
        concept, outside = random.choice(tasks.concepts), i % 2 == 1
        text = random.choice(test.strays if outside else concept.utterances)
        question = tasks.choice_with_other(concept, random, 8, outside)
        groups.append(Group(text, [question]))
    about = "requests outside of CLINC150's intents, or inside"
    return EvaluationSet("out-of-scope-clinc", about, "auroc", 0.99, groups)
