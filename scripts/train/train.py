#!/usr/bin/env python3
"""Trains the model that reads in parts, for a given time or number of tokens.

A run that is started again goes on where it ended; with ``--start FILE.gguf`` from a model's file.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

# Before torch is loaded: a process for each core.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
import torch.distributed as distributed
from torch import Tensor, multiprocessing, nn

from prefix.figures import figures, reading_mean
from prefix.kept import Done, watched
from prefix.loss import losses
from prefix.rows import Batch
from prefix.start import start_of
from prefix.stream import Stream
from prefix.texts import Texts
from prefix.wordpiece import WordPiece

_KINDS = ("noul", "choice", "score")
#: Steps whose weights the mean over time is of, about.
_AVERAGED = 300
_DECAY = 0.02


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("start", type=Path, help=".onnx, .safetensors, or a model's .gguf")
    options.add_argument("tokenizer", type=Path, help="tokenizer.json of BERT uncased")
    options.add_argument("--cache", type=Path, default=Path("build/train/cache"))
    options.add_argument("--out", type=Path, default=Path("build/train/prefix"))
    options.add_argument("--minutes", type=float, default=150, help="of training, in all")
    options.add_argument("--tokens", type=float, help="millions, in all; instead of minutes")
    options.add_argument(
        "--batch", type=int, default=2048, help="tokens of a step, of each process"
    )
    options.add_argument("--processes", type=int, default=2, help="one for each core; 1 on a GPU")
    options.add_argument(
        "--workers", type=int, default=0, help="that make batches, of each process"
    )
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options.add_argument("--rate", type=float, default=1.5e-4, help="of the layers")
    options.add_argument("--head-rate", type=float, default=1e-3)
    options.add_argument(
        "--fall", type=float, default=0.4, help="share of the run in which rates fall"
    )
    options.add_argument(
        "--past", type=float, default=0.0, help="of the stages, what is over at the start"
    )
    options.add_argument("--relation", type=float, default=1.0, help="weight of this loss")
    options.add_argument("--coherence", type=float, default=0.2, help="weight of this loss")
    options.add_argument(
        "--watch", type=float, default=2.0, help="millions of tokens between figures"
    )
    options.add_argument("--watch-groups", type=int, default=60, help="of each set")
    options.add_argument("--seed", type=int, default=1)
    return options.parse_args()


def main() -> None:
    given = arguments()
    if given.device != "cpu" and given.processes > 1:
        raise SystemExit("Processes are for cores: one on a GPU.")
    given.out.mkdir(parents=True, exist_ok=True)
    if given.processes == 1:
        train(0, given, "")
    else:
        meeting = f"file://{(given.out / f'meeting-{time.time_ns()}').resolve()}"
        multiprocessing.spawn(train, (given, meeting), given.processes)


def train(rank: int, given: argparse.Namespace, meeting: str) -> None:
    if meeting:
        distributed.init_process_group(
            "gloo", init_method=meeting, rank=rank, world_size=given.processes
        )
    run = Run(rank, given)
    while not run.over():
        run.steps()
    run.end()


class Run:
    def __init__(self, rank: int, given: argparse.Namespace) -> None:
        self._rank, self._given = rank, given
        torch.manual_seed(given.seed)
        self._special = Texts(WordPiece(given.tokenizer)).special
        self._network = network = start_of(given.start).to(given.device)
        torch.manual_seed(given.seed + rank)
        heads = network.outer()
        inner = [p for p in network.parameters() if not any(p is head for head in heads)]
        matrices, vectors = ([p for p in inner if (p.dim() > 1) == flat] for flat in (True, False))
        self._optimizer = torch.optim.AdamW(
            [
                {"params": matrices, "rate": given.rate, "weight_decay": _DECAY},
                {"params": vectors, "rate": given.rate, "weight_decay": 0},
                {"params": heads, "rate": given.head_rate, "weight_decay": 0},
            ],
            lr=given.rate, betas=(0.9, 0.98), fused=True,
        )  # fmt: skip
        self._path = given.out / f"checkpoint-{rank}.pt"
        self._done = Done()
        self._averages = {n: p.detach().clone() for n, p in network.named_parameters()}
        if self._path.exists():
            saved = torch.load(self._path, map_location=given.device, weights_only=False)
            network.load_state_dict(saved["network"])
            self._optimizer.load_state_dict(saved["optimizer"])
            torch.set_rng_state(saved["random"].cpu())
            self._averages, self._done = saved["averages"], saved["done"]
        # Shared with those that make batches.
        self._share = multiprocessing.get_context("fork").Value("d", 0.0)
        # Each process has an order of its own.
        self._stream = Stream(
            given.cache, self._special, given.batch, network.shape.positions,
            f"{given.seed} {rank}", self._share, self._done.groups.copy(),
        )  # fmt: skip
        self._batches = self._stream.batches(given.workers)
        self._log = (given.out / "log.jsonl").open("a") if rank == 0 else None
        self._means: dict[str, list[float]] = defaultdict(list)
        self._begun = time.monotonic() - self._done.seconds
        self._saved = self._told = time.monotonic()
        self._watched = self._done.tokens
        options = {n: str(v) for n, v in vars(given).items()}
        self._write({"event": "start", **self._done.figures(), "options": options})

    def over(self) -> bool:
        given, done = self._given, self._done
        done.seconds = time.monotonic() - self._begun
        share = (
            done.tokens / 1e6 / given.tokens if given.tokens else done.seconds / 60 / given.minutes
        )
        # The first process' clock is everyone's.
        share = float(self._agreed(torch.tensor([min(1.0, share)])))
        self._share.value = given.past + (1 - given.past) * share
        scale = min(1.0, (done.steps + 1) / 60, max(0.0, (1 - share) / given.fall))
        for group in self._optimizer.param_groups:
            group["lr"] = group["rate"] * scale
        if share >= 1 or time.monotonic() - self._saved > 150:
            self._save()
        if time.monotonic() - self._told > 60:
            self._tell()
        if 0 < given.watch * 1e6 <= done.tokens - self._watched:
            self._watched = done.tokens
            self._watch()
        return share >= 1

    def steps(self) -> None:
        """Some, and then the processes have the mean of their weights."""
        every = 8
        tokens = sum(self._step(next(self._batches)) for _ in range(every))
        self._done.steps += every
        self._mean(every)
        if self._given.processes > 1:
            all_of = torch.tensor([tokens])
            distributed.all_reduce(all_of)
            tokens = int(all_of)
        self._done.tokens += tokens

    def _step(self, batch: Batch) -> int:
        given = self._given
        batch.to(given.device)
        self._network.train()
        with torch.autocast(given.device, torch.bfloat16):
            logits, relations = self._network(batch, self._special.marker)
        parts, right = losses(logits, relations, batch)
        weights = {"answer": 1.0, "relation": given.relation, "coherence": given.coherence}
        self._optimizer.zero_grad(set_to_none=True)
        sum(weights[name] * part for name, part in parts.items()).backward()
        length = nn.utils.clip_grad_norm_(self._network.parameters(), 1.0)
        if not math.isfinite(float(length)):
            raise SystemExit(f"step {self._done.steps}: the gradient is no number")
        self._optimizer.step()
        for name, part in parts.items():
            self._means[name].append(float(part.detach()))
        for source, asked, ok in zip(batch.sources, batch.asked, right.tolist()):
            name = f"{self._stream.names[source]} {_KINDS[asked.kind]}"
            self._means["twins" if asked.twin >= 0 else name].append(ok)
        self._done.groups.update(batch.groups(self._stream.names))
        return batch.real

    @torch.no_grad()
    def _mean(self, every: int) -> None:
        parameters = list(self._network.parameters())
        if self._given.processes > 1:
            flat = nn.utils.parameters_to_vector(parameters)
            distributed.all_reduce(flat)
            nn.utils.vector_to_parameters(flat / self._given.processes, parameters)
        weight = every / min(_AVERAGED, self._done.steps)
        for name, parameter in self._network.named_parameters():
            self._averages[name].lerp_(parameter, weight)

    def _agreed(self, of_first: Tensor) -> Tensor:
        if self._given.processes > 1:
            distributed.broadcast(of_first, 0)
        return of_first

    def _save(self) -> None:
        self._saved = time.monotonic()
        unfinished = self._path.with_suffix(".tmp")
        torch.save(
            {
                "shape": self._network.facts(), "network": self._network.state_dict(),
                "averages": self._averages, "optimizer": self._optimizer.state_dict(),
                "random": torch.get_rng_state(), "done": self._done,
            },
            unfinished,
        )  # fmt: skip
        unfinished.replace(self._path)

    def _tell(self) -> None:
        self._told = time.monotonic()
        means = {n: [round(sum(v) / len(v), 3), len(v)] for n, v in sorted(self._means.items())}
        self._means.clear()
        rate = self._optimizer.param_groups[0]["lr"]
        cpu = round(time.process_time())
        self._write(
            {"event": "step", **self._done.figures(), "cpu": cpu, "rate": rate, "means": means}
        )

    def _watch(self) -> None:
        """Figures of the mean over time on development rows; the other processes wait."""
        if self._rank > 0:
            return
        own = {name: p.detach().clone() for name, p in self._network.named_parameters()}
        self._network.load_state_dict(self._averages, strict=False)
        rows = watched(self._given.cache, self._given.watch_groups)
        found = figures(self._network.eval(), self._special, rows)
        self._network.load_state_dict(own, strict=False)
        shown = {name: [round(share, 3), count] for name, (share, count) in found.items()}
        self._write(
            {
                "event": "watch",
                **self._done.figures(),
                "reading": reading_mean(found),
                "figures": shown,
            }
        )

    def end(self) -> None:
        if self._given.watch > 0:
            self._watch()
        self._write({"event": "end", **self._done.figures()})
        if self._given.processes > 1:
            distributed.barrier()
            distributed.destroy_process_group()

    def _write(self, what: dict[str, Any]) -> None:
        if self._log:
            self._log.write(json.dumps(what) + "\n")
            self._log.flush()


if __name__ == "__main__":
    main()
