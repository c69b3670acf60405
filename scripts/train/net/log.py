"""What a run writes down: one JSON object a line, to a file and to the screen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Log:
    def __init__(self, path: Path | None) -> None:
        """:param path: None for a process that only helps, which writes nothing."""
        self._file = path.open("a", encoding="utf-8", buffering=1) if path else None
        self._tally: dict[str, list[float]] = {}

    def gather(self, losses: dict[str, float], tasks: list[str], correct: list[bool]) -> None:
        for name, value in losses.items():
            self._tally.setdefault(name, []).append(value)
        for task, right in zip(tasks, correct):
            self._tally.setdefault(f"right {task}", []).append(float(right))

    def write_means(self, entry: dict[str, Any]) -> None:
        """With the means of what was gathered since the last time."""
        means = {name: sum(values) / len(values) for name, values in sorted(self._tally.items())}
        self._tally = {}
        self.write({**entry, **rounded(means)})

    def write(self, entry: dict[str, Any]) -> None:
        if self._file is None:
            return
        line = json.dumps(entry)
        self._file.write(line + "\n")
        print(line, flush=True)


def rounded(figures: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in figures.items()}
