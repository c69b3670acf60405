"""Words that stand for others in a claim: what makes it wrong, and what leaves it as true."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from random import Random

from source.senses import Sense

# Words that rule each other out, which WordNet does not know or has among rarer meanings.
_PAIRS = """
before after|more less|more fewer|always never|first last|with without|up down|left right
inside outside|above below|open closed|morning evening|today tomorrow|yesterday today
north south|east west|winter summer|everyone nobody|everything nothing|everybody nobody
bought sold|buy sell|accepted refused|accepts refuses|early late|earlier later|won lost|he she
his her|my your|we they|our their|men women|man woman|father mother|brother sister|son daughter
mum dad|cheap expensive|cheaper dearer|larger smaller|longer shorter|higher lower|better worse
best worst|older younger|newer older|most least|enough insufficient|asked told|came went
arrived departed|started stopped|starts stops|begins ends|began ended|opened closed|opens closes
gained lost|rose fell|raised lowered|increased decreased|increase decrease|found lost|gave took
allowed forbidden|legal illegal|possible impossible|likely unlikely|able unable|agree disagree
agreed disagreed|like dislike|liked disliked|loves hates|love hate|works fails|worked failed
succeeded failed|sent received|sends receives|lent borrowed|remembered forgot|kept returned
stayed left|included excluded|full empty|clean dirty|wet dry|warm cold|hot cold|fast slow
quickly slowly|loud quiet|easy hard|heavy light|old new|good bad|big small|long short|high low
rich poor|strong weak|one two|two three|three four|four five|five six|six seven|seven eight
eight nine|nine ten|ten twelve|once twice|twice once|hour day|day week|week month|month year
minutes hours|hours days|days weeks|weeks months|months years|both neither|all none
everywhere nowhere|somebody nobody|someone nobody|inbound outbound|mine yours|indoors outdoors
"""
_NEGATED = {
    "is", "are", "was", "were", "can", "will", "would", "should", "could", "must", "does", "did",
    "do",
}  # fmt: skip
# Of each line, any word rules out all others.
_SERIES = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "january february march april june july august september october november december",
    "red blue green yellow white black brown grey pink",
    "spring summer autumn winter",
    "euros pounds dollars francs",
)
_WHOLE = re.compile(r"(?<![\w.,])\d+(?![\w.,]\d)")
# Shorter words are mostly other words than the rare nouns that are written like them.
_LEAST = 4


class ClaimWords:
    def __init__(self, senses: list[Sense]) -> None:
        self._against: dict[str, set[str]] = defaultdict(set)
        self._alike: dict[str, set[str]] = defaultdict(set)
        self._near: dict[str, set[str]] = defaultdict(set)
        meanings: dict[str, int] = defaultdict(int)
        for sense in senses:
            for word in _single(sense.words):
                meanings[word] += 1
        for sense in senses:
            words = _single(sense.words)
            for word in words:
                others = {w for i in sense.opposites for w in _single(senses[i].words)}
                if meanings[word] <= 4 and len(word) >= _LEAST:
                    self._against[word] |= others
                if sense.part == "noun" and meanings[word] <= 3 and len(word) >= _LEAST:
                    kin = {w for i in sense.siblings for w in _single(senses[i].words)}
                    self._near[word] |= kin - set(words)
                # Of a word that means much, no other means the same everywhere.
                if meanings[word] <= 2:
                    wider = {w for i in sense.wider for w in _single(senses[i].words)[:1]}
                    self._alike[word] |= set(words) - {word}
                    self._alike[word] |= wider if sense.part == "noun" else set()
        for pair in _PAIRS.replace("\n", "|").split("|"):
            if pair:
                one, other = pair.split()
                self._against[one] = {other}
                self._against.setdefault(other, set()).add(one)
        for series in _SERIES:
            for word in series.split():
                self._against[word] = set(series.split()) - {word}

    def wrong(self, word: str, text: str, random: Random) -> str | None:
        """What makes a sentence with the word say something else; ``None``: nothing is known."""
        low = word.lower()
        if word.isdigit():
            return _number(word, text, random)
        if low in _NEGATED and random.random() < 0.5:
            return "cannot" if low == "can" else f"{word} not"
        found = self._against.get(low)
        if found and (random.random() < 0.8 or low not in self._near):
            return _cased(word, random.choice(sorted(found)))
        if near := self._near.get(low):
            return _cased(word, random.choice(sorted(near)))
        if low.endswith("s") and (near := self._near.get(low[:-1])):
            other = random.choice(sorted(near))
            return None if other.endswith("s") else _cased(word, f"{other}s")
        return None

    def same(self, word: str, random: Random) -> str | None:
        """A word that may stand in its place."""
        found = self._alike.get(word.lower())
        return _cased(word, random.choice(sorted(found))) if found else None


def _single(words: Iterable[str]) -> list[str]:
    return [word for word in words if word.isalpha()]


def _cased(word: str, other: str) -> str:
    return other[:1].upper() + other[1:] if word[:1].isupper() else other


def _number(word: str, text: str, random: Random) -> str:
    """Another one of the text, or one of as many digits."""
    others = [number for number in _WHOLE.findall(text) if number != word]
    if others and random.random() < 0.4:
        return random.choice(others)
    first = 10 ** (len(word) - 1) if len(word) > 1 else 1
    last = min(10 ** len(word) - 1, 10**9)
    near = [n for n in range(int(word) - 3, int(word) + 4) if n > 0 and n != int(word)]
    other = random.choice(near) if random.random() < 0.3 else random.randint(first, last)
    return str(other) if str(other) != word else str(int(word) + 1)
