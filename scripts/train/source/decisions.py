"""Everyday decisions, as their files hold them, and what training may see of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from source.material import Answer, Decision


def decision_of(line: Any) -> Decision:
    kind = line["type"]
    if kind == "noul":
        answers = [Answer((), "", None, tuple(line[name])) for name in ("no", "yes")]
    elif kind == "score":
        answers = [Answer(tuple(x["names"]), "", None, tuple(x["texts"])) for x in line["levels"]]
    else:
        answers = [
            Answer(tuple(x["names"]), x["description"], x["ask"], tuple(x["texts"]), not x["ask"])
            for x in line["options"]
        ]
    return Decision(kind, tuple(line["asks"]), tuple(answers))


def visible(
    decisions: Iterable[Decision], hides: Callable[[str], bool]
) -> tuple[Decision, ...]:
    """The decisions without what is held out, those of which enough is left.

    :param hides: Whether a wording, a name or a text is held out.
    """
    found = (_without(decision, hides) for decision in decisions)
    return tuple(one for one in found if len(one.answers) > 1 and one.asks)


def _without(decision: Decision, hides: Callable[[str], bool]) -> Decision:
    asks = tuple(ask for ask in decision.asks if not hides(ask))
    answers: list[Answer] = []
    # Of levels, names at one place belong together.
    hidden = {
        i
        for answer in decision.answers
        for i, name in enumerate(answer.names)
        if hides(name)
    }
    for answer in decision.answers:
        names = tuple(
            name
            for i, name in enumerate(answer.names)
            if not (i in hidden if decision.type == "score" else hides(name))
        )
        texts = tuple(text for text in answer.texts if not hides(text))
        ask = None if answer.ask and hides(answer.ask) else answer.ask
        description = "" if hides(answer.description) else answer.description
        if answer.names and not names or not texts:
            if decision.type != "choice":
                return replace(decision, asks=asks, answers=())
            continue
        found = replace(answer, names=names, description=description, ask=ask, texts=texts)
        answers.append(found)
    return replace(decision, asks=asks, answers=tuple(answers))
