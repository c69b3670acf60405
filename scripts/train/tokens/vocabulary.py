"""Tokens by number: bytes, those that the readout needs, and those that were learned.

Merges of the readout's own tokens come first, so that no learned merge can take a byte of them
away: a label is the same token wherever it stands.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

# Between the parts of a prompt; nothing that a caller sends becomes one of them.
CONTROL = ("<|state|>", "<|question|>", "<|answer|>", "<|end|>")

# Braille patterns: 255 of them, as many as a question may have options. They are in no text, are
# no letters (so they take a line's end into their token), and what an option says is never
# mistaken for one.
LABELS = tuple(chr(0x2801 + i) for i in range(255))

# What else the readout wants in one token.
WHOLE = (
    *(" Yes", " No", ":", "?\n", ".\n", " <\n", " >\n", "true", "false", "null"),
    *('":', '","', '":"', '{"', '"}', '["', '"]', ',"'),
)


def _byte_characters() -> dict[int, str]:
    """How GPT-2 writes bytes in a vocabulary: the printable ones as they are, others shifted."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1)]
    plain += range(ord("®"), ord("ÿ") + 1)
    others = [byte for byte in range(256) if byte not in plain]
    table = {byte: chr(byte) for byte in plain}
    table.update({byte: chr(256 + i) for i, byte in enumerate(others)})
    return dict(sorted(table.items()))


BYTE_CHARACTERS = _byte_characters()


def spell(text: str) -> str:
    """A text as a vocabulary writes it."""
    return "".join(BYTE_CHARACTERS[byte] for byte in text.encode())


# Tokens of bytes come first, in the bytes' order, and a digit is always one of them.
ZERO = ord("0")


def is_digit(token: int) -> bool:
    return ZERO <= token < ZERO + 10


def required_merges() -> list[tuple[str, str]]:
    """Pairs that make each label, each label with a line's end, and ``WHOLE``."""
    merges: dict[tuple[str, str], None] = {}
    for text in (*LABELS, *(label + "\n" for label in LABELS), *WHOLE):
        left, *rest = spell(text)
        for right in rest:
            merges.setdefault((left, right))
            left += right
    return list(merges)


@dataclass(frozen=True)
class Vocabulary:
    #: As a vocabulary writes them; the last ones are ``CONTROL``, as they are.
    tokens: list[str]
    #: Earlier ones come first.
    merges: list[tuple[str, str]]

    @staticmethod
    def of_merges(merges: list[tuple[str, str]]) -> Vocabulary:
        tokens = dict.fromkeys(BYTE_CHARACTERS.values())
        tokens.update(dict.fromkeys(left + right for left, right in merges))
        return Vocabulary([*tokens, *CONTROL], merges)

    @staticmethod
    def read(path: Path) -> Vocabulary:
        return Vocabulary.of_lines(json.loads(path.read_text(encoding="utf-8"))["merges"])

    @staticmethod
    def of_lines(lines: list[str]) -> Vocabulary:
        """Of merges as files write them: a pair with a space between."""
        return Vocabulary.of_merges([tuple(line.split(" ")) for line in lines])

    def write(self, path: Path) -> None:
        lines = [f"{left} {right}" for left, right in self.merges]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"merges": lines}, ensure_ascii=False, indent=0) + "\n")

    def id_of(self, text: str) -> int:
        """Of a text that is one token, or of a control token."""
        return self.tokens.index(text if text in CONTROL else spell(text))
