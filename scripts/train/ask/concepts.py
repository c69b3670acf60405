"""Questions about what a text is about: the right concept among others."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import Any

from ask.noise import pick_style, retyped, reworded, styled, wrapped
from ask.question import Choice, Group, Noul, Option, Question, distinct, draw_unused, pick_count
from source.material import Concept, Material


_MARKS = ".!?"
# How often an option for everything else is the right one, where there is one.
_OUTSIDE = 0.2


class ConceptTasks:
    def __init__(self, material: Material, unseen: bool = False) -> None:
        """:param unseen: Whether to ask about the wholly unseen concepts."""
        self._material = material
        self.concepts = material.unseen_concepts if unseen else material.concepts
        self._groups: defaultdict[tuple[str, str], list[Concept]] = defaultdict(list)
        self._origins: defaultdict[str, list[Concept]] = defaultdict(list)
        for concept in self.concepts:
            self._groups[concept.origin, concept.group].append(concept)
            self._origins[concept.origin].append(concept)
        self._languages = [c for c in self.concepts if c.kind == "language"]

    def group(self, random: Random, count: int, most: int) -> Group:
        """A text of a concept, with so many questions of up to so many options."""
        concept = self._pick(random)
        text = retyped(_text(concept, random), random)
        questions = [self._question(concept, random, most) for _ in range(count)]
        return Group(wrapped(text, self._material, random), questions, "concept")

    def _pick(self, random: Random) -> Concept:
        """The public sets' few intents have more texts each, and are asked for more often."""
        chance = random.random()
        # Languages are told by other words than all else.
        if self._languages and chance > 0.97:
            return random.choice(self._languages)
        origin = "banking77" if chance < 0.13 else "corpus"
        if 0.13 <= chance < 0.30:
            origin = "clinc150"
        return random.choice(self._origins.get(origin) or self._origins["corpus"])

    def _question(self, concept: Concept, random: Random, most: int) -> Question:
        chance = random.random()
        if concept.kind == "language" and len(self._languages) > 3 and chance > 0.4:
            return self._language(concept, random, most)
        if chance < 0.22:
            return self.noul(concept, random)
        if chance < 0.34:
            return self.choice_with_other(concept, random, most)
        if chance < 0.38:
            return self.similar(concept, random, min(most, 6))
        if chance < 0.42:
            return self.area(concept, random, most)
        # The public sets are asked about with all their intents.
        many = most > 16 and concept.origin != "corpus" and random.random() < 0.1
        count = random.randint(17, min(most, 150)) if many else pick_count(random, most)
        return self.choice(concept, random, count)

    def _language(self, concept: Concept, random: Random, most: int) -> Choice:
        """Which one it is, among other languages."""
        count = min(pick_count(random, min(most, 16)), len(self._languages))
        others = [c for c in self._languages if c.key != concept.key]
        concepts = [concept, *random.sample(others, count - 1)]
        return self._among(concept, concepts, random, described=0)

    def others(self, concept: Concept, random: Random, count: int, hard: float) -> list[Concept]:
        """Wrong concepts: with the chance ``hard`` each from the group that confuses most.

        From the same data set, as other sets may have the same concept under another name.
        """
        near = [c for c in self._groups[concept.origin, concept.group] if c.key != concept.key]
        random.shuffle(near)
        far = self._origins[concept.origin]
        taken = {concept.key}
        found: list[Concept] = []
        for _ in range(count):
            other = near.pop() if near and random.random() < hard else random.choice(far)
            for _ in range(20):
                if other.key not in taken:
                    break
                other = random.choice(far)
            if other.key not in taken:
                taken.add(other.key)
                found.append(other)
        return found

    def choice(
        self,
        concept: Concept,
        random: Random,
        count: int,
        described: float | None = None,
        hard: float | None = None,
    ) -> Choice:
        """
        :param described: The chance of a description for each option; by default any.
        :param hard: The share of others from the concept's own group; by default any.
        """
        hard = random.choice((0.0, 0.3, 0.7)) if hard is None else hard
        concepts = [concept, *self.others(concept, random, count - 1, hard)]
        return self._among(concept, concepts, random, described)

    def _among(
        self, right: Concept, concepts: list[Concept], random: Random, described: float | None
    ) -> Choice:
        random.shuffle(concepts)
        options = self.options(concepts, random, described)
        return distinct(Choice(self.instructions(right, random), options, concepts.index(right)))

    def options(
        self, concepts: list[Concept], random: Random, described: float | None = None
    ) -> list[Option]:
        if described is None:
            described = random.choice((0.0, 0.0, 0.0, 0.5, 1.0, 1.0))
        style = pick_style(random)
        options: list[Option] = []
        for concept in concepts:
            description = None
            if random.random() < described:
                description = self._description(concept, random)
            options.append(Option(styled(concept.name, style), description))
        return options

    def _description(self, concept: Concept, random: Random) -> str | None:
        chance = random.random()
        if concept.descriptions and chance < 0.9:
            return random.choice(concept.descriptions)
        if chance < 0.3 or concept.descriptions:
            return f'as in "{random.choice(concept.utterances)}"'
        return None

    def instructions(self, concept: Concept, random: Random) -> str | None:
        intent = concept.kind == "intent" and random.random() < 0.7
        wordings = self._material.wordings["choice intent" if intent else "choice"]
        return reworded(random.choice(wordings), random)

    def noul(self, concept: Concept, random: Random, hard: float = 0.5) -> Noul:
        answer = random.random() < 0.5
        asked = concept if answer else (self.others(concept, random, 1, hard) or [concept])[0]
        answer = asked.key == concept.key
        chance = random.random()
        if chance < 0.6 or not asked.descriptions:
            name = styled(asked.name, pick_style(random))
            if chance < 0.5:
                wording = random.choice(self._material.wordings["noul concept"])
                text = reworded(wording.replace("{x}", name), random) or f"{name}?"
                return Noul(text, answer)
            yes = name
            if asked.descriptions and random.random() < 0.5:
                yes = random.choice(asked.descriptions)
            no = random.choice((None, *self._material.wordings["other"]))
            text = random.choice(("Does it apply?", "Yes or no?", f"{name}?", None))
            draw_unused(random)
            return Noul(text, answer, yes, no)
        kind, texts = "noul same", asked.utterances
        if chance < 0.9:
            kind, texts = "noul description", asked.descriptions
        wording, text = random.choice(self._material.wordings[kind]), random.choice(texts)
        return Noul(wording.replace("{x}", text), answer)

    def choice_with_other(
        self, concept: Concept, random: Random, most: int, outside: bool | None = None
    ) -> Choice:
        """An option for everything else, which is right if no other one is."""
        count = pick_count(random, most)
        outside = random.random() < _OUTSIDE if outside is None else outside
        # Far ones where nothing fits: near ones would often half fit.
        concepts = self.others(concept, random, count - 1, 0.0 if outside else 0.4)
        if not outside:
            concepts = [concept, *concepts[: max(1, count - 2)]]
        random.shuffle(concepts)
        if outside:
            concepts = [c for c in concepts if c.group != concept.group] or concepts
        options = self.options(concepts, random)
        name = random.choice(self._material.wordings["other"])
        description = None
        if random.random() < 0.4:
            description = random.choice(self._material.wordings["other description"])
        at = len(options) if random.random() < 0.7 else random.randrange(len(options) + 1)
        answer = at if outside else concepts.index(concept)
        if not outside and answer >= at:
            answer += 1
        options.insert(at, Option(name, description))
        return distinct(Choice(self.instructions(concept, random), options, answer))

    def similar(self, concept: Concept, random: Random, most: int) -> Choice:
        """Which other text is about the same."""
        count = pick_count(random, most)
        concepts = [concept, *self.others(concept, random, count - 1, 0.3)]
        random.shuffle(concepts)
        options = [Option(random.choice(other.utterances)) for other in concepts]
        instructions = random.choice(self._material.wordings["similar"])
        return distinct(Choice(instructions, options, concepts.index(concept)))

    def area(self, concept: Concept, random: Random, most: int) -> Choice:
        """Which wider field a text belongs to."""
        right = concept.group.removeprefix("clinc ")
        keys = [key for key in self._groups if key[0] == concept.origin and key[1] != concept.group]
        if not keys:
            return self.choice(concept, random, pick_count(random, most))
        names = [key[1].removeprefix("clinc ") for key in keys]
        names = random.sample(names, min(len(names), pick_count(random, most) - 1)) + [right]
        random.shuffle(names)
        style = pick_style(random)
        instructions = random.choice(self._material.wordings["group"])
        options = [Option(styled(name, style)) for name in names]
        return distinct(Choice(instructions, options, names.index(right)))

    def matching(self, random: Random, most: int) -> Group:
        """Names and descriptions of concepts, one as the state and the others as options."""
        concept = random.choice([c for c in random.sample(self.concepts, 12) if c.descriptions])
        concepts = [concept, *self.others(concept, random, pick_count(random, most) - 1, 0.3)]
        random.shuffle(concepts)
        answer, style = concepts.index(concept), pick_style(random)
        state: Any
        if random.random() < 0.5:
            state = random.choice(concept.descriptions)
            options = [Option(styled(other.name, style)) for other in concepts]
            instructions = random.choice(self._material.wordings["describe"])
        else:
            state = styled(concept.name, style)
            texts = (random.choice(other.descriptions or (other.name,)) for other in concepts)
            options = list(map(Option, texts))
            instructions = random.choice(self._material.wordings["define"])
        question = distinct(Choice(instructions, options, answer))
        return Group(state, [question], "matching")

    def stray(self, random: Random, most: int) -> Group:
        """A text that fits no intent at all."""
        state = retyped(random.choice(self._material.strays), random)
        concept = random.choice(self._origins["clinc150"])
        question = self.choice_with_other(concept, random, most, outside=True)
        return Group(state, [question], "stray")


def _text(concept: Concept, random: Random) -> str:
    """An utterance, or two of them, as longer messages say a thing twice."""
    text = random.choice(concept.utterances)
    if random.random() < 0.08:
        text = f"{text.rstrip(_MARKS)}. {random.choice(concept.utterances)}"
    return text
