"""A question as the encoder reads it: the tokens of one pass, and where its parts stand.

A mirror of what the server does with a model whose readout is ``markers@1``
(``src/prompt/hidden/README.md``), which ``check_tokens.py`` compares.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from ask.question import Choice, Group, Noul, Question, Score
from reader.wordpiece import WordPiece
from tokens.wording import state_text

#: The parts of a pass, and the control tokens around them.
TEMPLATE = "[CLS]{question}[SEP]{options}[SEP]{state}[SEP]"
MARKER = "[MASK]"


@dataclass(slots=True)
class Pass:
    tokens: list[int]
    #: Where each option's marker is; its text follows, up to the next marker or ``options_end``.
    markers: list[int]
    options_end: int
    #: First token of the state's text, and the one behind its last.
    state: tuple[int, int]
    question: tuple[int, int]
    #: Index of the right option: of a noul, 0 is no and 1 is yes.
    answer: int
    #: Whether the options are levels, lowest first.
    ordered: bool
    task: str


def options_of(question: Question) -> list[str]:
    if isinstance(question, Noul):
        meanings = (("no", question.no), ("yes", question.yes))
        return [f"{word}: {meaning}" if meaning else word for word, meaning in meanings]
    if isinstance(question, Score):
        count = len(question.levels)
        return [level.name or f"level {i + 1} of {count}" for i, level in enumerate(question.levels)]
    return [
        f"{option.name}: {option.description}" if option.description else option.name
        for option in question.options
    ]


class Passes:
    def __init__(self, words: WordPiece, most: int = 512) -> None:
        """:param most: Tokens of a pass."""
        self._words, self._most = words, most
        self._start, self._end, self._marker = (
            words.numbers[token] for token in ("[CLS]", "[SEP]", MARKER)
        )

    def of(self, group: Group) -> list[Pass]:
        """Each question of a group that fits."""
        state = self._words.encode(state_text(group.state))
        found = (self._one(state, question, group.task) for question in group.questions)
        return [one for one in found if len(one.tokens) <= self._most]

    def _one(self, state: list[int], question: Question, task: str) -> Pass:
        asked = self._words.encode(question.instructions or "")
        tokens = [self._start, *asked, self._end]
        asked_at = (1, 1 + len(asked))
        markers: list[int] = []
        for text in options_of(question):
            markers.append(len(tokens))
            tokens.append(self._marker)
            tokens += self._words.encode(text)
        options_end = len(tokens)
        tokens.append(self._end)
        state_at = (len(tokens), len(tokens) + len(state))
        tokens += state
        tokens.append(self._end)
        ordered = isinstance(question, Score)
        kind = "noul" if isinstance(question, Noul) else "score" if ordered else "choice"
        answer = int(question.answer)
        return Pass(
            tokens, markers, options_end, state_at, asked_at, answer, ordered, f"{task} {kind}"
        )


def without_options(random: Random, question: Choice, most: int) -> Choice:
    """The same with so many options at most."""
    if len(question.options) <= most:
        return question
    right = question.options[question.answer]
    others = [option for option in question.options if option is not right]
    kept = [right, *random.sample(others, most - 1)]
    random.shuffle(kept)
    return Choice(question.instructions, kept, kept.index(right))
