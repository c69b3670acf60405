"""Batches without end: made in this process, or by others, so that a GPU need not wait for them."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from os import getpid
from pathlib import Path
from random import Random
from typing import TypeVar

from net.parent import end_with_parent
from reader.any_texts import AnyTexts
from reader.batch import Batch, Packer
from reader.mix import Mix, Stage
from reader.pairs import Pairs
from reader.passes import Passes
from reader.rows import Rows
from reader.texts import Texts
from reader.wordpiece import WordPiece
from source.assemble import load
from source.material import Material

# Batches that wait, of each worker.
_WAITING = 4


@dataclass(frozen=True)
class Source:
    """What batches are made of."""

    encoder: Path
    public: Path | None
    #: With WordNet and the lexicon.
    folder: Path
    stages: Sequence[Stage]
    #: Tokens of a batch, about.
    tokens: int
    #: Concepts of a batch of texts alone, about.
    concepts: int

    def batches(self, stage: int, training: Material, seed: str) -> Iterator[Batch]:
        random = Random(f"{seed} {stage}")
        words = WordPiece(self.encoder / "tokenizer.json")
        passes, shares = Passes(words), self.stages[stage].shares
        mix, packer = Mix(training, words, self.folder, shares), Packer(self.tokens, random)
        while True:
            while packer.hungry:
                packer.add(passes.to_learn(mix.one(random), random))
            yield packer.take()

    def pairs(self, training: Material, seed: str) -> Iterator[Texts]:
        random = Random(f"{seed} pairs")
        pairs = Pairs(training, WordPiece(self.encoder / "tokenizer.json"), self.concepts)
        while True:
            yield pairs.batch(random)

    def texts(self, training: Material, seed: str) -> Iterator[Texts]:
        random = Random(f"{seed} texts")
        texts = AnyTexts(training, WordPiece(self.encoder / "tokenizer.json"), self.folder)
        while True:
            yield texts.batch(random)


Made = TypeVar("Made", bound=Rows)
Maker = Callable[[Material, str], Iterator[Made]]


class Stream:
    """Batches of the stage that a run is in, and texts alone."""

    def __init__(self, source: Source, training: Material, seed: str, workers: int) -> None:
        """:param workers: Processes that make batches; 0: this one makes them."""
        self._source, self._training = source, training
        self._seed, self._workers = seed, workers
        self._stage = -1
        self._batches: Generator[Batch, None, None] | None = None
        self._pairs = self._made(source.pairs, min(1, workers))
        self._texts = self._made(source.texts, min(1, workers))

    def next(self, share: float) -> Batch:
        """:param share: Of the run, how much is over."""
        stage = sum(share >= one.until for one in self._source.stages[:-1])
        if stage != self._stage or self._batches is None:
            if self._batches:
                self._batches.close()
            self._stage = stage
            self._batches = self._made(partial(self._source.batches, stage), self._workers)
        return next(self._batches)

    def pairs(self) -> Texts:
        """Texts, and behind them as many names or descriptions, in the same order."""
        return next(self._pairs)

    def texts(self) -> Texts:
        """Of all kinds."""
        return next(self._texts)

    def _made(self, maker: Maker[Made], workers: int) -> Generator[Made, None, None]:
        if workers == 0:
            yield from maker(self._training, self._seed)
        context = multiprocessing.get_context("spawn")
        queues = [context.Queue(maxsize=_WAITING) for _ in range(workers)]
        processes = []
        for i, queue in enumerate(queues):
            given = (getpid(), maker, self._source.public, f"{self._seed} {i}", queue)
            processes.append(context.Process(target=_work, args=given, daemon=True))
            processes[-1].start()
        try:
            # Round robin, so that a run with as many workers sees the same batches again.
            while True:
                for queue in queues:
                    yield pickle.loads(queue.get())
        finally:
            for process in processes:
                process.terminate()


def _work(parent: int, maker: Maker[Rows], public: Path | None, seed: str, queue) -> None:
    end_with_parent(parent)
    for made in maker(load(public)[0], seed):
        # As bytes: a tensor would be sent as an open file, of which a process may have few.
        queue.put(pickle.dumps(made))
