"""WordPiece as llama.cpp does it, from a ``tokenizer.json``.

``check_model.py`` compares both. Against the usual WordPiece: every mark that combines is an
accent, no word is too long to be split, and of a Korean syllable the first letter alone is read.
"""

from __future__ import annotations

import json
import unicodedata
from functools import lru_cache
from pathlib import Path

# The blocks that llama.cpp takes for Chinese: each character is a word.
_CHINESE = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
#: What WordPiece calls the beginning of a word in a GGUF file.
WORD_MARK = "\u2581"


class WordPiece:
    def __init__(self, tokenizer: Path) -> None:
        read = json.loads(tokenizer.read_text(encoding="utf-8"))
        self.numbers: dict[str, int] = read["model"]["vocab"]
        self.unknown = self.numbers["[UNK]"]
        self._begins: dict[str, int] = {}
        self._inner: dict[str, int] = {}
        for piece, number in self.numbers.items():
            if piece.startswith("##"):
                self._inner[piece[2:]] = number
            else:
                self._begins[piece] = number
        self._longest = max(map(len, self.numbers))
        self._word = lru_cache(maxsize=200_000)(self._pieces)

    @property
    def tokens(self) -> list[str]:
        """By number."""
        return sorted(self.numbers, key=self.numbers.__getitem__)

    @property
    def frequent(self) -> list[str]:
        """Whole words, the most frequent first."""
        return [token for token in self.tokens if token.isalpha() and len(token) > 1]

    def encode(self, text: str) -> list[int]:
        """Plain text: nothing in it becomes a control token, and nothing is added."""
        return [number for word in words_of(text) for number in self._word(word)]

    def _pieces(self, word: str) -> tuple[int, ...]:
        pieces: list[int] = []
        first, known = 0, self._begins
        while first < len(word):
            last = min(len(word), first + self._longest)
            end = next((e for e in range(last, first, -1) if word[first:e] in known), None)
            if end is None:
                return (self.unknown,)
            pieces.append(known[word[first:end]])
            first, known = end, self._inner
        return tuple(pieces)


def words_of(text: str) -> list[str]:
    words, begun = [], ""
    for whole in text:
        # llama.cpp leaves the first part alone: an accent goes anyway, of Hangul the rest, too.
        character = unicodedata.normalize("NFD", whole)[0]
        kind, code = unicodedata.category(character), ord(character)
        # Python takes four separators of ASCII for blanks, too.
        if character.isspace() and not "\x1c" <= character <= "\x1f":
            words.append(begun)
            begun = ""
        elif code in (0, 0xFFFD) or kind[0] in "CM":
            continue
        elif kind[0] == "P" or (kind[0] == "S" and code < 0x7F) or _is_chinese(code):
            words += (begun, character.lower())
            begun = ""
        else:
            begun += character.lower()
    return [word for word in (*words, begun) if word]


def _is_chinese(code: int) -> bool:
    return code > 0x33FF and any(first <= code <= last for first, last in _CHINESE)
