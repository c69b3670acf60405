#!/usr/bin/env python3
"""Teaches a trained network what it and others, of which texts alone are read, know together."""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

from net.processor import has_avx512

# Before torch is loaded, as in train.py.
if has_avx512():
    os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx512")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

from ask.sets import evaluation_sets
from net.log import Log
from net.team import Team, run_team
from reader.adam import Adam
from reader.mix import Stage
from reader.network import Network
from reader.passes import MARKER, Passes
from reader.run import Keeper, load_run, mean_network, start_from
from reader.start import pretrained
from reader.stream import Source, Stream
from reader.teachers import Teachers, answers_loss
from reader.watch import Watch
from reader.wordpiece import WordPiece
from source.assemble import load

#: Shares of groups, by task: topics, which are taught, and all else, which is to stay.
_SHARES = {
    "scale": 0.22, "reading": 0.17, "decision": 0.17, "concept": 0.11, "check": 0.1, "number": 0.08,
    "record": 0.08, "sense": 0.04, "matching": 0.01, "valence": 0.01, "stray": 0.01,
}  # fmt: skip
# Of the likeness' loss, which is in logits squared, beside the answers'.
_LIKENESS = 0.1


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("encoder", type=Path, help="folder of all-MiniLM-L6-v2")
    options.add_argument("--public", type=Path, help="folder of banking77 and clinc150")
    options.add_argument("--folder", type=Path, default=Path("build/train"))
    options.add_argument("--start", type=Path, required=True, help="checkpoint or model file")
    options.add_argument(
        "--answering", type=Path, nargs="*", help="whose mean answers are taught; else its own"
    )
    options.add_argument("--alone", type=Path, nargs="*", default=[], help="others, whose mean is taken")
    options.add_argument("--weight", type=float, default=25, help="of the others' cosines")
    options.add_argument(
        "--encoder-weight", type=float, default=15, help="of the pretrained encoder's"
    )
    options.add_argument(
        "--checked", type=float, default=0.5, help="of both, for yes to what a text is about"
    )
    options.add_argument("--out", type=Path, default=Path("build/train/distilled"))
    options.add_argument("--minutes", type=float, default=40)
    options.add_argument("--batch", type=int, default=1024, help="tokens of a batch, about")
    options.add_argument("--processes", type=int, default=2, help="one for each core; 1 on a GPU")
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options.add_argument("--workers", type=int, default=0, help="that make batches, of each process")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--rate", type=float, default=7e-5, help="of the layers")
    options.add_argument("--shares", type=json.loads, default=_SHARES, help="of tasks, in JSON")
    options.add_argument("--watch-minutes", type=float, default=10, help="between figures")
    options.add_argument("--watch-rows", type=int, default=80, help="of each held-out set")
    return options.parse_args()


def main() -> None:
    given = arguments()
    given.out.mkdir(parents=True, exist_ok=True)
    run_team(given.processes, distil, given)


def distil(team: Team, given: argparse.Namespace) -> None:
    training, held = load(given.public)
    words = WordPiece(given.encoder / "tokenizer.json")

    def loaded(path: Path | None) -> Network:
        network = pretrained(given.encoder, words, MARKER)
        if path:
            start_from(path, network)
        network.to(given.device).recast()
        return network

    passes, checkpoint = Passes(words), given.out / "checkpoint.pt"
    network = pretrained(given.encoder, words, MARKER)
    progress = start_from(given.start, network)
    network.to(given.device)
    others = [(loaded(None), given.encoder_weight)]
    if given.alone:
        others.append((mean_network([loaded(path) for path in given.alone]), given.weight))
    answering = [loaded(path) for path in given.answering or [given.start]]
    teachers = Teachers(answering, others, given.checked)
    heads = ("alone_gate", "question_gate", "hidden", "output", "marker")
    rates = {"": given.rate, **dict.fromkeys(heads, 4 * given.rate), "alone_scale": 0.005}
    optimizer = Adam(team, list(network.named_parameters()), rates, decay=0.02)
    if checkpoint.exists():
        progress = load_run(checkpoint, network, optimizer)
    network.recast()
    team.wait()
    seed = f"{given.seed} {progress.starts} {team.rank}"
    stages = [Stage(1.0, given.shares)]
    source = Source(given.encoder, given.public, given.folder, stages, given.batch, 0)
    batches = Stream(source, training, seed, given.workers)
    sets = evaluation_sets(held, "tune", rows=given.watch_rows)
    watch = Watch(team, sets, passes, given.watch_rows)
    log = Log(given.out / "log.jsonl" if team.leads else None)

    parts = network, optimizer, progress
    keeper = Keeper(team, checkpoint, parts, watch, log, given.watch_minutes)
    begun, total = time.monotonic() - progress.seconds, given.minutes * 60
    while True:
        (seconds,) = team.told(time.monotonic() - begun)
        share = min(1.0, seconds / total)
        keeper.look(seconds, share)
        if share >= 1:
            break
        optimizer.gradients.zero_()
        some, batch = batches.texts(), batches.next(share)
        likeness = teachers.likeness_loss(network, some)
        (_LIKENESS * likeness).backward()
        logits = network(batch)
        loss = answers_loss(logits, teachers.logits(batch))
        loss.backward()
        parts = {"loss": float(loss.detach()), "likeness": float(likeness.detach())}
        log.gather(parts, [], [])
        progress.count(some, team.size)
        progress.count(batch, team.size)
        # Up within 50 steps, level, and down to nothing in the second half.
        optimizer.step(min(1.0, (progress.steps + 1) / 50, (1 - share) * 2))
        network.recast()
        progress.steps, progress.seconds = progress.steps + 1, seconds
        if progress.steps % 20 == 0:
            log.write_means({"event": "step", **progress.figures()})


if __name__ == "__main__":
    main()
