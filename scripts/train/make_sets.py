#!/usr/bin/env python3
"""Writes the evaluation sets and the rows to calibrate on, as `oi eval` reads them."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ask.question import Group, body_of
from ask.sets import PublicTest, calibration_groups, evaluation_sets
from source.assemble import load
from source.files import banking_concepts, clinc_concepts
from source.labelled import held_out_rows, labelled_sets

#: Rows to calibrate on of each set of typed questions, and of each type.
_CALIBRATION = 60


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--public", type=Path, help="folder of banking77 and clinc150")
    options.add_argument("--out", type=Path, default=Path("build/train/sets"))
    options.add_argument("--rows", type=int, default=600, help="of each set")
    options.add_argument("--calibration-rows", type=int, default=4500)
    given = options.parse_args()

    _, held = load(given.public)
    test = public_test(given.public) if given.public else None
    given.out.mkdir(parents=True, exist_ok=True)
    sets = evaluation_sets(held, "report", test, given.rows)
    for found in sets:
        write_rows(given.out / f"{found.name}.jsonl", found.groups)
    calibration = [body_of(group) for group in calibration_groups(held, given.calibration_rows)]
    shown = ("name", "about", "figure", "goal")
    facts = [{name: getattr(found, name) for name in shown} for found in sets]
    for folder in labelled_sets(given.public) if given.public else ():
        for kind, rows in held_out_rows(folder, True, given.rows // 2).items():
            name = f"{folder.name}-{kind}"
            write_bodies(given.out / f"{name}.jsonl", rows)
            figure = "within half" if kind == "score" else "accuracy"
            about = f"{folder.name}, {kind}, development rows"
            facts.append({"name": name, "about": about, "figure": figure, "goal": None})
        for rows in held_out_rows(folder, False, _CALIBRATION).values():
            calibration += rows
    write_bodies(given.out / "calibration.jsonl", calibration)
    # Which option stands for everything else.
    others = [*held.wordings["other"]]
    text = json.dumps({"others": others, "sets": facts}, indent=1)
    (given.out / "sets.json").write_text(text + "\n", encoding="utf-8")
    print(text)


def public_test(folder: Path) -> PublicTest:
    banking = banking_concepts(folder / "banking77", "test")
    return PublicTest(banking, *clinc_concepts(folder / "clinc150", "val"))


def write_rows(path: Path, groups: list[Group]) -> None:
    write_bodies(path, list(map(body_of, groups)))


def write_bodies(path: Path, bodies: list[dict[str, Any]]) -> None:
    lines = [json.dumps(body, ensure_ascii=False) for body in bodies]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
