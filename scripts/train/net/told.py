"""What a batch tells its places, collected question by question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Looks:
    """Where heads should look from the last places of questions."""

    rows: np.ndarray
    heads: np.ndarray
    last: np.ndarray
    #: Among the keys that a question sees: its state's, then its own.
    keys: np.ndarray

    @staticmethod
    def of(looks: list[tuple[int, int, int, int]]) -> Looks:
        table = np.array(looks, np.int64).reshape(-1, 4)
        return Looks(*table.T)


@dataclass
class Told:
    """Tokens that should be known at places."""

    places: np.ndarray
    #: Pairs of an index of a place and a token, and the pair's share of the place.
    rows: np.ndarray
    tokens: np.ndarray
    shares: np.ndarray

    @staticmethod
    def of(told: list[tuple[int, list[int]]]) -> Told:
        pairs = [
            (row, token, 1 / len(tokens))
            for row, (_, tokens) in enumerate(told)
            for token in tokens
        ]
        return Told(
            np.array([place for place, _ in told], np.int64),
            np.array([row for row, _, _ in pairs], np.int64),
            np.array([token for _, token, _ in pairs], np.int64),
            np.array([share for _, _, share in pairs], np.float32),
        )


@dataclass
class Columns:
    concept_places: list[int] = field(default_factory=list)
    concepts: list[int] = field(default_factory=list)
    end_places: list[int] = field(default_factory=list)
    end_right: list[bool] = field(default_factory=list)
    relation_places: list[int] = field(default_factory=list)
    relations: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    contents: list[tuple[int, list[int]]] = field(default_factory=list)
    later_contents: list[tuple[int, list[int]]] = field(default_factory=list)
    gists: list[tuple[int, list[int]]] = field(default_factory=list)
    later_gists: list[tuple[int, list[int]]] = field(default_factory=list)
    meanings: list[tuple[int, int]] = field(default_factory=list)
    later_meanings: list[tuple[int, int]] = field(default_factory=list)
    #: Rows of the texts whose meanings are known.
    numbers: Mapping[str, int] = field(default_factory=dict)

    def concept(self, place: int, number: int) -> None:
        if number >= 0:
            self.concept_places.append(place)
            self.concepts.append(number)

    def meaning(self, told: list[tuple[int, int]], place: int, text: str | None) -> None:
        number = self.numbers.get(text) if text else None
        if number is not None:
            told.append((place, number))
