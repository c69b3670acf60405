"""Claims about a text: one of its sentences, or one that says something else in a word.

A text and its twin, in which that word is the other one, are asked both claims: each is true of one
of them, so that a claim by itself tells nothing, and neither does what both texts say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from ask.claim_words import ClaimWords
from ask.noise import reworded
from ask.question import Choice, Group, Noul, Option, Question
from source.material import Material
from source.senses import Sense

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_WORD = re.compile(r"[A-Za-z]+|\d+")
# Shorter sentences say little by themselves, longer ones are no claims.
_LEAST, _MOST = 4, 26
# How many are about texts that were written to be read; the others are texts of concepts.
_READ, _LEAST_OF_OTHERS = 0.75, 7
_WRAPPED = (
    "{c}", "{c}", "{c}", "{c}", "Does the text say this? {c}", "Is it true? {c}",
    "According to the text: {c}", 'Is "{c}" right?', "Claim: {c}", "It says: {c} Right?",
    "Does this agree with the text? {c}",
)  # fmt: skip
_WHICH = (
    "Which of these is true?", "What does it say?", "Which claim is right?",
    "Which one agrees with the text?",
)  # fmt: skip
_WRITERS = ("the writer", "the author", "this person", "the speaker", "the customer")
_PRESENT = re.compile(r"\bI (\w+)\b(?!['’])")
# Verbs that are the same for everybody.
_KEPT = re.compile(
    r"\w+(ed|t)|was|had|will|can|could|would|should|must|did|might|may|went|got|found|lost|came|saw"
    r"|took|made"
)
_ASKED = re.compile(
    r"^((?:The|A|An|My|Our|His|Her|Their|This|That|It|He|She|They|We|There)\b(?: [\w'’-]+){0,3}?)"
    r" (is|are|was|were|will|can|must|should|has been|have been) (?!not\b)(.+?)[.!]?$"
)


@dataclass(frozen=True, slots=True)
class _Change:
    """In the text: where the word stands, and where its sentence does."""

    begin: int
    end: int
    other: str
    first: int
    last: int


class ClaimTasks:
    def __init__(self, material: Material, senses: list[Sense]) -> None:
        self._words = ClaimWords(senses)
        read = [one.text for one in (*material.readings, *material.facts)]
        said = [text for one in material.concepts for text in one.utterances]
        self._texts = (read, [text for text in said if len(text.split()) >= _LEAST_OF_OTHERS])
        names = {name for text in read for name in _names(text)}
        self._names = sorted(names)
        self._hides = material.hides_question
        self._twin: Group | None = None

    def group(self, random: Random) -> Group:
        """A text with claims; behind it, its twin with the same."""
        if self._twin is not None:
            found, self._twin = self._twin, None
            return found
        here: list[Question] = []
        there: list[Question] = []
        text = other = ""
        while not here:
            text = random.choice(self._texts[0 if random.random() < _READ else 1])
            other = self._twin_of(text, here, there, random)
        if random.random() < 0.5:
            text, other, here, there = other, text, there, here
        self._twin = Group(other, there, "claim")
        return Group(text, here, "claim")

    def _twin_of(
        self, text: str, here: list[Question], there: list[Question], random: Random
    ) -> str:
        """Adds what is asked about the text and about its twin, in the same order."""
        changes = self._changes(text, random)
        other, moved = text, 0
        places: list[tuple[int, int]] = []
        for change in changes:
            begin = change.begin + moved
            other = other[:begin] + change.other + other[begin + change.end - change.begin :]
            moved += len(change.other) - (change.end - change.begin)
            places.append((change.end, begin + len(change.other)))
        for change, ends in zip(changes, places):
            for one, two in self._asked(text, change, random):
                one.evidence, two.evidence = (ends[0],), (ends[1],)
                here.append(one)
                there.append(two)
        return other

    def _changes(self, text: str, random: Random) -> list[_Change]:
        """One or two, in different sentences, first to last."""
        spans = [match.span() for match in _SENTENCE.finditer(text)]
        found: list[_Change] = []
        for first, last in random.sample(spans, len(spans)):
            sentence = text[first:last]
            if _LEAST <= len(sentence.split()) <= _MOST and not self._hides(sentence):
                change = self._change(text, first, last, random)
                if change:
                    found.append(change)
            if len(found) == 2:
                break
        return sorted(found, key=lambda one: one.begin)

    def _change(self, text: str, first: int, last: int, random: Random) -> _Change | None:
        words = list(_WORD.finditer(text, first, last))
        for match in random.sample(words, len(words)):
            word = match.group()
            if match.start() and text[match.start() - 1] in "'’":
                continue
            other = self._words.wrong(word, text, random)
            if other is None and match is not words[0] and word[:1].isupper() and len(word) > 2:
                own = [name for name in _names(text) if name != word]
                other = random.choice(own if own and random.random() < 0.5 else self._names)
            if other and other != word:
                return _Change(match.start(), match.end(), other, first, last)
        return None

    def _asked(
        self, text: str, change: _Change, random: Random
    ) -> list[tuple[Question, Question]]:
        """Questions for the text, each with the same for its twin."""
        asks = random.random() < 0.8
        # Both claims are put alike: what differs is the word.
        style = random.getstate()
        claims = []
        for word in (text[change.begin : change.end], change.other):
            random.setstate(style)
            before, behind = text[change.first : change.begin], text[change.end : change.last]
            claims.append(self._claim(before, word, behind, asks, random))
        if any(map(self._hides, claims)):
            return []
        right, wrong = claims
        if not asks and right != wrong:
            asked = random.choice(_WHICH)
            names = random.sample(claims, 2)
            here = Choice(asked, [Option(name) for name in names], names.index(right))
            there = Choice(asked, [Option(name) for name in names], names.index(wrong))
            return [(here, there)]
        found: list[tuple[Question, Question]] = []
        for claim, answer in ((right, True), (wrong, False)):
            asked = random.choice(_WRAPPED).replace("{c}", claim)
            asked = reworded(asked, random) or asked
            found.append((Noul(asked, answer), Noul(asked, not answer)))
        return found

    def _claim(self, before: str, word: str, behind: str, asks: bool, random: Random) -> str:
        """The sentence, or a part of it around the word, in other words, which say as much.

        :param asks: Whether it may become a question.
        """
        whole = (before, behind)
        behind = self._others(behind, random)
        before = self._others(before, random)
        if random.random() < 0.35:
            behind = re.split(r"[,;:–(]| - ", behind)[0].rstrip()
        if random.random() < 0.25 and re.search(r"[,;:–] ", before):
            before = re.split(r"[,;:–] ", before)[-1]
        claim = f"{before}{word}{behind}".strip(" \"'“”-")
        if len(claim.split()) < _LEAST:
            claim = f"{whole[0]}{word}{whole[1]}".strip()
        if random.random() < 0.6:
            claim = _of_the_writer(claim, random.choice(_WRITERS))
        if asks and random.random() < 0.5:
            claim = _ASKED.sub(_inverted, claim)
        claim = claim[:1].upper() + claim[1:]
        return claim if claim[-1:] in ".!?" else f"{claim}."

    def _others(self, part: str, random: Random) -> str:
        """With a word or two that mean the same."""
        def other(match: re.Match[str]) -> str:
            same = self._words.same(match.group(), random) if random.random() < 0.3 else None
            return same or match.group()

        return re.sub(r"[A-Za-z]{4,}", other, part)


def _names(text: str) -> list[str]:
    """Words with a capital letter that do not begin a sentence."""
    return re.findall(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b", text)


def _of_the_writer(claim: str, writer: str) -> str:
    """As somebody else would say it."""
    def present(match: re.Match[str]) -> str:
        verb = match.group(1)
        other = {"am": "is", "have": "has", "do": "does"}.get(verb)
        return f"{writer} {other or (verb if _KEPT.fullmatch(verb) else verb + 's')}"

    claim = re.sub(r"\bI['’]m\b", f"{writer} is", claim)
    claim = re.sub(r"\bI['’]ve\b", f"{writer} has", claim)
    claim = re.sub(r"\bI['’]ll\b", f"{writer} will", claim)
    claim = _PRESENT.sub(present, claim)
    claim = re.sub(r"\b[Mm]y\b", f"{writer}'s", claim)
    return re.sub(r"\bme\b", writer, claim)


def _inverted(match: re.Match[str]) -> str:
    subject, verb, rest = match.groups()
    verb, *been = verb.split()
    subject = subject[:1].lower() + subject[1:]
    return f"{verb[:1].upper()}{verb[1:]} {subject} {' '.join([*been, rest])}?"
