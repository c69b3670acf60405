"""The same thing asked otherwise: of two answers that belong together one follows from the other.

A twin's outcomes (no and yes, options) are sums of those of the question that it was made from:
``link_to[i]`` is the place among the twin's outcomes where the first one's outcome ``i`` goes.
"""

from __future__ import annotations

from random import Random
from typing import Any

from prefix.relations import SETS, TWO, Wordings
from prefix.rows import Asked
from prefix.texts import Texts

_ONE = (
    'Is "{x}" the answer? {q}', "{q} Is it {x}?", '{q} - "{x}"?', "{q} Would {x} be right?",
    'Of the possible answers, is "{x}" the right one to: {q}',
)  # fmt: skip
_NOT = (
    "Is the answer to this question no: {q}", "Is the opposite of yes right here: {q}",
    'Should one answer "no" to: {q}', "{q} Answer the other way round: say yes if it is not so.",
)  # fmt: skip
#: Of wordings for a text that leaves nothing open, those that fit any such text.
_ANY_TEXT = ("Does the table", "By these")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
#: Names with more words stay as they are.
_LONG_NAME = 5

_Options = dict[str, Any]


class Twins:
    def __init__(self, texts: Texts, wordings: Wordings) -> None:
        self._texts, self._wordings = texts, wordings

    def of(
        self, random: Random, source: str, question: dict[str, Any], answer: Any
    ) -> Asked | None:
        """One of those that the question allows, without its place; None if there is none."""
        said, criteria = question.get("instructions"), question.get("criteria") or {}
        if not isinstance(said, str) or question["type"] == "score":
            return None
        chance = random.random()
        if question["type"] == "noul":
            if chance < 0.35:
                return self._as_choice(random, said, criteria, answer)
            if chance < 0.9:
                found = self._reworded(random, source, said, answer)
                if found is not None:
                    return found
            return self._opposite(random, said, criteria, answer)
        right = list(criteria).index(answer)
        if chance < 0.5 or len(criteria) < 3:
            return self._one_option(random, said, criteria, right)
        if chance < 0.75:
            return self._merged(random, said, criteria, right)
        return self._renamed(random, said, criteria, right)

    def _as_choice(self, random: Random, said: str, criteria: _Options, answer: bool) -> Asked:
        options = [("no", criteria.get("false")), ("yes", criteria.get("true"))]
        places = (0, 1)
        if random.random() < 0.5:
            options.reverse()
            places = (1, 0)
        return _linked(self._texts.choice(said, options, places[int(answer)]), places)

    def _reworded(self, random: Random, source: str, said: str, answer: bool) -> Asked | None:
        """Another wording that asks for the same relation."""
        found = self._wordings.match(said) if source in SETS else None
        if found is None:
            return None
        wording, statement = found
        same = [one for one in self._wordings.all if one.relation == wording.relation]
        other = random.choice(same)
        # What cannot be open is worded for its own kind of text.
        if SETS[source] == TWO and not other.text.startswith(_ANY_TEXT):
            return None
        flips = other.yes != wording.yes
        twin = self._texts.noul(other.text.format(statement), answer != flips)
        return _linked(twin, (1, 0) if flips else (0, 1))

    def _opposite(self, random: Random, said: str, criteria: _Options, answer: bool) -> Asked:
        yes, no = criteria.get("true"), criteria.get("false")
        if yes and no:
            return _linked(self._texts.noul(said, not answer, no, yes), (1, 0))
        text = random.choice(_NOT).replace("{q}", said)
        return _linked(self._texts.noul(text, not answer), (1, 0))

    def _one_option(self, random: Random, said: str, criteria: _Options, right: int) -> Asked:
        """One option as a yes or no: the right one half of the time."""
        names = list(criteria)
        k = right if random.random() < 0.5 else random.randrange(len(names))
        if random.random() < 0.3:
            twin = self._texts.noul(said, k == right, names[k])
        else:
            about = criteria[names[k]]
            shown = names[k] if about is None or random.random() < 0.5 else str(about)
            text = random.choice(_ONE).replace("{q}", said).replace("{x}", shown)
            twin = self._texts.noul(text, k == right)
        return _linked(twin, tuple(int(i == k) for i in range(len(names))))

    def _merged(self, random: Random, said: str, criteria: _Options, right: int) -> Asked:
        names = list(criteria)
        i, j = sorted(random.sample(range(len(names)), 2))
        options = list(criteria.items())
        options[i] = (f"{names[i]} or {names[j]}", None)
        del options[j]
        places = tuple(i if k == j else k - (k > j) for k in range(len(names)))
        return _linked(self._texts.choice(said, options, places[right]), places)

    def _renamed(self, random: Random, said: str, criteria: _Options, right: int) -> Asked:
        """Other keys: letters where options are described, else another way to write them."""
        names = list(criteria)
        order = random.sample(range(len(names)), len(names))
        lettered = all(criteria.values()) and len(names) <= len(_LETTERS) and random.random() < 0.5
        style = random.choice("_- ")
        options = [
            (_LETTERS[i] if lettered else _styled(names[k], style), criteria[names[k]])
            for i, k in enumerate(order)
        ]
        places = tuple(order.index(k) for k in range(len(names)))
        return _linked(self._texts.choice(said, options, places[right]), places)


def _linked(twin: Asked, places: tuple[int, ...]) -> Asked:
    twin.link_to = places
    return twin


def _styled(name: str, style: str) -> str:
    if len(name.split()) >= _LONG_NAME:
        return name
    return name.replace("_", style).replace(" ", style)
