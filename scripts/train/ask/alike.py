"""Which text is nearest in meaning to another, as the teacher says, over all texts that it read.

What the corpus says of its concepts is sure, but they are few; here any text is compared with any
other. Only clear cases are asked: one that is near, among others that are far.
"""

from __future__ import annotations

from functools import cached_property
from random import Random

import numpy as np

from ask.noise import pick_style, retyped, reworded, styled
from ask.question import Choice, Group, Noul, Option, Question, distinct, pick_wrong
from source.material import Material
from tokens.meanings import Meanings

# Candidates that the near one is taken from, and how near it must be.
_SAMPLE, _NEAR = 3000, 0.42
# How much farther the others are.
_GAP = 0.22
# A name has so many words at most, and so many are too many for a text.
_NAME, _LONG = 3, 30


class AlikeTasks:
    def __init__(self, meanings: Meanings, material: Material) -> None:
        self._meanings, self._wordings = meanings, material.wordings

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the texts that could be an option's name, and of longer ones."""
        lengths = np.array([text.count(" ") + 1 for text in self._meanings.texts])
        longer = (lengths > _NAME) & (lengths < _LONG)
        return np.flatnonzero(lengths <= _NAME), np.flatnonzero(longer)

    def bare(self, random: Random) -> Group:
        """A text of which only the teacher knows what it is about."""
        text = self._meanings.texts[random.choice(self._places[1])]
        return Group(retyped(text, random), [], -1, "bare", text)

    def group(self, random: Random, count: int, most: int) -> Group:
        """
        :param count: Of questions.
        :param most: Options.
        """
        numbers = np.random.default_rng(random.getrandbits(32))
        named = random.random() < 0.7
        names, texts = self._places
        while True:
            state = int(numbers.choice(texts))
            some = numbers.choice(names if named else texts, _SAMPLE)
            alike = self._meanings.vectors[some] @ self._meanings.vectors[state]
            alike = np.where(some == state, -1, alike)
            right = int(alike.argmax())
            if alike[right] > _NEAR:
                break
        far = some[alike < alike[right] - _GAP].tolist()
        text = self._meanings.texts[state]
        questions = [
            self._question(int(some[right]), far, random, most, named) for _ in range(count)
        ]
        return Group(retyped(text, random), questions, -1, "alike", text)

    def _question(
        self, right: int, far: list[int], random: Random, most: int, named: bool
    ) -> Question:
        texts = self._meanings.texts
        style = pick_style(random) if named else "as it is"
        if random.random() < 0.2:
            answer = random.random() < 0.5
            asked = texts[right if answer else random.choice(far)]
            wording = random.choice(self._wordings["noul concept" if named else "noul same"])
            return Noul(wording.replace("{x}", styled(asked, style)), answer, meaning=asked)
        wrong = random.sample(far, pick_wrong(random, most if named else min(most, 6)))
        shown = [texts[i] for i in (right, *wrong)]
        random.shuffle(shown)
        options = [Option(styled(text, style), meaning=text) for text in shown]
        instructions = random.choice(self._wordings["choice" if named else "similar"])
        if named:
            instructions = reworded(instructions, random)
        return distinct(Choice(instructions, options, shown.index(texts[right])))
