"""Scenes of rules and cases: hours, limits, exceptions, what one needs, and in which order."""

from __future__ import annotations

from random import Random
from typing import Any

from ask.question import Noul, Question
from ask.scene_found import Found, pick
from ask.scene_words import Words

_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


def hours(words: Words, texts: Any, random: Random) -> Found:
    """When a place is open, by day and hour."""
    opens, closes = random.randint(7, 10), random.randint(15, 20)
    early = random.randint(opens + 2, closes - 2)
    free = random.choice(_WEEK)
    place = random.choice(("office", "shop", "library", "pool", "museum", "clinic", "workshop"))
    rest = random.choice(("Sundays", "Sundays and holidays"))
    said = random.choice(
        (
            f"The {place} is open from {opens} to {closes}, on Saturdays until {early}; "
            f"closed on {free}s and {rest}.",
            f"{place.capitalize()} hours: Mon-Fri {opens}-{closes} (not on {free}s), "
            f"Sat {opens}-{early}. {rest}: closed.",
            f"Closed on {free}s and {rest}. On Saturdays the {place} shuts at {early}, "
            f"on all other days at {closes}; it always opens at {opens}.",
        )
    )

    def is_open(day: str, hour: int) -> bool:
        if day in (free, "Sunday"):
            return False
        return opens <= hour < (early if day == "Saturday" else closes)

    def ask(wanted: bool) -> Question:
        while True:
            day = random.choice((*_WEEK, "Saturday", "Saturday", "Sunday"))
            hour = random.randint(6, 21)
            if is_open(day, hour) == wanted and hour not in (opens, closes, early):
                break
        when = f"on {day} at {hour}:{random.choice(('00', '15', '30'))}"
        text = random.choice(
            (
                f"Is the {place} open {when}?",
                f"Can one get into the {place} {when}?",
                f"{when[:1].upper()}{when[1:]} the {place} is open.",
            )
        )
        return Noul(text, wanted)

    questions = [ask(random.random() < 0.5) for _ in range(3)]
    questions.append(
        pick(
            f"When does the {place} close on Saturdays?",
            [f"at {n}" for n in (early, closes, opens)],
            f"at {early}",
            random,
        )
    )
    other = random.choice([day for day in _WEEK if day != free])
    questions.append(
        pick("On which of these days is it closed?", [free, other, "Saturday"], free, random)
    )
    return Found([said], questions)


_LIMITS = (
    (
        "Parcels up to {n} kg go by post, heavier ones by freight.",
        "a parcel of {x} kg",
        "go by post",
        "go by freight",
        "Does",
    ),
    (
        "Orders below {n} euros are paid in advance, all others by invoice.",
        "an order of {x} euros",
        "have to be paid in advance",
        "come with an invoice",
        "Does",
    ),
    (
        "Groups of up to {n} can come without notice; larger ones must book.",
        "a group of {x}",
        "come without notice",
        "have to book",
        "Does",
    ),
    (
        "Files of at most {n} MB can be sent by mail; use the upload page for larger ones.",
        "a file of {x} MB",
        "go by mail",
        "need the upload page",
        "Does",
    ),
    (
        "Expenses under {n} dollars need no approval. From {n} on, the head has to sign.",
        "a bill of {x} dollars",
        "pass without approval",
        "need a signature",
        "Does",
    ),
    (
        "Leave of up to {n} days is granted by the team, more only by the board.",
        "a leave of {x} days",
        "stay with the team",
        "go to the board",
        "Does",
    ),
)


def limits(words: Words, texts: Any, random: Random) -> Found:
    """What holds up to a number, and what beyond it."""
    rule, case, below, above, do = random.choice(_LIMITS)
    bound = random.choice((5, 10, 20, 30, 50, 100, 200))
    sentence = rule.replace("{n}", str(bound))
    questions: list[Question] = []
    for _ in range(3):
        under = random.random() < 0.5
        number = random.randint(1, bound - 1) if under else random.randint(bound + 1, 3 * bound)
        thing = case.replace("{x}", str(number))
        one, asked = (below, under) if random.random() < 0.5 else (above, not under)
        questions.append(Noul(f"{do} {thing} {one}?", asked))
    under = random.random() < 0.5
    number = random.randint(1, bound - 1) if under else random.randint(bound + 1, 3 * bound)
    thing = case.replace("{x}", str(number))
    questions.append(
        pick(f"What holds for {thing}?", [below, above], below if under else above, random)
    )
    return Found([sentence], questions)


_ALLOWED = (
    ("dogs", "guide dogs", "the house", "the garden", "come into"),
    ("visitors", "parents", "the ward", "the waiting room", "enter"),
    ("cars", "taxis", "the inner yard", "the street", "park in"),
    ("guests", "members", "the bar", "the terrace", "use"),
    ("bicycles", "folding bicycles", "the train", "the last carriage", "be taken into"),
    ("pupils", "pupils of the top form", "the staff kitchen", "the canteen", "use"),
    ("trainees", "trainees with a badge", "the lab", "the office", "enter"),
)


