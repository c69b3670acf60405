"""Texts and names of concepts, each to be found by the other among all of a batch.

What a text is about is learned so from few tokens: of a text by itself, and of many wrong ones at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from random import Random

import torch
from torch import Tensor
from torch.nn import functional as F

from ask.noise import pick_style, retyped, styled
from reader.passes import Passes
from reader.texts import Texts
from reader.wordpiece import WordPiece
from source.material import Concept, Material
from source.split import key_of

# Concepts of one group in a batch, at most: they are hard to tell apart.
_OF_GROUP = 8
# Where a batch's concepts come from: one data set, as others have the same under other names.
# How often a name is called as a question asks for it: a question's cosine with a text tells, too.
_ASKED = 0.3
_ORIGINS = {
    "corpus": 0.52, "decisions": 0.22, "clinc150": 0.14, "banking77": 0.08, "scales": 0.04
}  # fmt: skip


class Pairs:
    def __init__(self, material: Material, words: WordPiece, count: int) -> None:
        """:param count: Concepts of a batch, about; fewer where a data set has not as many."""
        self._words, self._passes, self._count = words, Passes(words), count
        self._wordings = material.wordings
        self._groups: dict[str, list[list[Concept]]] = defaultdict(list)
        groups: dict[tuple[str, str], list[Concept]] = defaultdict(list)
        for concept in (*material.concepts, *_options(material), *_levels(material)):
            groups[concept.origin, concept.group].append(concept)
        for (origin, _), concepts in groups.items():
            self._groups[origin].append(concepts)

    def batch(self, random: Random) -> Texts:
        """Texts, and behind them as many names or descriptions, in the same order."""
        origins = [origin for origin in _ORIGINS if origin in self._groups]
        (origin,) = random.choices(origins, [_ORIGINS[name] for name in origins])
        found: dict[str, Concept] = {}
        groups = self._groups[origin]
        for group in random.choices(groups, [len(group) ** 0.5 for group in groups], k=self._count):
            for concept in random.sample(group, min(_OF_GROUP, len(group))):
                found.setdefault(concept.key, concept)
            if len(found) >= self._count:
                break
        said = [retyped(random.choice(one.utterances), random) for one in found.values()]
        called = [self._called(one, random) for one in found.values()]
        return Texts([self._passes.alone(self._words.encode(text)) for text in (*said, *called)])

    def _called(self, concept: Concept, random: Random) -> str:
        name, chance = styled(concept.name, pick_style(random)), random.random()
        if chance < 0.45 or not concept.descriptions:
            return self._asked(name, "noul concept", random)
        description = random.choice(concept.descriptions)
        if chance < 0.75:
            return f"{name}: {description}"
        if chance < 0.9:
            return self._asked(description, "noul description", random)
        return random.choice(concept.utterances)

    def _asked(self, text: str, wordings: str, random: Random) -> str:
        if random.random() >= _ASKED:
            return text
        return random.choice(self._wordings[wordings]).replace("{x}", text)


def _options(material: Material) -> Iterator[Concept]:
    """Options of everyday decisions; those that stand for the rest are about nothing."""
    for i, decision in enumerate(material.decisions):
        for answer in decision.answers if decision.type == "choice" else ():
            if not answer.is_rest:
                name, *others = answer.names
                descriptions = tuple(filter(None, (answer.description, *others)))
                given = (name, key_of(name), f"decision {i}", "option", "decisions")
                yield Concept(*given, descriptions, answer.texts)


def _levels(material: Material) -> list[Concept]:
    """Levels of scales, as if they were concepts that are described by their other names."""
    found = []
    for scale in material.scales:
        for i, level in enumerate(scale.levels):
            name, *others = level.names
            key, others = f"{scale.name} {i}", tuple(others)
            found.append(Concept(name, key, scale.name, "level", "scales", others, level.texts))
    return found


def pairs_loss(vectors: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    """:returns: The loss, and whether each text found its own."""
    texts, names = vectors.chunk(2)
    logits = scale * texts @ names.t()
    own = torch.arange(len(texts), device=vectors.device)
    loss = F.cross_entropy(logits, own) + F.cross_entropy(logits.t(), own)
    return loss / 2, logits.argmax(1) == own
