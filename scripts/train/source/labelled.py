"""The public sets of typed questions: a folder each, with `train.jsonl.gz` and `dev.jsonl.gz`.

A line is ``{"state", "question": {"type", "instructions", "criteria"}, "answer", "source", "id"}``;
the id names the document. Of the development rows, a document is either for the figures on the
model's card, or for watching a run and for calibration.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any


def labelled_sets(public: Path) -> list[Path]:
    return sorted(path.parent for path in public.glob("*/train.jsonl.gz"))


def labelled_rows(folder: Path, part: str) -> Iterator[dict[str, Any]]:
    """:param part: ``train`` or ``dev``."""
    with gzip.open(folder / f"{part}.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def is_for_card(document: str) -> bool:
    return hashlib.sha256(document.encode()).digest()[0] % 2 == 1


def held_out_rows(folder: Path, card: bool, most: int) -> dict[str, list[dict[str, Any]]]:
    """Development rows by the type of their question, in any order, as bodies of requests.

    :param card: Those for the figures; else those for calibration.
    :param most: Rows of each type.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    rows = [row for row in labelled_rows(folder, "dev") if is_for_card(row["id"]) == card]
    Random(folder.name).shuffle(rows)
    for row in rows:
        kind = found.setdefault(row["question"]["type"], [])
        if len(kind) < most:
            questions, expected = {"q1": row["question"]}, {"q1": row["answer"]}
            kind.append({"state": row["state"], "questions": questions, "expected": expected})
    return found
