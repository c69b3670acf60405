"""Vectors of what whole texts mean, as a teacher gave them: ``texts.json`` and ``texts.f32``."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

import numpy as np

WIDTH = 384


class Meanings:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def texts(self) -> list[str]:
        return json.loads((self.folder / "texts.json").read_text(encoding="utf-8"))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Of each text, which row is its own."""
        return {text: i for i, text in enumerate(self.texts)}

    @cached_property
    def vectors(self) -> np.ndarray:
        """A row for each text, of length 1, without what all texts share."""
        vectors = np.fromfile(self.folder / "texts.f32", np.float32).reshape(-1, WIDTH)
        vectors -= vectors.mean(0)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors
