"""How often answers are right, by set and kind of question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import torch

from prefix.loss import log_probabilities
from prefix.network import Network
from prefix.rows import SCORE, Batch, Group, Row, Special

#: The sets whose yes and no are the mean for reading.
READING = "snli boolq condaqa infotabs sgd scitail strategyqa bbq".split()
_KINDS = ("noul", "choice", "score")


@torch.no_grad()
def figures(
    network: Network, special: Special, named: Iterable[tuple[str, Group]], tokens: int = 6000
) -> dict[str, tuple[float, int]]:
    """Share of right answers (of a score: within half a level), and how many, by set and kind."""
    device = network.words.device
    rows = []
    for name, group in named:
        row = Row(group, special)
        rows.append((len(row.tokens), name, row))
    rows.sort(key=lambda one: one[0])
    found: dict[str, list[float]] = defaultdict(list)
    begin = 0
    for end in range(1, len(rows) + 1):
        if end < len(rows) and (end - begin + 1) * rows[end][0] <= tokens:
            continue
        part = rows[begin:end]
        begin = end
        batch = Batch([row for _, _, row in part]).to(device)
        with torch.autocast(device.type, torch.bfloat16):
            logits, _ = network(batch, special.marker)
        known = log_probabilities(logits, batch).cpu()
        names = [name for _, name, row in part for _ in row.asked]
        for name, one, asked in zip(names, known, batch.asked):
            p = one.exp()
            right = float(int(p.argmax()) == asked.answer)
            if asked.kind == SCORE:
                level = float((p * torch.arange(len(p))).sum())
                right = float(abs(level - asked.answer) <= 0.5)
            found[f"{name} {_KINDS[asked.kind]}"].append(right)
    return {name: (sum(ok) / len(ok), len(ok)) for name, ok in sorted(found.items())}


def reading_mean(found: dict[str, tuple[float, int]]) -> float:
    """Of yes and no over the sets for reading that there are."""
    shares = [found[f"{name} noul"][0] for name in READING if f"{name} noul" in found]
    return round(sum(shares) / max(1, len(shares)), 4)
