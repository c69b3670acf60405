"""The same thing asked otherwise: of two answers that belong together one follows from the other.

Outcomes (no and yes, options, levels) of the coarser of two such questions are sums of the finer one's:
the coarser one's ``link_to[i]`` is the place among its outcomes where the finer one's outcome ``i`` goes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

from prefix.relations import SETS, TWO, Wordings
from prefix.rows import Asked
from prefix.texts import Texts

_ONE = (
    'Is "{x}" the answer? {q}', "{q} Is it {x}?", '{q} - "{x}"?', "{q} Would {x} be right?",
    'Of the possible answers, is "{x}" the right one to: {q}',
)  # fmt: skip
_NOT_ONE = (
    'Is something else than "{x}" the answer? {q}', "{q} Would {x} be a mistake?",
    '{q} - anything but "{x}"?', 'Should one not answer "{x}" to: {q}',
)  # fmt: skip
_NOT = (
    "Is the answer to this question no: {q}", "Is the opposite of yes right here: {q}",
    'Should one answer "no" to: {q}', "{q} Answer the other way round: say yes if it is not so.",
    "Is it untrue that yes is the answer to: {q}", "{q} Is that not so?",
)  # fmt: skip
_AT_LEAST = (
    '{q} Is it "{x}" or more, of: {scale}?', 'From low to high there are {scale}. At least "{x}"? {q}',
    'Does it reach "{x}" on the scale {scale}: {q}',
)  # fmt: skip
_NOT_LEVEL = (
    '{q} Is it another level than "{x}", of: {scale}?', 'Of {scale}, would "{x}" be wrong? {q}',
)  # fmt: skip
_BOTH = ("Are both so? {a} {b}", "Is yes the answer to each of these: {a} {b}", "{a} And also: {b}")
_EITHER = (
    "Is at least one of these so? {a} {b}", "Is yes the answer to one of these or to both: {a} {b}",
    "{a} Or else: {b}",
)  # fmt: skip
#: What a text has or has not, told by program.
_FEATURES: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    ("a number is in the text", "no number is in the text",
     lambda text: re.search(r"\d", text) is not None),
    ("something is asked in the text", "nothing is asked in the text", lambda text: "?" in text),
    ("the text is long", "the text is short", lambda text: len(text) > 300),
    ("there is an exclamation mark", "there is no exclamation mark", lambda text: "!" in text),
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

    def beside(
        self,
        asked: list[Asked],
        random: Random,
        source: str,
        state: str,
        question: dict[str, Any],
        answer: Any,
    ) -> None:
        """Appends one of the twins that the last question allows, and links both."""
        twin = self._of(random, source, state, question, answer)
        if twin is None:
            return
        first, place = asked[-1], len(asked)
        asked.append(twin)
        if len(twin.options) > max(2, len(first.options)):
            # An option was split: the twin is the finer one.
            first.link_to, twin.link_to, first.twin = twin.link_to, (), place
        else:
            twin.twin = place - 1

    def _of(
        self, random: Random, source: str, state: str, question: dict[str, Any], answer: Any
    ) -> Asked | None:
        said, criteria = question.get("instructions"), question.get("criteria") or {}
        if not isinstance(said, str):
            return None
        if question["type"] == "noul":
            return self._of_noul(random, source, said, criteria, answer)
        if question["type"] == "score":
            return self._of_score(random, said, criteria, answer)
        right = list(criteria).index(answer)
        chance = random.random()
        if chance < 0.2:
            return self._split(random, said, state, criteria, right)
        if chance < 0.6 or len(criteria) < 3:
            return self._one_option(random, said, criteria, right)
        if chance < 0.85:
            return self._merged(random, said, criteria, right)
        return self._renamed(random, said, criteria, right)

    def compound(self, random: Random, first: str, second: str, answers: list[bool]) -> Asked:
        """Two questions for yes or no as one."""
        both = random.random() < 0.5
        text = random.choice(_BOTH if both else _EITHER).replace("{a}", first).replace("{b}", second)
        answer = all(answers) if both else any(answers)
        if random.random() < 0.25:
            return self._texts.noul(random.choice(_NOT).replace("{q}", text), not answer)
        return self._texts.noul(text, answer)

    def _of_noul(
        self, random: Random, source: str, said: str, criteria: _Options, answer: bool
    ) -> Asked:
        chance = random.random()
        if chance < 0.2:
            return self._as_choice(random, said, criteria, answer)
        if chance < 0.3:
            levels = [criteria.get("false") or "no", criteria.get("true") or "yes"]
            return _linked(self._texts.score(said, levels, int(answer)), (0, 1))
        if chance < 0.65:
            found = self._reworded(random, source, said, answer)
            if found is not None:
                return found
        return self._opposite(random, said, criteria, answer)

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

    def _of_score(
        self, random: Random, said: str, levels: list[str | None], answer: int
    ) -> Asked | None:
        if not all(levels) or len(levels) < 3:
            return None
        count, chance = len(levels), random.random()
        if chance < 0.25 and count > 3:
            at = random.randrange(count - 1)
            merged = [*levels[:at], f"{levels[at]} or {levels[at + 1]}", *levels[at + 2 :]]
            places = tuple(k - (k > at) for k in range(count))
            return _linked(self._texts.score(said, merged, places[answer]), places)
        at_least = chance < 0.75
        at = random.randrange(int(at_least), count)
        places = tuple(int(k >= at if at_least else k != at) for k in range(count))
        text = random.choice(_AT_LEAST if at_least else _NOT_LEVEL).replace("{q}", said)
        text = text.replace("{x}", str(levels[at])).replace("{scale}", ", ".join(map(str, levels)))
        return _linked(self._texts.noul(text, bool(places[answer])), places)

    def _one_option(self, random: Random, said: str, criteria: _Options, right: int) -> Asked:
        """One option as a yes or no, or that it is not: the right one half of the time."""
        names = list(criteria)
        k = right if random.random() < 0.5 else random.randrange(len(names))
        chance = random.random()
        if chance < 0.2:
            twin = self._texts.noul(said, k == right, names[k])
            return _linked(twin, tuple(int(i == k) for i in range(len(names))))
        about = criteria[names[k]]
        shown = names[k] if about is None or random.random() < 0.4 else str(about)
        negated = chance < 0.5
        text = random.choice(_NOT_ONE if negated else _ONE).replace("{q}", said)
        twin = self._texts.noul(text.replace("{x}", shown), (k == right) != negated)
        return _linked(twin, tuple(int((i == k) != negated) for i in range(len(names))))

    def _merged(self, random: Random, said: str, criteria: _Options, right: int) -> Asked:
        """Two options as one, or all of them in two parts."""
        names = list(criteria)
        described = all(criteria.values()) and random.random() < 0.7
        shown = [str(criteria[name]) if described else name for name in names]
        if len(names) > 8 or random.random() < 0.6:
            parts = [[k] for k in range(len(names))]
            i, j = sorted(random.sample(range(len(names)), 2))
            parts[i] = [i, j]
            del parts[j]
        else:
            order = random.sample(range(len(names)), len(names))
            cut = random.randint(1, len(names) - 1)
            parts = [sorted(order[:cut]), sorted(order[cut:])]
        places = [0] * len(names)
        options: list[tuple[str, Any]] = []
        for place, part in enumerate(parts):
            for k in part:
                places[k] = place
            if len(part) == 1:
                options.append((names[part[0]], criteria[names[part[0]]]))
            elif described:
                name = "_or_".join(names[k] for k in part) if len(part) == 2 else f"part {place + 1}"
                options.append((name, random.choice(("{}", "one of: {}")).format(
                    "; or ".join(shown[k] for k in part))))
            else:
                options.append((" or ".join(shown[k] for k in part), None))
        return _linked(self._texts.choice(said, options, places[right]), tuple(places))

    def _split(
        self, random: Random, said: str, state: str, criteria: _Options, right: int
    ) -> Asked:
        """One option in two parts, by what the text has: the right one half of the time."""
        names = list(criteria)
        k = right if random.random() < 0.5 else random.randrange(len(names))
        has, lacks, told = random.choice(_FEATURES)
        about = criteria[names[k]]
        options: list[tuple[str, Any]] = list(criteria.items())
        options[k : k + 1] = [
            (f"{names[k]} {i + 1}", f"{about}, and {part}") if about else (f"{names[k]}, and {part}", None)
            for i, part in enumerate((has, lacks))
        ]
        places = tuple(i - (i > k) for i in range(len(options)))
        at = right + (right > k) + (right == k and not told(state))
        return _linked(self._texts.choice(said, options, at), places)

    def _renamed(self, random: Random, said: str, criteria: _Options, right: int) -> Asked:
        """Other keys: letters or numbers where options are described, else another way to write them."""
        names = list(criteria)
        order = random.sample(range(len(names)), len(names))
        described = all(criteria.values()) and random.random() < 0.8
        keys = random.choice(("letter", "number", "option"))
        lettered = described and (keys != "letter" or len(names) <= len(_LETTERS))
        style = random.choice("_- ")

        def key(i: int, name: str) -> str:
            if not lettered:
                return _styled(name, style)
            return {"letter": _LETTERS[i % 26], "number": str(i + 1), "option": f"option_{i + 1}"}[keys]

        options = [(key(i, names[k]), criteria[names[k]]) for i, k in enumerate(order)]
        places = tuple(order.index(k) for k in range(len(names)))
        return _linked(self._texts.choice(said, options, places[right]), places)


def _linked(asked: Asked, places: tuple[int, ...]) -> Asked:
    asked.link_to = places
    return asked


def _styled(name: str, style: str) -> str:
    if len(name.split()) >= _LONG_NAME:
        return name
    return name.replace("_", style).replace(" ", style)
