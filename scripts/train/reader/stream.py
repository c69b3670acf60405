"""Batches without end: made in this process, or by others, so that a GPU need not wait for them."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from os import getpid
from pathlib import Path
from random import Random

from net.parent import end_with_parent
from reader.batch import Batch, Packer
from reader.mix import Mix
from reader.passes import Passes
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
    shares: dict[str, float]
    #: Tokens of a batch, about.
    tokens: int

    def batches(self, training: Material, seed: str) -> Iterator[Batch]:
        random = Random(seed)
        words = WordPiece(self.encoder / "tokenizer.json")
        passes = Passes(words)
        mix, packer = Mix(training, words, self.folder, self.shares), Packer(self.tokens, random)
        while True:
            while packer.hungry:
                packer.add(passes.to_learn(mix.one(random), random))
            yield packer.take()


def stream(source: Source, training: Material, seed: str, workers: int) -> Iterator[Batch]:
    """:param workers: Processes that make batches; 0: this one makes them."""
    if workers == 0:
        yield from source.batches(training, seed)
    context = multiprocessing.get_context("spawn")
    queues = [context.Queue(maxsize=_WAITING) for _ in range(workers)]
    for i, queue in enumerate(queues):
        given = (getpid(), source, f"{seed} {i}", queue)
        context.Process(target=_work, args=given, daemon=True).start()
    # Round robin, so that a run with as many workers sees the same batches again.
    while True:
        for queue in queues:
            yield pickle.loads(queue.get())


def _work(parent: int, source: Source, seed: str, queue) -> None:
    end_with_parent(parent)
    for batch in source.batches(load(source.public)[0], seed):
        # As bytes: a tensor would be sent as an open file, of which a process may have few.
        queue.put(pickle.dumps(batch))
