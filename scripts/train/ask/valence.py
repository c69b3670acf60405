"""How good or bad what a text names is, by a lexicon of words that people rated.

The scales of the corpus are told by whole texts, which are few; a lexicon has thousands of words.
VADER's (C. J. Hutto and E. Gilbert, "VADER: A parsimonious rule-based model for sentiment analysis
of social media text", 2014) gives each the mean of ten ratings from -4 to 4.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from random import Random
from typing import Sequence

from ask.noise import retyped
from ask.question import Group
from ask.scales import ScaleTasks
from source.material import Material, Scale

LEXICON = "lexicon/package/vader_lexicon.txt"

# Ratings of each level's words, apart from the middle's: between two levels are words of neither.
_RATED = {0: (-4.0, -2.5), 1: (-2.1, -0.8), 3: (0.8, 2.1), 4: (2.5, 4.0)}
_MIDDLE = 2
# Of the most frequent words, where those begin and end that the lexicon finds to be neither good
# nor bad: before them are words of no meaning, behind them rare ones.
_FIRST, _LAST = 150, 6000
_JOINTS = (" ", ", ", " and ", "! ", ". ", " ... ")
_DENIALS = ("not {}", "not {} at all", "hardly {}", "never {}", "isn't {}", "no longer {}")


class ValenceTasks:
    def __init__(
        self,
        folder: Path,
        material: Material,
        scales: ScaleTasks,
        frequent: Sequence[str],
    ) -> None:
        """
        :param folder: With the lexicon.
        :param scales: Asks the questions.
        :param frequent: Words, the most frequent first.
        """
        self._frequent = frequent
        self._folder, self._material, self._scales = folder, material, scales

    @cached_property
    def _scale(self) -> Scale:
        return next(scale for scale in self._material.scales if scale.name == "sentiment")

    @cached_property
    def _words(self) -> list[list[str]]:
        """Of each level."""
        found: list[list[str]] = [[] for _ in self._scale.levels]
        rated: set[str] = set()
        for line in (self._folder / LEXICON).read_text(encoding="utf-8").splitlines():
            word, rating = line.split("\t")[:2]
            rated.add(word)
            for level, (least, most) in _RATED.items():
                if least <= float(rating) <= most and self._is_usable(word):
                    found[level].append(word)
        middle = self._frequent[_FIRST:_LAST]
        found[_MIDDLE] = [word for word in middle if word not in rated and self._is_usable(word)]
        return found

    def _is_usable(self, word: str) -> bool:
        return word.isalpha() and len(word) > 2 and not self._material.hides(word)

    def group(self, random: Random, count: int) -> Group:
        """Some words of one level, among others that are neither good nor bad.

        :param count: Of questions.
        """
        level = random.randrange(len(self._words))
        if level == 1 and random.random() < 0.3:
            shown = [random.choice(_DENIALS).format(self._one(random, 3))]
        else:
            shown = [self._one(random, level) for _ in range(random.choice((1, 1, 2, 3, 4)))]
        shown += [self._one(random, _MIDDLE) for _ in range(random.randrange(2 * len(shown) + 1))]
        random.shuffle(shown)
        text = random.choice(_JOINTS).join(shown)
        if self._material.hides(text):
            return self.group(random, count)
        questions = [self._scales.question(self._scale, level, random) for _ in range(count)]
        return Group(retyped(text, random), questions, "valence")

    def _one(self, random: Random, level: int) -> str:
        return random.choice(self._words[level])
