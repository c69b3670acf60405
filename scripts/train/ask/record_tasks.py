"""Questions about records: look-up, presence, negation, comparison, counting, dates."""

from __future__ import annotations

from datetime import date
from random import Random
from typing import Sequence

from ask.compare import Comparisons
from ask.frames import composed_frame
from ask.made_up import Noun, last_word, made_up_kind
from ask.question import Choice, Group, Noul, Option, Question, Score, distinct
from ask.records import Record, make_record
from ask.values import Value, Values, number_of
from source.material import Field, Material

# Phrases that only some fields may take, besides those for numbers.
_USES = {"weight": "weight", "age": "age", "duration": "duration"}

# Of the records.
_MADE_UP = 0.5

# Of the ways to ask whether a field is something, or is there.
_COMPOSED = 0.4
_FRAMES = {
    "lookup": "yes_no_frames",
    "negation": "negation_frames",
    "presence": "presence_frames",
    "absence": "absence_frames",
}

KINDS = ("lookup", "presence", "negation", "choice", "field", "flag", "compare", "count", "range")


class RecordTasks:
    def __init__(self, material: Material, nouns: Sequence[Noun] = ()) -> None:
        """:param nouns: Names for fields that are made up; without them none are."""
        self._material, self._nouns = material, nouns
        self._words = material.wordings
        self._values = Values(material, invents=bool(nouns))
        self._comparisons = Comparisons(material, self._values)

    def group(self, random: Random, count: int, kinds: tuple[str, ...] = KINDS) -> Group:
        """:param kinds: Of questions; not every record allows each."""
        while True:
            kind = random.choice(self._material.records)
            if self._nouns and random.random() < _MADE_UP:
                kind = made_up_kind(self._nouns, random)
            record = make_record(kind, self._material, self._values, random)
            questions: list[Question] = []
            for _ in range(3 * count):
                question = self._question(record, random.choice(kinds), random)
                if question is not None and len(questions) < count:
                    questions.append(question)
            if questions:
                return Group(record.state, questions, "record")

    def _question(self, record: Record, kind: str, random: Random) -> Question | None:
        if kind == "presence":
            return self._presence(record, random)
        if kind == "flag":
            return self._flag(record, random)
        if kind in ("count", "compare", "range"):
            return self._numeric(record, kind, random)
        found = [
            record.fields[name]
            for name in record.values
            if record.fields[name].type not in ("boolean", "list")
        ]
        if not found:
            return None
        field = random.choice(found)
        if kind == "choice":
            return self._choice(record, field, random)
        if kind == "field":
            return self._field_of(record, field, random)
        same = random.random() < 0.5
        value = record.values[field.name] if same else self._other(record, field, random)
        text = _fill(self._frame(kind, random), _phrase(field, random), value.text)
        return Noul(text, same == (kind == "lookup"))

    def _presence(self, record: Record, random: Random) -> Noul | None:
        given = random.random() < 0.5
        pool = [record.fields[n] for n in record.values] if given else record.missing
        # An empty list is there, or is not: nobody knows.
        pool = [f for f in pool if f.name not in record.values or record.values[f.name].json != []]
        if not pool:
            return None
        if self._nouns and not given and random.random() < 0.5:
            # The order number is none for the parcel.
            there = {last_word(name) for name in record.values}
            pool = [field for field in pool if last_word(field.name) in there] or pool
        absence = random.random() < 0.3
        field = random.choice(pool)
        frame = self._frame("absence" if absence else "presence", random)
        text = _fill(frame, _phrase(field, random))
        return Noul(text, given != absence)

    def _frame(self, kind: str, random: Random) -> str:
        if self._nouns and random.random() < _COMPOSED:
            frame = composed_frame(kind, random)
            if frame not in self._material.hidden_wordings:
                return frame
        return random.choice(self._words[_FRAMES[kind]])

    def _flag(self, record: Record, random: Random) -> Noul | None:
        flags = [record.fields[n] for n in record.values if record.fields[n].asks]
        if not flags:
            return None
        field = random.choice(flags)
        right = bool(record.values[field.name].json)
        return Noul(random.choice(field.asks), right)

    def _other(self, record: Record, field: Field, random: Random) -> Value:
        """A wrong value: of the same kind, or one that stands elsewhere in the record."""
        right = record.values[field.name]
        elsewhere = [
            value
            for name, value in record.values.items()
            if record.fields[name].type == field.type and value.text not in ("", right.text)
        ]
        if elsewhere and random.random() < 0.4:
            return random.choice(elsewhere)
        while True:
            value = self._values.of(field, random)
            if value.text != right.text:
                return value

    def _choice(self, record: Record, field: Field, random: Random) -> Choice:
        right = Option(record.values[field.name].text)
        others = [Option(self._other(record, field, random).text) for _ in range(5)]
        others = others[: random.randint(1, 5)]
        options = [right, *(o for o in others if o.name != right.name)]
        random.shuffle(options)
        wording = random.choice(self._words["field choice"])
        at = next(i for i, option in enumerate(options) if option is right)
        return distinct(Choice(_fill(wording, _phrase(field, random)), options, at))

    def _field_of(self, record: Record, field: Field, random: Random) -> Choice | None:
        value = record.values[field.name]
        same = [n for n, other in record.values.items() if other.text == value.text]
        others = [name for name in record.fields if name != field.name]
        if len(same) > 1 or not others:
            return None
        names = [field.name, *random.sample(others, min(len(others), random.randint(1, 5)))]
        random.shuffle(names)
        options = [
            Option(random.choice(record.fields[n].phrases).removeprefix("the ")) for n in names
        ]
        text = random.choice(self._words["field of value"]).replace("{value}", value.text)
        return distinct(Choice(text, options, names.index(field.name)))

    def _numeric(self, record: Record, kind: str, random: Random) -> Question | None:
        types = ("list",) if kind == "count" else ("number", "money", "date")
        found = [record.fields[n] for n in record.values if record.fields[n].type in types]
        if kind == "range":
            found = [field for field in found if field.type != "date"]
        if not found:
            return None
        field = random.choice(found)
        value = record.values[field.name]
        phrase = _phrase(field, random)
        if kind == "count":
            return self._count(record, field, phrase, random)
        if kind == "range":
            return range_score(self._material, self._values, phrase, value.text, random)
        if field.type == "date":
            compared = self._comparisons.date(date.fromisoformat(value.text), random)
        else:
            uses = ("number", "money") if field.type == "money" else ("number",)
            uses += (_USES[field.name],) if field.name in _USES else ()
            compared = self._comparisons.number(value.text, random, uses)
        text = random.choice(self._words["compare noul"])
        text = _fill(text, phrase).replace("{cmp}", compared.text)
        return Noul(text, compared.holds)

    def _count(self, record: Record, field: Field, phrase: str, random: Random) -> Question:
        value = record.values[field.name]
        count = len(value.json)
        chance = random.random()
        if chance < 0.4:
            numbers = random.sample([n for n in range(8) if n != count], random.randint(1, 5))
            names = [str(n) for n in sorted([count, *numbers])]
            text = _fill(random.choice(self._words["count choice"]), phrase)
            options, right = [Option(name) for name in names], names.index(str(count))
            return Choice(text, options, right)
        if chance < 0.7:
            compared = self._comparisons.count(count, random)
            text = random.choice(self._words["count noul"])
            text = _fill(text, phrase).replace("{cmp}", compared.text)
            return Noul(text, compared.holds)
        listed = bool(value.json) and random.random() < 0.5
        item = random.choice(value.json) if listed else self._values.item(field, random)
        text = _fill(random.choice(self._words["contains noul"]), phrase, item)
        return Noul(text, item in value.json)


def range_score(
    material: Material, values: Values, phrase: str, text: str, random: Random
) -> Score:
    """In which of some ranges a number is."""
    value = number_of(text)
    step = 10 ** max(0, len(str(int(value))) - 1)
    count = random.randint(1, 4)
    bounds = sorted(random.sample([step * k // 2 for k in range(1, 20)], count))
    shown = {b for b in bounds if b not in (0, value) and values.may_show(str(b))}
    bounds = sorted(shown or {20 if value < 20 else 10})
    names = [f"below {bounds[0]}"]
    names += [f"{low} to {high}" for low, high in zip(bounds, bounds[1:])]
    names.append(f"above {bounds[-1]}")
    answer = sum(value > bound for bound in bounds)
    wording = random.choice(material.wordings["range score"]).replace("{field}", phrase)
    return Score(wording, [Option(name) for name in names], answer)


def _phrase(field: Field, random: Random) -> str:
    """The field in words, or as it is spelled."""
    if random.random() < 0.12:
        return field.name
    return random.choice(field.phrases)


def _fill(frame: str, phrase: str, value: str = "") -> str:
    text = frame.replace("{field}", phrase)
    # A value that comes first is written as it stands in the record.
    return (text[:1].upper() + text[1:]).replace("{value}", value)
