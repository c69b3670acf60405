"""What words mean: definitions and uses with the right word among others, and the reverse."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from random import Random
from typing import Sequence

from ask.noise import pick_style, retyped, reworded, styled
from ask.question import Choice, Group, Noul, Option, Question, distinct, pick_wrong
from source.material import Material
from source.senses import Sense, read_senses

# Words that definitions are made of: so many, the most frequent ones.
_KNOWN = 25_000
# Of the wrong ones, how many are kinds of the same thing as the right one; and its opposites, which
# words' vectors hardly tell from it, in half of the questions where it has some.
_NEAR = (0.0, 0.0, 0.3)
_OPPOSITE = 0.5


class SenseTasks:
    def __init__(self, folder: Path, material: Material, frequent: Sequence[str]) -> None:
        """
        :param folder: With WordNet's files.
        :param frequent: Words, the most frequent first.
        """
        self._folder, self._wordings = folder, material.wordings
        self._frequent = frequent
        self._hides = material.hides

    @cached_property
    def senses(self) -> list[Sense]:
        known = set(self._frequent[:_KNOWN])
        return read_senses(self._folder / "wordnet/package/dict", known, self._hides)

    @cached_property
    def _by_part(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, sense in enumerate(self.senses):
            places.setdefault(sense.part, []).append(place)
        return places

    @property
    def nouns(self) -> list[tuple[str, ...]]:
        """Each with its synonyms behind it."""
        found: dict[str, dict[str, None]] = {}
        for sense in self.senses:
            words = [word for word in sense.words if word.count(" ") < 3]
            for word in words if sense.part == "noun" else ():
                found.setdefault(word, {word: None}).update(dict.fromkeys(words))
        return [tuple(words) for words in found.values()]

    @cached_property
    def _areas(self) -> list[str]:
        return sorted({sense.area for sense in self.senses if sense.area})

    def group(self, random: Random, count: int, most: int) -> Group:
        """
        :param count: Of questions.
        :param most: Options.
        """
        place = random.randrange(len(self.senses))
        sense, chance = self.senses[place], random.random()
        if chance < 0.15:
            word = random.choice(sense.words)
            questions = [self._explained(place, random, most) for _ in range(min(count, 2))]
            return Group(styled(word, pick_style(random)), questions, "sense")
        text = sense.definition
        uses = [use for use in sense.examples if len(use) > 12]
        if uses and chance < 0.5:
            text = random.choice(uses)
        ask = self._used if text in uses else self._defined
        questions = [ask(place, random, most) for _ in range(count)]
        return Group(retyped(text, random), questions, "sense")

    def _defined(self, place: int, random: Random, most: int) -> Question:
        """Of a definition: its word, or what it is a kind of."""
        sense, chance = self.senses[place], random.random()
        if chance < 0.2 and sense.area:
            return self._area(sense, random, most)
        if chance < 0.4:
            return self._noul(place, random)
        if chance < 0.55 and sense.wider:
            place = random.choice(sense.wider)
        return self._named(place, random, most, "describe", described=False)

    def _used(self, place: int, random: Random, most: int) -> Question:
        """Of a use: which sense it is, by its words with what they mean."""
        if random.random() < 0.25:
            return self._noul(place, random)
        return self._named(place, random, most, "choice", described=random.random() < 0.7)

    def _others(self, place: int, random: Random, count: int) -> list[int]:
        sense = self.senses[place]
        near, confused = random.choice(_NEAR), sense.siblings
        if sense.opposites and random.random() < 0.5:
            near, confused = _OPPOSITE, sense.opposites
        taken = {place, *sense.wider}
        words = set(sense.words)
        found: list[int] = []
        while len(found) < count:
            alike = confused if confused and random.random() < near else None
            other = random.choice(alike or self._by_part[sense.part])
            if other in taken and alike:
                near = 0.0
            if other not in taken and not words & set(self.senses[other].words):
                if place not in self.senses[other].wider:
                    taken.add(other)
                    found.append(other)
        return found

    def _named(
        self, place: int, random: Random, most: int, wordings: str, described: bool
    ) -> Choice:
        places = [place, *self._others(place, random, pick_wrong(random, most))]
        random.shuffle(places)
        style = pick_style(random)
        options: list[Option] = []
        for i in places:
            word = random.choice(self.senses[i].words)
            definition = self.senses[i].definition if described else None
            options.append(Option(styled(word, style), definition))
        instructions = reworded(random.choice(self._wordings[wordings]), random)
        return distinct(Choice(instructions, options, places.index(place)))

    def _explained(self, place: int, random: Random, most: int) -> Choice:
        """Of a word: what it means."""
        places = [place, *self._others(place, random, pick_wrong(random, min(most, 6)))]
        random.shuffle(places)
        instructions = reworded(random.choice(self._wordings["define"]), random)
        options = [Option(self.senses[i].definition) for i in places]
        return distinct(Choice(instructions, options, places.index(place)))

    def _area(self, sense: Sense, random: Random, most: int) -> Choice:
        areas = [area for area in self._areas if area != sense.area]
        names = random.sample(areas, pick_wrong(random, min(most, 10)))
        names.append(sense.area or "")
        random.shuffle(names)
        style = pick_style(random)
        options = [Option(styled(name, style)) for name in names]
        instructions = reworded(random.choice(self._wordings["group"]), random)
        return distinct(Choice(instructions, options, names.index(sense.area or "")))

    def _noul(self, place: int, random: Random) -> Noul:
        answer = random.random() < 0.5
        right = self.senses[place]
        if answer and right.wider and random.random() < 0.3:
            place = random.choice(right.wider)
        asked = self.senses[place if answer else self._others(place, random, 1)[0]]
        name = random.choice(asked.words)
        wording = random.choice(self._wordings["noul concept"])
        return Noul(wording.replace("{x}", styled(name, pick_style(random))), answer)
