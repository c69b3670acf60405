"""Batches from processes of their own, so that making them never holds up the training."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from os import getpid
from pathlib import Path
from random import Random

from ask.mix import LAST, Mix, Stages
from net.batch import Batch, Batcher
from net.parent import end_with_parent
from source.assemble import load
from tokens.meanings import Meanings
from tokens.prompt import Prompter
from tokens.vocabulary import LABELS, Vocabulary

# Of the groups, how many have other labels than the server would take: so that the later labels
# are learned in short prompts, and an option's place says nothing about its label.
_OTHER_LABELS = 0.3


class Stream:
    def __init__(
        self,
        public: Path | None,
        tokenizer: Path,
        folder: Path,
        tokens: int,
        seed: int,
        workers: int,
    ) -> None:
        """
        :param folder: With words' vectors, WordNet and texts' meanings.
        :param tokens: Of a batch, about.
        """
        context = multiprocessing.get_context("spawn")
        self._stages = context.Array("i", len(LAST))
        self._queues = [context.Queue(maxsize=4) for _ in range(workers)]
        self._workers = [
            context.Process(
                target=_work,
                args=(getpid(), f"{seed} {i}", queue, self._stages, public, tokenizer, folder, tokens),
                daemon=True,
            )
            for i, queue in enumerate(self._queues)
        ]
        for worker in self._workers:
            worker.start()

    def turn_to(self, stages: Stages) -> None:
        """What is made from now on; a few batches wait that were made before."""
        self._stages[:] = stages

    def __iter__(self) -> Iterator[Batch]:
        # Round robin, so that a run with as many workers sees the same batches again.
        while True:
            for queue in self._queues:
                yield queue.get()

    def close(self) -> None:
        for worker in self._workers:
            worker.terminate()


def _work(
    parent: int,
    seed: str,
    queue,
    shared,
    public: Path | None,
    tokenizer: Path,
    folder: Path,
    tokens: int,
) -> None:
    end_with_parent(parent)
    training, _ = load(public)
    vocabulary = Vocabulary.read(tokenizer)
    meanings = Meanings(folder)
    mix, batcher = Mix(training, vocabulary, meanings), Batcher(tokens, meanings.numbers)
    prompter, random = Prompter(vocabulary), Random(seed)
    every = range(len(LABELS))
    while True:
        stages = Stages(*shared[:])
        group = mix.one(random, stages)
        labels = random.sample(every, len(LABELS)) if random.random() < _OTHER_LABELS else None
        for batch in batcher.add(prompter.ask(group, labels), stages):
            queue.put(batch)
