"""The text of state and question, as the readout in ``readout.json`` words it.

A mirror of the server's own code (``src/prompt/``), which asks a thousand times slower than a
stream of examples needs. ``check/prompts.py`` compares both, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ask.question import Choice, Noul, Option, Question, Score, compact_json

_LINE_BREAK = re.compile("[\n\v\f\r\u0085\u2028\u2029]")
_ESCAPES = {"\u0085": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}
# What String.prototype.trim takes away.
_SPACE = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
_SPACE += "\u2028\u2029\u202f\u205f\u3000\ufeff"


def line_text(value: str) -> str:
    """On one line, so that no text can pass for another option."""
    if value and value.strip(_SPACE) == value and not _LINE_BREAK.search(value):
        return value
    text = compact_json(value)
    return "".join(_ESCAPES.get(c, c) for c in text)


def pieces_of(question: Question) -> Iterator[tuple[str, int]]:
    """The question's text in pieces that tokens never cross.

    :returns: Each piece with the option that ends with it: the option's index, 1 and 0 for a
        noul's yes and no, or -1. The option's label is not in the piece.
    """
    instructions = question.instructions or ""
    if isinstance(question, Noul):
        # Either meaning may be missing.
        meanings = [(question.yes, "Yes", 1), (question.no, "No", 0)]
        if question.reversed:
            meanings.reverse()
        text = instructions
        for meaning, word, index in meanings:
            if not meaning:
                continue
            yield f"{text}\n", -1
            yield f" {line_text(meaning)}: {word}", index
            text = ""
        if text:
            yield text, -1
        return
    if isinstance(question, Score):
        yield instructions + (" >" if question.reversed else " <") + "\n", -1
        yield from level_pieces(question)
        return
    yield f"{instructions}\n", -1
    for i, option in enumerate(question.options):
        yield f" {option_text(option)}", i


def level_pieces(question: Score) -> Iterator[tuple[str, int]]:
    count = len(question.levels)
    for i, level in enumerate(question.levels):
        number = count - i if question.reversed else i + 1
        yield f" {line_text(level.name) if level.name else f'{number} of {count}'}", i


def option_text(option: Option) -> str:
    if not option.description:
        return line_text(option.name)
    return f"{line_text(option.name)}: {line_text(option.description)}"


def has_labels(question: Question) -> bool:
    return isinstance(question, (Choice, Score))
