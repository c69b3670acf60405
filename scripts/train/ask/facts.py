"""Questions about what a short text says, written by hand."""

from random import Random

from ask.noise import retyped, wrapped
from ask.question import Group, Noul
from source.material import Material


class FactTasks:
    def __init__(self, material: Material) -> None:
        self._material = material

    def group(self, random: Random) -> Group:
        fact = random.choice(self._material.facts)
        questions = [Noul(retyped(question, random), answer) for question, answer in fact.questions]
        random.shuffle(questions)
        # Cases and slips would change what some questions ask for, so not of the text.
        return Group(wrapped(fact.text, self._material, random), list(questions), "fact")
