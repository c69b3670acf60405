"""Requests of texts that nobody writes, to hold what is trained against what the server does."""

from __future__ import annotations

import unicodedata
from random import Random

from ask.question import Choice, Group, Noul, Option, Score

_PIECES = (
    *("", " ", "  ", "\n", "\r\n", "\t", "\u2028", "\u0085", "\u00a0", "\ufeff", "\u200b"),
    *("'", '"', "\\", "'s", "'LL", "{}", "...", "?!", "—", "½", "²", "= =", "a" * 70),
    *("[CLS]", "[SEP]", "[MASK]", "[UNK]", "<|end|>", "##s", "A", "Yes", " No", "__proto__"),
    *("{state}", "{{ state }}", "{% if", "\u0000", "\u001f", "\u007f"),
    *("Größe", "naïve", "Привет", "你好", "こんにちは", "नमस्ते", "مرحبا", "🙂", "👩\u200d👧"),
    *("e\u0301", "ﬁ", "123", "4.5", "Ⅷ", "٣"),
)


def strange_text(random: Random) -> str:
    """Of all that Unicode has, and what looks like ours."""
    pieces: list[str] = []
    for _ in range(random.randint(0, 8)):
        if random.random() < 0.6:
            pieces.append(random.choice(_PIECES))
            continue
        character = chr(random.randrange(0x11000))
        # Not assigned here may be a letter there: a newer Unicode.
        if unicodedata.category(character) not in ("Cs", "Cn", "Co"):
            pieces.append(character)
        pieces.append(random.choice(("", " ", "word ")))
    return "".join(pieces)


def strange_group(random: Random) -> Group:
    def text() -> str:
        return strange_text(random)

    record = {text(): text(), "n": [1, None, True, text()]}
    state = random.choice((text(), record, [text(), -3, 2.5]))
    names = list(dict.fromkeys([text(), text(), text(), "x", "y"]))
    options = [Option(name, random.choice((None, "", text()))) for name in names]
    levels = [Option(text()) for _ in range(random.randint(2, 4))]
    asked = text() or None
    yes, no = random.choice((None, text() or None)), random.choice((None, text() or None))
    if asked is None and yes is None and no is None:
        asked = "?"
    noul = Noul(asked, True, yes, no)
    return Group(state, [noul, Choice(asked, options, 0), Score(text() or None, levels, 0)])
