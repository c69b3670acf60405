"""Which word goes with others: what words alone tell, over more of them than any corpus has.

A text is words from the neighbourhood of one, by their vectors, among others that mean nothing
here; the options are that one, or a neighbour that is not shown, and words from elsewhere. No two
examples are the same, so that nothing can be learned by heart. Words that name what is held out are
left out.
"""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from random import Random

import numpy as np

from ask.noise import pick_style, reworded, styled
from ask.question import Choice, Group, Noul, Option, Question, distinct, pick_wrong
from source.material import Material
from tokens.vectors import read_vectors
from tokens.vocabulary import Vocabulary, spell

# Words that go with everything, by rank of frequency.
_COMMON = 120
_NEIGHBOURS = 24
# Cosines of words that belong together, and of words that do not.
_NEAR, _FAR, _HARDLY_FAR = 0.45, 0.3, 0.38
# Of the words of a text that is varied, and should stay what it is, how many become others.
_VARIED = 0.15


class WordTasks:
    def __init__(self, vectors: Path, vocabulary: Vocabulary, material: Material) -> None:
        """:param vocabulary: Of which only words count that are one token."""
        self._path = vectors
        self._tokens = set(vocabulary.tokens)
        self._wordings, self._hides = material.wordings, material.hides

    @cached_property
    def _found(self) -> tuple[list[str], list[str], np.ndarray, dict[int, list[int]]]:
        """Common words, words, their vectors, and the neighbours of those that have enough."""
        words, vectors = read_vectors(self._path)
        common = [word for word in words[:_COMMON] if word.isalpha()]
        kept = [i for i in range(_COMMON, len(words)) if self._may_be_asked(words[i])]
        vectors = vectors[kept].astype(np.float32)
        vectors -= vectors.mean(0)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        neighbours: dict[int, list[int]] = {}
        for start in range(0, len(kept), 1000):
            alike = vectors[start : start + 1000] @ vectors.T
            nearest = np.argpartition(-alike, _NEIGHBOURS + 1, axis=1)[:, : _NEIGHBOURS + 1]
            for row, places in enumerate(nearest):
                near = [int(i) for i in places if i != start + row and alike[row, i] > _NEAR]
                if len(near) >= 5:
                    neighbours[start + row] = near
        return common, [words[i] for i in kept], vectors, neighbours

    def _may_be_asked(self, word: str) -> bool:
        usual = word.isalpha() and len(word) > 2 and spell(f" {word}") in self._tokens
        return usual and not self._hides(word)

    def group(self, random: Random, count: int, most: int) -> Group:
        """
        :param count: Of questions.
        :param most: Options.
        """
        common, words, _, neighbours = self._found
        topic = random.choice(self._topics)
        around = neighbours[topic]
        near = random.sample(around, min(random.randint(2, 7), len(around) - 2))
        shown = [words[i] for i in near]
        shown += random.choices(common, k=random.randint(0, 2 * len(shown)))
        shown += [random.choice(words) for _ in range(random.randint(0, 1))]
        random.shuffle(shown)
        text = " ".join(shown)
        if random.random() < 0.5:
            text = text[:1].upper() + text[1:] + random.choice(("", ".", "?", "!"))
        hidden = [topic, *(i for i in around if i not in near)]
        questions = [self._question(hidden, random, most) for _ in range(count)]
        return Group(text, questions, -1, "words")

    def varied(self, text: str, random: Random, share: float = _VARIED) -> str:
        """With a word here and there that is close to what stood there."""
        _, words, _, neighbours = self._found

        def other(match: re.Match) -> str:
            word = match[0]
            place = self._places.get(word.lower())
            if place not in neighbours or random.random() > share:
                return word
            found = words[random.choice(neighbours[place])]
            return found.capitalize() if word[0].isupper() else found

        return re.sub(r"[A-Za-z]+", other, text)

    @cached_property
    def _topics(self) -> list[int]:
        return list(self._found[3])

    @cached_property
    def _places(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self._found[1])}

    def _question(self, right: list[int], random: Random, most: int) -> Question:
        """:param right: The topic, and neighbours of it that are not shown."""
        _, words, _, _ = self._found
        asked = right[0] if random.random() < 0.6 else random.choice(right)
        style = pick_style(random)
        if random.random() < 0.25:
            answer = random.random() < 0.5
            name = words[asked if answer else self._far(right[0], random, 1)[0]]
            wording = random.choice(self._wordings["noul concept"])
            return Noul(wording.replace("{x}", styled(name, style)), answer, meaning=name)
        places = [asked, *self._far(right[0], random, pick_wrong(random, most))]
        random.shuffle(places)
        options = [Option(styled(words[i], style), meaning=words[i]) for i in places]
        instructions = reworded(random.choice(self._wordings["choice"]), random)
        return distinct(Choice(instructions, options, places.index(asked)))

    def _far(self, topic: int, random: Random, count: int) -> list[int]:
        """Words from elsewhere."""
        _, _, vectors, _ = self._found
        limit = random.choice((_FAR, _HARDLY_FAR))
        found: list[int] = []
        while len(found) < count:
            # One that has neighbours: a word as usual as the right one.
            other = random.choice(self._topics)
            if other not in found and float(vectors[other] @ vectors[topic]) < limit:
                found.append(other)
        return found
