"""Groups of questions to arrays, laid out as the server evaluates them.

A batch is one flat list of tokens: first the states, padded to one length, then the questions in
buckets of one length each. A question attends to its own state and to itself and to nothing else,
as it does in the server, where a state is evaluated once and each question is a fork behind it. So
the state's work is shared, and no attention is spent on other questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ask.mix import LAST, Stages
from ask.question import Noul, Score
from net.digits import digit_steps
from net.lessons import Lessons, Place, is_about
from net.shape import CONTEXT
from net.told import Columns, Looks, Told
from tokens.prompt import AskedGroup, AskedQuestion

_SIZES = (8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 256, 320, 384, 512)

# Classes of states that share a batch: few, so that none waits long.
_CLASSES = (12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 192)


def padded_size(length: int) -> int:
    return next((size for size in _SIZES if size >= length), -(-length // 128) * 128)


@dataclass
class Bucket:
    """Questions of one padded length."""

    #: Where its first token is in the flat list.
    start: int
    rows: int
    size: int
    #: Number of each question's state.
    states: np.ndarray
    #: What heads are taught to look at: what decides, the right options' ends, and these once more.
    evidence: Looks
    right: Looks
    again: Looks


@dataclass
class Batch:
    tokens: np.ndarray
    positions: np.ndarray
    state_rows: int
    state_size: int
    state_lengths: np.ndarray
    buckets: list[Bucket]
    #: Of each question, in the order of the buckets: the last place, the answer's token.
    last: np.ndarray
    answer: np.ndarray
    #: Candidates of each question, filled up with -1; the index of the right one; what it is.
    candidates: np.ndarray
    right: np.ndarray
    #: Places with a concept's number behind them: ends of states and options, last places.
    concept_places: np.ndarray
    concepts: np.ndarray
    #: Ends of options, and whether the option is right.
    end_places: np.ndarray
    end_right: np.ndarray
    #: Last places of comparisons, and what compares.
    relation_places: np.ndarray
    relations: np.ndarray
    #: What is known of values' tokens: before the layer that looks at what decides, and before the
    #: one that looks at right options' ends.
    contents: Told
    later_contents: Told
    #: Of which tokens texts are, told where they end: states, and options and what nouls ask about.
    gists: Told
    later_gists: Told
    #: Which text's meaning is told at places: of states, and of options and what nouls ask about.
    meaning_places: np.ndarray
    meanings: np.ndarray
    later_meaning_places: np.ndarray
    later_meanings: np.ndarray
    #: Places of digits, and what they have said so far.
    digit_places: np.ndarray
    digits: np.ndarray
    #: Places of states, and the token that follows.
    next_places: np.ndarray
    next_tokens: np.ndarray
    #: Task and type of each question, and its group and name, for figures.
    tasks: list[str]
    stages: Stages = LAST

    @property
    def questions(self) -> int:
        return len(self.last)


def make_batch(
    groups: list[AskedGroup], stages: Stages = LAST, meanings: Mapping[str, int] | None = None
) -> Batch:
    """:param meanings: Numbers of the texts whose meanings are told."""
    columns = Columns(numbers=meanings or {})
    state_size = padded_size(max(len(group.state) for group in groups))
    lengths = np.array([len(group.state) for group in groups], np.int64)
    states = np.zeros((len(groups), state_size), np.int64)
    for row, group in enumerate(groups):
        states[row, : len(group.state)] = group.state
        end = row * state_size + len(group.state) - 1
        columns.concept(end, group.group.concept)
        columns.meaning(columns.meanings, end, group.group.meaning)
        columns.meaning(columns.later_meanings, end, group.group.meaning)
        if is_about(group):
            columns.gists.append((end, group.state))
    by_size: dict[int, list[tuple[int, AskedQuestion]]] = {}
    for row, group in enumerate(groups):
        for question in group.questions:
            by_size.setdefault(padded_size(len(question.tokens)), []).append((row, question))

    tokens, positions = [states.reshape(-1)], [np.tile(np.arange(state_size), len(groups))]
    buckets: list[Bucket] = []
    asked: list[tuple[int, AskedQuestion]] = []
    start = states.size
    for size, members in sorted(by_size.items()):
        ids = np.zeros((len(members), size), np.int64)
        for row, (_, question) in enumerate(members):
            ids[row, : len(question.tokens)] = question.tokens
        of = np.array([state for state, _ in members], np.int64)
        buckets.append(_bucket(start, size, state_size, of, members, groups, columns))
        tokens.append(ids.reshape(-1))
        positions.append((lengths[of][:, None] + np.arange(size)).reshape(-1))
        asked += members
        start += ids.size

    most = max((len(question.candidates) for _, question in asked), default=1)
    candidates = np.full((len(asked), most), -1, np.int64)
    for i, (_, question) in enumerate(asked):
        candidates[i, : len(question.candidates)] = question.candidates
    flat = np.concatenate(tokens)
    digit_places, digits = digit_steps(flat)
    real = np.arange(state_size) < lengths[:, None] - 1
    next_places = np.flatnonzero(real)
    right = np.array([question.answer for _, question in asked], np.int64)
    told = np.array(columns.meanings, np.int64).reshape(-1, 2)
    later_told = np.array(columns.later_meanings, np.int64).reshape(-1, 2)
    return Batch(
        tokens=flat,
        positions=np.concatenate(positions),
        state_rows=len(groups),
        state_size=state_size,
        state_lengths=lengths,
        buckets=buckets,
        last=np.array(columns.last, np.int64),
        answer=candidates[np.arange(len(asked)), right],
        candidates=candidates,
        right=right,
        concept_places=np.array(columns.concept_places, np.int64),
        concepts=np.array(columns.concepts, np.int64),
        end_places=np.array(columns.end_places, np.int64),
        end_right=np.array(columns.end_right, np.float32),
        relation_places=np.array(columns.relation_places, np.int64),
        relations=np.array(columns.relations, np.int64),
        contents=Told.of(columns.contents),
        later_contents=Told.of(columns.later_contents),
        gists=Told.of(columns.gists),
        later_gists=Told.of(columns.later_gists),
        meaning_places=told[:, 0],
        meanings=told[:, 1],
        later_meaning_places=later_told[:, 0],
        later_meanings=later_told[:, 1],
        digit_places=digit_places,
        digits=digits,
        next_places=next_places,
        next_tokens=states.reshape(-1)[next_places + 1],
        tasks=[_task(groups[row], question) for row, question in asked],
        stages=stages,
    )


def _bucket(
    start: int,
    size: int,
    state_size: int,
    states: np.ndarray,
    members: list[tuple[int, AskedQuestion]],
    groups: list[AskedGroup],
    columns: Columns,
) -> Bucket:
    lessons = Lessons(columns, state_size)
    for row, (state, asked) in enumerate(members):
        lessons.add(Place(row, start + row * size, state), groups[state], asked)
    looks = (Looks.of(lessons.evidence), Looks.of(lessons.right + lessons.more))
    return Bucket(start, len(members), size, states, *looks, Looks.of(lessons.right))


def _task(group: AskedGroup, asked: AskedQuestion) -> str:
    kind = {Noul: "noul", Score: "score"}.get(type(asked.question), "choice")
    return f"{group.group.task} {kind}"


class Batcher:
    """Collects groups whose states are of like length until a batch is full."""

    def __init__(self, tokens: int, meanings: Mapping[str, int] | None = None) -> None:
        """
        :param tokens: Of a batch, about.
        :param meanings: Numbers of the texts whose meanings are told.
        """
        self._tokens, self._meanings = tokens, meanings
        self._waiting: dict[int, list[AskedGroup]] = {}
        self._sizes: dict[int, int] = {}

    def add(self, group: AskedGroup, stages: Stages = LAST) -> Iterator[Batch]:
        size = padded_size(len(group.state))
        # Many long options may not fit into the context.
        group.questions = [
            question
            for question in group.questions
            if len(group.state) + padded_size(len(question.tokens)) <= CONTEXT
        ]
        size = next((s for s in _CLASSES if s >= size), 512)
        self._waiting.setdefault(size, []).append(group)
        cost = padded_size(len(group.state))
        cost += sum(padded_size(len(question.tokens)) for question in group.questions)
        self._sizes[size] = self._sizes.get(size, 0) + cost
        # A batch has questions, however many texts without any come first.
        if self._sizes[size] >= self._tokens and any(g.questions for g in self._waiting[size]):
            yield make_batch(self._waiting.pop(size), stages, self._meanings)
            self._sizes[size] = 0

    def rest(self) -> list[list[AskedGroup]]:
        """What still waits, in groups that fit together."""
        return [waiting for waiting in self._waiting.values() if waiting]
