"""Records: as JSON, and as text that says the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Any

from ask.values import Value, Values
from source.material import Field, Material, RecordKind


@dataclass(slots=True)
class Record:
    #: What it says, in its order.
    values: dict[str, Value]
    fields: dict[str, Field]
    #: Fields that it has without a value, and fields that it could have.
    missing: list[Field]
    state: Any


def make_record(kind: RecordKind, material: Material, values: Values, random: Random) -> Record:
    count = min(len(kind.fields), random.randint(2, 9))
    chosen = random.sample(kind.fields, count)
    absent = [field for field in kind.fields if field not in chosen]
    given: dict[str, Value] = {}
    empty: dict[str, Any] = {}
    for field in chosen:
        if random.random() < 0.1 and field.type != "boolean":
            empty[field.name] = [] if field.type == "list" else random.choice((None, None, ""))
        else:
            given[field.name] = values.of(field, random)
    fields = {field.name: field for field in chosen}
    missing = [fields[name] for name in empty] + absent
    if random.random() < 0.7:
        state = _as_json(kind, chosen, given, empty, random)
    else:
        state = _as_text(material, kind, fields, given, random)
    return Record(given, fields, missing, state)


def _as_json(
    kind: RecordKind,
    fields: list[Field],
    given: dict[str, Value],
    empty: dict[str, Any],
    random: Random,
) -> Any:
    spell = random.choice((str, str, str, _snake, _words))
    record = {
        spell(field.name): given[field.name].json if field.name in given else empty[field.name]
        for field in fields
    }
    chance = random.random()
    if chance < 0.15:
        return {random.choice(("type", "kind", "record")): kind.name, **record}
    if chance < 0.25:
        return {kind.name.replace(" ", "_"): record}
    return {"data": record} if chance < 0.3 else record


def _as_text(
    material: Material,
    kind: RecordKind,
    fields: dict[str, Field],
    given: dict[str, Value],
    random: Random,
) -> str:
    as_lines = random.random() < 0.4
    lines: list[str] = []
    for name, value in given.items():
        field = fields[name]
        phrase = random.choice(field.phrases)
        text = ", ".join(value.json) or "none" if field.type == "list" else value.text
        if as_lines:
            lines.append(f"{_words(name)}: {text}")
        else:
            wording = random.choice(material.wordings["state of"])
            sentence = wording.replace("{field}", phrase).replace("{value}", text)
            lines.append(f"{sentence[:1].upper()}{sentence[1:]}.")
    if random.random() < 0.3:
        title = f"{kind.name[:1].upper()}{kind.name[1:]}" + (":" if as_lines else ".")
        lines.insert(0, title)
    return ("\n" if as_lines else " ").join(lines)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda m: f"_{m[1].lower()}", name)


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda m: f" {m[1].lower()}", name)
