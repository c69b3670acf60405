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


#: A noun, and its synonyms behind it.
Noun = tuple[str, ...]


def names_for_fields(nouns: Sequence[Noun]) -> tuple[Noun, ...]:
    """Those that name no held-out field."""
    allowed = (
        tuple(word for word in words if not is_held_out("field", _camel(word))) for words in nouns
    )
    return tuple(kept for kept, words in zip(allowed, nouns) if kept and kept[0] == words[0])


def made_up_kind(nouns: Sequence[Noun], random: Random) -> RecordKind:
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
    return RecordKind(name[0], tuple(f for f in fields if not is_held_out("field", f.name)))


def made_up_field(
    noun: Noun, nouns: Sequence[Noun], random: Random, types: Sequence[str] = tuple(_TYPES)
) -> Field:
    kind = random.choices(types, [_TYPES[name] for name in types])[0]
    phrases = tuple(f"the {word}" for word in noun)
    return Field(_camel(noun[0]), kind, phrases, values=_values(kind, nouns, random))


def _compound(noun: Noun, head: str, nouns: Sequence[Noun], random: Random) -> Field:
    kind = _HEADS[head]
    patterns = ("the {} {}", "the {1} of the {0}", "the {}'s {}")
    phrases = tuple(pattern.format(word, head) for pattern in patterns for word in noun)
    values = _values(kind, nouns, random)
    return Field(_camel(f"{noun[0]} {head}"), kind, phrases, values=values)


def _values(kind: str, nouns: Sequence[Noun], random: Random) -> tuple[str, ...]:
    if kind != "enum":
        return ()
    values = [noun[0] for noun in random.sample(nouns, _VALUES)]
    # As "freezer 2": a number that is not the one that is asked about.
    numbered = random.random() < 0.2
    return tuple(f"{value} {random.randint(1, 12)}" if numbered else value for value in values)


def last_word(name: str) -> str:
    """As ``number`` of ``orderNumber``."""
    return re.split(r"(?=[A-Z])", name)[-1].lower()


def _camel(noun: str) -> str:
    first, *rest = re.split(r"[ -]", noun)
    return first + "".join(word[:1].upper() + word[1:] for word in rest)
