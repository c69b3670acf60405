"""Short texts about who did what, put together by chance, with questions that only reading answers.

Every text has several people and things, so that words of the question alone decide nothing: a
wrong statement takes its wrong part from elsewhere in the text, or has two people change places.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from ask.question import Choice, Group, Noul, Option, Question, distinct
from ask.scene_found import Found
from ask.scene_kinds import KINDS
from ask.scene_words import Words
from source.material import Material

_TEXTS: Any = json.loads((Path(__file__).parent / "scenes.json").read_text(encoding="utf-8"))
_SLOT = re.compile(r"\{(\w+)\}")
# Slots of one kind may stand for each other.
_ALIKE = {"b": "a", "city2": "city", "day2": "day"}
# Of events: how many did not happen; of people: how many are called by what they do.
_NOT, _BY_JOB = 0.25, 0.2


@dataclass(slots=True)
class _Event:
    template: dict[str, Any]
    slots: dict[str, str]
    happened: bool
    said: str


class SceneTasks:
    def __init__(self, material: Material) -> None:
        self._words = Words(material, _TEXTS)

    def group(self, random: Random, count: int) -> Group:
        """:param count: Of questions."""
        kind = random.choice(KINDS)
        if random.random() < 0.5:
            found = kind(self._words, _TEXTS, random)
            if random.random() < 0.4:
                # Something else around it.
                other = self._events(random).sentences
                parts = random.sample([found.sentences, other], 2)
                found.sentences = [sentence for part in parts for sentence in part]
        else:
            found = self._events(random)
        text = " ".join(found.sentences)
        text = random.choice(_TEXTS["wholes"]).replace("{x}", text)
        for question, sentence, values in found.evidence:
            question.evidence = _ends(text, sentence, values)
        # No is the answer more often, as there are more ways to be wrong.
        kept = [one for one in found.questions if _is_kept(one, random)] or found.questions
        questions = random.sample(kept, min(count, len(kept)))
        return Group(text, [_checked(one, random) for one in questions], "scene")

    def _events(self, random: Random) -> Found:
        templates = random.sample(_TEXTS["events"], random.choice((1, 2, 2, 3)))
        people = self._words.people(random, 2 * len(templates))
        events = [self._event(template, people, random) for template in templates]
        sentences = [_sentence(event.said) for event in events]
        questions: list[Question] = []
        jobs = self._jobs(events, sentences, random) if random.random() < _BY_JOB else []
        evidence: list[tuple[Any, str, list[str]]] = []
        for event, sentence in zip(events, sentences):
            asked, decides = self._asked(event, events, random)
            questions += asked
            evidence += [(question, sentence, values) for question, values in decides]
        return Found([*jobs, *sentences], questions, evidence)

    def _event(self, template: dict[str, Any], people: list[str], random: Random) -> _Event:
        happened = not template["no"] or random.random() >= _NOT
        said = random.choice(template["say"] if happened else template["no"])
        everything = " ".join((*template["say"], *template["no"], *template["yes"]))
        slots = self._words.slots(set(_SLOT.findall(everything)), random)
        slots["a"], slots["b"] = random.sample(people, 2)
        return _Event(template, slots, happened, _filled(said, slots))

    def _jobs(self, events: list[_Event], sentences: list[str], random: Random) -> list[str]:
        """Who is what; after that, one of them is only called so."""
        person = events[0].slots["a"]
        job = self._words.job(random)
        if person not in events[0].said or not all(person not in e.said for e in events[1:]):
            return []
        sentences[0] = _sentence(events[0].said.replace(person, f"the {job}"))
        article = "an" if job[0] in "aeiou" else "a"
        return [f"{person} is {article} {job}."]

    def _asked(
        self, event: _Event, events: list[_Event], random: Random
    ) -> tuple[list[Question], list[tuple[Question, list[str]]]]:
        """Whether it is so, who and what it was, and whether the text says so at all.

        :returns: The questions, and which of them are decided by which parts of the sentence.
        """
        found: list[Question] = []
        decides: list[tuple[Question, list[str]]] = []
        for text in random.sample(event.template["yes"], min(3, len(event.template["yes"]))):
            if not event.happened:
                # Only the first statement is about the whole.
                text = event.template["yes"][0]
                found += self._denied(event, events, random)
            true = random.random() < 0.5
            changed = not true and event.happened
            slots = self._changed(text, event, events, random) if changed else event.slots
            if slots is None:
                continue
            found.append(Noul(_filled(text, slots), true and event.happened))
            decides.append((found[-1], [event.slots[name] for name in _SLOT.findall(text)]))
        for text, slot in event.template["ask"] if event.happened else ():
            if "{" + slot + "}" in text:
                continue
            found.append(self._choice(_filled(text, event.slots), slot, event, events, random))
            decides.append((found[-1], [event.slots[slot]]))
        found += self._missing(event, random) if len(events) == 1 else ()
        return found, decides

    def _denied(self, event: _Event, events: list[_Event], random: Random) -> list[Question]:
        """Of what did not happen: whether it is said so, in the same words or in others."""
        text, true = random.choice(event.template["no"]), random.random() < 0.5
        slots = event.slots if true else self._changed(text, event, events, random)
        return [Noul(_sentence(_filled(text, slots)), true)] if slots else []

    def _changed(
        self, text: str, event: _Event, events: list[_Event], random: Random
    ) -> dict[str, str] | None:
        """With one part that is wrong."""
        names = [name for name in dict.fromkeys(_SLOT.findall(text)) if name != "things"]
        if {"a", "b"} <= set(names) and "even" not in event.template and random.random() < 0.4:
            return {**event.slots, "a": event.slots["b"], "b": event.slots["a"]}
        name = random.choice(names) if names else None
        if name is None:
            return None
        others = self._others(name, event, events)
        own = {event.slots[other] for other in event.slots if _kind(other) == _kind(name)}
        if random.random() < 0.3 or not others:
            others = [w for w in self._words.some(_kind(name), random, 3) if w not in own]
        # A part that the text has in the same role elsewhere could be true, too.
        return {**event.slots, name: random.choice(others)} if others else None

    def _others(self, name: str, event: _Event, events: list[_Event]) -> list[str]:
        """What stands for the same kind of thing in the text, and is not this."""
        found = [
            value
            for one in events
            for other, value in one.slots.items()
            if _kind(other) == _kind(name) and value in one.said
        ]
        return [value for value in found if value != event.slots[name]]

    def _choice(
        self, text: str, slot: str, event: _Event, events: list[_Event], random: Random
    ) -> Question:
        right = event.slots[slot]
        wrong = self._others(slot, event, events)
        wrong += self._words.some(_kind(slot), random, 3)
        names = list(dict.fromkeys([right, *wrong]))[: random.randint(2, 5)]
        absent = right not in event.said
        if absent or random.random() < 0.2:
            names.append(random.choice(_TEXTS["not stated"]))
        answer = names[-1] if absent else right
        random.shuffle(names)
        return distinct(Choice(text, [Option(name) for name in names], names.index(answer)))

    def _missing(self, event: _Event, random: Random) -> list[Question]:
        kinds = {_kind(name) for name, value in event.slots.items() if value in event.said}
        kind = random.choice(list(_TEXTS["missing"]))
        return [Noul(random.choice(_TEXTS["missing"][kind]), kind in kinds)]


def _is_kept(question: Question, random: Random) -> bool:
    return not isinstance(question, Noul) or question.answer or random.random() < 0.65


def _ends(text: str, sentence: str, values: list[str]) -> tuple[int, ...]:
    """Where the values that a sentence has end in the text."""
    first = text.find(sentence)
    places = (sentence.find(value) for value in values)
    found = (first + at + len(value) for at, value in zip(places, values) if at >= 0)
    return tuple(dict.fromkeys(found)) if first >= 0 else ()


def _kind(slot: str) -> str:
    return _ALIKE.get(slot, slot)


def _filled(text: str, slots: dict[str, str]) -> str:
    return _SLOT.sub(lambda match: slots[match.group(1)], text)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _checked(question: Question, random: Random) -> Question:
    """A statement, now and then with what is to be done with it."""
    text = question.instructions or ""
    if isinstance(question, Noul):
        text = text[:1].upper() + text[1:]
        if text.endswith("."):
            text = random.choice(_TEXTS["checks"]).replace("{x}", text)
    question.instructions = text
    return question
