"""Questions as the server writes them, in tokens: what `prefix@1` says."""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import Any

from ask import question as asking
from ask.question import compact_json, state_text
from prefix.rows import CHOICE, NOUL, SCORE, Asked, Group, Special
from prefix.wordpiece import WordPiece


class Texts:
    def __init__(self, words: WordPiece) -> None:
        numbers = words.numbers
        self.special = Special(numbers["[CLS]"], numbers["[SEP]"], numbers["[MASK]"])
        self.encode = lru_cache(maxsize=300_000)(lambda text: array("H", words.encode(text)))

    def state(self, state: Any) -> array:
        return self.encode(state_text(state))

    def noul(
        self, instructions: Any, answer: bool, yes: str | None = None, no: str | None = None
    ) -> Asked:
        tokens = array("H", self.encode(_instructions(instructions)))
        for name, text in (("yes", yes), ("no", no)):
            if text is not None:
                tokens.append(self.special.end)
                tokens += self.encode(f"{name}: {text}")
        return Asked(NOUL, int(answer), tokens)

    def choice(self, instructions: Any, options: list[tuple[str, Any]], answer: int) -> Asked:
        """:param options: Names and descriptions."""
        texts = [name if about is None else f"{name}: {about}" for name, about in options]
        found = [self.encode(text) for text in texts]
        return Asked(CHOICE, answer, self.encode(_instructions(instructions)), found)

    def score(self, instructions: Any, levels: list[str | None], answer: int) -> Asked:
        count = len(levels)
        texts = [text or f"level {i + 1} of {count}" for i, text in enumerate(levels)]
        question = self.encode(_instructions(instructions))
        return Asked(SCORE, answer, question, [self.encode(text) for text in texts])

    def of_body(self, question: dict[str, Any], answer: Any) -> Asked:
        """Of a question as a request has it."""
        said, criteria = question.get("instructions"), question.get("criteria")
        if question["type"] == "noul":
            criteria = criteria or {}
            return self.noul(said, answer, criteria.get("true"), criteria.get("false"))
        if question["type"] == "choice":
            options = list(criteria.items())
            return self.choice(said, options, list(criteria).index(answer))
        return self.score(said, criteria, answer)

    def of_corpus(self, group: asking.Group) -> Group:
        return Group(0, self.state(group.state), list(map(self._of_corpus, group.questions)))

    def _of_corpus(self, question: asking.Question) -> Asked:
        if isinstance(question, asking.Noul):
            return self.noul(question.instructions, question.answer, question.yes, question.no)
        if isinstance(question, asking.Choice):
            options = [(option.name, option.description) for option in question.options]
            return self.choice(question.instructions, options, question.answer)
        levels = [level.name for level in question.levels]
        return self.score(question.instructions, levels, question.answer)


def _instructions(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else compact_json(value)
