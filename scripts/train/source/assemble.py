"""The two sides of the split, put together from the files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence

from source import files
from source.decisions import decision_of, visible
from source.material import (
    Comparison,
    Concept,
    FactText,
    Field,
    Level,
    Material,
    ReadingQuestion,
    ReadingText,
    RecordKind,
    Scale,
)
from source.split import held_out_of, is_held_out, key_of, normal

# Lists of the vocabulary that name things; all else in it is language, which both sides need.
ENTITIES = (
    "first_names cities product_words colours materials departments statuses countries job_titles"
    " email_domains"
).split()


def load(public: Path | None) -> tuple[Material, Material]:
    """The training side and the held-out side.

    :param public: Folder of the public sets; without it they are left out.
    """
    concepts, strays = files.corpus_concepts(), []
    unseen = {c.key for c in concepts if is_held_out("concept", c.key)}
    if public is not None:
        banking = files.banking_concepts(public / "banking77", "train")
        clinc, strays = files.clinc_concepts(public / "clinc150", "train")
        concepts += banking + clinc
        # Names that the public sets train are not unseen.
        unseen -= {c.key for c in banking + clinc}
    seen = [c for c in concepts if c.key not in unseen]
    vocabulary = files.read_json(files.CORPUS / "facts" / "vocabulary.json")
    facts = [_fact(line) for line in files.read_lines(files.CORPUS / "facts" / "text-facts.jsonl")]
    readings = [_reading(line) for line in files.reading_lines()]
    decisions = [decision_of(line) for line in files.decision_lines()]
    scales = [files.read_json(path) for path in sorted((files.CORPUS / "scales").glob("*.json"))]
    wordings = _all_wordings(vocabulary)
    # A wording that several lists share is on one side for all of them.
    hidden = {
        "level name": _hidden("level name", [x["names"] for s in scales for x in s["levels"]]),
        "level text": _hidden("level text", [x["texts"] for s in scales for x in s["levels"]]),
        "wording": _hidden("wording", [*wordings.values(), *(s["questions"] for s in scales)]),
    }

    def side(held: bool) -> Material:
        def keep(kind: str, name: str) -> bool:
            if kind in hidden:
                return (name in hidden[kind]) == held
            return is_held_out(kind, name) == held

        fields = _fields(vocabulary)
        return Material(
            concepts=tuple(c for c in (_utterances(c, keep) for c in seen) if c.utterances),
            strays=tuple(text for text in strays if keep("public utterance", text)),
            scales=tuple(_scale(scale, keep) for scale in scales),
            facts=tuple(fact for fact in facts if keep("fact text", fact.text)),
            readings=tuple(text for text in readings if keep("reading text", text.first)),
            decisions=tuple(d for d in decisions if keep("decision", d.asks[0])),
            fields=tuple(f for f in fields.values() if keep("field", f.name)),
            records=_records(vocabulary, fields, held),
            comparisons=tuple(_comparison(c) for c in vocabulary["comparisons"]),
            entities=_entities(vocabulary, keep),
            wordings={
                name: tuple(text for text in texts if keep("wording", text))
                for name, texts in wordings.items()
            },
            unseen_numbers=held,
            hidden_wordings=frozenset() if held else frozenset(hidden["wording"]),
            unseen_concepts=tuple(c for c in concepts if c.key in unseen) if held else (),
        )

    held = side(True)
    test = tuple(_reading(line) for line in files.reading_lines(test=True))
    held = replace(held, test_readings=test)
    training = replace(
        side(False),
        hidden_texts=frozenset(map(normal, _texts_of(held))),
        hidden_names=frozenset(map(key_of, _names_of(held))),
    )
    decisions = visible(training.decisions, training.hides_question)
    training = replace(training, decisions=decisions)
    return training, _without(held, frozenset(files.read_json(files.SHOWN)))


def _without(held: Material, shown: frozenset[str]) -> Material:
    """The held-out side without texts, names and questions that an earlier run was shown."""

    def rest(texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(text for text in texts if text not in shown)

    def concepts(side: Sequence[Concept]) -> tuple[Concept, ...]:
        left = (replace(concept, utterances=rest(concept.utterances)) for concept in side)
        return tuple(concept for concept in left if concept.utterances)

    def scale(whole: Scale) -> Scale:
        levels = (Level(rest(level.names), rest(level.texts)) for level in whole.levels)
        return replace(whole, questions=rest(whole.questions), levels=tuple(levels))

    return replace(
        held,
        concepts=concepts(held.concepts),
        unseen_concepts=concepts(held.unseen_concepts),
        scales=tuple(map(scale, held.scales)),
        wordings={name: rest(texts) for name, texts in held.wordings.items()},
    )


Keep = Callable[[str, str], bool]


def _utterances(concept: Concept, keep: Keep) -> Concept:
    kind = "utterance" if concept.origin == "corpus" else "public utterance"
    return replace(
        concept,
        utterances=tuple(u for u in concept.utterances if keep(kind, u)),
    )


def _texts_of(material: Material) -> Iterator[str]:
    for concept in (*material.concepts, *material.unseen_concepts):
        yield from concept.utterances
    for concept in material.unseen_concepts:
        yield from concept.descriptions
    for scale in material.scales:
        for level in scale.levels:
            yield from level.texts


def _names_of(material: Material) -> Iterator[str]:
    yield from (concept.name for concept in material.unseen_concepts)
    for scale in material.scales:
        for level in scale.levels:
            yield from level.names


def _fact(line: Any) -> FactText:
    return FactText(line["text"], tuple((q["q"], q["a"]) for q in line["questions"]))


def _reading(line: Any) -> ReadingText:
    questions = tuple(map(_reading_question, line["questions"]))
    return ReadingText(line["text"], questions, line["first"])


def _reading_question(line: Any) -> ReadingQuestion:
    options, levels = tuple(line.get("options", ())), tuple(line.get("levels", ()))
    answer = options.index(line["a"]) if options else int(line["a"])
    return ReadingQuestion(line["q"], options, levels, answer)


def _scale(scale: Any, keep: Keep) -> Scale:
    return Scale(
        name=scale["name"],
        questions=tuple(q for q in scale["questions"] if keep("wording", q)),
        levels=tuple(
            Level(
                names=tuple(n for n in level["names"] if keep("level name", n)),
                texts=tuple(text for text in level["texts"] if keep("level text", text)),
            )
            for level in scale["levels"]
        ),
    )


def _fields(vocabulary: Any) -> dict[str, Field]:
    return {
        f["name"]: Field(
            name=f["name"],
            type=f["type"],
            phrases=tuple(f["phrases"]),
            asks=tuple(f.get("ask", ())),
            values=tuple(f.get("values", ())),
        )
        for f in vocabulary["json_fields"]
    }


def _records(vocabulary: Any, fields: dict[str, Field], held: bool) -> tuple[RecordKind, ...]:
    """Training leaves out held-out fields; a held-out record has all of its own."""
    return tuple(
        RecordKind(
            name=kind["name"],
            fields=tuple(
                fields[name] for name in kind["fields"] if held or not is_held_out("field", name)
            ),
        )
        for kind in vocabulary["record_kinds"]
        if is_held_out("schema", kind["name"]) == held
    )


def _comparison(entry: Any) -> Comparison:
    return Comparison(entry["op"], entry["of"], tuple(entry["phrases"]))


def _entities(vocabulary: Any, keep: Keep) -> dict[str, tuple[Any, ...]]:
    entities = {
        name: tuple(value for value in vocabulary[name] if keep("entity", value))
        for name in ENTITIES
    }
    # Language that both sides share.
    for name, values in vocabulary.items():
        if name not in entities:
            entities[name] = tuple(values)
    return entities


def _all_wordings(vocabulary: Any) -> dict[str, Sequence[str]]:
    wordings: dict[str, Sequence[str]] = files.read_json(files.WORDINGS)
    frames = {name: vocabulary[name] for name in vocabulary if name.endswith("_frames")}
    return {**wordings, **frames}


def _hidden(kind: str, lists: Sequence[Sequence[str]]) -> set[str]:
    return set().union(*(held_out_of(kind, names) for names in lists))