def allowed(words: Words, texts: Any, random: Random) -> Found:
    """What is allowed where, with one exception."""
    all_, some, there, here, do = random.choice(_ALLOWED)
    cap = all_.capitalize()
    said = random.choice(
        (
            f"{cap} may {do} {here} but not {there}; {some} are an exception.",
            f"{cap} must not {do} {there}, except for {some}. "
            f"{here.capitalize()} is open to all {all_}.",
            f"Only {some} may {do} {there}. All other {all_} are welcome to {do} {here}.",
        )
    )
    cases = [
        (f"May {some} {do} {there}?", True),
        (f"May ordinary {all_} {do} {there}?", False),
        (f"May ordinary {all_} {do} {here}?", True),
        (f"Is {there} closed to {some}?", False),
        (f"Is there an exception for {some}?", True),
        (f"All {all_} may {do} {there}.", False),
        (f"No {all_} at all may {do} {there}.", False),
        (f"Some {all_} may {do} {there}.", True),
    ]
    questions: list[Question] = [Noul(text, answer) for text, answer in random.sample(cases, 4)]
    questions.append(pick(f"Who may {do} {there}?", [f"all {all_}", some, "nobody"], some, random))
    return Found([said], questions)


_NEEDED = (
    ("borrow a bicycle", ("a card", "a deposit", "a helmet")),
    ("enter the lab", ("a badge", "a white coat", "a signature")),
    ("take part", ("the form", "the fee", "a doctor's note")),
    ("rent the hall", ("a contract", "a deposit", "insurance")),
    ("get a refund", ("the receipt", "the box", "the order number")),
    ("open an account", ("a passport", "proof of address", "a phone number")),
)


def needed(words: Words, texts: Any, random: Random) -> Found:
    """What one needs, and who has it."""
    do, things = random.choice(_NEEDED)
    first, second, other = random.sample(things, 3)
    a, b = words.people(random, 2)
    both = random.random() < 0.6
    rule = f"To {do}, one needs {first} {'and' if both else 'or'} {second}."
    if not both:
        rule = rule.replace("needs", random.choice(("needs either", "needs")))
    has_first, has_second = random.choice(
        ((True, True), (True, False), (False, True), (False, False))
    )
    parts = {
        (True, True): f"{a} has brought {first} and {second}",
        (True, False): f"{a} has {first} but no sign of {second}",
        (False, True): f"{a} has {second}, but {first} is missing",
        (False, False): f"{a} has only {other}",
    }
    can = (has_first and has_second) if both else (has_first or has_second)
    sentences = [rule, f"{parts[has_first, has_second]}."]
    if random.random() < 0.4:
        sentences.append(f"{b} has neither of them.")
    questions: list[Question] = [
        Noul(f"Can {a} {do}?", can), Noul(f"Does {a} have what it takes to {do}?", can),
        Noul(f"Does {a} have {first}?", has_first), Noul(f"Does {a} have {second}?", has_second),
        Noul(f"Is {first} alone enough to {do}?", not both),
        Noul(f"Does one need both {first} and {second}?", both),
    ]  # fmt: skip
    if has_first != has_second:
        names = [first, second, other]
        questions.append(
            pick(f"Which of the two does {a} lack?", names, second if has_first else first, random)
        )
    return Found(sentences, questions)


_STEPS = (
    ("switch off the power", "open the cover", "change the filter", "press the button"),
    ("fill in the form", "pay the fee", "make an appointment", "bring the passport"),
    ("boil the water", "add the salt", "put in the pasta", "set the table"),
    ("save the file", "close the program", "install the update", "restart the computer"),
    ("check the list", "count the boxes", "sign the note", "load the van"),
)


def steps(words: Words, texts: Any, random: Random) -> Found:
    """What comes before what."""
    a, b, c = random.sample(random.choice(_STEPS), 3)
    said = random.choice(
        (
            f"First {a}, then {b}, and at last {c}.",
            f"Before you {b}, {a}. After that, {c}.",
            f"{c.capitalize()} only after you {b}; and before you {b}, {a}.",
            f"1. {a.capitalize()} 2. {b.capitalize()} 3. {c.capitalize()}.",
            f"Do not {c} before you {b}. To begin with, {a}.",
        )
    )
    order = [a, b, c]
    questions: list[Question] = []
    for _ in range(2):
        x, y = random.sample(order, 2)
        before = order.index(x) < order.index(y)
        text, right = random.choice(
            (
                (f"Does one {x} before one can {y}?", before),
                (f"Should one {x} first and {y} later?", before),
                (f'Does "{x}" come after "{y}"?', not before),
            )
        )
        questions.append(Noul(text, right))
    questions.append(pick("What comes first?", order, a, random))
    questions.append(pick("What comes last?", order, c, random))
    questions.append(pick(f"What is done right after this: {a}?", [b, c, "nothing"], b, random))
    return Found([said], questions)


RULES = (hours, limits, allowed, needed, steps)
