"""The corpus and the public sets, as they stand in their files, with nothing held out yet."""

import csv
import json
from pathlib import Path
from typing import Any

from source.material import Concept
from source.split import key_of

CORPUS = Path(__file__).parent.parent / "corpus"
WORDINGS = Path(__file__).parent.parent / "ask" / "wordings.json"
#: What was on the training side of the corpus at commit ebee5e6, when the first model of the package
#: was trained, and is held out today: a list that grows may hold out others of its texts. They are
#: left out of the evaluation sets, so that these hold what no model of the package was shown.
SHOWN = Path(__file__).parent / "shown.json"


def read_lines(path: Path) -> list[Any]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def reading_lines(test: bool = False) -> list[Any]:
    """Texts with questions; ``test`` are those that nothing is trained or tuned on."""
    paths = sorted((CORPUS / "reading").glob("*.jsonl"))
    found = [path for path in paths if (path.name == "held-out.jsonl") == test]
    lines = (line for path in found if path.name != "everyday.jsonl" for line in read_lines(path))
    return [version for line in lines for version in _versions(line)]


def _versions(line: Any) -> list[Any]:
    """Of twins, which share their questions, each text with its own answers."""
    if "texts" not in line:
        return [{**line, "first": line["text"]}]
    return [
        {
            "text": text,
            "first": line["texts"][0],
            "questions": [{**asked, "a": asked["a"][i]} for asked in line["questions"]],
        }
        for i, text in enumerate(line["texts"])
    ]


def decision_lines() -> list[Any]:
    """Questions with texts for each of their answers."""
    paths = sorted((CORPUS / "decisions").glob("*.jsonl"))
    return [line for path in paths for line in read_lines(path)]


def everyday_lines() -> list[Any]:
    """Requests as a first user would try them, for the figures alone."""
    return read_lines(CORPUS / "reading" / "everyday.jsonl")


def corpus_concepts() -> list[Concept]:
    return [
        Concept(
            name=line["name"],
            key=key_of(line["name"]),
            group=line["group"],
            kind=line["kind"],
            origin="corpus",
            descriptions=tuple(line["descriptions"]),
            utterances=tuple(line["utterances"]),
        )
        for path in sorted((CORPUS / "concepts").glob("*.jsonl"))
        for line in read_lines(path)
    ]


def _public_concept(intent: str, group: str, origin: str, texts: list[str]) -> Concept:
    return Concept(intent, key_of(intent), group, "intent", origin, (), tuple(texts))


def banking_concepts(folder: Path, part: str) -> list[Concept]:
    """:param part: ``train`` or ``test``; nothing is trained or tuned on the second."""
    texts: dict[str, list[str]] = {name: [] for name in read_json(folder / "categories.json")}
    with (folder / f"{part}.csv").open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            texts[row["category"]].append(row["text"].strip())
    return [_public_concept(name, "banking77", "banking77", texts[name]) for name in sorted(texts)]


def clinc_concepts(folder: Path, part: str) -> tuple[list[Concept], list[str]]:
    """:param part: ``train`` or ``val``.

    :returns: The intents, and the texts that fit none.
    """
    domains: dict[str, list[str]] = read_json(folder / "domains.json")
    texts: dict[str, list[str]] = {}
    for line in read_lines(folder / f"{part}.jsonl"):
        texts.setdefault(line["intent"], []).append(line["text"])
    concepts = [
        _public_concept(intent, f"clinc {domain}", "clinc150", texts[intent])
        for domain, intents in sorted(domains.items())
        for intent in intents
    ]
    strays = [line["text"] for line in read_lines(folder / f"oos_{part}.jsonl")]
    return concepts, strays
