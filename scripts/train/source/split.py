"""Who is held out: decided by a hash of a name, before and apart from everything else.

A thing's side depends on its kind, its name and one seed, never on its place in a file or on what
else there is. So a corpus that grows moves nothing that was there from one side to the other.
"""

import hashlib
import re
from collections.abc import Iterable

SEED = "oi-small@1"

# Share of each kind that is never shown in training.
SHARES = {
    "concept": 0.10,
    "utterance": 0.12,
    # Of the public sets, as many as watching a run needs: their own test parts do the reporting.
    "public utterance": 0.03,
    "level name": 0.20,
    "level text": 0.20,
    "wording": 0.20,
    "fact text": 0.15,
    # For watching alone: another author's texts do the reporting.
    "reading text": 0.08,
    "decision": 0.06,
    "schema": 0.15,
    "field": 0.15,
    "entity": 0.15,
    "number": 0.20,
    # Of what is held out: what is watched and calibrated on. The rest is for reporting alone.
    "tuning": 0.35,
}


def is_held_out(kind: str, name: str) -> bool:
    """Whether the thing of this name is kept from training.

    :param kind: A key of ``SHARES``.
    """
    return _place(kind, name) < SHARES[kind]


def held_out_of(kind: str, names: Iterable[str]) -> set[str]:
    """Of a short list, where chance could leave one side without any: those that hash lowest.

    :returns: The kind's share of the list, rounded, but at least one.
    """
    ranked = sorted(set(names), key=lambda name: _place(kind, name))
    return set(ranked[: max(1, round(SHARES[kind] * len(ranked)))])


def _place(kind: str, name: str) -> float:
    """Where a name falls between 0 and 1."""
    digest = hashlib.sha256(f"{SEED}\0{kind}\0{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def key_of(name: str) -> str:
    """What two names have in common that mean the same to a reader.

    Case, separators and a plural's end do not make another concept: ``card_arrival`` and
    ``Card arrivals`` are on the same side.
    """
    words = re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    return " ".join(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words)


def normal(text: str) -> str:
    """What two texts have in common that differ in case or in the mark at their end alone."""
    return re.sub(r"[.!?]+$", "", text.lower())


def is_number_held_out(digits: str) -> bool:
    """Of whole numbers and decimals, as they are written.

    Numbers of one or two digits are so few that all of them are seen; an unseen number has three
    digits or more.
    """
    if sum(c.isdigit() for c in digits) < 3:
        return False
    return is_held_out("number", digits)
