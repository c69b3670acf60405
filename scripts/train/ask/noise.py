"""How people and programs really write: other cases, slips, and wrappings."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from source.material import Material


def retyped(text: str, random: Random) -> str:
    """Another case, without its last mark, or with a slip; most texts stay as they are."""
    chance = random.random()
    if chance < 0.17:
        text = text.lower()
    elif chance < 0.20:
        text = text.upper()
    elif chance < 0.23:
        text = text[:1].upper() + text[1:]
    if random.random() < 0.15:
        text = text.rstrip(".!?") or text
    if random.random() < 0.08:
        text = _slip(text, random)
    return text


def _slip(text: str, random: Random) -> str:
    places = [m.start() for m in re.finditer(r"(?<=\w)\w(?=\w)", text)]
    if not places:
        return text
    at = random.choice(places)
    chance = random.random()
    if chance < 0.4:
        return text[:at] + text[at + 1 :]
    if chance < 0.7:
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text[:at] + text[at] + text[at:]


def wrapped(text: str, material: Material, random: Random) -> Any:
    """Now and then behind a lead or inside JSON, as programs send texts."""
    chance = random.random()
    if chance < 0.04:
        return text + random.choice(material.wordings["closing"])
    if chance < 0.09:
        return random.choice(material.wordings["lead"]) + text
    if chance < 0.16:
        key = random.choice(material.wordings["message key"])
        extra = {"id": random.randrange(1, 100)} if random.random() < 0.3 else {}
        return {**extra, key: text}
    return text


Style = str
STYLES: tuple[tuple[Style, float], ...] = (
    ("as it is", 0.50),
    ("lower", 0.12),
    ("title", 0.08),
    ("sentence", 0.08),
    ("snake", 0.12),
    ("screaming", 0.03),
    ("kebab", 0.03),
    ("camel", 0.04),
)


def pick_style(random: Random) -> Style:
    chance = random.random()
    for style, share in STYLES:
        chance -= share
        if chance < 0:
            return style
    return STYLES[0][0]


def styled(name: str, style: Style) -> str:
    """A concept's name as a user would write an option."""
    if style == "as it is":
        return name
    if style == "sentence":
        plain = name.replace("_", " ")
        return plain[:1].upper() + plain[1:]
    words = re.split(r"[\s_]+", name)
    if style == "lower":
        return " ".join(words).lower()
    if style == "title":
        return " ".join(word[:1].upper() + word[1:] for word in words)
    if style == "snake":
        return "_".join(words).lower()
    if style == "screaming":
        return "_".join(words).upper()
    if style == "kebab":
        return "-".join(words).lower()
    first, *rest = words
    return first.lower() + "".join(word[:1].upper() + word[1:] for word in rest)


def reworded(instructions: str, random: Random) -> str | None:
    """Instructions as they are, in lower case, without their mark, or none."""
    chance = random.random()
    if chance < 0.06:
        return None
    if chance < 0.16:
        return instructions.lower()
    if chance < 0.22:
        return instructions.rstrip("?.:")
    return instructions
