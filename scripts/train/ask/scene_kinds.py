"""Scenes of one kind each: order, counts, exceptions, conditions, hearsay, corrections."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ask.question import Noul, Question
from ask.scene_found import Found, pick
from ask.scene_rules import RULES
from ask.scene_words import Words


def _order(words: Words, texts: Any, random: Random) -> Found:
    """Three people, each more than the next; the ends are never compared with each other."""
    more, less, most, least = random.choice(texts["orders"])
    a, b, c = words.people(random, 3)
    first = random.choice((f"{a} is {more} than {b}", f"{b} is {less} than {a}"))
    second = random.choice((f"{b} is {more} than {c}", f"{c} is {less} than {b}"))
    if random.random() < 0.3:
        sentences = [f"{b} is {less} than {a} but {more} than {c}."]
    elif random.random() < 0.5:
        sentences = [f"{first}, and {second}."]
    else:
        sentences = random.sample([f"{first}.", f"{second}."], 2)
    questions: list[Question] = []
    for x, y in random.sample([(a, b), (b, c), (a, c), (b, a), (c, b), (c, a)], 3):
        is_more = (x, y) in ((a, b), (b, c), (a, c))
        word = random.choice((more, less))
        ask = random.choice((f"Is {x} {word} than {y}?", f"{x} is {word} than {y}."))
        questions.append(Noul(ask, is_more == (word == more)))
    questions.append(pick(f"Who is {most}?", [a, b, c], a, random))
    questions.append(pick(f"Who is {least}?", [a, b, c], c, random))
    person = random.choice((a, b, c))
    questions.append(Noul(f"Is {person} {most} of the three?", person == a))
    return Found(sentences, questions)


def _counts(words: Words, texts: Any, random: Random) -> Found:
    """Who has more, and how many there are together."""
    did, do = random.choice(texts["counts"])
    a, b, c = words.people(random, 3)
    n, m, k = random.sample(range(1, random.choice((10, 30))), 3)
    thing = words.some("things", random, 1)[0]

    def said(person: str, number: int) -> str:
        return f"{person} " + did.replace("{n}", str(number)).replace("{things}", thing)

    numbers = {a: n, b: m, c: k} if random.random() < 0.5 else {a: n, b: m}
    parts = [said(person, number) for person, number in numbers.items()]
    sentences = [f"{', '.join(parts[:-1])} and {parts[-1]}."]
    people = list(numbers)
    x, y = random.sample(people, 2)
    what = do if "{things}" not in did else f"{do} more {thing}"
    questions: list[Question] = []
    if "{things}" in did:
        questions.append(Noul(f"Does {x} {what} than {y}?", numbers[x] > numbers[y]))
    else:
        questions.append(Noul(f"Is {x}'s number larger than {y}'s?", numbers[x] > numbers[y]))
    wrong = random.choice([number for number in numbers.values() if number != numbers[x]])
    shown = random.choice((numbers[x], wrong))
    questions.append(Noul(f"{said(x, shown)}.", shown == numbers[x]))
    total = sum(numbers.values())
    shown = random.choice((total, total, total + random.choice((-2, -1, 1, 3))))
    questions.append(Noul(f"Is it {shown} altogether?", shown == total))
    most, least = max(people, key=numbers.__getitem__), min(people, key=numbers.__getitem__)
    questions.append(pick("Whose number is the largest?", people, most, random))
    questions.append(pick("Who comes last by number?", people, least, random))
    return Found(sentences, questions)


def _exception(words: Words, texts: Any, random: Random) -> Found:
    """All but one, or one alone."""
    did, do = random.choice(texts["groups"])
    a, b, c, d = words.people(random, 4)
    kind = random.choice(("but", "only", "none"))
    names = random.sample([a, b, c, d], 4)
    who = f"{names[0]}, {names[1]}, {names[2]} and {names[3]}"
    if kind == "but":
        sentence = random.choice(
            (
                f"Of {who}, all but {a} {did}.",
                f"{who} were asked; everyone except {a} {did}.",
                f"{who} were there. {a} was the only one who did not {do}.",
            )
        )
        done = {b, c, d}
    elif kind == "only":
        sentence = random.choice(
            (
                f"Of {who}, only {a} {did}.",
                f"{who} were asked, but nobody except {a} {did}.",
                f"{who} were there. Apart from {a}, no one {did}.",
            )
        )
        done = {a}
    else:
        sentence = random.choice(
            (f"None of {who} {did}.", f"{who} were asked; not one of them {did}.")
        )
        done = set()
    questions: list[Question] = []
    for person in random.sample([a, b, c], 2):
        text = random.choice((f"Did {person} {do}?", f"{person} {did}."))
        questions.append(Noul(text, person in done))
    text = random.choice((f"Did all four {do}?", f"Did nobody {do}?", f"Did more than one {do}?"))
    right = {"all": len(done) == 4, "nobody": not done, "more": len(done) > 1}[text.split()[1]]
    questions.append(Noul(text, right))
    names = ["none", "one", "two", "three", "four"]
    questions.append(pick(f"How many of them {did}?", names, names[len(done)], random))
    if kind == "but":
        questions.append(pick(f"Who did not {do}?", [a, b, c, d], a, random))
    if kind == "only":
        questions.append(pick(f"Who {did}?", [a, b, c, d], a, random))
    return Found([sentence], questions)


def _condition(words: Words, texts: Any, random: Random) -> Found:
    """What was to happen if, and whether it came to that."""
    condition, met, unmet = random.choice(texts["conditions"])
    then, done, asked = random.choice(texts["consequences"])
    a = words.people(random, 1)[0]
    then, done, asked = (text.replace("{a}", a) for text in (then, done, asked))
    plan = random.choice(
        (f"If {condition}, {then}.", f"{then[:1].upper()}{then[1:]} if {condition}.")
    )
    unless = random.random() < 0.25
    if unless:
        plan = f"Unless {condition}, {then}."
    chance = random.random()
    if chance < 0.3:
        unsure: list[Question] = [
            Noul(
                random.choice(texts["unsure"]).replace("{x}", then.replace(" will ", " must ")),
                False,
            ),
            Noul(f"Is it open whether {condition}?", True),
        ]
        return Found([plan], unsure)
    is_met = chance < 0.65
    event = met if is_met else unmet
    happened = is_met != unless
    questions: list[Question] = [Noul(asked, happened), Noul(done, happened)]
    names = {"yes": happened, "no": not happened, "the text does not tell": False}
    right = next(name for name, holds in names.items() if holds)
    questions.append(pick(asked, list(names), right, random))
    return Found([plan, f"{event[:1].upper()}{event[1:]}."], questions)


def _hearsay(words: Words, texts: Any, random: Random) -> Found:
    """Who says what; another one says otherwise."""
    a, b, c = words.people(random, 3)
    thing, (room, other) = words.some("thing", random, 1)[0], words.some("room", random, 2)
    said, _, verb = random.choice(texts["sayings"])
    x, y = f"{c} has the {thing}", f"the {thing} is in the {room}"
    one, two = random.sample([x, y], 2)
    sentences = [
        f"{said.replace('{a}', a).replace('{x}', one)}.",
        f"{b} {random.choice(('thinks', 'claims', 'is sure'))} that {two}.",
    ]
    person, claim = random.choice(((a, one), (b, two), (a, two), (b, one)))
    mine = (person, claim) in ((a, one), (b, two))
    questions: list[Question] = [
        Noul(f"Does {person} think that {claim}?", mine),
        Noul(random.choice(texts["unsure"]).replace("{x}", claim), False),
        Noul(f"Do {a} and {b} say the same?", False),
        pick(f"Who says that {one}?", [a, b, c], a, random),
        pick(
            f"Where is the {thing} if {a if two == x else b} is right?",
            [room, other, "nowhere"],
            room,
            random,
        ),
    ]
    return Found(sentences, questions)


def _correction(words: Words, texts: Any, random: Random) -> Found:
    """What was said first does not hold any more."""
    kind = random.choice(("day", "time", "price", "room", "n", "city"))
    old, new, wrong = (*dict.fromkeys(words.some(kind, random, 6)),)[:3]
    noun = {
        "day": "day",
        "time": "time",
        "price": "price",
        "room": "room",
        "n": "number",
        "city": "city",
    }[kind]
    of = random.choice(
        ("the meeting", "the delivery", "the lesson", "the trip", "the order", "the party")
    )
    first = random.choice((f"The {noun} of {of} is {old}.", f"For {of}, the {noun} is {old}."))
    second = random.choice(
        (
            f"Correction: the {noun} is {new}.",
            f"Sorry, I got that wrong: not {old} but {new}.",
            f"No, wait, it is {new} after all.",
            f"That has changed: it is {new} now.",
            f"(Update: {new}.)",
        )
    )
    questions: list[Question] = [
        pick(f"What is the {noun} of {of}?", [old, new, wrong], new, random),
        Noul(f"Has the {noun} been corrected?", True),
        Noul(f"Does {old} still hold?", False),
    ]
    for value in random.sample([old, new, wrong], 2):
        text = random.choice((f"Is the {noun} {value}?", f"The {noun} of {of} is {value}."))
        questions.append(Noul(text, value == new))
    if random.random() < 0.3:
        # The same without a correction.
        text = random.choice((f"Is the {noun} {new}?", f"The {noun} of {of} is {new}."))
        same: list[Question] = [
            Noul(f"Has the {noun} been corrected?", False),
            Noul(text, False),
            Noul(f"Is the {noun} {old}?", True),
        ]
        return Found([first], same)
    return Found([first, second], questions)


KINDS: tuple[Callable[[Words, Any, Random], Found], ...] = (
    _order, _counts, _exception, _condition, _hearsay, _correction, *RULES,
)  # fmt: skip
