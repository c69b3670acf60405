"""Requests to tokens: what the server would evaluate for this model."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate

from ask.question import INSIDE, Group, Noul, Question, Score, state_text
from tokens.encode import Encoder
from tokens.vocabulary import LABELS, Vocabulary, is_digit
from tokens.wording import has_labels, pieces_of

_MOST_CACHED = 300_000
_NUMBER = re.compile(r"\d[\d.,]*\d|\d")


@dataclass(slots=True)
class Contents:
    """Values as a question spells them, however the state does; empty where none are compared."""

    #: Of the state.
    evidence: list[int]
    #: Of each option, or of what a noul asks for.
    others: list[list[int]]


@dataclass(slots=True)
class AskedQuestion:
    question: Question
    #: Behind the state; the last one is where the answer is read.
    tokens: list[int]
    #: Options and where they end, as listed: of a noul yes is 1, and either may be missing.
    ends: list[tuple[int, int]]
    #: Where each of them begins.
    begins: list[int]
    #: Tokens of the answers: of options and levels in order, or no and yes.
    candidates: list[int]
    #: Index of the right one.
    answer: int
    #: Tokens of the state at the ends of what decides.
    evidence: list[int]
    #: The tokens that end the numbers or the value to compare with: of a range the upper end first.
    bounds: list[int]
    #: Tokens that should be known where evidence, options and the value asked for end, and at last.
    contents: Contents


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
        # A byte is spelled as one character.
        self._lengths = [len(token) for token in vocabulary.tokens]
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
        text = state_text(group.state)
        own = self._encoder.encode(text)
        places = self._places(text, own, group.questions)
        questions = [
            self._ask(question, [places[end] for end in question.evidence], labels)
            for question in group.questions
        ]
        return AskedGroup(group, [self.state, *own, self.question], questions)

    def _places(self, text: str, tokens: list[int], questions: list[Question]) -> dict[int, int]:
        """By the end of a piece of evidence, in characters: the token that it ends in."""
        wanted = {end for question in questions for end in question.evidence}
        # One token stands before the text.
        return {end: self._place(text[:end], tokens) + 1 for end in wanted}

    def _place(self, text: str, tokens: list[int]) -> int:
        """Of the tokens, the one in which a text ends that they begin with."""
        ends = list(accumulate(self._lengths[token] for token in tokens))
        return bisect_left(ends, len(text.encode()))

    def _ask(
        self, question: Question, evidence: list[int], labels: list[int] | None
    ) -> AskedQuestion:
        tokens: list[int] = []
        ends: list[tuple[int, int]] = []
        begins: list[int] = []
        with_labels = has_labels(question)
        for text, option in pieces_of(question):
            begin = len(tokens)
            tokens += self._encode(text)
            if option < 0:
                continue
            begins.append(begin)
            if with_labels:
                tokens.append(self.line_labels[labels[option] if labels else option])
            ends.append((option, len(tokens) - 1))
        tokens.append(self.answer)
        if isinstance(question, Noul):
            candidates, answer = [self.no, self.yes], int(question.answer)
        else:
            used = labels[: len(ends)] if labels else range(len(ends))
            candidates, answer = [self.labels[label] for label in used], question.answer
        bounds = self._bounds(question, tokens, evidence)
        contents = self._contents(question)
        return AskedQuestion(
            question, tokens, ends, begins, candidates, answer, evidence, bounds, contents
        )

    def _bounds(self, question: Question, tokens: list[int], evidence: list[int]) -> list[int]:
        if not isinstance(question, Noul) or len(evidence) != 1:
            return []
        text = question.instructions or ""
        if question.asked:
            end = text.rindex(question.asked) + len(question.asked)
            return [self._place(text[:end], tokens)]
        if question.relation < 0:
            return []
        upper = max((i for i, token in enumerate(tokens) if is_digit(token)), default=-1)
        numbers = list(_NUMBER.finditer(text))
        if question.relation < INSIDE or len(numbers) < 2:
            return [upper]
        return [upper, self._place(text[: numbers[-2].end()], tokens)]

    def _contents(self, question: Question) -> Contents:
        if isinstance(question, Score) or not question.value:
            return Contents([], [])
        asked = question.asked if isinstance(question, Noul) else None
        texts = [asked] if asked else [option.name for option in question.options]
        return Contents(
            self._encode(f" {question.value}"), [self._encode(f" {text}") for text in texts]
        )

    def _encode(self, text: str) -> list[int]:
        tokens = self._cache.get(text)
        if tokens is None:
            if len(self._cache) > _MOST_CACHED:
                self._cache.clear()
            tokens = self._cache[text] = self._encoder.encode(text)
        return tokens
