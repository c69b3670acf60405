"""Questions about where a text stands on an ordered scale."""

from __future__ import annotations

from random import Random

from ask.noise import retyped, reworded, wrapped
from ask.question import Choice, Group, Noul, Option, Question, Score, distinct
from source.material import Material, Scale


class ScaleTasks:
    def __init__(self, material: Material) -> None:
        self._material = material

    def group(self, random: Random, count: int) -> Group:
        scale = random.choice(self._material.scales)
        level = random.randrange(len(scale.levels))
        texts = scale.levels[level].texts
        text = random.choice(texts)
        if random.random() < 0.2:
            # Two of a level stay on it, and are too many to be known by heart.
            text = f"{text} {random.choice(texts)}"
        state = retyped(text, random)
        questions = [self.question(scale, level, random) for _ in range(count)]
        return Group(wrapped(state, self._material, random), questions, "scale")

    def question(self, scale: Scale, level: int, random: Random) -> Question:
        chance = random.random()
        if chance < 0.55:
            return self.score(scale, level, random, self._levels(scale, level, random))
        if chance < 0.75:
            return self.choice(scale, level, random, self._levels(scale, level, random))
        return self.noul(scale, level, random)

    def _levels(self, scale: Scale, level: int, random: Random) -> list[int]:
        """All levels, or some of them in order, the right one among them."""
        count = random.choice((2, 3, 3, 5, 5, 5))
        others = [i for i in range(len(scale.levels)) if i != level]
        if count < 5:
            # Neighbours are hard to tell apart: rather two steps away.
            others = [i for i in others if abs(i - level) > 1] or others
        return sorted([level, *random.sample(others, min(count - 1, len(others)))])

    def score(self, scale: Scale, level: int, random: Random, levels: list[int]) -> Score:
        names: list[Option] = []
        for i in levels:
            name = random.choice(scale.levels[i].names)
            while any(option.name == name for option in names):
                name = random.choice(scale.levels[i].names)
            names.append(Option(name))
        if len(levels) == len(scale.levels) and random.random() < 0.06:
            names = [Option("") for _ in names]
        instructions = reworded(random.choice(scale.questions), random)
        if names[0].name == "" or random.random() < 0.5:
            instructions = random.choice(scale.questions)
        answer = levels.index(level)
        if random.random() < 0.15:
            return Score(instructions, names[::-1], len(names) - 1 - answer, True)
        return Score(instructions, names, answer)

    def choice(self, scale: Scale, level: int, random: Random, levels: list[int]) -> Choice:
        score = self.score(scale, level, random, levels)
        right = score.levels[score.answer]
        options = [option for option in score.levels if option.name]
        if right.name == "":
            return self.choice(scale, level, random, levels)
        random.shuffle(options)
        instructions = score.instructions
        if random.random() < 0.3:
            instructions = random.choice(self._material.wordings["level choice"])
        return distinct(Choice(instructions, options, options.index(right)))

    def noul(self, scale: Scale, level: int, random: Random) -> Noul:
        answer = random.random() < 0.5
        asked = level
        if not answer:
            asked = random.choice([i for i in range(len(scale.levels)) if abs(i - level) > 1])
        name = random.choice(scale.levels[asked].names)
        if random.random() < 0.3:
            other = random.choice([i for i in range(len(scale.levels)) if abs(i - asked) > 1])
            no = random.choice(scale.levels[other].names)
            if abs(other - level) < abs(asked - level):
                answer = False
            elif abs(other - level) > abs(asked - level):
                answer = True
            else:
                no = None
            return Noul(random.choice(scale.questions), answer, name, no)
        wording = random.choice(self._material.wordings["level noul"])
        text = wording.replace("{x}", name).replace("{q}", random.choice(scale.questions))
        return Noul(text, answer)
