#!/usr/bin/env python3
"""Trains the model: endless examples, for a given time, with checkpoints to go on from."""

from __future__ import annotations

import argparse
import math
import os
import random
import time
from pathlib import Path

from net.processor import has_avx512

# Before torch is loaded: it takes AVX2 where there is more, and every core for each process.
if has_avx512():
    os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx512")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from ask.mix import Stages, concept_numbers
from ask.sets import evaluation_sets
from export.read import read_gguf
from net.begin import begin, begin_comparing, begin_helpers, columns_of
from net.checkpoint import Checkpoint
from net.heap import keep_freed_memory
from net.log import Log, rounded
from net.losses import Helpers, Weights, outcome
from net.muon import Optimizer
from net.network import Network
from net.schedule import HEADS_ALONE_STEPS, Curriculum, rate_scale
from net.shape import SIZES, shape_of
from net.start import start_from, trained_before
from net.stream import Stream
from net.team import Team, run_team
from net.watch import Watch
from source.assemble import load
from tokens.meanings import Meanings
from tokens.prompt import Prompter
from tokens.vectors import read_token_vectors
from tokens.vocabulary import Vocabulary


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--public", type=Path, help="folder of banking77 and clinc150")
    options.add_argument("--tokenizer", type=Path, default=Path("build/train/tokenizer.json"))
    options.add_argument("--folder", type=Path, default=Path("build/train"))
    options.add_argument("--out", type=Path, default=Path("build/train/run"))
    options.add_argument("--start", type=Path, help="model file to go on from, with its tokenizer")
    options.add_argument("--size", choices=SIZES, default="small")
    options.add_argument("--minutes", type=float, default=150, help="of training, in all")
    options.add_argument("--batch", type=int, default=4096, help="tokens of a step, about")
    options.add_argument("--processes", type=int, default=2, help="one for each core; 1 on a GPU")
    options.add_argument("--threads", type=int, default=1, help="of each process")
    options.add_argument("--workers", type=int, default=1, help="that make examples, of each")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options.add_argument("--matrix-rate", type=float, default=0.02)
    options.add_argument("--token-rate", type=float, default=0.03)
    options.add_argument("--lift-rate", type=float, default=2e-4)
    options.add_argument("--other-rate", type=float, default=3e-3)
    options.add_argument("--watch-minutes", type=float, default=10, help="between figures")
    options.add_argument("--watch-rows", type=int, default=200, help="of each held-out set")
    return options.parse_args()


def main() -> None:
    given = arguments()
    if given.device != "cpu" and given.processes > 1:
        raise SystemExit("Processes share parameters in the computer's memory: one on a GPU.")
    given.out.mkdir(parents=True, exist_ok=True)
    run_team(given.processes, train, given)


def train(team: Team, given: argparse.Namespace) -> None:
    torch.set_num_threads(given.threads)
    torch.set_flush_denormal(True)
    keep_freed_memory()
    torch.manual_seed(given.seed)
    random.seed(given.seed)

    training, held = load(given.public)
    vocabulary = Vocabulary.read(given.tokenizer)
    prompter = Prompter(vocabulary)
    shape = shape_of(given.size, len(vocabulary.tokens))
    vectors = read_token_vectors(given.folder / "tokens.npz")
    labels = list(zip(prompter.line_labels, prompter.labels))
    network = Network(shape, labels, columns_of(vectors))
    gists = torch.from_numpy(vectors.gists)
    meanings = torch.from_numpy(Meanings(given.folder).vectors.astype(np.float16))
    start = read_gguf(given.start) if given.start else None
    if start:
        start_from(start, network)
    else:
        begin(network, vectors)
    helpers = Helpers(shape.width, len(concept_numbers(training)), gists, meanings)
    network, helpers = network.to(given.device), helpers.to(given.device)
    optimizer = Optimizer(
        network,
        helpers,
        team,
        matrix_rate=given.matrix_rate,
        token_rate=given.token_rate,
        lift_rate=given.lift_rate,
        other_rate=given.other_rate,
    )
    curriculum = Curriculum(from_file=start is not None)
    checkpoint = Checkpoint(given.out / "checkpoint.pt", network, helpers, optimizer, curriculum)
    progress = checkpoint.load()
    if start and progress.starts == 1:
        progress.before = trained_before(start)
    from_file = bool(progress.before)
    watch = Watch(evaluation_sets(held, "tune", rows=given.watch_rows), prompter)
    # A run that goes on sees other examples than before, and every process its own.
    seed = given.seed + 1000 * progress.starts + 100 * team.rank
    stream = Stream(
        given.public, given.tokenizer, given.folder, given.batch, seed, given.workers
    )
    log = Log(given.out / "log.jsonl" if team.leads else None)
    log.write({"event": "start", "parameters": shape.parameters, **words(given)})
    if not start and progress.starts == 1:
        stream.turn_to(curriculum.stages)
        if team.leads:
            cosines = begin_helpers(helpers, network, stream, given.device)
            begin_comparing(helpers, network)
            log.write({"event": "begin", **rounded(cosines)})
        team.wait()

    begun, total = time.monotonic() - progress.seconds, given.minutes * 60
    next_watch, next_save = progress.seconds + given.watch_minutes * 60, progress.seconds + 120
    for batch in stream:
        seconds, *stages = team.told(time.monotonic() - begun, *curriculum.stages)
        share = min(1.0, seconds / total)
        stream.turn_to(Stages(*map(int, stages)))
        result = outcome(network, helpers, batch, given.device, Weights())
        if not math.isfinite(float(result.loss.detach())):
            raise SystemExit(f"step {progress.steps}: the loss is no number")
        optimizer.gradients.zero_()
        result.loss.backward()
        optimizer.step(
            rate_scale(share, progress.steps, from_file),
            heads_alone=from_file and progress.steps < HEADS_ALONE_STEPS,
        )
        progress.count(batch, seconds, team.size)
        curriculum.see(batch, result.correct, share)
        log.gather(result.parts, batch.tasks, result.correct.tolist())
        if progress.steps % 20 == 0:
            log.write_means({"event": "step", **progress.figures(), "stages": batch.stages})
        if team.leads and (seconds > next_watch or share >= 1):
            found = watch.figures(network, given.device)
            log.write({"event": "watch", **progress.figures(), **rounded(found)})
            next_watch = seconds + given.watch_minutes * 60
        if team.leads and (seconds > next_save or share >= 1):
            checkpoint.save(progress)
            next_save = seconds + 120
        if share >= 1:
            break
    stream.close()


def words(given: argparse.Namespace) -> dict[str, object]:
    """The options, without the folders of this machine."""
    return {name: value for name, value in vars(given).items() if not isinstance(value, Path)}


if __name__ == "__main__":
    main()
