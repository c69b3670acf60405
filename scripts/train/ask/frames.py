"""Ways to ask about a field, put together from parts.

Two dozen written ones were learned by heart: "Do the data contradict that …?" was answered as if it
asked whether, and not whether not.
"""

from __future__ import annotations

from random import Random

_TRUE = "true|right|correct|accurate|the case|a fact|certain".split("|")
_FALSE = (
    "false|wrong|incorrect|untrue|not true|not right|not correct|not the case|inaccurate|a mistake"
    "|an error"
).split("|")
_RECORDS = "the record|the entry|this file|the object|the text|the sheet|the form".split("|")
_SAY = "say|state|show|confirm|report|tell us|indicate|agree|support".split("|")
_DENY = "deny|contradict|refute|dispute|rule out|disprove|exclude".split("|")
_IS = (
    "is|is|is|equals|is set to|is given as|is recorded as|is listed as|has the value|reads"
).split("|")
_IS_NOT = (
    "is not|is not|isn't|does not equal|differs from|is not set to|is other than|is anything but"
    "|is not given as|is different from"
).split("|")
_MATCH = "equal|match|read|say|correspond to|show".split("|")
_DIFFER = "differ from|not equal|not match|fail to match|not read|not say|deviate from".split("|")
_ANSWERS = "value|answer|entry|content".split("|")
_HAVE = "have|contain|include|give|list|mention|hold|show|tell us|name|provide".split("|")
_LACK = (
    "lack|omit|leave out|miss|not have|not contain|not include|not mention|not give|fail to give"
    "|skip|not tell us"
).split("|")
_GIVEN = (
    "given|there|present|filled in|specified|available|known|included|listed|mentioned|recorded|set"
    "|stated|provided|on file"
).split("|")
_MISSING = (
    "missing|absent|blank|empty|unknown|not given|left out|omitted|undefined|not known|unspecified"
    "|not there|lacking|not filled in|unset|not provided"
).split("|")
_ENTERED = "given|filled in|entered|recorded|provided|written down".split("|")
_SKIPPED = "left out|left blank|omitted|forgotten|skipped|left empty".split("|")


def composed_frame(kind: str, random: Random) -> str:
    """
    :param kind: ``lookup`` or ``negation``, whether a field is a value or is not; ``presence`` or
        ``absence``, whether it is there or is not.
    :returns: With ``{field}``, and for the first two ``{value}``.
    """
    frames = {
        "lookup": _lookup,
        "negation": _negation,
        "presence": _presence,
        "absence": _absence,
    }
    return random.choice(frames[kind](random))


def _lookup(random: Random) -> list[str]:
    pick = random.choice
    claim, true, record = f"{{field}} {pick(_IS)} {{value}}", pick(_TRUE), pick(_RECORDS)
    return [
        f"Is it {true} that {claim}?",
        f"Would it be {true} to say that {claim}?",
        f"Does {record} {pick(_SAY)} that {claim}?",
        f"Somebody claims that {claim}. Is that {true}?",
        f"Does {{field}} {pick(_MATCH)} {{value}}?",
        f"Is {{value}} the right {pick(_ANSWERS)} for {{field}}?",
        f"Is {{value}} a correct {pick(_ANSWERS)} for {{field}}?",
        f"Is it {pick(_FALSE)} that {{field}} {pick(_IS_NOT)} {{value}}?",
    ]


def _negation(random: Random) -> list[str]:
    pick = random.choice
    claim, false, record = f"{{field}} {pick(_IS)} {{value}}", pick(_FALSE), pick(_RECORDS)
    denied = f"{{field}} {pick(_IS_NOT)} {{value}}"
    return [
        f"Is it {false} that {claim}?",
        f"Would it be {false} to say that {claim}?",
        f"Does {record} {pick(_DENY)} that {claim}?",
        f"Does {record} {pick(_SAY)} that {denied}?",
        f"Is it {pick(_TRUE)} that {denied}?",
        f"Somebody claims that {claim}. Is that {false}?",
        f"Does {{field}} {pick(_DIFFER)} {{value}}?",
        f"Is {{value}} the wrong {pick(_ANSWERS)} for {{field}}?",
        f"Is {{value}} an incorrect {pick(_ANSWERS)} for {{field}}?",
    ]


def _presence(random: Random) -> list[str]:
    pick = random.choice
    given, record = pick(_GIVEN), pick(_RECORDS)
    return [
        f"Is {{field}} {given}?",
        f"Does {record} {pick(_HAVE)} {{field}}?",
        f"Is there {pick(('a value', 'anything', 'something', 'an entry'))} for {{field}}?",
        f"Has {{field}} been {pick(_ENTERED)}?",
        f"Is it {pick(_TRUE)} that {{field}} is {given}?",
        f"Is it {pick(_FALSE)} that {{field}} is {pick(_MISSING)}?",
    ]


def _absence(random: Random) -> list[str]:
    pick = random.choice
    missing, record = pick(_MISSING), pick(_RECORDS)
    return [
        f"Is {{field}} {missing}?",
        f"Is {{field}} still {missing}?",
        f"Does {record} {pick(_LACK)} {{field}}?",
        f"Is there {pick(('no value', 'nothing', 'no entry'))} for {{field}}?",
        f"Has {{field}} been {pick(_SKIPPED)}?",
        f"Is it {pick(_TRUE)} that {{field}} is {missing}?",
        f"Is it {pick(_FALSE)} that {{field}} is {pick(_GIVEN)}?",
    ]
