"""Numbers in short texts: compared with another, the largest of several, in a range.

Many cheap examples of the one thing that a small model learns last.
"""

from __future__ import annotations

from random import Random
from typing import Sequence

from ask.compare import Comparisons
from ask.made_up import Noun, made_up_field
from ask.question import Choice, Group, Noul, Option, Question, draw_unused
from ask.record_tasks import range_score
from ask.values import Values, invented_word, number_of
from source.material import Field, Material

# Of the fields.
_MADE_UP = 0.3
# Lists of what can have a number.
_NAMED = ("cities", "product_words", "colours", "departments", "countries", "job_titles")


class NumberTasks:
    def __init__(self, material: Material, nouns: Sequence[Noun] = ()) -> None:
        """:param nouns: Names for fields that are made up; without them none are."""
        self._material, self._nouns = material, nouns
        self._words = material.wordings
        self._values = Values(material, invents=bool(nouns))
        self._comparisons = Comparisons(material, self._values)
        self._fields = [f for f in material.fields if f.type in ("number", "money")]

    def group(self, random: Random, count: int) -> Group:
        """:param count: Of questions."""
        if random.random() < 0.55:
            return self._single(random, count)
        return self._several(random, count)

    def _single(self, random: Random, count: int) -> Group:
        field = random.choice(self._fields)
        if self._nouns and random.random() < _MADE_UP:
            field = made_up_field(random.choice(self._nouns), self._nouns, random, ("number",))
        value = self._number(random)
        phrase = random.choice(field.phrases)
        questions: list[Question] = []
        for _ in range(count):
            draw_unused(random)
            if random.random() < 0.1:
                questions.append(range_score(self._material, self._values, phrase, value, random))
                continue
            compared = self._comparisons.number(value, random)
            text = random.choice(self._words["compare noul"])
            text = text.replace("{field}", phrase).replace("{cmp}", compared.text)
            text = text[:1].upper() + text[1:]
            questions.append(Noul(text, compared.holds))
        return Group(self._state(field, phrase, value, random), questions, "number")

    def _state(self, field: Field, phrase: str, value: str, random: Random) -> object:
        chance = random.random()
        if chance < 0.2:
            return {field.name: number_of(value)}
        if chance < 0.35:
            return f"{field.name}: {value}"
        text = random.choice(self._words["state of"])
        text = text.replace("{field}", phrase).replace("{value}", value)
        return f"{text[:1].upper()}{text[1:]}."

    def _several(self, random: Random, count: int) -> Group:
        """Things with a number each."""
        names = self._names(random, random.randint(2, 5))
        numbers: list[str] = []
        while len(numbers) < len(names):
            number = self._number(random)
            if number_of(number) not in map(number_of, numbers):
                numbers.append(number)
        given = dict(zip(names, numbers))
        chance = random.random()
        state: object
        if chance < 0.4:
            state = {name: number_of(number) for name, number in given.items()}
        elif chance < 0.7:
            state = ", ".join(f"{name}: {number}" for name, number in given.items())
        else:
            state = ". ".join(f"{name} has {number}" for name, number in given.items()) + "."
        questions = [self._about(given, random) for _ in range(count)]
        return Group(state, questions, "number")

    def _names(self, random: Random, count: int) -> list[str]:
        """People; where fields are made up, other things too, and names that nobody knows."""
        if not self._nouns or random.random() < 0.5:
            return random.sample(self._material.entities["first_names"], count)
        kind = random.choice((*_NAMED, "nouns", "invented", "invented"))
        while True:
            if kind == "invented":
                names = [invented_word(random).capitalize() for _ in range(count)]
            elif kind == "nouns":
                names = [noun[0] for noun in random.sample(self._nouns, count)]
            else:
                names = random.sample(self._material.entities[kind], count)
            # None may stand inside of another: a question would be about both.
            if sum(name in other for name in names for other in names) == count:
                return names

    def _about(self, given: dict[str, str], random: Random) -> Question:
        chance = random.random()
        if chance < 0.35:
            return self._largest(given, random)
        if chance < 0.7:
            return self._larger(given, random)
        name = random.choice(list(given))
        draw_unused(random)
        compared = self._comparisons.number(given[name], random)
        text = random.choice(self._words["compare noul"])
        text = text.replace("{field}", name).replace("{cmp}", compared.text)
        return Noul(text, compared.holds)

    def _larger(self, given: dict[str, str], random: Random) -> Noul:
        first, second = random.sample(list(given), 2)
        holds = number_of(given[first]) > number_of(given[second])
        higher = random.random() < 0.5
        words = self._words["compare two noul" if higher else "compare two noul less"]
        text = random.choice(words).replace("{a}", first).replace("{b}", second)
        return Noul(text, holds == higher)

    def _largest(self, given: dict[str, str], random: Random) -> Choice:
        names, largest = list(given), random.random() < 0.5
        random.shuffle(names)
        pick = max if largest else min
        right = pick(names, key=lambda name: number_of(given[name]))
        text = random.choice(self._words["largest choice" if largest else "smallest choice"])
        options = [Option(name) for name in names]
        return Choice(text, options, names.index(right))

    def _number(self, random: Random) -> str:
        digits = random.choices((1, 2, 3, 4, 5, 6), (2, 4, 5, 4, 2, 1))[0]
        return self._values.number(random, digits, cents=0.15)
