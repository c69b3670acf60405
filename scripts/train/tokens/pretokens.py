"""Where a text may be cut into tokens: the rule that llama.cpp calls ``qwen2``.

Its pattern names Unicode's letters and numbers, which Python's ``re`` cannot; so their ranges are
written out here from Python's own tables. Digits stand alone, which comparing numbers needs.
"""

import re
import sys
import unicodedata


def _ranges(category: str) -> str:
    """The inside of a character class of all characters of a general category."""
    ranges: list[list[int]] = []
    for code in range(sys.maxunicode + 1):
        if 0xD800 <= code < 0xE000 or unicodedata.category(chr(code))[0] != category:
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(
        f"\\U{first:08x}" if first == last else f"\\U{first:08x}-\\U{last:08x}"
        for first, last in ranges
    )


_LETTER = _ranges("L")
_NUMBER = _ranges("N")
# What Unicode calls white space; Python's \s has four control characters more.
_SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"

PRETOKEN = re.compile(
    r"'(?:[sS]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])"
    rf"|[^\r\n{_LETTER}{_NUMBER}]?[{_LETTER}]+"
    rf"|[{_NUMBER}]"
    rf"| ?[^{_SPACE}{_LETTER}{_NUMBER}]+[\r\n]*"
    rf"|[{_SPACE}]*[\r\n]+"
    rf"|[{_SPACE}]+(?![^{_SPACE}])"
    rf"|[{_SPACE}]+"
)


def pretokens(text: str) -> list[str]:
    """Pieces that tokens never cross. Joined, they are the text."""
    return PRETOKEN.findall(text)
