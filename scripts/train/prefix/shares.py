"""How much of the tokens each source has, and when: the one place where this is said."""

from __future__ import annotations

#: Until which share of the run, and the sources' shares of its tokens, relative to each other.
#: Short texts first: what a statement has to do with a text is learned there, in minutes.
READING_SHORT = {
    "snli": 20, "scitail": 4, "med-help": 4, "dnc": 4, "bbq": 5, "conjnli": 2, "gap": 2,
    "e-care": 2, "codah": 1,
}  # fmt: skip
READING_LONG = {
    "boolq": 9, "condaqa": 9, "infotabs": 11, "sgd": 9, "tabfact": 4, "strategyqa": 5, "xquad": 3,
    "wikitablequestions": 3, "begin": 2, "tracie": 1, "open": 3,
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
    (0.86, _mixed(short=12, long=30, about=13, corpus=45)),
    # Topics and records are forgotten first.
    (1.0, _mixed(short=8, long=20, about=12, corpus=60)),
)


def shares_at(share: float) -> dict[str, float]:
    """:param share: Of the run, how much is over."""
    return next(shares for until, shares in STAGES if share < until or until == 1.0)
