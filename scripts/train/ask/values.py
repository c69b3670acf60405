"""Values of a record's fields, from the corpus' vocabulary and chance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Any

from source.material import Field, Material
from source.split import is_number_held_out

_PEOPLE = (
    "customerName author manager assignee reporter approvedBy createdBy contactPerson"
    " emergencyContact doctor driver teacher landlord lastName firstName"
).split()
_PLACES = "city location origin destination".split()
_THINGS = "productName model title description".split()
# Of longer names, the last word tells: `driverName`, `originPort`.
_LAST_OF_PEOPLE = "Name Owner Doctor Teacher Holder Alias".split()
_LAST_OF_PLACES = "City Port Site Team".split()
_LAST_OF_THINGS = "Title Text Summary Model Label".split()
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
# Strings that are words nobody knows, where some are made up: they have to be read.
_INVENTED = 0.25
_STARTS = "b br c ch cl d dr f g gr h j k l m n p pl qu r s sh sk st t th tr v w y z".split()
_MIDDLES = "a e i o u ai ea ou ia oo".split()
_ENDS = ("", "", "", "l", "m", "n", "nd", "r", "rt", "s", "sk", "t", "x")


@dataclass(frozen=True, slots=True)
class Value:
    #: As it stands in JSON.
    json: Any
    #: As a question writes it.
    text: str


class Values:
    def __init__(self, material: Material, invents: bool = False) -> None:
        """:param invents: Whether some strings are made up."""
        self._material = material
        self._entities = material.entities
        self._invented = _INVENTED if invents else 0.0

    def number(self, random: Random, digits: int | None = None, cents: float = 0.0) -> str:
        """A number above 0, of this side of the split, as it is written."""
        while True:
            count = digits or random.choices((1, 2, 3, 4, 5, 6), (2, 4, 5, 4, 2, 1))[0]
            text = str(random.randint(10 ** (count - 1), 10**count - 1))
            if random.random() < cents:
                text += f".{random.randint(0, 9)}{random.randint(1, 9)}"
            if self.may_use(text):
                return text

    def may_use(self, text: str) -> bool:
        """Unseen numbers are those of three digits or more that hash to the held-out side."""
        if sum(c.isdigit() for c in text) < 3:
            return True
        return is_number_held_out(text) == self._material.unseen_numbers

    def may_show(self, text: str) -> bool:
        """Where a number need not be unseen: all but those that training must not show."""
        return self._material.unseen_numbers or not is_number_held_out(text)

    def date(self, random: Random) -> date:
        return date(2015, 1, 1) + timedelta(days=random.randrange(4500))

    def of(self, field: Field, random: Random) -> Value:
        if field.type == "boolean":
            flag = random.random() < 0.5
            return Value(flag, "yes" if flag else "no")
        if field.type == "enum":
            return _same(random.choice(field.values))
        if field.type == "date":
            return _same(self.date(random).isoformat())
        if field.type == "money":
            text = self.number(random, cents=0.3)
            return Value(number_of(text), text)
        if field.type == "number":
            text = self.number(random, random.choice((1, 2, 2, 3, 3, 4)))
            return Value(number_of(text), text)
        if field.type == "list":
            items = [self.item(field, random) for _ in range(random.randint(0, 6))]
            return Value(list(dict.fromkeys(items)), "")
        return _same(self._string(field.name, random))

    def item(self, field: Field, random: Random) -> str:
        """An entry of a list."""
        if field.name in ("participants", "authors"):
            return self.person(random)
        if field.name == "stops":
            return random.choice(self._entities["cities"])
        if field.name == "languages":
            language = next(f for f in self._material.fields if f.type == "enum" and f.values)
            found = [f for f in self._material.fields if f.name == "language"]
            return random.choice((found[0] if found else language).values)
        if field.name in ("skills", "tags"):
            kind = "job_titles" if field.name == "skills" else "departments"
            return random.choice(self._entities[kind])
        return random.choice(self._entities["product_words"])

    def person(self, random: Random) -> str:
        first = random.choice(self._entities["first_names"])
        if self._invents(random):
            first = invented_word(random).capitalize()
        if random.random() < 0.6:
            return first
        return f"{first} {random.choice(_LETTERS)}."

    def _string(self, name: str, random: Random) -> str:
        if _is_one(name, _PEOPLE, _LAST_OF_PEOPLE):
            return self.person(random)
        if self._invents(random):
            return " ".join(invented_word(random) for _ in range(random.choice((1, 1, 2)))).title()
        if _is_one(name, _PLACES, _LAST_OF_PLACES):
            return random.choice(self._entities["cities"])
        if name == "country":
            return random.choice(self._entities["countries"])
        if name == "jobTitle":
            return random.choice(self._entities["job_titles"])
        if name == "email":
            domain = random.choice(self._entities["email_domains"])
            return f"{random.choice(self._entities['first_names']).lower()}@{domain}"
        if name.endswith("Address"):
            return f"{random.randint(1, 99)} {random.choice(self._entities['cities'])} Street"
        if _is_one(name, _THINGS, _LAST_OF_THINGS):
            colour = random.choice(self._entities["colours"])
            return f"{colour} {random.choice(self._entities['product_words'])}"
        if name in ("diagnosis", "reason", "notes"):
            return random.choice(self._entities["statuses"])
        if name in ("manufacturer", "supplier", "company"):
            colour = random.choice(self._entities["materials"]).title()
            return f"{colour} {random.choice(('Ltd', 'Inc', 'Works', 'Trading', 'Group'))}"
        if name == "phone":
            return f"+{random.randint(1, 99)} {self.number(random, 6)}"
        if name == "version":
            return f"{random.randint(0, 12)}.{random.randint(0, 20)}.{random.randint(0, 9)}"
        if name == "room":
            return f"{random.choice(_LETTERS)}{random.randint(1, 99)}"
        code = "".join(random.choice(_LETTERS) for _ in range(random.randint(1, 3)))
        return f"{code}-{self.number(random, random.choice((3, 4, 5)))}"

    def _invents(self, random: Random) -> bool:
        return random.random() < self._invented


def invented_word(random: Random) -> str:
    """Of two or three syllables."""
    syllables = (
        random.choice(part) for _ in range(random.choice((2, 2, 3))) for part in (_STARTS, _MIDDLES)
    )
    return "".join(syllables) + random.choice(_ENDS)


def _is_one(name: str, names: list[str], last_words: list[str]) -> bool:
    return name in names or (name not in _THINGS and name.endswith(tuple(last_words)))


def _same(text: str) -> Value:
    return Value(text, text)


def number_of(text: str) -> int | float:
    return float(text) if "." in text else int(text)
