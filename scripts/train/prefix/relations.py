"""What a question about a statement asks for: does the text say so, leave it open, contradict it.

The wordings are those of ``wordings.tsv`` beside the public sets.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLLOWS, OPEN, CONTRADICTS = 1, 2, 4
_BITS = {"follows": FOLLOWS, "open": OPEN, "contradicts": CONTRADICTS}
_ALL = FOLLOWS | OPEN | CONTRADICTS
#: Sets whose questions have a statement, and those of their relations that occur.
TWO = FOLLOWS | CONTRADICTS
SETS = {
    "snli": _ALL, "conjnli": _ALL, "infotabs": _ALL, "condaqa": _ALL, "scitail": _ALL,
    "med-help": _ALL, "dnc": _ALL, "boolq": TWO, "strategyqa": TWO, "tabfact": TWO,
}  # fmt: skip
#: What an option says, where the options are relations.
_OPTIONS = {
    "entailment": FOLLOWS, "follows": FOLLOWS, "supported": FOLLOWS, "true": FOLLOWS,
    "entailed": FOLLOWS, "yes": FOLLOWS, "neutral": OPEN, "cannot tell": OPEN,
    "not enough information": OPEN, "unknown": OPEN, "don't know": OPEN,
    "contradiction": CONTRADICTS, "contradicts": CONTRADICTS, "refuted": CONTRADICTS,
    "false": CONTRADICTS, "no": CONTRADICTS, "not entailed": OPEN | CONTRADICTS,
    "not supported": OPEN | CONTRADICTS, "does not follow": OPEN | CONTRADICTS,
}  # fmt: skip


@dataclass(frozen=True)
class Wording:
    pattern: re.Pattern[str]
    #: With ``{}`` where the statement goes.
    text: str
    relation: int
    yes: bool


class Wordings:
    def __init__(self, path: Path) -> None:
        self.all = []
        with path.open(encoding="utf-8") as file:
            for line in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                pattern = line["pattern"]
                text = pattern.strip("^$").replace("(.+)", "{}").replace("\\?", "?")
                one = Wording(
                    re.compile(pattern),
                    text,
                    _BITS[line["relation"]],
                    line["yes when it holds"] == "yes",
                )
                self.all.append(one)

    def match(self, text: Any) -> tuple[Wording, str] | None:
        if not isinstance(text, str):
            return None
        for wording in self.all:
            found = wording.pattern.match(text)
            if found:
                return wording, found[1]
        return None

    def relations(self, source: str, question: dict[str, Any], answer: Any) -> int:
        """Those that are possible, as bits; 0 if the question is about none."""
        known = SETS.get(source)
        if known is None or question["type"] == "score":
            return 0
        if question["type"] == "choice":
            if not all(name in _OPTIONS for name in question["criteria"]):
                return 0
            return _OPTIONS[answer] & known
        found = self.match(question.get("instructions"))
        asked, yes = (found[0].relation, found[0].yes) if found else (FOLLOWS, True)
        return (asked if answer == yes else ~asked) & known
