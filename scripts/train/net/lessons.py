"""What the places of questions are told, and where their heads are taught to look."""

from __future__ import annotations

from dataclasses import dataclass

from ask.question import Choice, Noul, Score
from net.told import Columns
from tokens.prompt import AskedGroup, AskedQuestion

# A row of the bucket, a head, a place of the row that looks, and the key that it looks at.
Look = tuple[int, int, int, int]


@dataclass(frozen=True)
class Place:
    """Where a question stands."""

    #: Of its bucket.
    row: int
    #: In the flat list.
    first: int
    #: Number of its state.
    state: int


@dataclass(frozen=True)
class Heads:
    """Which ones of a layer look at what."""

    #: At the option that is right.
    comparing: tuple[int, ...]
    #: Whether two things are the same: at the other one, or at one's own place.
    sameness: tuple[int, ...]
    #: At what decides, and what it is compared with: each has one thing to look at.
    deciding: tuple[int, ...]


# What a text is about, and what a value is, are compared by heads of their own. What a text is
# about is known at its end, and is more than one head can carry.
_OF_TEXTS = Heads((0, 1, 2), (0, 1, 2), (0, 3))
_OF_VALUES = Heads((2,), (3,), (1, 2, 0))
# Carries a text once more, for the layer behind, where more of it is known.
_AGAIN = 3


def is_about(group: AskedGroup) -> bool:
    """Whether questions are about the whole text, and not about a value in it."""
    return group.group.task not in ("record", "number")


class Lessons:
    """Of the questions of one bucket."""

    def __init__(self, columns: Columns, state_size: int) -> None:
        """:param columns: Gather what is told."""
        self._columns, self._state_size = columns, state_size
        self.evidence: list[Look] = []
        self.right: list[Look] = []
        #: In the first of the layers that look at right options alone.
        self.more: list[Look] = []

    def add(self, place: Place, group: AskedGroup, asked: AskedQuestion) -> None:
        last = place.first + len(asked.tokens) - 1
        heads = _OF_TEXTS if is_about(group) else _OF_VALUES
        self._columns.last.append(last)
        if isinstance(asked.question, Noul):
            self._noul(place, group, asked, asked.question, heads)
        else:
            self._options(place, group, asked)
        self._ends(place, group, asked, heads)
        self._deciding(place, group, asked, heads)
        self._contents(place, asked)
        if not isinstance(asked.question, Score) and asked.question.relation >= 0:
            self._columns.relation_places.append(last)
            self._columns.relations.append(asked.question.relation)

    def _noul(
        self, place: Place, group: AskedGroup, asked: AskedQuestion, question: Noul, heads: Heads
    ) -> None:
        columns, last = self._columns, len(asked.tokens) - 1
        columns.concept(place.first + last, group.group.concept)
        # What is asked about: known where it ends.
        meaning = next((end for option, end in asked.ends if option == 1), last - 1)
        columns.concept(place.first + meaning, question.concept)
        columns.meaning(columns.later_meanings, place.first + meaning, question.meaning)
        if question.concept >= 0:
            columns.later_gists.append((place.first + meaning, asked.tokens[: meaning + 1]))
        if question.asked and asked.bounds:
            same = question.asked == question.value
            self._same(place, last, self._own(asked.bounds[0] if same else last), heads)
        elif question.presence is not None:
            key = asked.evidence[0] if question.presence else self._own(last)
            self._same(place, last, key, heads)
            if not question.presence:
                self.evidence.append((place.row, heads.deciding[0], last, key))
        elif question.concept >= 0 or question.meaning:
            same = question.answer
            if question.concept >= 0:
                same = question.concept == group.group.concept
            self._same(place, last, self._own(meaning if same else last), heads)
            if not asked.ends:
                columns.end_places.append(place.first + meaning)
                columns.end_right.append(same)
                self._read(place, [meaning], group, heads)

    def _same(self, place: Place, last: int, key: int, heads: Heads) -> None:
        self.right += [(place.row, head, last, key) for head in heads.sameness]

    def _options(self, place: Place, group: AskedGroup, asked: AskedQuestion) -> None:
        columns, question = self._columns, asked.question
        options = question.options if isinstance(question, Choice) else question.levels
        columns.concept(place.first + len(asked.tokens) - 1, options[asked.answer].concept)
        for option, end in asked.ends:
            columns.concept(place.first + end, options[option].concept)
            columns.meaning(columns.later_meanings, place.first + end, options[option].meaning)
        if is_about(group):
            for (_, end), begin in zip(asked.ends, asked.begins, strict=True):
                columns.later_gists.append((place.first + end, asked.tokens[begin:end]))

    def _ends(self, place: Place, group: AskedGroup, asked: AskedQuestion, heads: Heads) -> None:
        columns, last = self._columns, len(asked.tokens) - 1
        right = [end for option, end in asked.ends if option == asked.answer]
        wrong = [end for option, end in asked.ends if option != asked.answer]
        for option, end in asked.ends:
            columns.end_places.append(place.first + end)
            columns.end_right.append(option == asked.answer)
        for end in right:
            self.right += [(place.row, head, last, self._own(end)) for head in heads.comparing]
        if is_about(group):
            # An option sees itself whether it is right: a layer's products compare more than heads.
            self._read(place, right + wrong[-1:], group, heads)

    def _read(self, place: Place, ats: list[int], group: AskedGroup, heads: Heads) -> None:
        """What the state is about is carried to places of the question."""
        text = len(group.state) - 1
        self.evidence += [(place.row, head, at, text) for head in heads.deciding for at in ats]

    def _deciding(
        self, place: Place, group: AskedGroup, asked: AskedQuestion, heads: Heads
    ) -> None:
        last = len(asked.tokens) - 1
        keys = asked.evidence + [self._own(bound) for bound in asked.bounds]
        if not keys and is_about(group):
            self._read(place, [last], group, heads)
            self.more.append((place.row, _AGAIN, last, len(group.state) - 1))
        self.evidence += [
            (place.row, head, last, key) for head, key in zip(heads.deciding, keys)
        ]

    def _contents(self, place: Place, asked: AskedQuestion) -> None:
        """Values, where they end and where they are compared."""
        columns, known = self._columns, asked.contents.evidence
        if not known:
            return
        columns.contents.append((place.state * self._state_size + asked.evidence[0], known))
        columns.later_contents.append((place.first + len(asked.tokens) - 1, known))
        if isinstance(asked.question, Noul):
            bound, other = asked.bounds[0], asked.contents.others[0]
            columns.contents.append((place.first + bound, other))
            return
        for (_, end), other in zip(asked.ends, asked.contents.others, strict=True):
            columns.later_contents.append((place.first + end, other))

    def _own(self, place: int) -> int:
        """The key of a place of the question: those of the state come first."""
        return self._state_size + place
