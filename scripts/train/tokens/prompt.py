"""Requests to tokens: what the server would evaluate for this model."""

from __future__ import annotations

from dataclasses import dataclass

from ask.question import Group, Noul, Question
from tokens.encode import Encoder
from tokens.vocabulary import LABELS, Vocabulary
from tokens.wording import has_labels, pieces_of, state_text

_MOST_CACHED = 300_000


@dataclass(slots=True)
class AskedQuestion:
    question: Question
    #: Behind the state; the last one is where the answer is read.
    tokens: list[int]
    #: Options and where they end, as listed: of a noul yes is 1, and either may be missing.
    ends: list[tuple[int, int]]
    #: Tokens of the answers: of options and levels in order, or no and yes.
    candidates: list[int]
    #: Index of the right one.
    answer: int


@dataclass(slots=True)
class AskedGroup:
    group: Group
    #: Shared by all questions.
    state: list[int]
    questions: list[AskedQuestion]


class Prompter:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self._encoder = Encoder(vocabulary)
        self._cache: dict[str, list[int]] = {}
        self.state, self.question, self.answer = (
            vocabulary.id_of(text) for text in ("<|state|>", "<|question|>", "<|answer|>")
        )
        self.no, self.yes = vocabulary.id_of(" No"), vocabulary.id_of(" Yes")
        #: The answers, and the same behind options: with the line's end in them.
        self.labels = [vocabulary.id_of(label) for label in LABELS]
        self.line_labels = [vocabulary.id_of(label + "\n") for label in LABELS]

    def ask(self, group: Group, labels: list[int] | None = None) -> AskedGroup:
        """
        :param labels: Which labels stand for the options, where not the first ones; a list of
            indices, long enough for each question. The server always takes the first ones.
        """
        state = [self.state, *self._encoder.encode(state_text(group.state)), self.question]
        return AskedGroup(group, state, [self._ask(q, labels) for q in group.questions])

    def _ask(self, question: Question, labels: list[int] | None) -> AskedQuestion:
        tokens: list[int] = []
        ends: list[tuple[int, int]] = []
        with_labels = has_labels(question)
        for text, option in pieces_of(question):
            tokens += self._encode(text)
            if option < 0:
                continue
            if with_labels:
                tokens.append(self.line_labels[labels[option] if labels else option])
            ends.append((option, len(tokens) - 1))
        tokens.append(self.answer)
        if isinstance(question, Noul):
            candidates, answer = [self.no, self.yes], int(question.answer)
        else:
            used = labels[: len(ends)] if labels else range(len(ends))
            candidates, answer = [self.labels[label] for label in used], question.answer
        return AskedQuestion(question, tokens, ends, candidates, answer)

    def _encode(self, text: str) -> list[int]:
        tokens = self._cache.get(text)
        if tokens is None:
            if len(self._cache) > _MOST_CACHED:
                self._cache.clear()
            tokens = self._cache[text] = self._encoder.encode(text)
        return tokens
