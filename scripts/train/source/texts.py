"""Every text of one side of the split, for a tokenizer to learn from."""

from collections.abc import Iterator

from source.material import Material


def texts_of(material: Material) -> Iterator[str]:
    for concept in (*material.concepts, *material.unseen_concepts):
        yield concept.name
        yield concept.group
        yield from concept.descriptions
        yield from concept.utterances
    yield from material.strays
    for scale in material.scales:
        yield from scale.questions
        for level in scale.levels:
            yield from level.names
            yield from level.texts
    for fact in material.facts:
        yield fact.text
        yield from (question for question, _ in fact.questions)
    for field in material.fields:
        yield field.name
        yield from (*field.phrases, *field.asks, *field.values)
    for record in material.records:
        yield record.name
    for comparison in material.comparisons:
        yield from comparison.phrases
    for values in material.entities.values():
        for value in values:
            yield from ([value] if isinstance(value, str) else _inside(value))
    for wordings in material.wordings.values():
        yield from wordings


def _inside(value: object) -> Iterator[str]:
    """The language that both sides share, as units and their names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _inside(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _inside(member)
