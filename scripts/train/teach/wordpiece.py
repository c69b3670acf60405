"""BERT's tokens: lower case without accents, words and marks apart, each as its longest pieces."""

from __future__ import annotations

import json
import re
import unicodedata
from functools import cache
from pathlib import Path

# A word of letters and digits, or one mark; of an underscore, too.
_PARTS = re.compile(r"[^\W_]+|[^\w\s]|_")


class WordPiece:
    def __init__(self, tokenizer: Path) -> None:
        """:param tokenizer: A ``tokenizer.json``."""
        read = json.loads(tokenizer.read_text(encoding="utf-8"))
        self._numbers: dict[str, int] = read["model"]["vocab"]
        self._unknown = self._numbers["[UNK]"]
        self._word = cache(self._pieces)

    def encode(self, text: str, most: int = 128) -> list[int]:
        """:param most: Tokens, with the two around the text."""
        bare = unicodedata.normalize("NFD", text.lower())
        bare = "".join(c for c in bare if unicodedata.category(c) != "Mn")
        found = [number for part in _PARTS.findall(bare) for number in self._word(part)]
        return [self._numbers["[CLS]"], *found[: most - 2], self._numbers["[SEP]"]]

    def _pieces(self, word: str) -> list[int]:
        pieces: list[int] = []
        first = 0
        while first < len(word):
            mark = "##" if first else ""
            ends = range(len(word), first, -1)
            end = next((end for end in ends if mark + word[first:end] in self._numbers), None)
            if end is None:
                return [self._unknown]
            pieces.append(self._numbers[mark + word[first:end]])
            first = end
        return pieces
