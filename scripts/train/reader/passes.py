"""Questions as the encoder reads them: the tokens of a pass, and where its parts stand.

A mirror of what the server does with a model whose readout is ``markers@1``
(``src/prompt/hidden/README.md``), which ``check_model.py`` compares. The server asks one question
in a pass. Training asks several, which share the state and do not see each other: half of the
tokens of a short text with four questions are saved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from ask.question import Choice, Group, Noul, Question, Score, state_text
from reader.wordpiece import WordPiece

#: Of the encoder that training begins with there are 512.
POSITIONS = 2048
#: The parts of a pass, and the control tokens around them.
TEMPLATE = "[CLS]{question}[SEP]{options}[SEP]{state}[SEP]"
MARKER = "[MASK]"
ALONE = "[CLS]{text}[SEP]"

# Of the groups, how many have a gap before the state, so that later positions are learned from
# short texts; and how many have their questions in passes of their own.
_GAPS, _ALONE = 0.15, 0.15
# Of all options of a question together: some 600 tokens.
_MOST_LETTERS = 2400
# Tokens of all questions that share a state.
_MOST_SHARED = 600


@dataclass(slots=True)
class Asked:
    """A question, in a pass."""

    #: First token of the question's text, and the one behind its last.
    question: tuple[int, int]
    #: Where each option's marker is; its text follows, up to the next marker or ``end``.
    markers: list[int]
    end: int
    #: Index of the right option: of a noul, 0 is no and 1 is yes.
    answer: int
    #: Whether the options are levels, lowest first.
    ordered: bool
    task: str
    #: Tokens of the state in which that ends which decides, where it is known.
    evidence: list[int]
    #: Of the question and of each option: the number in the pass' ``texts``.
    texts: list[int]


@dataclass(slots=True)
class Pass:
    tokens: list[int]
    positions: list[int]
    #: Which question a token belongs to, from 1; 0 is seen by all of them, and sees all.
    owners: list[int]
    #: First token of the state's text, and the one behind its last.
    state: tuple[int, int]
    task: str
    #: What is read by itself, too, as tokens: the state, then questions and options.
    texts: list[tuple[int, ...]]
    asked: list[Asked] = field(default_factory=list)


def options_of(question: Question) -> list[str]:
    if isinstance(question, Noul):
        meanings = (("no", question.no), ("yes", question.yes))
        return [f"{word}: {meaning}" if meaning else word for word, meaning in meanings]
    if isinstance(question, Score):
        count = len(question.levels)
        return [
            level.name or f"level {i + 1} of {count}" for i, level in enumerate(question.levels)
        ]
    return [
        f"{option.name}: {option.description}" if option.description else option.name
        for option in question.options
    ]


class Passes:
    def __init__(self, words: WordPiece, most: int = POSITIONS) -> None:
        """:param most: Tokens of a pass."""
        self._words, self._most = words, most
        self._start, self._end, self._marker = (
            words.numbers[token] for token in ("[CLS]", "[SEP]", MARKER)
        )

    def of(self, group: Group) -> list[Pass]:
        """As the server asks: each question in a pass of its own, if it fits."""
        state = _State(state_text(group.state), self._words)
        found = (self._pass(state, [question], group.task) for question in group.questions)
        return [one for one in found if len(one.tokens) <= self._most]

    def to_learn(self, group: Group, random: Random) -> list[Pass]:
        """Several questions together, fewer options where they are many, other positions."""
        for question in group.questions:
            if isinstance(question, Choice) and len(question.options) > 16:
                _leave_out(question, random)
        state = _State(state_text(group.state), self._words)
        if random.random() < _ALONE:
            shared = [[question] for question in group.questions]
        else:
            shared = _shared(group.questions)
        gap = random.randrange(POSITIONS) if random.random() < _GAPS else 0
        found = (self._pass(state, questions, group.task, gap) for questions in shared)
        return [one for one in found if len(one.tokens) <= self._most]

    def _pass(self, state: _State, questions: list[Question], task: str, gap: int = 0) -> Pass:
        """:param gap: Places left out before the state; fewer if there are not as many."""
        found = Pass([self._start], [0], [0], (0, 0), task, [self.alone(state.tokens)])
        for owner, question in enumerate(questions, 1):
            first = len(found.tokens)
            found.asked.append(self._ask(found, question, task))
            count = len(found.tokens) - first
            found.positions += range(1, 1 + count)
            found.owners += [owner] * count
        begin, count = 1 + max(found.positions), len(state.tokens)
        begin += min(gap, max(0, POSITIONS - begin - count - 1))
        first = len(found.tokens)
        for asked, question in zip(found.asked, questions):
            asked.evidence += (first + place for place in map(state.place, question.evidence))
        found.state = (first, first + count)
        found.tokens += (*state.tokens, self._end)
        found.positions += range(begin, begin + count + 1)
        found.owners += [0] * (count + 1)
        return found

    def alone(self, tokens: Sequence[int]) -> tuple[int, ...]:
        """A pass of a text by itself; of no text, none."""
        return (self._start, *tokens, self._end) if tokens else ()

    def _ask(self, found: Pass, question: Question, task: str) -> Asked:
        tokens, texts = found.tokens, []
        first = len(tokens)
        asked = self._words.encode(question.instructions or "")
        tokens += asked
        span = (first, len(tokens))
        tokens.append(self._end)
        markers: list[int] = []
        options = [self._words.encode(text) for text in options_of(question)]
        for option in options:
            markers.append(len(tokens))
            tokens += (self._marker, *option)
        for text in map(self.alone, (asked, *options)):
            texts.append(len(found.texts))
            found.texts.append(text)
        end = len(tokens)
        tokens.append(self._end)
        ordered = isinstance(question, Score)
        kind = "noul" if isinstance(question, Noul) else "score" if ordered else "choice"
        name = f"{task} {kind}"
        return Asked(span, markers, end, int(question.answer), ordered, name, [], texts)


class _State:
    def __init__(self, text: str, words: WordPiece) -> None:
        self.text, self.tokens = text, words.encode(text)
        self._words = words

    def place(self, end: int) -> int:
        """Of the token in which the text up to there ends."""
        return len(self._words.encode(self.text[:end])) - 1


def _leave_out(question: Choice, random: Random) -> None:
    """Of many options, some: what is answered in several passes sees a part of them in each."""
    right = question.options[question.answer]
    letters = sum(len(text) for text in options_of(question))
    most = len(question.options) * _MOST_LETTERS // letters
    if random.random() < 0.5:
        most = min(most, random.randint(16, len(question.options)))
    if most < len(question.options):
        others = [option for option in question.options if option is not right]
        question.options = [right, *random.sample(others, most - 1)]
        random.shuffle(question.options)
        question.answer = question.options.index(right)


def _shared(questions: list[Question]) -> list[list[Question]]:
    """Together, as long as they are not too long; about five letters are a token."""
    found: list[list[Question]] = []
    length = _MOST_SHARED + 1
    for question in questions:
        own = len(question.instructions or "") // 5 + sum(
            2 + len(text) // 5 for text in options_of(question)
        )
        if length + own > _MOST_SHARED:
            found.append([])
            length = 0
        found[-1].append(question)
        length += own
    return found
