"""How much of the tokens each source has, and when: the one place where this is said."""

from __future__ import annotations

#: Until which share of the run, and the sources' shares of its tokens, relative to each other.
#: Short texts first: what a statement has to do with a text is learned there, in minutes.
READING_SHORT = {
    "snli": 18, "scitail": 5, "med-help": 4, "dnc": 4, "bbq": 6, "conjnli": 2, "gap": 1,
    "e-care": 2, "codah": 0.5,
}  # fmt: skip
#: Tables, the order of events and pronouns stayed at chance after 37 million tokens: little of them.
READING_LONG = {
    "boolq": 10, "condaqa": 10, "infotabs": 12, "sgd": 9, "tabfact": 1, "strategyqa": 6, "xquad": 2,
    "wikitablequestions": 1, "begin": 1, "tracie": 0.3, "open": 3,
}  # fmt: skip
ABOUT = {
    "hwu64": 2, "snips": 1, "nlupp": 1.5, "trivia-topics": 2, "goemotions": 3,
    "hate-offensive": 1.5, "opinions": 2.5, "vader-ratings": 2, "emobank": 1.5,
    "clickbait": 1, "email-requests": 1.5, "query-wellformedness": 1,
}  # fmt: skip
CORPUS = {
    "check": 5, "decision": 4.5, "number": 4, "concept": 14, "reading": 5, "record": 6, "scale": 4,
    "matching": 1, "stray": 0.5,
}  # fmt: skip


def _mixed(short: float, long: float, about: float, corpus: float) -> dict[str, float]:
    """:param: Of 100 tokens."""
    parts = ((READING_SHORT, short), (READING_LONG, long), (ABOUT, about), (CORPUS, corpus))
    return {
        name: weight * share / sum(sources.values())
        for sources, share in parts
        for name, weight in sources.items()
    }


STAGES = (
    (0.2, _mixed(short=50, long=10, about=15, corpus=25)),
    (0.86, _mixed(short=14, long=36, about=12, corpus=38)),
    # Topics and records are forgotten first.
    (1.0, _mixed(short=12, long=26, about=12, corpus=50)),
)


def shares_at(share: float) -> dict[str, float]:
    """:param share: Of the run, how much is over."""
    return next(shares for until, shares in STAGES if share < until or until == 1.0)
