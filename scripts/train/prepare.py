#!/usr/bin/env python3
"""Turns the public sets and the corpus into tokens, once: what `train.py` reads."""

from __future__ import annotations

import argparse
import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

from ask.question import body_of, state_text
from ask.sets import evaluation_sets
from prefix.relations import Wordings
from prefix.rows import Asked, Group
from prefix.texts import Texts
from prefix.twins import Twins
from ask.mix import Mix
from prefix.wordpiece import WordPiece
from source.assemble import load
from source.labelled import labelled_rows, labelled_sets

#: Questions of one state in a row, at most.
_TOGETHER = 6
#: Share of questions that get a twin.
_TWINS = 0.5
#: Share of the groups with several nouls that get one about two of them.
_COMPOUND = 0.25
#: Sets whose choices now and then lose the right option, and get one that says so.
_NONE = ("hwu64", "snips", "trivia-topics", "xquad", "wikitablequestions", "goemotions", "sgd")
#: How often it is lost, of these: rarer than not, as callers have it.
_OUTSIDE = 0.25
_NONE_NAMES = (
    ("none of these", None), ("other", None), ("other", "none of the others fits"),
    ("something else", None), ("none of the above", None), ("no option fits", None),
)  # fmt: skip
#: Sets whose questions another document of the set does not answer.
_OPEN = ("boolq", "condaqa", "xquad", "wikitablequestions")
_OPEN_ASKS = (
    ("Does the text leave this question open: {}", True),
    ("Is there too little in the text to answer this: {}", True),
    ("Can this be answered from the text: {}", False),
    ("Does the text tell this: {}", False),
)


#: Parts of the corpus' groups, each made by itself.
_PARTS = 8


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("tokenizer", type=Path, help="tokenizer.json of BERT uncased")
    options.add_argument("--public", type=Path, required=True, help="folder of the public sets")
    options.add_argument(
        "--folder", type=Path, default=Path("build/train"), help="with WordNet"
    )
    options.add_argument("--out", type=Path, default=Path("build/train/cache"))
    options.add_argument("--most", type=int, default=20_000, help="states of a set")
    options.add_argument("--corpus", type=int, default=140_000, help="groups of the corpus")
    options.add_argument("--processes", type=int, default=os.cpu_count())
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    jobs: list[tuple[Any, ...]] = [(corpus_for_figures, given)]
    jobs += [(corpus, given, part) for part in range(_PARTS)]
    sizes = {
        folder: (folder / "train.jsonl.gz").stat().st_size for folder in labelled_sets(given.public)
    }
    # The longest first.
    for folder in sorted(sizes, key=lambda folder: -sizes[folder]):
        jobs += [(public_set, given, folder, part) for part in ("train", "dev")]
    with ProcessPoolExecutor(given.processes) as pool:
        for done in [pool.submit(*job) for job in jobs]:
            done.result()


def public_set(given: argparse.Namespace, folder: Path, part: str) -> None:
    texts = Texts(WordPiece(given.tokenizer))
    maker = Maker(texts, Wordings(given.public / "wordings.tsv"))
    write(given.out / f"{folder.name}.{part}.pickle", maker.groups(folder, part, given.most))


def corpus(given: argparse.Namespace, part: int) -> None:
    words = WordPiece(given.tokenizer)
    texts, random = Texts(words), Random(f"corpus {part}")
    twins = Twins(texts, Wordings(given.public / "wordings.tsv"))
    mix = Mix(load(given.public)[0], words, given.folder)
    found = []
    for _ in range(given.corpus // _PARTS):
        group = mix.one(random)
        body, asked = body_of(group), []
        for one, (name, question) in zip(texts.of_corpus(group).asked, body["questions"].items()):
            asked.append(one)
            if random.random() < _TWINS:
                twins.beside(
                    asked, random, group.task, state_text(group.state), question, body["expected"][name]
                )
        found.append((group.task, Group(0, texts.state(group.state), asked)))
    write(given.out / f"corpus-{part}.train.pickle", found)


def corpus_for_figures(given: argparse.Namespace) -> None:
    texts = Texts(WordPiece(given.tokenizer))
    found = [
        (one.name, texts.of_corpus(group))
        for one in evaluation_sets(load(given.public)[1], "tune", rows=150)
        if one.figure != "median ms"
        for group in one.groups[:200]
    ]
    write(given.out / "corpus.dev.pickle", found)


def write(path: Path, groups: list[Any]) -> None:
    with path.open("wb") as file:
        pickle.dump(groups, file, protocol=5)
    print(path.name, len(groups), flush=True)


class Maker:
    def __init__(self, texts: Texts, wordings: Wordings) -> None:
        self._texts, self._wordings = texts, wordings
        self._twins = Twins(texts, wordings)

    def groups(self, folder: Path, part: str, most: int) -> list[tuple[str, Group]]:
        """With the document's id; development rows as they are."""
        source, random = folder.name, Random(f"{folder.name} {part}")
        by_state: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in labelled_rows(folder, part):
            by_state.setdefault((row["id"], state_text(row["state"])), []).append(row)
        keys = list(by_state)
        random.shuffle(keys)
        found = []
        plain = [row["question"]["instructions"] for rows in by_state.values() for row in rows[:1]]
        for key in keys[: most or None]:
            rows = by_state[key]
            random.shuffle(rows)
            state = self._texts.state(key[1])
            for at in range(0, len(rows), _TOGETHER):
                asked = []
                for row in rows[at : at + _TOGETHER]:
                    self._ask(asked, source, row, random if part == "train" else None)
                if part == "train" and random.random() < _COMPOUND:
                    self._compound(asked, random, rows[at : at + _TOGETHER])
                if part == "train" and source in _OPEN and random.random() < 0.15:
                    own = random.random() < 0.5
                    question = rows[at]["question"]["instructions"] if own else random.choice(plain)
                    ask, yes = random.choice(_OPEN_ASKS)
                    if own or question not in [row["question"]["instructions"] for row in rows]:
                        asked.append(self._texts.noul(ask.format(question), own != yes))
                found.append((key[0], Group(0, state, asked)))
        return found

    def _compound(self, asked: list[Asked], random: Random, rows: list[dict[str, Any]]) -> None:
        nouls = [row for row in rows if row["question"]["type"] == "noul"]
        if len(nouls) > 1:
            two = random.sample(nouls, 2)
            said = [row["question"]["instructions"] for row in two]
            if all(isinstance(text, str) for text in said):
                answers = [row["answer"] for row in two]
                asked.append(self._twins.compound(random, *said, answers))

    def _ask(
        self, asked: list[Asked], source: str, row: dict[str, Any], random: Random | None
    ) -> None:
        question, answer = row["question"], row["answer"]
        criteria = question.get("criteria")
        drops = random and question["type"] == "choice" and source in _NONE and len(criteria) > 2
        if drops and random.random() < 0.12:
            options = list(criteria.items())
            if random.random() < _OUTSIDE:
                options = [one for one in options if one[0] != answer]
                answer = None
            none = random.choice(_NONE_NAMES)
            if none[0] not in criteria:
                options.insert(random.randint(0, len(options)), none)
                answer = none[0] if answer is None else answer
                question = {**question, "criteria": dict(options)}
            else:
                answer = row["answer"]
        one = self._texts.of_body(question, answer)
        one.relations = self._wordings.relations(source, question, answer)
        asked.append(one)
        if random is not None and random.random() < _TWINS:
            self._twins.beside(asked, random, source, state_text(row["state"]), question, answer)


if __name__ == "__main__":
    main()
