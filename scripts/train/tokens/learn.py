"""Byte-pair merges, learned from counted pretokens.

The usual algorithm: join the most frequent pair, again and again. Counts of pairs are kept up to
date from the words that a merge changes, and a heap with stale entries finds the next one.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable

from tokens.vocabulary import BYTE_CHARACTERS

Pair = tuple[str, str]


def learn_merges(words: Counter[str], first: list[Pair], count: int) -> list[Pair]:
    """
    :param words: How often each pretoken stands in the text.
    :param first: Merges that there must be, before all others.
    :param count: Tokens that merges make, in all; fewer if no pair is left that stands twice.
    """
    learner = _Learner(words)
    for pair in first:
        learner.merge(pair)
    merges = list(first)
    made = {left + right for left, right in first}
    while len(made) < count:
        pair = learner.most_frequent()
        if pair is None:
            break
        learner.merge(pair)
        merges.append(pair)
        # Two merges can make the same token in two ways.
        made.add(pair[0] + pair[1])
    return merges


def whole_words(merges: list[Pair], words: Iterable[str], count: int) -> list[Pair]:
    """Merges that make each word one token, behind all others, which they never get in the way of.

    :param words: Pretokens, the most important first.
    :param count: Tokens that merges make, in all.
    :returns: All merges.
    """
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    made = {left + right for left, right in ranks}
    for word in words:
        left, *rest = apply_merges(ranks, [BYTE_CHARACTERS[byte] for byte in word.encode()])
        for right in rest:
            if len(made) == count:
                return list(ranks)
            ranks.setdefault((left, right), len(ranks))
            left += right
            made.add(left)
    return list(ranks)


def apply_merges(ranks: dict[Pair, int], parts: list[str]) -> list[str]:
    """A pretoken's bytes as tokens: the earliest merge that fits, again and again."""
    none = len(ranks)
    while len(parts) > 1:
        rank, at = min((ranks.get(pair, none), i) for i, pair in enumerate(zip(parts, parts[1:])))
        if rank == none:
            break
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts


class _Learner:
    def __init__(self, words: Counter[str]) -> None:
        self._parts = [[BYTE_CHARACTERS[b] for b in word.encode()] for word in words]
        self._counts = list(words.values())
        self._pairs: Counter[Pair] = Counter()
        self._where: defaultdict[Pair, set[int]] = defaultdict(set)
        for i in range(len(self._parts)):
            self._count(i, self._counts[i])
        self._heap = [(-n, pair) for pair, n in self._pairs.items()]
        heapq.heapify(self._heap)

    def most_frequent(self) -> Pair | None:
        """Ties go to the pair that sorts first, so that a run can be repeated."""
        while self._heap:
            negative, pair = heapq.heappop(self._heap)
            now = self._pairs[pair]
            if now == -negative:
                return pair if now > 1 else None
            if now > 1:
                heapq.heappush(self._heap, (-now, pair))
        return None

    def merge(self, pair: Pair) -> None:
        changed: set[Pair] = set()
        for i in list(self._where[pair]):
            self._count(i, -self._counts[i])
            self._parts[i] = _joined(self._parts[i], pair)
            self._count(i, self._counts[i])
            changed.update(zip(self._parts[i], self._parts[i][1:]))
        for other in sorted(changed):
            heapq.heappush(self._heap, (-self._pairs[other], other))

    def _count(self, i: int, times: int) -> None:
        parts = self._parts[i]
        for pair in zip(parts, parts[1:]):
            self._pairs[pair] += times
            (self._where[pair].add if times > 0 else self._where[pair].discard)(i)


def _joined(parts: list[str], pair: Pair) -> list[str]:
    joined: list[str] = []
    i = 0
    while i < len(parts):
        if tuple(parts[i : i + 2]) == pair:
            joined.append(pair[0] + pair[1])
            i += 2
        else:
            joined.append(parts[i])
            i += 1
    return joined
