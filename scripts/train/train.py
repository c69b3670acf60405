#!/usr/bin/env python3
"""Trains the model from a pretrained encoder: endless examples, for a given time."""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from pathlib import Path

from net.processor import has_avx512

# Before torch is loaded: it takes AVX2 where there is more, and every core for each process.
if has_avx512():
    os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx512")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from torch.nn import functional as F

from ask.sets import evaluation_sets
from net.log import Log
from net.team import Team, run_team
from reader.adam import Adam
from reader.mix import STAGES, Stage
from reader.network import Network
from reader.pairs import pairs_loss
from reader.passes import MARKER, Passes
from reader.run import Keeper, Progress, load_run, start_from
from reader.start import pretrained
from reader.stream import Source, Stream
from reader.texts import Texts
from reader.watch import Watch
from reader.wordpiece import WordPiece
from source.assemble import load


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("encoder", type=Path, help="folder of all-MiniLM-L6-v2")
    options.add_argument("--public", type=Path, help="folder of banking77 and clinc150")
    options.add_argument("--folder", type=Path, default=Path("build/train"))
    options.add_argument("--out", type=Path, default=Path("build/train/run"))
    options.add_argument("--start", type=Path, help="checkpoint or model file to go on from")
    options.add_argument("--minutes", type=float, default=150, help="of training, in all")
    options.add_argument("--tokens", type=float, help="millions, in all; instead of minutes")
    options.add_argument("--batch", type=int, default=2048, help="tokens of a batch, about")
    options.add_argument("--batches", type=int, default=1, help="of a step, of each process")
    options.add_argument("--processes", type=int, default=2, help="one for each core; 1 on a GPU")
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options.add_argument("--workers", type=int, default=0, help="that make batches, of each process")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--rate", type=float, default=1e-4, help="of the layers")
    options.add_argument("--head-rate", type=float, default=1e-3)
    options.add_argument(
        "--pairs-first", type=float, default=0.15, help="share of the time for texts alone"
    )
    options.add_argument("--pairs-every", type=int, default=5, help="steps, afterwards")
    options.add_argument("--pairs", type=int, default=96, help="texts alone of a batch, and names")
    options.add_argument("--dropout", type=float, default=0.0, help="of what layers add")
    options.add_argument("--frozen", type=int, default=0, help="lowest layers that stay")
    options.add_argument("--looks", type=float, default=0.2, help="of what markers look at")
    options.add_argument("--decay", type=float, default=0.02)
    options.add_argument("--shares", type=json.loads, help="of tasks, in JSON: no other stages")
    options.add_argument("--watch-minutes", type=float, default=15, help="between figures")
    options.add_argument("--watch-rows", type=int, default=80, help="of each held-out set")
    return options.parse_args()


def main() -> None:
    given = arguments()
    if given.device != "cpu" and given.processes > 1:
        raise SystemExit("Processes share parameters in the computer's memory: one on a GPU.")
    given.out.mkdir(parents=True, exist_ok=True)
    run_team(given.processes, train, given)


def train(team: Team, given: argparse.Namespace) -> None:
    torch.manual_seed(given.seed)
    training, held = load(given.public)
    words = WordPiece(given.encoder / "tokenizer.json")
    network = pretrained(given.encoder, words, MARKER)
    progress, checkpoint = Progress(), given.out / "checkpoint.pt"
    if given.start and not checkpoint.exists():
        progress = start_from(given.start, network)
    network.to(given.device)
    passes = Passes(words)
    heads = ("alone_gate", "question_gate", "hidden", "output", "marker")
    rates = {"": given.rate, **dict.fromkeys(heads, given.head_rate), "alone_scale": 0.02}
    rates["positions"] = given.rate / 2
    optimizer = Adam(team, list(network.named_parameters()), rates, given.decay)
    if checkpoint.exists():
        progress = load_run(checkpoint, network, optimizer)
    network.recast()
    network.frozen = given.frozen
    for layer in network.layers:
        layer.dropout = given.dropout
    team.wait()
    # A run that goes on sees other examples than before, and every process its own.
    seed = f"{given.seed} {progress.starts} {team.rank}"
    stages = [Stage(1.0, given.shares)] if given.shares else STAGES
    source = Source(given.encoder, given.public, given.folder, stages, given.batch, given.pairs)
    batches = Stream(source, training, seed, given.workers)
    sets = evaluation_sets(held, "tune", rows=given.watch_rows)
    watch = Watch(team, sets, passes, given.watch_rows)
    log = Log(given.out / "log.jsonl" if team.leads else None)
    options = {n: v for n, v in vars(given).items() if not isinstance(v, Path)}
    log.write({"event": "start", **options})

    parts = network, optimizer, progress
    keeper = Keeper(team, checkpoint, parts, watch, log, given.watch_minutes)
    begun, total = time.monotonic() - progress.seconds, given.minutes * 60
    processor = time.process_time()
    while True:
        tokens = progress.tokens - progress.earlier_tokens
        seconds, tokens = team.told(time.monotonic() - begun, tokens)
        share = min(1.0, tokens / 1e6 / given.tokens if given.tokens else seconds / total)
        keeper.look(seconds, share)
        if share >= 1:
            break
        optimizer.gradients.zero_()
        for _ in range(given.batches):
            alone = share < given.pairs_first
            if alone or progress.steps % given.pairs_every == 0:
                learn_pairs(network, batches.pairs(), given.batches, log, progress, team)
            if alone:
                continue
            batch = batches.next(share)
            logits, looks = network.learn(batch)
            loss = F.cross_entropy(logits, batch.answers)
            ((loss + given.looks * looks) / given.batches).backward()
            if not math.isfinite(float(loss.detach())):
                raise SystemExit(f"step {progress.steps}: the loss is no number")
            correct = (logits.argmax(1) == batch.answers).tolist()
            parts = {"loss": float(loss.detach()), "looks": float(looks.detach())}
            log.gather(parts, [asked.task for asked in batch.asked], correct)
            progress.count(batch, team.size)
        optimizer.step(rate_scale(share, progress.steps))
        network.recast()
        progress.steps, progress.seconds = progress.steps + 1, seconds
        if progress.steps % 20 == 0:
            used = time.process_time() - processor
            log.write_means({"event": "step", **progress.figures(), "processor": round(used)})


def learn_pairs(
    network: Network, texts: Texts, batches: int, log: Log, progress: Progress, team: Team
) -> None:
    loss, right = pairs_loss(network.alone(texts), network.alone_scale)
    (loss / batches).backward()
    log.gather({"pairs": float(loss.detach())}, ["pairs"] * len(right), right.tolist())
    progress.count(texts, team.size)


def rate_scale(share: float, steps: int) -> float:
    """Up within 50 steps, level, and down to nothing in the last third.

    Most of what is learned is learned at the full rate, so that a run which was given more minutes
    goes on as if it had had them from the beginning.
    """
    return min(1.0, (steps + 1) / 50, (1 - share) * 3)


if __name__ == "__main__":
    main()
