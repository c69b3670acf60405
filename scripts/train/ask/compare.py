"""Comparisons that a question asks for, and whether they hold."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from ask.values import Values, number_of
from source.material import Comparison, Material

# What each comparison allows: less than the other number, equal to it or greater, 0 to 2.
_HOLDS = {
    ">": (2,),
    "<": (0,),
    ">=": (1, 2),
    "<=": (0, 1),
    "==": (1,),
    "!=": (0, 2),
}


@dataclass(frozen=True, slots=True)
class Compared:
    #: As "more than 12".
    text: str
    holds: bool


class Comparisons:
    def __init__(self, material: Material, values: Values) -> None:
        self._values = values
        self._by_use: dict[str, list[Comparison]] = {}
        for comparison in material.comparisons:
            self._by_use.setdefault(comparison.of, []).append(comparison)

    def number(self, value: str, random: Random, uses: tuple[str, ...] = ("number",)) -> Compared:
        """Asks about a number, half of the time so that the answer is yes."""
        options = [c for use in uses for c in self._by_use.get(use, ())]
        wanted = random.random() < 0.5
        while True:
            comparison = random.choice(options)
            if comparison.op in _HOLDS:
                relation = random.choice((0, 0, 0, 1, 2, 2, 2))
                if (relation in _HOLDS[comparison.op]) != wanted:
                    continue
                if relation == 2 and number_of(value) == 0:
                    continue
                bound = self._beside(value, relation, random)
                text = random.choice(comparison.phrases).replace("{n}", bound)
                return Compared(text, wanted)
            bounds = (self._near(value, random), self._near(value, random))
            low, high = sorted(bounds, key=number_of)
            inside = number_of(low) <= number_of(value) <= number_of(high)
            on_edge = number_of(value) in (number_of(low), number_of(high))
            # On the edge, "between" is a matter of taste.
            if low == high or on_edge or (inside == (comparison.op == "between")) != wanted:
                continue
            text = random.choice(comparison.phrases).replace("{n}", low).replace("{m}", high)
            return Compared(text, wanted)

    def date(self, value: date, random: Random) -> Compared:
        options = [c for c in self._by_use["date"] if c.op in _HOLDS]
        wanted = random.random() < 0.5
        while True:
            comparison = random.choice(options)
            relation = random.choice((0, 0, 0, 1, 2, 2, 2))
            if (relation in _HOLDS[comparison.op]) != wanted:
                continue
            days = random.choice((random.randint(1, 40), random.randint(1, 1500)))
            bound = value + timedelta(days=days * (1 - relation))
            text = random.choice(comparison.phrases).replace("{n}", bound.isoformat())
            return Compared(text, wanted)

    def count(self, value: int, random: Random) -> Compared:
        return self.number(str(value), random, ("count",))

    def _beside(self, value: str, relation: int, random: Random) -> str:
        """A number that the value is less than, equal to, or greater than."""
        if relation == 1:
            return value
        while True:
            bound = self._near(value, random)
            if relation == 0 and number_of(bound) > number_of(value):
                return bound
            if relation == 2 and number_of(bound) < number_of(value):
                return bound
            if relation == 2 and number_of(value) <= 1:
                return "0"

    def _near(self, value: str, random: Random) -> str:
        """Another number: a bit more or less, a digit changed, or of any size."""
        number = number_of(value)
        whole = int(number)
        chance = random.random()
        if chance < 0.3:
            other = whole + random.randint(-12, 12)
        elif chance < 0.6:
            other = int(whole * random.uniform(0.3, 2.5))
        elif chance < 0.8:
            digits = list(str(whole))
            digits[random.randrange(len(digits))] = str(random.randrange(10))
            other = int("".join(digits))
        else:
            return self._values.number(random)
        text = str(abs(other))
        return text if self._values.may_use(text) else self._values.number(random, len(text))
