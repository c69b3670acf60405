"""The names and things that scenes are filled with: those of the training side alone."""

from __future__ import annotations

from random import Random
from typing import Any

from source.material import Material

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve")
_TEAMS = ("the choir", "the board", "the book club", "the first team", "the night shift")


class Words:
    def __init__(self, material: Material, texts: Any) -> None:
        lists = material.entities
        self._lists: dict[str, tuple[str, ...]] = {
            "a": lists["first_names"],
            "thing": lists["product_words"],
            "city": lists["cities"],
            "colour": tuple(name for name in lists["colours"] if " " not in name),
            "team": tuple(f"the {name} team" for name in lists["departments"]) + _TEAMS,
            "job": lists["job_titles"],
            "day": _DAYS,
            "month": _MONTHS,
            "late": _NUMBERS,
            "room": tuple(texts["rooms"]),
            "place": tuple(texts["places"]),
            "food": tuple(texts["foods"]),
        }

    def people(self, random: Random, count: int) -> list[str]:
        return random.sample(self._lists["a"], count)

    def job(self, random: Random) -> str:
        return random.choice(self._lists["job"])

    def some(self, kind: str, random: Random, count: int) -> list[str]:
        """So many of one kind, no two the same."""
        if kind == "n":
            return [str(n) for n in random.sample(range(2, random.choice((12, 60))), count)]
        if kind == "price":
            return [
                f"{n} {random.choice(('euros', 'dollars'))}"
                for n in random.sample(range(3, 900), count)
            ]
        if kind == "time":
            return [
                f"{random.randrange(5, 24)}:{random.randrange(12) * 5:02}" for _ in range(count)
            ]
        if kind == "things":
            return [f"{name}s" for name in random.sample(self._lists["thing"], count)]
        return random.sample(self._lists[kind], count)

    def slots(self, names: set[str], random: Random) -> dict[str, str]:
        """:param names: As in templates: the second of a kind has a 2 behind it."""
        found: dict[str, str] = {}
        for name in sorted(names - {"a", "b"}):
            kind = name.rstrip("2")
            if kind not in found:
                found[kind], found[f"{kind}2"] = self.some(kind, random, 2)
        return {name: found[name] for name in sorted(names - {"a", "b"})}
