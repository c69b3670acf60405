"""Groups of a state and its questions as rows of tokens, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

NOUL, CHOICE, SCORE = range(3)


@dataclass(slots=True)
class Asked:
    """A question in tokens, with its right answer."""

    kind: int
    #: 1 for yes; else the right option's place.
    answer: int
    #: Between ``[CLS]`` and the last ``[SEP]``, with those between its segments.
    question: Sequence[int]
    options: list[Sequence[int]] = field(default_factory=list)
    #: Which relations of text and statement are possible, one bit each; 0 if none is asked for.
    relations: int = 0
    #: The place in its group of the finer question whose outcomes its own are sums of
    #: (see ``twins.py``), or -1.
    twin: int = -1
    link_to: tuple[int, ...] = ()


@dataclass(slots=True)
class Group:
    source: int
    state: Sequence[int]
    asked: list[Asked]

    def size(self) -> int:
        return len(self.state) + 2 + sum(map(size_of, self.asked))


def size_of(asked: Asked) -> int:
    return len(asked.question) + 2 + sum(len(option) + 2 for option in asked.options)


@dataclass(frozen=True)
class Special:
    begin: int
    end: int
    marker: int


class Row:
    """One group's tokens, positions, and who sees whom.

    A token has the number of its part (``owner``) and the number of the part above it
    (``above``): it sees its own part, the one above, and the state.
    """

    def __init__(self, group: Group, special: Special, shift: int = 0) -> None:
        """:param shift: The state's first position."""
        tokens = [special.begin, *group.state, special.end]
        size = len(tokens)
        positions = list(range(size))
        owners, above, types = [0] * size, [0] * size, [0] * size
        self.questions: list[int] = []
        #: Of each question the places of what is read.
        self.reads: list[list[int]] = []
        part = 0
        for asked in group.asked:
            part += 1
            number = part
            begin = len(tokens)
            length = len(asked.question) + 2
            tokens += (special.begin, *asked.question, special.end)
            positions += range(size, size + length)
            owners += [number] * length
            above += [0] * length
            types += [1] * length
            self.questions.append(begin)
            reads = [] if asked.options else [begin]
            at = behind = size + length
            together = asked.kind == SCORE
            for i, option in enumerate(asked.options):
                if i == 0 or not together:
                    part += 1
                    at = behind
                reads.append(len(tokens))
                length = len(option) + 2
                tokens += (special.marker, *option, special.end)
                positions += range(at, at + length)
                at += length
                owners += [part] * length
                above += [number] * length
                types += [2] * length
            self.reads.append(reads)
        self.tokens = tokens
        self.positions = [position + shift for position in positions] if shift else positions
        self.owners, self.above, self.types = owners, above, types
        self.asked = group.asked
        self.source = group.source


#: Of a batch, what is in a tensor.
_ARRAYS = (
    "tokens", "positions", "types", "owners", "above", "wanted", "reads", "kinds", "of", "first",
    "questions", "is_noul", "answers", "relations", "twins", "firsts",
)  # fmt: skip


class Batch:
    """Rows side by side, as tensors.

    ``wanted``: of each row, where the tokens stand whose last states are wanted. ``reads``,
    ``kinds``, ``of``: of each place that is read, where it is among these, its kind and its question.
    ``first``, ``questions``, ``answers``: of each question the first of its places, where its
    ``[CLS]`` is among these, and its right outcome.
    """

    def __init__(self, rows: list[Row], pad: int = 0) -> None:
        self.size = size = -(-max(len(row.tokens) for row in rows) // 8) * 8
        self.real = sum(len(row.tokens) for row in rows)

        def whole(name: str, filler: int) -> np.ndarray:
            found = np.full((len(rows), size), filler, np.int32)
            for i, row in enumerate(rows):
                found[i, : len(row.tokens)] = getattr(row, name)
            return found

        self.tokens, self.positions = whole("tokens", pad), whole("positions", 0)
        self.types = whole("types", 0)
        # Padding is seen by padding alone.
        self.owners, self.above = whole("owners", -1), whole("above", -1)
        self.asked = [asked for row in rows for asked in row.asked]
        self.sources = [row.source for row in rows for _ in row.asked]
        self._groups = Counter(row.source for row in rows)
        reads: list[int] = []
        kinds, of, questions, first = [], [], [], []
        twins, firsts = [], []
        #: Of each linked question, where the outcomes of the finer one go.
        self.links: list[tuple[int, ...]] = []
        self.wanted = wanted_of(rows)
        width = self.wanted.shape[1]
        for i, row in enumerate(rows):
            base = len(questions)
            # The filler is the state's first token, which nobody reads.
            at = {int(place): i * width + k for k, place in enumerate(self.wanted[i])}
            for asked, places, question in zip(row.asked, row.reads, row.questions):
                if asked.twin >= 0:
                    twins.append(len(questions))
                    firsts.append(base + asked.twin)
                    self.links.append(asked.link_to)
                first.append(len(reads))
                kinds += [asked.kind] * len(places)
                of += [len(questions)] * len(places)
                reads += [at[place] for place in places]
                questions.append(at[question])
        self.reads, self.kinds, self.of = map(np.array, (reads, kinds, of))
        self.first, self.questions = np.array(first), np.array(questions)
        self.twins, self.firsts = np.array(twins, np.int64), np.array(firsts, np.int64)
        self.is_noul = np.array([asked.kind == NOUL for asked in self.asked])
        self.answers = np.array([asked.answer for asked in self.asked])
        possible = [[asked.relations >> bit & 1 for bit in range(3)] for asked in self.asked]
        self.relations = np.array(possible, bool)

    def groups(self, names: Sequence[str]) -> Counter[str]:
        """How many of each source."""
        return Counter({names[source]: count for source, count in self._groups.items()})

    def to(self, device: torch.device | str) -> Batch:
        """Its arrays become tensors."""
        for name in _ARRAYS:
            tensor = torch.from_numpy(getattr(self, name)).to(device, non_blocking=True)
            setattr(self, name, tensor)
        return self

    def mask(self) -> Tensor:
        """Rows × 1 × queries × keys: what sees what."""
        mine, key = self.owners.unsqueeze(2), self.owners.unsqueeze(1)
        seen = (mine == key) | (self.above.unsqueeze(2) == key) | ((key == 0) & (mine >= 0))
        return seen.unsqueeze(1)


def wanted_of(rows: list[Row]) -> np.ndarray:
    """Places of questions and of what is read, each once; then the first token's, again and again."""
    found = [{*row.questions, *(place for of in row.reads for place in of)} for row in rows]
    wanted = np.zeros((len(rows), max(map(len, found))), np.int64)
    for i, places in enumerate(found):
        wanted[i, : len(places)] = sorted(places)
    return wanted
