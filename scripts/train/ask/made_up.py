"""Records and fields that nobody knows, so that their names have to be read.

The corpus has few fields; a model learns them by heart, and finds no others.
"""

from __future__ import annotations

import re
from random import Random
from typing import Sequence

from source.material import Field, RecordKind
from source.split import is_held_out

_TYPES = {"string": 3, "enum": 4, "number": 3, "money": 1, "date": 2}
_FIELDS, _VALUES = 12, 6

# Last words of fields' names, with the type of what stands there.
_HEADS = {
    **dict.fromkeys(("number", "code", "reference", "id", "address", "title"), "string"),
    **dict.fromkeys(("name", "owner", "status", "type", "reason", "place", "level"), "enum"),
    **dict.fromkeys(("count", "size", "limit", "score"), "number"),
    **dict.fromkeys(("price", "fee", "total"), "money"),
    **dict.fromkeys(("date", "deadline", "start"), "date"),
}
_COMPOUNDS = 0.5


def names_for_fields(nouns: Sequence[str]) -> tuple[str, ...]:
    """Those that name no held-out field."""
    return tuple(noun for noun in nouns if not is_held_out("field", _camel(noun)))


def made_up_kind(nouns: Sequence[str], random: Random) -> RecordKind:
    """:param nouns: Of ``names_for_fields``."""
    name, *names = random.sample(nouns, 1 + _FIELDS)
    # Fields of one record often share their last word, and are told apart by the first.
    heads = random.sample(list(_HEADS), 3)
    fields = [
        _compound(noun, random.choice(heads), nouns, random)
        if random.random() < _COMPOUNDS
        else made_up_field(noun, nouns, random)
        for noun in names
    ]
    return RecordKind(name, tuple(f for f in fields if not is_held_out("field", f.name)))


def made_up_field(
    noun: str, nouns: Sequence[str], random: Random, types: Sequence[str] = tuple(_TYPES)
) -> Field:
    kind = random.choices(types, [_TYPES[name] for name in types])[0]
    values = tuple(random.sample(nouns, _VALUES)) if kind == "enum" else ()
    return Field(_camel(noun), kind, (f"the {noun}",), values=values)


def _compound(noun: str, head: str, nouns: Sequence[str], random: Random) -> Field:
    kind = _HEADS[head]
    values = tuple(random.sample(nouns, _VALUES)) if kind == "enum" else ()
    phrases = (f"the {noun} {head}", f"the {head} of the {noun}", f"the {noun}'s {head}")
    return Field(_camel(f"{noun} {head}"), kind, phrases, values=values)


def _camel(noun: str) -> str:
    first, *rest = re.split(r"[ -]", noun)
    return first + "".join(word[:1].upper() + word[1:] for word in rest)
